"""Scaling curves as tables, for both forms of a report. No I/O."""

from collections.abc import Callable, Mapping
from typing import Any

from dbbench.results.figures import level, percent, quantity, three_digits, value
from dbbench.results.tables import table
from dbbench.results.wording import Document, label

SCALING = (
    "What each target gains along an axis of the sweep. Value: the geometric mean over blocks. "
    "Speed-up: how many times faster than at the smallest value of the axis, paired within "
    "blocks. Slowdown: against the baseline at the same point."
)
"""What a table of curves shows."""

TEXTS = 3
"""Its first columns, which are texts."""


def header(document: Document) -> list[str]:
    """The columns of the table."""
    confidence = f"{level(document['confidence'])} interval"
    return [
        "workload", "target", "point", "value", confidence, "speed-up", confidence, "slowdown",
        "verdict", "overcommitment", "blocks",
    ]  # fmt: skip


def rows(document: Document) -> list[list[str]]:
    """One for each point of each curve."""
    return [
        [
            "/".join(part for part in (curve["workload"], curve["fixed"]) if part),
            label(curve["target"], curve["emulated"]),
            f"{curve['axis']}={point['axisValue']}",
            quantity(point["value"], curve["unit"]),
            bounds_as(point["interval"], value),
            three_digits(point["speedup"]),
            bounds_as(point["speedupInterval"], three_digits),
            "-" if point["slowdown"] is None else percent(point["slowdown"]),
            point["verdict"] or "-",
            "-" if point["overcommitment"] is None else f"{100 * point['overcommitment']:.4g}%",
            str(point["blocks"]),
        ]
        for curve in document["curves"]
        for point in curve["points"]
    ]


def scaling(document: Document) -> list[str]:
    """Section of report.md; empty without a sweep."""
    found = rows(document)
    if not found:
        return []
    return ["## Scaling", "", SCALING, "", *table(header(document), found, left=TEXTS)]


def bounds_as(found: Mapping[str, Any] | None, written: Callable[[float], str]) -> str:
    """An interval in a table; a dash where there is none."""
    return "-" if found is None else f"{written(found['low'])} to {written(found['high'])}"
