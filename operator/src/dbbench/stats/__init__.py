"""Slowdowns, confidence intervals and verdicts. No I/O."""

from dbbench.stats.aggregates import AggregateSlowdowns, Share
from dbbench.stats.comparison import (
    CONFIDENCE,
    MARGIN,
    ComparisonTable,
    Gap,
    Slowdown,
    compare,
    judged,
)
from dbbench.stats.interval import LogEstimate
from dbbench.stats.measure import Sample, Unit
from dbbench.stats.verdict import judge, reach, verdict

__all__ = [
    "CONFIDENCE",
    "MARGIN",
    "AggregateSlowdowns",
    "ComparisonTable",
    "Gap",
    "LogEstimate",
    "Sample",
    "Share",
    "Slowdown",
    "Unit",
    "compare",
    "judge",
    "judged",
    "reach",
    "verdict",
]
