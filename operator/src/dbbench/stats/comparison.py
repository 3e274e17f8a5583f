"""Slowdowns of targets against a baseline, with intervals, verdicts and aggregates. No I/O.

Definitions (the same for `dbbench compare` and for the operator):

* The value of a cell with several trials is the geometric mean of the trials, so that the ratio of
  the two values shown is exactly the estimated ratio. With one trial it is the value itself.
* Slowdown of a time: target / baseline - 1. Slowdown of a rate (a throughput): baseline / target
  - 1. Both say how much longer the same work takes; 0.078 is 7.8 % slower.
* Samples of one cell with the same `trial` on both sides belong to one block and are compared
  pair by pair; samples without a partner are left out and counted. Where no trial is on both
  sides, the sides are compared as independent samples (Welch).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dbbench.api.status import Verdict
from dbbench.stats import interval

CONFIDENCE = 0.95
MARGIN = 0.01

# exp() of more than about 709 is no longer a number: an interval is cut off there.
_LARGEST_EXPONENT = 700.0


class Unit(StrEnum):
    SECONDS = "seconds"
    PER_SECOND = "per_second"
    PER_MINUTE = "per_minute"

    @property
    def is_rate(self) -> bool:
        """True where more is better."""
        return self is not Unit.SECONDS


@dataclass(frozen=True)
class Sample:
    """One measured value; `trial` names the block that it belongs to, the same on all targets."""

    target: str
    cell: str
    trial: str
    value: float
    unit: Unit


@dataclass(frozen=True)
class Slowdown:
    """One target against the baseline in one cell.

    `absolute` is target minus baseline in `unit` (negative for a rate that fell). `relative` and
    `interval` are ratios minus 1, by the definitions of this module. `trials` counts the pairs, or
    without pairs the values of the smaller side; `unpaired` the samples left out.
    """

    cell: str
    target: str
    unit: Unit
    baseline_value: float
    target_value: float
    absolute: float
    relative: float
    interval: tuple[float, float] | None
    verdict: Verdict
    trials: int
    paired: bool = True
    unpaired: int = 0


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
    the ratios, minus 1.
    """

    target: str
    unit: Unit
    cells: int
    mean_of_slowdowns: float
    slowdown_of_total: float
    geometric_mean: float
    shares: tuple[Share, ...]


@dataclass(frozen=True)
class Gap:
    """A cell that could not be compared, because `target` has no value for it."""

    target: str
    cell: str


@dataclass(frozen=True)
class ComparisonTable:
    """All comparisons with one baseline, cells and targets in order of first appearance."""

    baseline: str
    confidence: float
    margin: float
    slowdowns: tuple[Slowdown, ...]
    aggregates: tuple[AggregateSlowdowns, ...]
    gaps: tuple[Gap, ...]

    def aggregate(self, target: str, unit: Unit) -> AggregateSlowdowns | None:
        """The aggregates of that target and unit; None when nothing was compared."""
        for found in self.aggregates:
            if (found.target, found.unit) == (target, unit):
                return found
        return None


