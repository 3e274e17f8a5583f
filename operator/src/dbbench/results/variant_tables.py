"""Variants of a sweep as tables, for both forms of a report. No I/O."""

from dbbench.results.curve_tables import bounds_as
from dbbench.results.figures import level, percent, quantity, value
from dbbench.results.tables import table
from dbbench.results.wording import Document, label

VARIANTS = (
    "What each target has at the variants of an axis. Value: the geometric mean over blocks. To "
    "the first: the slowdown of the same target against the axis's first variant, paired within "
    "blocks; above 0 is slower. Slowdown: against the baseline at the same variant."
)
"""What a table of variants shows."""

TEXTS = 3
"""Its first columns, which are texts."""


def header(document: Document) -> list[str]:
    """The columns of the table."""
    confidence = f"{level(document['confidence'])} interval"
    return [
        "workload", "target", "variant", "value", confidence, "to the first", confidence,
        "slowdown", "verdict", "blocks",
    ]  # fmt: skip


def rows(document: Document) -> list[list[str]]:
    """One for each target at each variant."""
    return [
        [
            "/".join(part for part in (found["workload"], found["fixed"]) if part),
            label(found["target"], found["emulated"]),
            f"{found['axis']}={point['variant']}",
            quantity(point["value"], found["unit"]),
            bounds_as(point["interval"], value),
            "-" if point["slowdownToFirst"] is None else percent(point["slowdownToFirst"]),
            bounds_as(point["slowdownToFirstInterval"], percent),
            "-" if point["slowdown"] is None else percent(point["slowdown"]),
            point["verdict"] or "-",
            str(point["blocks"]),
        ]
        for found in document["variants"]
        for point in found["points"]
    ]


def variants(document: Document) -> list[str]:
    """Section of report.md; empty without variants."""
    found = rows(document)
    if not found:
        return []
    return ["## Variants", "", VARIANTS, "", *table(header(document), found, left=TEXTS)]
