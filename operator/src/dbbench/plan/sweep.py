"""The points of a sweep. No I/O."""

import itertools
from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec, Workload
from dbbench.api.sweep import Sweep, SweepDesign

Point = tuple[tuple[str, str], ...]
"""(axis, value) pairs in a fixed order."""

CLIENTS = "clients"
CPU = "cpu"
INSTANCES = "instances"

DEPLOYMENT_AXES = (CPU, INSTANCES)
"""Axes each of whose points is another deployment; the others are only other arguments."""

AXES = (CLIENTS, *DEPLOYMENT_AXES)
"""The axes of a sweep, in the order in which they stand in a cell's name."""


@dataclass(frozen=True)
class Axis:
    """An axis with its values, and the value that the rest of the spec gives: the base."""

    name: str
    values: tuple[int, ...]
    base: int


def swept(spec: DBBenchmarkSpec, workload: Workload) -> list[Point]:
    """The points at which a workload is measured: [()] without a sweep, or an axis of its own.

    Full: the product of the axes. OneAtATime: the base point, then each axis alone, the others at
    their base.
    """
    if spec.sweep is None:
        return [()]
    axes = _axes(spec, spec.sweep, workload)
    if spec.sweep.design is SweepDesign.FULL:
        combinations = list(itertools.product(*(axis.values for axis in axes)))
    else:
        base = tuple(axis.base for axis in axes)
        alone = [
            (*base[:place], value, *base[place + 1 :])
            for place, axis in enumerate(axes)
            for value in axis.values
        ]
        combinations = list(dict.fromkeys([base, *alone]))
    return [
        tuple((axis.name, str(value)) for axis, value in zip(axes, values, strict=True))
        for values in combinations
    ]


def _axes(spec: DBBenchmarkSpec, sweep: Sweep, workload: Workload) -> list[Axis]:
    found = []
    timed = workload.tpcc or workload.tatp
    if sweep.clients and timed:
        found.append(Axis(CLIENTS, tuple(sweep.clients), timed.clients))
    if sweep.cpu:
        found.append(Axis(CPU, tuple(sweep.cpu), spec.resources.cpu))
    if sweep.instances:
        # No target says otherwise where they are swept: a rule of the API.
        found.append(Axis(INSTANCES, tuple(sweep.instances), 1))
    return found
