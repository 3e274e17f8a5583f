"""Scaling curves: what a target gains from point to point of a sweep's axis. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.plan import Cell
from dbbench.plan.sweep import NUMBERS
from dbbench.results.along import Bounds, Line, Measured, Place, Series, ratios, series
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
class Curve(Series):
    """One target along one axis, from its smallest point."""

    points: tuple[CurvePoint, ...]


def curves(
    measured: Measured,
    targets: Sequence[str],
    primary: Mapping[str, tuple[str, Unit]],
    emulated_targets: frozenset[str],
) -> list[Curve]:
    """Curves of the primary metrics, along each axis of numbers."""
    found = series(measured, targets, primary, emulated_targets, NUMBERS, _ascending)
    return [Curve(**vars(one), points=tuple(map(_point, there))) for one, _, there in found]


def _ascending(line: Line) -> list[str]:
    return sorted(line.cells, key=int)


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
