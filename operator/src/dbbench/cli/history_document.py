"""What a history has come to: its answer, and all of it as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench import stats
from dbbench.api.status import ConditionType
from dbbench.results.figures import bounds, interval, percent
from dbbench.results.history import History, Point, Series, news
from dbbench.stats import LogEstimate
from dbbench.stats.history import PERMUTATIONS
from dbbench.stats.interval import slowdown_bounds, slowdown_of
from dbbench.stats.trend import Step, Trend, TrendVerdict, fewest_values

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Findings:
    """Series with their trends in the same order; `history` is None for a file of measurements."""

    series: Sequence[Series]
    trends: Sequence[Trend]
    seed: int
    significance: float
    history: History | None

    def changes(self) -> Iterator[tuple[Series, Step]]:
        """Every change, with the series that it is one of."""
        for series, trend in zip(self.series, self.trends, strict=True):
            for step in trend.steps:
                yield series, step


def to_document(found: Findings) -> dict[str, Any]:
    """JSON-compatible; the layout is in docs/reference/cli.md."""
    document = {
        "kind": "History",
        "schemaVersion": SCHEMA_VERSION,
        "answer": answer(found),
        "seed": found.seed,
        "significance": found.significance,
        "permutations": PERMUTATIONS,
        "confidence": stats.CONFIDENCE,
        "margin": stats.MARGIN,
        "series": len(found.series),
        "trends": [
            _trend(series, trend) for series, trend in zip(found.series, found.trends, strict=True)
        ],
        "changes": [
            {
                "target": series.target,
                "cell": series.cell,
                "index": step.index,
                "trial": series.points[step.index].trial,
                "p": step.p,
                **_change(step.estimate),
                "verdict": step.verdict.value,
            }
            | _news(found.history, series.points[step.index].trial)
            for series, step in found.changes()
        ],
    }
    return document | (_benchmarks(found.history) if found.history else {})


def answer(found: Findings) -> str:
    """What has regressed, in one sentence; else what can be said instead."""
    count = len(found.series)
    regressed = [
        (slowdown_of(trend.estimate.mean), trend.estimate, series, trend)
        for series, trend in zip(found.series, found.trends, strict=True)
        if trend.verdict is TrendVerdict.REGRESSED and trend.estimate
    ]
    if regressed:
        slowdown, estimate, series, trend = max(regressed, key=lambda one: one[0])
        within = interval(slowdown_bounds(estimate.bounds(stats.CONFIDENCE)))
        since = series.points[trend.current[0]].trial
        others = f", the worst of {len(regressed)}" if len(regressed) > 1 else ""
        return (
            f"{series.target} has regressed in {series.cell}{others}: {percent(slowdown)} "
            f"({within}) since {since}, against {span(series, trend.reference)}."
        )
    few = sum(trend.verdict is TrendVerdict.TOO_FEW for trend in found.trends)
    if few == count:
        return (
            f"Too few values to say: a change needs {fewest_values(found.significance)}, and there "
            f"are {max(len(series.points) for series in found.series)}."
        )
    rest = f"; {few} have too few values" if few else ""
    return f"No regression in {count} series{rest}."


def _trend(series: Series, trend: Trend) -> dict[str, Any]:
    """`reference` and `current` name the first and the last run of the two stretches."""

    def ends(stretch: tuple[int, int]) -> dict[str, str]:
        first, last = _ends(series, stretch)
        return {"first": first.trial, "last": last.trial}

    changed = trend.estimate is not None
    return {
        "target": series.target,
        "cell": series.cell,
        "of": "slowdown" if series.unit is None else "value",
        "unit": series.unit.value if series.unit else None,
        "verdict": trend.verdict.value,
        **(_change(trend.estimate) if trend.estimate else {"slowdown": None, "interval": None}),
        "reference": ends(trend.reference) if changed else None,
        "current": ends(trend.current),
        "points": [
            {"trial": point.trial, "value": point.value, "interval": bounds(point.interval)}
            for point in series.points
        ],
    }


def _change(estimate: LogEstimate) -> dict[str, Any]:
    return {
        "slowdown": slowdown_of(estimate.mean),
        "interval": bounds(slowdown_bounds(estimate.bounds(stats.CONFIDENCE))),
    }


def _news(history: History | None, trial: str) -> dict[str, Any]:
    return {"differences": news(history, trial)} if history else {}


def _benchmarks(history: History) -> dict[str, Any]:
    return {
        "fingerprint": history.fingerprint,
        "baseline": history.baseline,
        "runs": [
            {
                "trial": label,
                "name": run.name,
                "namespace": run.benchmark.metadata.namespace,
                "uid": run.benchmark.metadata.uid,
                "startTime": run.started or None,
                "source": run.source,
                "dbbench": run.summary.get("dbbench"),
                "fairnessVerified": run.condition(ConditionType.FAIRNESS_VERIFIED).value,
                "representative": run.condition(ConditionType.REPRESENTATIVE).value,
            }
            for label, run in history.runs.items()
        ],
        "leftOut": [{"source": source, "reason": reason} for source, reason in history.left_out],
    }


def span(series: Series, stretch: tuple[int, int]) -> str:
    """The runs of a stretch, by the first and the last."""
    first, last = _ends(series, stretch)
    return first.trial if first is last else f"{first.trial} to {last.trial}"


def _ends(series: Series, stretch: tuple[int, int]) -> tuple[Point, Point]:
    return series.points[stretch[0]], series.points[stretch[1] - 1]
