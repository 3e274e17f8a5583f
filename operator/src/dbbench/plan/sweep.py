"""The points of a sweep. No I/O."""

import itertools
from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.sweep import Sweep, SweepDesign
from dbbench.api.workload import Workload

Point = tuple[tuple[str, str], ...]
"""(axis, value) pairs in a fixed order."""

CLIENTS = "clients"
WORK_PROCESSES = "workProcesses"
CPU = "cpu"
INSTANCES = "instances"

DEPLOYMENT_AXES = (CPU, INSTANCES)
"""Axes each of whose points is another deployment; the others are only other arguments."""

AXES = (CLIENTS, WORK_PROCESSES, *DEPLOYMENT_AXES)
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
    if sweep.clients and workload.served:
        found.append(Axis(CLIENTS, tuple(sweep.clients), workload.served.clients))
    if sweep.work_processes and workload.zachmann:
        base = workload.zachmann.work_processes
        found.append(Axis(WORK_PROCESSES, tuple(sweep.work_processes), base))
    if sweep.cpu:
        found.append(Axis(CPU, tuple(sweep.cpu), spec.resources.cpu))
    if sweep.instances:
        # No target says otherwise where they are swept: a rule of the API.
        found.append(Axis(INSTANCES, tuple(sweep.instances), 1))
    return found
