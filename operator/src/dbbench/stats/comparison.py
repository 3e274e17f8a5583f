"""Slowdowns of targets against a baseline, with intervals, verdicts and aggregates. No I/O.

Definitions (the same for `dbbench compare` and for the operator):

* Slowdown of a time: target / baseline - 1. Slowdown of a rate (a throughput): baseline / target
  - 1. Both say how much longer the same work takes; 0.078 is 7.8 % slower.
* Samples of one cell with the same `trial` on both sides belong to one block and are compared
  pair by pair; samples without a partner are left out and counted. Where no trial is on both
  sides, the sides are compared as independent samples (Welch).
* Where deployments are named, each counts as one value: the mean of its blocks.
* The value of a cell with several trials is the geometric mean of the trials, at the middle of the
  block where drift within blocks is known, so that the ratio of the two values shown is exactly
  the estimated ratio. With one trial it is the value itself.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dbbench.api.status import Verdict
from dbbench.stats import interval
from dbbench.stats.aggregates import AggregateSlowdowns, CellTimes, LogPair, aggregate
from dbbench.stats.interval import LogEstimate, slowdown_bounds, slowdown_of
from dbbench.stats.measure import Sample, Unit
from dbbench.stats.verdict import above_floor, judge

CONFIDENCE = 0.95
MARGIN = 0.01


@dataclass(frozen=True)
class Slowdown:
    """One target against the baseline in one cell.

    `absolute` is target minus baseline in `unit` (negative for a rate that fell). `relative` and
    `interval` are ratios minus 1, by the definitions of this module. `trials` counts the pairs, or
    without pairs the values of the smaller side; `unpaired` the samples left out; `deployments`
    those that the interval rests on, 0 where none are named. `verdict` and `adjusted_p` are those
    of the family that the comparison was judged in. `noise_floor` is a ratio: how far from 0 the
    control's interval reaches; None without a control or its interval.
    """

    cell: str
    target: str
    unit: Unit
    baseline_value: float
    target_value: float
    absolute: float
    relative: float
    interval: tuple[float, float] | None
    trials: int
    estimate: LogEstimate
    paired: bool = True
    unpaired: int = 0
    deployments: int = 0
    verdict: Verdict = Verdict.INCONCLUSIVE
    adjusted_p: float = 1.0
    noise_floor: float | None = None


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
    """Every other target against `baseline`, cell by cell, judged as one family.

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
    groups: dict[tuple[str, Unit], list[CellTimes]] = defaultdict(list)
    gaps: list[Gap] = []
    for cell, by_target in values.items():
        if baseline not in by_target:
            gaps.append(Gap(baseline, cell))
            continue
        for target in others:
            if target not in by_target:
                gaps.append(Gap(target, cell))
                continue
            pairing = _Pairing(units[cell], by_target[baseline], by_target[target])
            slowdowns.append(pairing.slowdown(cell, target, confidence))
            groups[target, units[cell]].append(pairing.times(cell))
    return ComparisonTable(
        baseline,
        confidence,
        margin,
        judged(slowdowns, confidence=confidence, margin=margin),
        tuple(
            aggregate(target, unit, cells, confidence) for (target, unit), cells in groups.items()
        ),
        tuple(gaps),
    )


def judged(
    slowdowns: Sequence[Slowdown],
    *,
    confidence: float = CONFIDENCE,
    margin: float = MARGIN,
    floors: Sequence[float] | None = None,
) -> tuple[Slowdown, ...]:
    """The slowdowns with the verdicts that they have as one family.

    `floors` gives the noise floor of each: how far from 0 the control's interval reaches. It is 0
    where there is no control, and infinite where its interval is not known yet.
    """
    found = judge(
        [slowdown.estimate for slowdown in slowdowns], confidence=confidence, margin=margin
    )
    return tuple(
        replace(
            slowdown,
            adjusted_p=judgement.adjusted_p,
            verdict=above_floor(judgement.verdict, slowdown.relative, margin, floor),
            noise_floor=floor if 0 < floor < math.inf else None,
        )
        for slowdown, judgement, floor in zip(
            slowdowns, found, floors or [0.0] * len(slowdowns), strict=True
        )
    )


_Trial = tuple[str, str]
"""Deployment and trial: what pairs the samples of one cell."""


