"""Tests of causes: which are to be made after the trials, and what came of them. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from dbbench import stats
from dbbench.api import status
from dbbench.api.benchmark import DBBenchmark
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import ConfirmationVerdict, Intervention, Verdict
from dbbench.explain import TESTS, Cause
from dbbench.plan import Cell
from dbbench.plan.intervention import CHANGES, confirming, interventions
from dbbench.results.analysis import Analysis, MetricComparison
from dbbench.results.causes import LABELS, named
from dbbench.results.figures import decimal, interval, level, percent
from dbbench.results.record import TrialRecord
from dbbench.results.samples import primary_samples
from dbbench.stats import LogEstimate, Slowdown, compare, judge
from dbbench.stats.interval import difference, slowdown_bounds, slowdown_of

_VERDICTS = {
    # Of the ratio of the slowdown without the change to that with it.
    Verdict.SLOWER: ConfirmationVerdict.CONFIRMED,
    Verdict.EQUIVALENT: ConfirmationVerdict.NOT_CONFIRMED,
    Verdict.FASTER: ConfirmationVerdict.NOT_CONFIRMED,
    Verdict.INCONCLUSIVE: ConfirmationVerdict.INCONCLUSIVE,
}


@dataclass(frozen=True)
class CauseTest:
    """The test of one slowdown's cause; without an intervention nothing is measured for it."""

    found: MetricComparison
    cause: Cause | None
    intervention: Intervention | None

    @property
    def cell(self) -> Cell | None:
        """Where it is measured."""
        if self.intervention is None:
            return None
        return confirming(self.found.cell, self.intervention)


@dataclass(frozen=True)
class Confirmation:
    """What came of a test. `reduction` is the log of the ratio of both slowdowns' ratios.

    `after` and `reduction` are None as long as no block is measured on both sides.
    """

    test: CauseTest
    after: Slowdown | None
    reduction: LogEstimate | None
    verdict: ConfirmationVerdict

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the reduction, as a ratio minus 1."""
        if self.reduction is None:
            return None
        return slowdown_bounds(self.reduction.bounds(stats.CONFIDENCE))

    @property
    def reduced(self) -> float | None:
        """The reduction as a ratio minus 1."""
        return None if self.reduction is None else slowdown_of(self.reduction.mean)

    @property
    def message(self) -> str:
        """What came of it, in one sentence."""
        test = self.test
        if test.cause is None:
            return "the cause is unexplained, so that there is nothing to test"
        label = LABELS[test.cause]
        if test.intervention is None:
            known = " or ".join(CHANGES[one] for one in TESTS.get(test.cause, ()))
            reason = (
                f"{known} would change nothing here" if known else "no single change removes it"
            )
            return f"{label}: not tested, because {reason}"
        change = CHANGES[test.intervention]
        if self.after is None or self.reduced is None:
            return f"{label}: not measured yet with {change}"
        bounds = self.interval
        sure = f", {level(stats.CONFIDENCE)} interval {interval(bounds)}" if bounds else ""
        return (
            f"{label}: {_WORDS[self.verdict]}; with {change} the slowdown is "
            f"{percent(self.after.relative)} instead of {percent(test.found.slowdown.relative)} "
            f"(reduction {percent(self.reduced)}{sure})"
        )

    def as_status(self) -> status.Confirmation:
        """The same as status shows it."""
        test, after, bounds = self.test, self.after, self.interval
        return status.Confirmation(
            workload=test.found.cell.workload,
            cell=test.found.cell.name,
            target=test.found.slowdown.target,
            cause="" if test.cause is None else test.cause.value,
            intervention=test.intervention,
            slowdown_before=decimal(test.found.slowdown.relative),
            slowdown_after=None if after is None else decimal(after.relative),
            reduction=None if self.reduced is None else decimal(self.reduced),
            confidence_interval=None
            if bounds is None
            else status.ConfidenceInterval(
                low=decimal(bounds[0]), high=decimal(bounds[1]), level=decimal(stats.CONFIDENCE)
            ),
            verdict=self.verdict,
            blocks=0 if after is None else after.trials,
            message=self.message,
        )


_WORDS = {
    ConfirmationVerdict.CONFIRMED: "confirmed",
    ConfirmationVerdict.NOT_CONFIRMED: "not confirmed",
    ConfirmationVerdict.INCONCLUSIVE: "inconclusive",
}


def cause_tests(spec: DBBenchmarkSpec, analysis: Analysis) -> tuple[CauseTest, ...]:
    """One for every primary slowdown of an analysis of all trials, in the order of comparisons."""
    found = []
    for one in analysis.primary:
        if one.slowdown.verdict is Verdict.SLOWER and one.explained:
            cause = named(one.account, one.slowdown.verdict)
            possible = interventions(spec, one.cell, one.slowdown.target)
            tests = TESTS.get(cause, ()) if cause else ()
            fitting = next((test for test in tests if test in possible), None)
            found.append(CauseTest(one, cause, fitting))
    return tuple(found)


def measured_on(spec: DBBenchmarkSpec, tests: Sequence[CauseTest]) -> dict[Cell, list[str]]:
    """The cells that are measured for the tests, each with its targets, the baseline first."""
    found: dict[Cell, list[str]] = {}
    for test in tests:
        if test.cell is not None:
            found.setdefault(test.cell, [spec.baseline]).append(test.found.slowdown.target)
    return found


def confirmations(
    benchmark: DBBenchmark, tests: Sequence[CauseTest], records: Sequence[TrialRecord]
) -> tuple[Confirmation, ...]:
    """What came of the tests so far, judged as one family."""
    baseline = benchmark.spec.baseline
    samples = primary_samples(benchmark, records, measured_on(benchmark.spec, tests))
    slowdowns = {
        (cell, slowdown.target): slowdown
        for cell, found in samples.items()
        for slowdown in compare(found, baseline).slowdowns
        if slowdown.paired
    }
    after = [
        None if test.cell is None else slowdowns.get((test.cell, test.found.slowdown.target))
        for test in tests
    ]
    reductions = [
        None if found is None else difference(test.found.slowdown.estimate, found.estimate)
        for test, found in zip(tests, after, strict=True)
    ]
    known = [reduction for reduction in reductions if reduction is not None]
    judgements = iter(judge(known, confidence=stats.CONFIDENCE, margin=stats.MARGIN))
    return tuple(
        Confirmation(
            test,
            slowdown,
            reduction,
            ConfirmationVerdict.NOT_TESTED
            if test.cell is None
            else ConfirmationVerdict.INCONCLUSIVE
            if reduction is None
            else _VERDICTS[next(judgements).verdict],
        )
        for test, slowdown, reduction in zip(tests, after, reductions, strict=True)
    )
