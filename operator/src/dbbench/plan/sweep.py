"""The points of a sweep. No I/O."""

import itertools
from collections.abc import Sequence
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

NUMBERS = (CLIENTS, WORK_PROCESSES, CPU, INSTANCES)
"""Axes of a sweep whose values are numbers. They stand before its variants in a cell's name."""

ARGUMENTS = (CLIENTS, WORK_PROCESSES)
"""Axes of a sweep that are only other arguments; each point of the others is a deployment."""


@dataclass(frozen=True)
class Axis:
    """An axis with its values, and its base: the value that the rest of the spec gives.

    Of variants, the first is the base.
    """

    name: str
    values: tuple[str, ...]
    base: str


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
        tuple((axis.name, value) for axis, value in zip(axes, values, strict=True))
        for values in combinations
    ]


def _axes(spec: DBBenchmarkSpec, sweep: Sweep, workload: Workload) -> list[Axis]:
    found = []
    if sweep.clients and workload.served:
        found.append(_numbers(CLIENTS, sweep.clients, workload.served.clients))
    if sweep.work_processes and workload.zachmann:
        base = workload.zachmann.work_processes
        found.append(_numbers(WORK_PROCESSES, sweep.work_processes, base))
    if sweep.cpu:
        found.append(_numbers(CPU, sweep.cpu, spec.resources.cpu))
    if sweep.instances:
        # No target says otherwise where they are swept: a rule of the API.
        found.append(_numbers(INSTANCES, sweep.instances, 1))
    for axis in sweep.variants or ():
        names = tuple(variant.name for variant in axis.values)
        found.append(Axis(axis.name, names, names[0]))
    return found


def _numbers(name: str, values: Sequence[int], base: int) -> Axis:
    return Axis(name, tuple(map(str, values)), str(base))
