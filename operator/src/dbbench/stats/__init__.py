"""Slowdowns, confidence intervals and verdicts. No I/O."""

from dbbench.stats.comparison import (
    CONFIDENCE,
    MARGIN,
    AggregateSlowdowns,
    ComparisonTable,
    Gap,
    Sample,
    Share,
    Slowdown,
    Unit,
    compare,
    verdict,
)

__all__ = [
    "CONFIDENCE",
    "MARGIN",
    "AggregateSlowdowns",
    "ComparisonTable",
    "Gap",
    "Sample",
    "Share",
    "Slowdown",
    "Unit",
    "compare",
    "verdict",
]