def _group(
    samples: Iterable[Sample],
) -> tuple[dict[str, dict[str, dict[_Trial, Sample]]], dict[str, Unit]]:
    """Samples by cell, target and trial; the unit of each cell."""
    values: dict[str, dict[str, dict[_Trial, Sample]]] = defaultdict(lambda: defaultdict(dict))
    units: dict[str, Unit] = {}
    for sample in samples:
        where = f"cell {sample.cell!r}, target {sample.target!r}, trial {sample.trial!r}"
        if not (math.isfinite(sample.value) and sample.value > 0):
            raise ValueError(f"{where}: {sample.value} is not a positive number")
        if units.setdefault(sample.cell, sample.unit) != sample.unit:
            raise ValueError(f"{where}: {sample.unit}, but before in {units[sample.cell]}")
        trials = values[sample.cell][sample.target]
        key = (sample.deployment, sample.trial)
        if key in trials:
            raise ValueError(f"{where}: a second value")
        trials[key] = sample
    return values, units


class _Pairing:
    """The two sides of one comparison, block by block where they can be."""

    def __init__(
        self, unit: Unit, baseline: Mapping[_Trial, Sample], target: Mapping[_Trial, Sample]
    ) -> None:
        self._unit = unit
        self._baseline, self._target = baseline, target
        # Sorted, so that the order of the samples changes nothing, not even the last bit.
        self._common = sorted(baseline.keys() & target.keys())
        self._deployments = sorted({name for name, _ in self._common if name})
        # What is sampled at random: deployments where they are named, else blocks.
        units: dict[str, list[_Trial]] = defaultdict(list)
        for trial in self._common:
            units[trial[0] if self._deployments else trial[1]].append(trial)
        self._units = {name: self._log_pair(trials) for name, trials in units.items()}
        self._gaps = self._known_gaps(units)
        self._estimate = self._estimated()
        # Logarithms of times, or of the time for one unit of work.
        self._logs = self._middle()

    def _known_gaps(self, units: Mapping[str, Sequence[_Trial]]) -> dict[str, float]:
        """How much later than the baseline the target was measured; empty unless all are known."""
        found: dict[str, float] = {}
        for name, trials in units.items():
            gaps = []
            for trial in trials:
                before, after = self._baseline[trial].position, self._target[trial].position
                if before is None or after is None:
                    return {}
                gaps.append(after - before)
            found[name] = _mean(gaps)
        return found

    def _estimated(self) -> LogEstimate:
        if self._units:
            ratios = [after - before for before, after in self._units.values()]
            return interval.paired(ratios, list(self._gaps.values()) or None)
        return interval.independent(self._log_times(self._target), self._log_times(self._baseline))

    def _middle(self) -> LogPair:
        if self._units:
            before = _mean([before for before, _ in self._units.values()])
            after = _mean([after for _, after in self._units.values()])
        else:
            before, after = (
                _mean(self._log_times(side)) for side in (self._baseline, self._target)
            )
        # What drift within blocks added to the ratio is taken from both sides alike.
        drift = (after - before) - self._estimate.mean
        return before + drift / 2, after - drift / 2

    def slowdown(self, cell: str, target: str, confidence: float) -> Slowdown:
        base, other = self._picked(self._baseline), self._picked(self._target)
        if len(base) == len(other) == 1:
            # Not by way of logarithms: a single value is shown as it was given.
            baseline_value, target_value = base[0].value, other[0].value
        else:
            sign = -1 if self._unit.is_rate else 1
            baseline_value, target_value = (math.exp(sign * log) for log in self._logs)
        left_out = len(self._baseline) + len(self._target) - 2 * len(self._common)
        return Slowdown(
            cell=cell,
            target=target,
            unit=self._unit,
            baseline_value=baseline_value,
            target_value=target_value,
            absolute=target_value - baseline_value,
            relative=slowdown_of(self._estimate.mean),
            interval=slowdown_bounds(self._estimate.bounds(confidence)),
            trials=min(len(base), len(other)),
            estimate=self._estimate,
            paired=bool(self._common),
            unpaired=left_out if self._common else 0,
            deployments=len(self._deployments),
        )

    def times(self, cell: str) -> CellTimes:
        return CellTimes(cell, self._logs, self._units, self._gaps)

    def _picked(self, side: Mapping[_Trial, Sample]) -> list[Sample]:
        return [side[trial] for trial in self._common or sorted(side)]

    def _log_pair(self, trials: Sequence[_Trial]) -> LogPair:
        return (
            _mean([self._log_time(self._baseline[trial]) for trial in trials]),
            _mean([self._log_time(self._target[trial]) for trial in trials]),
        )

    def _log_times(self, side: Mapping[_Trial, Sample]) -> list[float]:
        return [self._log_time(side[trial]) for trial in sorted(side)]

    def _log_time(self, sample: Sample) -> float:
        return -math.log(sample.value) if self._unit.is_rate else math.log(sample.value)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
