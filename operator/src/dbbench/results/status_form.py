"""Comparisons as status shows them: numbers are texts there. No I/O."""

from dbbench.api import status
from dbbench.plan import Cell
from dbbench.results.figures import decimal
from dbbench.stats import CONFIDENCE, AggregateSlowdowns, Slowdown


def comparison(
    cell: Cell,
    metric: str,
    slowdown: Slowdown,
    of_queries: AggregateSlowdowns | None,
    cause: str,
    *,
    emulated: bool,
) -> status.Comparison:
    """One comparison as status shows it."""
    interval = None
    if slowdown.interval is not None:
        low, high = slowdown.interval
        interval = status.ConfidenceInterval(
            low=decimal(low), high=decimal(high), level=decimal(CONFIDENCE)
        )
    aggregates = None
    if of_queries is not None:
        aggregates = status.Aggregates(
            mean_of_slowdowns=decimal(of_queries.mean_of_slowdowns),
            slowdown_of_total=decimal(of_queries.slowdown_of_total),
            geometric_mean=decimal(of_queries.geometric_mean),
        )
    return status.Comparison(
        workload=cell.workload,
        cell=cell.name,
        target=slowdown.target,
        metric=metric,
        unit=slowdown.unit.value,
        baseline_value=decimal(slowdown.baseline_value),
        target_value=decimal(slowdown.target_value),
        slowdown=decimal(slowdown.relative),
        confidence_interval=interval,
        verdict=slowdown.verdict,
        blocks=slowdown.trials,
        noise_floor=None if slowdown.noise_floor is None else decimal(slowdown.noise_floor),
        emulated=emulated,
        aggregates=aggregates,
        cause=cause,
    )
