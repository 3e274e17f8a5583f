"""Scaling curves: what a target gains from point to point of a sweep's axis. No I/O."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.plan import Cell
from dbbench.plan.sweep import AXES
from dbbench.results.operations import MeasuredTrial
from dbbench.stats import CONFIDENCE, Sample, Slowdown, Unit, compare
from dbbench.stats.interval import paired, ratio_of

Bounds = tuple[float, float]


@dataclass(frozen=True)
class CurvePoint:
    """One point of an axis. `axis_value` is the axis's, `value` the metric's.

    `value` is the geometric mean over blocks. `speedup` says how many times faster than at the
    curve's smallest point, paired within blocks; 1 there, without an interval.
    """

    axis_value: int
    cell: Cell
    value: float
    interval: Bounds | None
    speedup: float
    speedup_interval: Bounds | None
    blocks: int


@dataclass(frozen=True)
class Curve:
    """One target along one axis, from its smallest point. `fixed` is where the other axes stand."""

    workload: str
    target: str
    metric: str
    unit: Unit
    axis: str
    fixed: str
    emulated: bool
    points: tuple[CurvePoint, ...]


def curves(
    measured: Mapping[Cell, Sequence[MeasuredTrial]],
    targets: Sequence[str],
    primary: Mapping[str, tuple[str, Unit]],
    emulated_targets: frozenset[str],
) -> list[Curve]:
    """Curves of the primary metrics, in the order of cells, axes and targets.

    `measured` holds the usable trials of each cell, `primary` each workload's metric. An axis has
    a curve wherever a target was measured at two of its points or more, all else being equal.
    """
    lines: dict[tuple[str, str, str], list[tuple[int, Cell]]] = {}
    for cell in measured:
        for axis, value in cell.point:
            if axis in AXES:
                rest = Cell(cell.workload, tuple(one for one in cell.point if one[0] != axis))
                lines.setdefault((cell.workload, axis, rest.name), []).append((int(value), cell))
    found = []
    for (workload, axis, fixed), places in lines.items():
        metric, unit = primary[workload]
        for target in targets:
            points = _points(sorted(places), measured, target, metric, unit)
            if len(points) > 1:
                emulated = target in emulated_targets
                found.append(
                    Curve(workload, target, metric, unit, axis, fixed, emulated, tuple(points))
                )
    return found


def _points(
    places: Sequence[tuple[int, Cell]],
    measured: Mapping[Cell, Sequence[MeasuredTrial]],
    target: str,
    metric: str,
    unit: Unit,
) -> list[CurvePoint]:
    samples = {
        (axis_value, cell): [
            # The points of an axis are compared as targets are: within blocks.
            Sample(
                str(axis_value),
                metric,
                trial.block,
                trial.result.metrics[metric].value,
                unit,
                position=trial.started,
            )
            for trial in measured[cell]
            if trial.target == target
        ]
        for axis_value, cell in places
    }
    known = {place: found for place, found in samples.items() if found}
    if not known:
        return []
    smallest = str(next(iter(known))[0])
    table = compare([one for found in known.values() for one in found], smallest)
    slowdowns = {slowdown.target: slowdown for slowdown in table.slowdowns}
    return [
        _point(axis_value, cell, found, slowdowns.get(str(axis_value)))
        for (axis_value, cell), found in known.items()
    ]


def _point(
    axis_value: int, cell: Cell, samples: Sequence[Sample], slowdown: Slowdown | None
) -> CurvePoint:
    logs = paired([math.log(sample.value) for sample in samples])
    gained = None if slowdown is None else slowdown.estimate
    slower = None if gained is None else gained.bounds(CONFIDENCE)
    return CurvePoint(
        axis_value=axis_value,
        cell=cell,
        value=ratio_of(logs.mean),
        interval=_ratios(logs.bounds(CONFIDENCE)),
        speedup=1.0 if gained is None else ratio_of(-gained.mean),
        speedup_interval=None if slower is None else _ratios((-slower[1], -slower[0])),
        blocks=len(samples),
    )


def _ratios(logs: Bounds | None) -> Bounds | None:
    return None if logs is None else (ratio_of(logs[0]), ratio_of(logs[1]))
