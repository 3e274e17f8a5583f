"""Three aggregates of slowdowns over several cells, and each cell's share. No I/O."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbbench.stats.interval import LogEstimate, jackknife, slowdown_bounds, slowdown_of
from dbbench.stats.measure import Unit

Bounds = tuple[float, float] | None

LogPair = tuple[float, float]
"""Logarithms of the times of baseline and target in one cell."""


@dataclass(frozen=True)
class Share:
    """What one cell is of the total.

    `of_baseline`: share of the baseline's total (the shares add up to 1). `contribution`: its part
    of the slowdown of the total (the contributions add up to `slowdown_of_total`).
    """

    cell: str
    of_baseline: float
    contribution: float


@dataclass(frozen=True)
class AggregateSlowdowns:
    """Three aggregates over the cells of one target and unit; they can differ in sign.

    `mean_of_slowdowns`: arithmetic mean of the relative slowdowns. `slowdown_of_total`: of the sum
    of the times; a rate r counts as the time 1/r that one unit of work takes. `geometric_mean`: of
    the ratios, minus 1. Their intervals come from blocks that all cells share, and are None where
    there are fewer than two of those.
    """

    target: str
    unit: Unit
    cells: int
    mean_of_slowdowns: float
    slowdown_of_total: float
    geometric_mean: float
    shares: tuple[Share, ...]
    mean_interval: Bounds = None
    total_interval: Bounds = None
    geometric_interval: Bounds = None


@dataclass(frozen=True)
class CellTimes:
    """One cell: logarithms of the times of baseline and target, or for one unit of work.

    `logs` are the estimated ones, `blocks` those of each block that the estimate comes from, and
    `gaps` how much later the target was measured in it; both are empty where blocks do not pair.
    """

    cell: str
    logs: LogPair
    blocks: Mapping[str, LogPair]
    gaps: Mapping[str, float]


def aggregate(
    target: str, unit: Unit, cells: Sequence[CellTimes], confidence: float
) -> AggregateSlowdowns:
    """The three aggregates of at least one cell."""
    pairs = [cell.logs for cell in cells]
    total = _log_sum([before for before, _ in pairs])
    shared = _shared_blocks(cells)
    gaps = [cells[0].gaps[block] for block in shared if block in cells[0].gaps]
    without = [
        [_geometric(cell, [block for block in shared if block != out]) for cell in cells]
        for out in shared
    ] if len(shared) > 1 else []  # fmt: skip

    def interval(statistic: Callable[[Sequence[LogPair]], float]) -> Bounds:
        if not without:
            return None
        everything = [_geometric(cell, shared) for cell in cells]
        spread = jackknife(
            statistic(everything),
            [statistic(rest) for rest in without],
            gaps if len(gaps) == len(shared) else None,
        )
        estimate = LogEstimate(statistic(pairs), spread.error, spread.degrees)
        return slowdown_bounds(estimate.bounds(confidence))

    return AggregateSlowdowns(
        target=target,
        unit=unit,
        cells=len(cells),
        mean_of_slowdowns=slowdown_of(_log_mean(pairs)),
        slowdown_of_total=slowdown_of(_log_total(pairs)),
        geometric_mean=slowdown_of(_log_geometric(pairs)),
        shares=tuple(
            Share(
                cell.cell,
                math.exp(before - total),
                math.exp(before - total) * slowdown_of(after - before),
            )
            for cell, (before, after) in zip(cells, pairs, strict=True)
        ),
        mean_interval=interval(_log_mean),
        total_interval=interval(_log_total),
        geometric_interval=interval(_log_geometric),
    )


def _shared_blocks(cells: Sequence[CellTimes]) -> list[str]:
    shared = set(cells[0].blocks).intersection(*(cell.blocks for cell in cells))
    return sorted(shared)


def _geometric(cell: CellTimes, blocks: Sequence[str]) -> LogPair:
    """Geometric means of both sides over some blocks."""
    before = math.fsum(cell.blocks[block][0] for block in blocks) / len(blocks)
    after = math.fsum(cell.blocks[block][1] for block in blocks) / len(blocks)
    return before, after


def _log_mean(pairs: Sequence[LogPair]) -> float:
    return _log_sum([after - before for before, after in pairs]) - math.log(len(pairs))


def _log_total(pairs: Sequence[LogPair]) -> float:
    return _log_sum([after for _, after in pairs]) - _log_sum([before for before, _ in pairs])


def _log_geometric(pairs: Sequence[LogPair]) -> float:
    return math.fsum(after - before for before, after in pairs) / len(pairs)


def _log_sum(logs: Sequence[float]) -> float:
    """The logarithm of the sum, also where a summand is beyond all numbers."""
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs))
