"""Scaling curves: what a target gains from point to point of a sweep's axis. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.plan import Cell
from dbbench.plan.sweep import NUMBERS
from dbbench.results.along import Bounds, Measured, Place, lines, places, ratios
from dbbench.stats import CONFIDENCE, Unit
from dbbench.stats.interval import ratio_of


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
    measured: Measured,
    targets: Sequence[str],
    primary: Mapping[str, tuple[str, Unit]],
    emulated_targets: frozenset[str],
) -> list[Curve]:
    """Curves of the primary metrics, in the order of cells, axes and targets.

    `primary` holds each workload's metric. An axis of numbers has a curve wherever a target was
    measured at two of its points or more, all else being equal.
    """
    found = []
    for line in lines(measured, NUMBERS):
        metric, unit = primary[line.workload]
        order = sorted(line.cells, key=int)
        for target in targets:
            there = places(line, order, measured, target, metric, unit)
            if len(there) > 1:
                found.append(
                    Curve(
                        workload=line.workload,
                        target=target,
                        metric=metric,
                        unit=unit,
                        axis=line.axis,
                        fixed=line.fixed,
                        emulated=target in emulated_targets,
                        points=tuple(_point(place) for place in there),
                    )
                )
    return found


def _point(place: Place) -> CurvePoint:
    gained = None if place.slowdown is None else place.slowdown.estimate
    slower = None if gained is None else gained.bounds(CONFIDENCE)
    return CurvePoint(
        axis_value=int(place.value),
        cell=place.cell,
        value=place.level,
        interval=place.interval,
        speedup=1.0 if gained is None else ratio_of(-gained.mean),
        speedup_interval=None if slower is None else ratios((-slower[1], -slower[0])),
        blocks=place.blocks,
    )
