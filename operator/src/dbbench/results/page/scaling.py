"""Scaling curves: value and speed-up of every target along an axis of the sweep. No I/O."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from dbbench.results.figures import quantity, three_digits
from dbbench.results.page.axis import grid, labels
from dbbench.results.page.forest import at
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.scale import Logarithmic, Scale, linear_ticks, logarithmic_ticks
from dbbench.results.page.series import Targets

Curve = Mapping[str, Any]
Axis = Scale | Logarithmic

_HEIGHT = 200
_TOP = 8
_RATIO_FOR_LOGARITHM = 4
# Percent of the axis between two of its labels, at least.
_CLOSEST = 9
# Pixels between targets at the same point, so that their intervals do not hide each other.
_APART = 5


def charts(curves: Sequence[Curve], targets: Targets) -> list[Child]:
    """Two for each workload, axis, and place of the other axes: the value, and the speed-up."""
    groups: dict[tuple[str, str, str], list[Curve]] = {}
    for curve in curves:
        groups.setdefault((curve["workload"], curve["axis"], curve["fixed"]), []).append(curve)
    drawn: list[Child] = []
    for (workload, axis, fixed), group in groups.items():
        where = "/".join(part for part in (workload, fixed) if part)
        in_unit = partial(quantity, unit=group[0]["unit"])
        drawn.append(
            _chart(
                where, f"{group[0]['metric']} by {axis}", axis, group, targets,
                "value", "interval", in_unit,
            )
        )  # fmt: skip
        drawn.append(
            _chart(
                where, f"speed-up by {axis}", axis, group, targets,
                "speedup", "speedupInterval", three_digits, ideal=True,
            )
        )  # fmt: skip
    return drawn


def _chart(
    where: str,
    what: str,
    axis: str,
    curves: Sequence[Curve],
    targets: Targets,
    field: str,
    bounds: str,
    written: Callable[[float], str],
    *,
    ideal: bool = False,
) -> Safe:
    places = sorted({point["axisValue"] for curve in curves for point in curve["points"]})
    across = _across(places)
    down, ticks = _vertical(
        [point[field] for curve in curves for point in curve["points"]],
        [point[bounds] for curve in curves for point in curve["points"] if point[bounds]],
    )

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP) * (1 - down.within(value) / 100)

    def drawn(place: int, curve: Curve) -> list[Child]:
        shift = _APART * (place - (len(curves) - 1) / 2)
        points = [(across.at(one["axisValue"]), y(one[field])) for one in curve["points"]]
        marks = [
            at(
                across.at(one["axisValue"]),
                0,
                element(
                    "g",
                    element("title", _words(curve, one, field, bounds, axis, written)),
                    _interval(one[bounds], y, targets.colour(curve["target"])),
                    element(
                        "g",
                        targets.mark(curve["target"]),
                        transform=f"translate(0 {y(one[field]):.2f})",
                    ),
                    transform=f"translate({shift:g} 0)",
                ),
            )
            for one in curve["points"]
        ]
        dashes, colour = targets.dashes(curve["target"]), targets.colour(curve["target"])
        return [_line(points, f"line {colour}", dashes), *marks]

    described = "; ".join(
        f"{curve['target']}: "
        + ", ".join(f"{written(one[field])} at {one['axisValue']}" for one in curve["points"])
        for curve in curves
    )
    return element(
        "figure",
        element("figcaption", element("strong", where), f" {what}"),
        element(
            "div",
            labels(ticks, written, y, _HEIGHT),
            element(
                "svg",
                element("title", f"{what} of {where}"),
                element("desc", described),
                grid(ticks, y),
                (element("text", f"{place}", x=f"{across.at(place):.2f}%", y=_HEIGHT + 16,
                         text_anchor="middle", class_="tick")
                 for place in _labelled(places, across)),
                _ideal(places, across, down, y) if ideal else None,
                (drawn(place, curve) for place, curve in enumerate(curves)),
                width="100%",
                height=_HEIGHT + 22,
                role="img",
            ),
            class_="chart",
        ),
    )  # fmt: skip


def _words(
    curve: Curve,
    point: Mapping[str, Any],
    field: str,
    bounds: str,
    axis: str,
    written: Callable[[float], str],
) -> str:
    found = point[bounds]
    within = f", {written(found['low'])} to {written(found['high'])}" if found else ""
    return f"{curve['target']}, {axis} {point['axisValue']}: {written(point[field])}{within}"


def _across(places: Sequence[int]) -> Axis:
    """Every place well within the axis."""
    low, high = places[0], places[-1]
    if high > _RATIO_FOR_LOGARITHM * low:
        room = (high / low) ** 0.06
        return Logarithmic(low / room, high * room)
    room = 0.06 * (high - low)
    return Scale(low - room, high + room)


def _labelled(places: Sequence[int], across: Axis) -> list[int]:
    """The places with a label: the last one, and as many before it as there is room for."""
    found: list[int] = []
    for place in reversed(places):
        if not found or across.at(found[-1]) - across.at(place) >= _CLOSEST:
            found.append(place)
    return found


def _vertical(
    values: Sequence[float], intervals: Iterable[Mapping[str, float]]
) -> tuple[Axis, list[float]]:
    """From 0, unless that would press the smaller values together.

    A hopelessly wide interval is cut off at twice the greatest and half the least value.
    """
    least, most = min(values), max(values)
    ends = [end for one in intervals for end in (one["low"], one["high"])]
    low = max(min([least, *ends]), least / 2) / 1.1
    high = min(max([most, *ends]), most * 2) * 1.1
    if most > _RATIO_FOR_LOGARITHM * least:
        return Logarithmic(low, high), logarithmic_ticks(low, high, most=6)
    return Scale(0, high), linear_ticks(0, high, most=6)


def _interval(
    found: Mapping[str, float] | None, y: Callable[[float], float], colour: str
) -> Safe | None:
    if found is None:
        return None
    return element("line", x1=0, x2=0, y1=y(found["low"]), y2=y(found["high"]),
                   class_=f"line {colour}")  # fmt: skip


def _ideal(places: Sequence[int], across: Axis, down: Axis, y: Callable[[float], float]) -> Safe:
    """Where twice the value of the axis is twice as fast, as far as the plot reaches."""
    steps = 40
    first, last = places[0], min(places[-1], places[0] * down.high)
    points = [
        (across.at(place), y(place / first))
        for place in (first + (last - first) * step / steps for step in range(steps + 1))
    ]
    return _line(points, "floor", None)


def _line(points: Sequence[tuple[float, float]], kind: str, dashes: str | None) -> Safe:
    """A line through points whose x is in percent: a drawing of its own, stretched to the width."""
    return element(
        "svg",
        element(
            "polyline",
            points=" ".join(f"{x:.2f},{y:.2f}" for x, y in points),
            stroke_dasharray=dashes,
            vector_effect="non-scaling-stroke",
            class_=kind,
        ),
        viewBox=f"0 0 100 {_HEIGHT}",
        preserveAspectRatio="none",
        width="100%",
        height=_HEIGHT,
    )
