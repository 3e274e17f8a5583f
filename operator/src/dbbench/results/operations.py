"""Operations of trials: counts, errors, and latencies with the spread over blocks. No I/O."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbbench import stats
from dbbench.explain import Observation
from dbbench.plan import Cell
from dbbench.results.driver_result import DriverResult, Operation
from dbbench.results.latency import (
    FEWEST_FOR_QUANTILES,
    QUANTILES,
    Counts,
    HistogramError,
    Latency,
    decode,
    merge,
)
from dbbench.stats import Sample, Slowdown, Unit
from dbbench.stats.interval import jackknife, slowdown_bounds, slowdown_of


@dataclass(frozen=True)
class OperationFigures:
    """One operation of one cell on one target, the baseline too, over all measured trials.

    `errors` counts by class (SQLSTATE). `latency` is None where no histogram was taken.
    """

    cell: Cell
    target: str
    operation: str
    ok: int
    expected_failures: int
    failed: int
    errors: Mapping[str, int]
    latency: Latency | None


@dataclass(frozen=True)
class MeasuredTrial:
    """A usable trial. `started` is its time as a position in the block, `seconds` its length.

    `deployment` names the deployment that it shares with the trials of other blocks, where these
    are some of all blocks: it is what is sampled at random then. `observation` is what the target's
    agent counted; None without an agent. `queries` is the same of each query apart, by its name,
    where that was counted.
    """

    target: str
    block: str
    started: float
    seconds: float
    result: DriverResult
    observation: Observation | None = None
    queries: Mapping[str, Observation] = field(default_factory=dict)
    deployment: str = ""

    @property
    def unit(self) -> str:
        """What is sampled at random that it belongs to: its deployment, else its block."""
        return self.deployment or self.block

    def sample(self, name: str, value: float, unit: Unit) -> Sample:
        """One figure of the trial; the time of its start is its position in the block."""
        return self.sample_of(self.target, name, value, unit)

    def sample_of(self, side: str, name: str, value: float, unit: Unit) -> Sample:
        """The same where other sides than targets are compared."""
        return Sample(side, name, self.block, value, unit, self.started, self.deployment)

    def runtimes(self) -> dict[str, float]:
        """The median of each query's measured runs, in seconds; only those that took any time."""
        medians = {
            operation.name: statistics.median(operation.runtimes)
            for operation in self.result.operations
            if operation.runtimes
        }
        return {query: seconds for query, seconds in medians.items() if seconds > 0}


def natural(name: str) -> tuple[str, int]:
    """Sorts Q2 before Q10."""
    letters = name.rstrip("0123456789")
    return letters, int(name[len(letters) :] or 0)


def operation_figures(
    cell: Cell, target: str, trials: Sequence[MeasuredTrial]
) -> list[OperationFigures]:
    """What the trials of one cell and target say about each operation, in natural order."""
    by_name: dict[str, list[Operation]] = defaultdict(list)
    for trial in trials:
        for operation in trial.result.operations:
            by_name[operation.name].append(operation)
    return [
        _figures(cell, target, name, found)
        for name, found in sorted(by_name.items(), key=lambda entry: natural(entry[0]))
    ]


def _figures(cell: Cell, target: str, name: str, found: Sequence[Operation]) -> OperationFigures:
    errors: dict[str, int] = defaultdict(int)
    for operation in found:
        for kind, count in operation.errors.items():
            errors[kind] += count
    try:
        latency = merge([operation.histogram for operation in found if operation.histogram])
    except HistogramError:
        # The other figures stand; these latencies are shown as unknown.
        latency = None
    return OperationFigures(
        cell=cell,
        target=target,
        operation=name,
        ok=sum(operation.ok for operation in found),
        expected_failures=sum(operation.expected_failures for operation in found),
        failed=sum(operation.failed for operation in found),
        errors=dict(sorted(errors.items())),
        latency=latency,
    )


def latency_slowdowns(
    baseline: Sequence[MeasuredTrial], target: Sequence[MeasuredTrial]
) -> Iterator[tuple[str, str, Slowdown]]:
    """Operation, quantile and slowdown of each quantile of latency, with intervals over blocks.

    From the blocks that both have. A quantile of all trials together is no mean of blocks, so its
    interval comes from the jackknife, by blocks, or by deployments where several share one.
    Operations with fewer than FEWEST_FOR_QUANTILES values on a side, or with a histogram that
    cannot be read, are left out.
    """
    before, after = _by_block(baseline), _by_block(target)
    first, second = ({trial.block: trial.started for trial in side} for side in (baseline, target))
    unit_of = {trial.block: trial.unit for trial in target}
    for operation in sorted(before.keys() & after.keys(), key=natural):
        blocks = sorted(before[operation].keys() & after[operation].keys(), key=int)
        units: dict[str, list[str]] = defaultdict(list)
        for block in blocks:
            units[unit_of[block]].append(block)
        try:
            pairs = [
                (_together(before[operation], own), _together(after[operation], own))
                for own in units.values()
            ]
        except HistogramError:
            continue
        if not pairs or any(
            sum(side.total for side in sides) < FEWEST_FOR_QUANTILES
            for sides in zip(*pairs, strict=True)
        ):
            continue
        gaps = [
            statistics.fmean(second[block] - first[block] for block in own)
            for own in units.values()
        ]
        for name, quantile in QUANTILES.items():
            found = quantile_slowdown(
                f"{operation} {name}", target[0].target, quantile, pairs, gaps
            )
            yield operation, name, replace(found, trials=len(blocks))


def _together(histograms: Mapping[str, str], blocks: Sequence[str]) -> Counts:
    return Counts.sum([decode(histograms[block]) for block in blocks])


def _by_block(trials: Sequence[MeasuredTrial]) -> dict[str, dict[str, str]]:
    """Histograms by operation and block."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for trial in trials:
        for operation in trial.result.operations:
            if operation.histogram:
                found[operation.name][trial.block] = operation.histogram
    return found


def quantile_slowdown(
    name: str,
    target: str,
    quantile: float,
    pairs: Sequence[tuple[Counts, Counts]],
    gaps: Sequence[float],
) -> Slowdown:
    """One quantile of all blocks together, from the counts of baseline and target in each.

    Of each block, or of each deployment where several blocks share one. `gaps` says how much later
    than the baseline the target was measured, in seconds.
    """
    bases, others = zip(*pairs, strict=True)
    base, other = Counts.sum(bases), Counts.sum(others)
    without = [
        math.log(other.minus(mine).smooth(quantile) / base.minus(own).smooth(quantile))
        for own, mine in pairs
        if len(pairs) > 1
    ]
    before, after = base.at(quantile), other.at(quantile)
    spread = jackknife(math.log(other.smooth(quantile) / base.smooth(quantile)), without, gaps)
    # Shown is the ratio of the two values shown; the smoothed one says how much it varies.
    estimate = stats.LogEstimate(math.log(after / before), spread.error, spread.degrees)
    return Slowdown(
        cell=name,
        target=target,
        unit=Unit.SECONDS,
        baseline_value=before,
        target_value=after,
        absolute=after - before,
        relative=slowdown_of(estimate.mean),
        interval=slowdown_bounds(estimate.bounds(stats.CONFIDENCE)),
        trials=len(pairs),
        estimate=estimate,
    )