def compare(
    samples: Iterable[Sample],
    baseline: str,
    *,
    confidence: float = CONFIDENCE,
    margin: float = MARGIN,
) -> ComparisonTable:
    """Every other target against `baseline`, cell by cell.

    Cells that a side lacks are listed in `gaps`. Raises ValueError for a value that is not a
    positive finite number, two units in one cell, two samples of one trial, a confidence outside
    (0, 1) and a negative margin.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
    if not margin >= 0:
        raise ValueError(f"margin must not be negative, not {margin}")
    values, units = _group(samples)
    targets = list(dict.fromkeys(target for by_target in values.values() for target in by_target))
    others = [target for target in targets if target != baseline]
    slowdowns: list[Slowdown] = []
    gaps: list[Gap] = []
    for cell, by_target in values.items():
        if baseline not in by_target:
            gaps.append(Gap(baseline, cell))
            continue
        for target in others:
            if target not in by_target:
                gaps.append(Gap(target, cell))
                continue
            slowdowns.append(
                _slowdown(
                    cell,
                    target,
                    units[cell],
                    by_target[baseline],
                    by_target[target],
                    confidence,
                    margin,
                )
            )
    return ComparisonTable(
        baseline, confidence, margin, tuple(slowdowns), _aggregates(slowdowns), tuple(gaps)
    )


def verdict(bounds: tuple[float, float] | None, margin: float) -> Verdict:
    """What an interval of a slowdown allows to say.

    Equivalent: the whole interval lies within plus or minus `margin` (the margin included). Else
    Slower: the interval lies above 0. Faster: it lies below 0. Else, and without an interval,
    Inconclusive. A slowdown that is real but smaller than the margin is thus Equivalent.
    """
    if bounds is None:
        return Verdict.INCONCLUSIVE
    low, high = bounds
    if -margin <= low and high <= margin:
        return Verdict.EQUIVALENT
    if low > 0:
        return Verdict.SLOWER
    if high < 0:
        return Verdict.FASTER
    return Verdict.INCONCLUSIVE


def _group(
    samples: Iterable[Sample],
) -> tuple[dict[str, dict[str, dict[str, float]]], dict[str, Unit]]:
    """Values by cell, target and trial; the unit of each cell."""
    values: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    units: dict[str, Unit] = {}
    for sample in samples:
        where = f"cell {sample.cell!r}, target {sample.target!r}, trial {sample.trial!r}"
        if not (math.isfinite(sample.value) and sample.value > 0):
            raise ValueError(f"{where}: {sample.value} is not a positive number")
        if units.setdefault(sample.cell, sample.unit) != sample.unit:
            raise ValueError(f"{where}: {sample.unit}, but before in {units[sample.cell]}")
        trials = values[sample.cell][sample.target]
        if sample.trial in trials:
            raise ValueError(f"{where}: a second value")
        trials[sample.trial] = sample.value
    return values, units


def _slowdown(
    cell: str,
    target: str,
    unit: Unit,
    baseline_values: Mapping[str, float],
    target_values: Mapping[str, float],
    confidence: float,
    margin: float,
) -> Slowdown:
    # Sorted, so that the order of the samples changes nothing, not even the last bit.
    common = sorted(baseline_values.keys() & target_values.keys())
    base = _logs(baseline_values, common or sorted(baseline_values))
    other = _logs(target_values, common or sorted(target_values))
    longer, shorter = (base, other) if unit.is_rate else (other, base)
    if common:
        estimate = interval.paired(
            [above - below for above, below in zip(longer, shorter, strict=True)], confidence
        )
    else:
        estimate = interval.independent(longer, shorter, confidence)
    bounds = None
    if estimate.interval is not None:
        low, high = estimate.interval
        bounds = _ratio_minus_one(low), _ratio_minus_one(high)
    if len(base) == len(other) == 1:
        # Not by way of logarithms: a single value is shown as it was given.
        baseline_value = next(iter(_picked(baseline_values, common)))
        target_value = next(iter(_picked(target_values, common)))
    else:
        baseline_value = math.exp(math.fsum(base) / len(base))
        target_value = math.exp(math.fsum(other) / len(other))
    return Slowdown(
        cell=cell,
        target=target,
        unit=unit,
        baseline_value=baseline_value,
        target_value=target_value,
        absolute=target_value - baseline_value,
        relative=_ratio_minus_one(estimate.mean),
        interval=bounds,
        verdict=verdict(bounds, margin),
        trials=min(len(base), len(other)),
        paired=bool(common),
        unpaired=len(baseline_values) + len(target_values) - 2 * len(common) if common else 0,
    )


def _picked(values: Mapping[str, float], trials: Sequence[str]) -> list[float]:
    return [values[trial] for trial in trials] if trials else list(values.values())


def _logs(values: Mapping[str, float], trials: Sequence[str]) -> list[float]:
    return [math.log(values[trial]) for trial in trials]


def _ratio_minus_one(logarithm: float) -> float:
    return math.expm1(min(logarithm, _LARGEST_EXPONENT))


def _aggregates(slowdowns: Sequence[Slowdown]) -> tuple[AggregateSlowdowns, ...]:
    groups: dict[tuple[str, Unit], list[Slowdown]] = defaultdict(list)
    for slowdown in slowdowns:
        groups[slowdown.target, slowdown.unit].append(slowdown)
    return tuple(_aggregate(target, unit, group) for (target, unit), group in groups.items())


def _aggregate(target: str, unit: Unit, group: Sequence[Slowdown]) -> AggregateSlowdowns:
    times = [_times(slowdown) for slowdown in group]
    total = math.fsum(before for before, _ in times)
    logs = [math.log1p(slowdown.relative) for slowdown in group]
    return AggregateSlowdowns(
        target=target,
        unit=unit,
        cells=len(group),
        mean_of_slowdowns=math.fsum(slowdown.relative for slowdown in group) / len(group),
        slowdown_of_total=math.fsum(after - before for before, after in times) / total,
        geometric_mean=_ratio_minus_one(math.fsum(logs) / len(logs)),
        shares=tuple(
            Share(slowdown.cell, before / total, (after - before) / total)
            for slowdown, (before, after) in zip(group, times, strict=True)
        ),
    )


def _times(slowdown: Slowdown) -> tuple[float, float]:
    """Baseline's and target's time for the cell, or for one unit of its work."""
    if slowdown.unit.is_rate:
        return 1 / slowdown.baseline_value, 1 / slowdown.target_value
    return slowdown.baseline_value, slowdown.target_value
