"""Slowdowns with their intervals: a forest plot whose rows are the rows of a table. No I/O.

Horizontal coordinates are percent, so that a plot fills its cell at any width while its marks and
letters keep their size. Verdicts differ in shape and in words, not in colour alone.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench.api.status import Verdict
from dbbench.results.figures import interval, level, percent
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.scale import Logarithmic, slowdown_axis, slowdown_ticks
from dbbench.results.page.tables import table

_HEIGHT = 30
_MIDDLE = _HEIGHT / 2

SHAPES = {
    Verdict.SLOWER.value: "M-5 -6 L6 0 L-5 6 Z",
    Verdict.FASTER.value: "M5 -6 L-6 0 L5 6 Z",
    Verdict.EQUIVALENT.value: "M-5 -5 H5 V5 H-5 Z",
    Verdict.INCONCLUSIVE.value: "M0 -5 A5 5 0 1 1 0 5 A5 5 0 1 1 0 -5 Z",
}
_AGGREGATE = "M0 -6 L7 0 L0 6 L-7 0 Z"


@dataclass(frozen=True)
class Row:
    """One line: a comparison as summary.json has it, its name, and what stands beside the plot.

    An aggregate has no verdict.
    """

    name: Child
    slowdown: float
    bounds: tuple[float, float] | None
    verdict: str | None
    cells: Sequence[Child] = ()
    noise_floor: float | None = None


def row(name: Child, found: Mapping[str, Any], *cells: Child) -> Row:
    """Of a comparison of summary.json."""
    bounds = found["interval"]
    return Row(
        name,
        found["slowdown"],
        (bounds["low"], bounds["high"]) if bounds else None,
        found["verdict"],
        cells,
        found["noiseFloor"],
    )


def forest(
    caption: str,
    first: str,
    header: Sequence[str],
    rows: Sequence[Row],
    *,
    texts: Collection[int] = (),
    confidence: float,
    margin: float,
) -> Safe:
    """A table: the row's name, `header`, the plot, the slowdown, its interval, the verdict.

    `texts` are the columns of `header` that hold no figures, counted from 1.
    """
    axis = slowdown_axis(
        [one.slowdown for one in rows], [one.bounds for one in rows if one.bounds], margin
    )
    columns = [first, *header, f"slowdown, {level(confidence)} interval", "verdict"]
    plot = 1 + len(header)
    columns.insert(plot, "slower →")
    lines: list[Sequence[Child]] = [
        (
            one.name,
            *(one.cells or [""] * len(header)),
            _plot(one, axis, margin),
            [
                element("strong", percent(one.slowdown)),
                element("small", f" {interval(one.bounds)}") if one.bounds else None,
            ],
            verdict(one.verdict) if one.verdict else "",
        )
        for one in rows
    ]
    return table(
        caption,
        columns,
        lines,
        texts={0, *texts, len(columns) - 1},
        wide={plot},
        axis=axis_labels(axis),
        kind="forest",
    )


def verdict(name: str) -> Safe:
    """The verdict with its mark."""
    return element(
        "span",
        element(
            "svg",
            element("path", d=SHAPES[name]),
            viewBox="-8 -8 16 16",
            width=14,
            height=14,
            aria_hidden="true",
            class_="mark",
        ),
        f" {name}",
        class_=f"verdict {name.lower()}",
    )


def axis_labels(axis: Logarithmic) -> Safe:
    """The axis below the plots: ticks with their slowdowns."""
    marks = []
    for slowdown in slowdown_ticks(axis):
        place = axis.at(1 + slowdown)
        anchor = "start" if place < 6 else "end" if place > 94 else "middle"
        text = _tick(slowdown)
        marks.append(element("line", x1=_percent(place), x2=_percent(place), y1=0, y2=5))
        marks.append(element("text", text, x=_percent(place), y=18, text_anchor=anchor))
    return element("svg", marks, width="100%", height=22, class_="ticks")


def _plot(one: Row, axis: Logarithmic, margin: float) -> Safe:
    low, high = one.bounds or (one.slowdown, one.slowdown)
    words = f"slowdown {percent(one.slowdown)}, interval {interval(one.bounds)}"
    kind = (one.verdict or "aggregate").lower()
    return element(
        "svg",
        element("title", f"{words}, {one.verdict}" if one.verdict else words),
        _band(axis, one.noise_floor, "floor") if one.noise_floor else None,
        _band(axis, margin, "margin"),
        (
            element("line", x1=_percent(x), x2=_percent(x), y1=0, y2=_HEIGHT, class_="grid")
            for x in (axis.at(1 + tick) for tick in slowdown_ticks(axis))
        ),
        element(
            "line",
            x1=_percent(axis.at(1)),
            x2=_percent(axis.at(1)),
            y1=0,
            y2=_HEIGHT,
            class_="zero",
        ),
        element(
            "g",
            element(
                "line",
                x1=_percent(axis.within(1 + low)),
                x2=_percent(axis.within(1 + high)),
                y1=_MIDDLE,
                y2=_MIDDLE,
                class_="interval",
            )
            if one.bounds
            else None,
            [_end(axis, 1 + end) for end in one.bounds or ()],
            at(
                axis.within(1 + one.slowdown),
                _MIDDLE,
                element("path", d=SHAPES[one.verdict] if one.verdict else _AGGREGATE),
            ),
            class_=kind,
        ),
        width="100%",
        height=_HEIGHT,
        role="img",
    )


def at(percent_across: float, down: float, *marks: Child) -> Safe:
    """Marks drawn around a point: shapes cannot have percent in their coordinates, this can."""
    return element("svg", *marks, x=_percent(percent_across), y=down, overflow="visible")


def _end(axis: Logarithmic, ratio: float) -> Safe:
    """A bar at the end of an interval; an arrow where the interval goes on beyond the axis."""
    if ratio > axis.high:
        return at(100, _MIDDLE, element("path", d="M-8 -4 L0 0 L-8 4", class_="arrow"))
    if ratio < axis.low:
        return at(0, _MIDDLE, element("path", d="M8 -4 L0 0 L8 4", class_="arrow"))
    x = _percent(axis.at(ratio))
    return element("line", x1=x, x2=x, y1=_MIDDLE - 4, y2=_MIDDLE + 4, class_="interval")


def _band(axis: Logarithmic, reach: float, kind: str) -> Safe:
    left, right = axis.within(1 - min(reach, 0.999)), axis.within(1 + reach)
    return element(
        "rect", x=_percent(left), width=_percent(right - left), y=0, height=_HEIGHT, class_=kind
    )


def _tick(slowdown: float) -> str:
    text = f"{slowdown * 100:+.4g} %"
    return "0" if abs(slowdown) < 1e-12 else text


def _percent(number: float) -> str:
    return f"{number:.2f}%"
