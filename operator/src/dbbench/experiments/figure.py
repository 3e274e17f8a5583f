"""One figure of two sides, as a study printed it or as a benchmark measured it. No I/O."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What a baseline and a target had; what was not printed or not measured is None.

    `unit` is seconds, per_second, per_minute, count or bytes. `slowdown` is a ratio, 0.078 for
    7.8 %; `difference` is in the unit. A verdict and an interval have measured figures alone.
    """

    unit: str
    baseline: float | None = None
    target: float | None = None
    difference: float | None = None
    slowdown: float | None = None
    interval: tuple[float, float] | None = None
    verdict: str = ""


Figures = dict[str, Figure]
"""By the name of a table's row, in the order of the table."""

AGGREGATES = {
    "meanOfSlowdowns": "mean of slowdowns",
    "slowdownOfTotal": "slowdown of the total",
    "geometricMean": "geometric mean of ratios",
}
"""Fields of a comparison's aggregates, and the rows that they stand in."""
