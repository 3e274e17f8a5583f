"""From trial records to usable trials, and from these to the samples that are compared. No I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.workload import Workload
from dbbench.explain import observe, observe_queries
from dbbench.plan import Cell, cells
from dbbench.results import driver_result
from dbbench.results.driver_result import UNIT_COST, ResultError
from dbbench.results.operations import MeasuredTrial, natural
from dbbench.results.record import Outcome, TrialRecord
from dbbench.stats import Sample, Slowdown, Unit, compare

TOTAL_RUNTIME = "totalRuntime"
THROUGHPUT = "throughput"
PRIMARY_UNITS = {
    TOTAL_RUNTIME: Unit.SECONDS,
    THROUGHPUT: Unit.PER_SECOND,
    UNIT_COST: Unit.SECONDS,
}


@dataclass(frozen=True)
class Unusable:
    """A Measured record without a figure to compare, and why."""

    trial: str
    attempt: int
    reason: str


def primary_metric(workload: Workload) -> str:
    """The metric that a workload is judged by."""
    if workload.micro:
        return UNIT_COST
    return TOTAL_RUNTIME if workload.tpch else THROUGHPUT


def primary_slowdowns(
    benchmark: DBBenchmark, records: Sequence[TrialRecord]
) -> tuple[Slowdown, ...]:
    """The slowdowns that the precision of a run is judged by, and nothing else of the analysis."""
    return tuple(
        slowdown
        for samples in primary_samples(benchmark, records).values()
        for slowdown in compare(samples, benchmark.spec.baseline).slowdowns
    )


def primary_samples(
    benchmark: DBBenchmark, records: Sequence[TrialRecord], of: Iterable[Cell] | None = None
) -> dict[Cell, list[Sample]]:
    """What each cell of the spec, or of `of`, is judged by: one value for each usable trial."""
    latest = latest_measured(records)
    found: dict[Cell, list[Sample]] = {}
    for cell in cells(benchmark.spec) if of is None else of:
        primary = primary_metric(benchmark.spec.workload(cell.workload))
        trials, _ = usable(
            benchmark.spec,
            [one for one in latest if (one.workload, one.cell) == (cell.workload, cell.name)],
            primary,
        )
        found[cell] = metric_samples(trials, primary, PRIMARY_UNITS[primary])
    return found


def latest_measured(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """One record for each trial, in the order of blocks: the last measured attempt."""
    latest: dict[tuple[int, str, str, str], TrialRecord] = {}
    for record in sorted(records, key=lambda record: (record.block, record.trial, record.attempt)):
        if record.outcome is Outcome.MEASURED:
            latest[record.block, record.target, record.workload, record.cell] = record
    return list(latest.values())


def usable(
    spec: DBBenchmarkSpec, records: Sequence[TrialRecord], primary: str
) -> tuple[list[MeasuredTrial], list[Unusable]]:
    """Trials whose result can be read and has the primary metric, and what the others lack."""
    trials: list[MeasuredTrial] = []
    refused: list[Unusable] = []
    for record in records:
        try:
            result = driver_result.read(record.result)
            if primary not in result.metrics:
                raise ResultError(f"there is no metric {primary}")
            if result.metrics[primary].unit is not PRIMARY_UNITS[primary]:
                raise ResultError(f"{primary} is in {result.metrics[primary].unit}")
        except ResultError as error:
            refused.append(Unusable(record.trial, record.attempt, str(error)))
        else:
            started = datetime.fromisoformat(record.started).timestamp()
            seconds = datetime.fromisoformat(record.finished).timestamp() - started
            document = record.result or {}
            trials.append(
                MeasuredTrial(
                    record.target,
                    str(record.block),
                    started,
                    seconds,
                    result,
                    observe(document),
                    observe_queries(document),
                    _shared_deployment(spec, record.block),
                )
            )
    return trials, refused


def _shared_deployment(spec: DBBenchmarkSpec, block: int) -> str:
    """What tells the deployments apart that some blocks share, but not all."""
    trials = spec.trials
    return str(trials.deployed_for(block)) if trials.blocks_per_deployment > 1 else ""


def metrics_of(trials: Sequence[MeasuredTrial], primary: str) -> list[tuple[str, Unit]]:
    """Metrics of any of the trials, the primary one first."""
    found = dict.fromkeys(
        (metric.name, metric.unit) for trial in trials for metric in trial.result.metrics.values()
    )
    return sorted(found, key=lambda metric: metric[0] != primary)


def metric_samples(trials: Sequence[MeasuredTrial], name: str, unit: Unit) -> list[Sample]:
    """One value of a metric for each trial that has it in this unit."""
    return [
        trial.sample(name, metric.value, unit)
        for trial in trials
        if (metric := trial.result.metrics.get(name)) and metric.unit is unit
    ]


def query_samples(trials: Sequence[MeasuredTrial]) -> list[Sample]:
    """The median of each query's measured runs within a trial: one sample for each block."""
    samples = [
        trial.sample(query, seconds, Unit.SECONDS)
        for trial in trials
        for query, seconds in trial.runtimes().items()
    ]
    return sorted(samples, key=lambda sample: natural(sample.cell))
