"""What one target measured along one axis of a sweep, all else being equal. No I/O."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbbench.plan import Cell
from dbbench.results.operations import MeasuredTrial
from dbbench.stats import CONFIDENCE, Sample, Slowdown, Unit, compare
from dbbench.stats.interval import paired, ratio_of

Bounds = tuple[float, float]
Measured = Mapping[Cell, Sequence[MeasuredTrial]]
"""The usable trials of each cell, in the order of the plan."""


@dataclass(frozen=True)
class Line:
    """Cells that differ on one axis alone, by their values on it; `fixed` is the rest of them."""

    workload: str
    axis: str
    fixed: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Place:
    """One value of an axis.

    `level` is the geometric mean over blocks, with its interval. `slowdown` is against the first
    place, paired within blocks; None there.
    """

    value: str
    cell: Cell
    level: float
    interval: Bounds | None
    slowdown: Slowdown | None
    blocks: int


@dataclass(frozen=True)
class Series:
    """One target along one axis. `fixed` is where the other axes stand."""

    workload: str
    target: str
    metric: str
    unit: Unit
    axis: str
    fixed: str
    emulated: bool


def series(
    measured: Measured,
    targets: Sequence[str],
    primary: Mapping[str, tuple[str, Unit]],
    emulated_targets: frozenset[str],
    axes: Container[str],
    order: Callable[[Line], Sequence[str]],
) -> Iterator[tuple[Series, str, list[Place]]]:
    """Wherever a target was measured at two values of an axis or more, all else being equal.

    With the line's first value, where the target may be missing. `primary` holds each workload's
    metric, `order` the values of a line. In the order of cells, axes and targets.
    """
    for line in lines(measured, axes):
        metric, unit = primary[line.workload]
        values = order(line)
        for target in targets:
            there = places(line, values, measured, target, metric, unit)
            if len(there) > 1:
                emulated = target in emulated_targets
                yield (
                    Series(line.workload, target, metric, unit, line.axis, line.fixed, emulated),
                    values[0],
                    there,
                )


def lines(measured: Measured, axes: Container[str]) -> list[Line]:
    """A line for each of these axes and each place of the other ones."""
    found: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for cell in measured:
        for axis, value in cell.point:
            if axis in axes:
                rest = Cell(cell.workload, tuple(one for one in cell.point if one[0] != axis))
                found.setdefault((cell.workload, axis, rest.name), {})[value] = cell
    return [Line(*key, cells) for key, cells in found.items()]


def places(
    line: Line, order: Sequence[str], measured: Measured, target: str, metric: str, unit: Unit
) -> list[Place]:
    """Where the target was measured on a line, in this order of the axis's values."""
    samples = {
        value: [
            # The points of an axis are compared as targets are: within blocks.
            trial.sample_of(value, metric, trial.result.metrics[metric].value, unit)
            for trial in measured[line.cells[value]]
            if trial.target == target
        ]
        for value in order
    }
    known = {value: found for value, found in samples.items() if found}
    if not known:
        return []
    table = compare([one for found in known.values() for one in found], next(iter(known)))
    slowdowns = {slowdown.target: slowdown for slowdown in table.slowdowns}
    return [
        _place(value, line.cells[value], found, slowdowns.get(value))
        for value, found in known.items()
    ]


def _place(value: str, cell: Cell, samples: Sequence[Sample], slowdown: Slowdown | None) -> Place:
    units: dict[str, list[float]] = defaultdict(list)
    for sample in samples:
        units[sample.deployment or sample.trial].append(math.log(sample.value))
    logs = paired([statistics.fmean(own) for own in units.values()])
    return Place(
        value=value,
        cell=cell,
        level=ratio_of(logs.mean),
        interval=ratios(logs.bounds(CONFIDENCE)),
        slowdown=slowdown,
        blocks=len(samples),
    )


def ratios(logs: Bounds | None) -> Bounds | None:
    """Ratios from bounds of their logarithms."""
    return None if logs is None else (ratio_of(logs[0]), ratio_of(logs[1]))
