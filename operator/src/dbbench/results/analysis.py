"""From trial records to comparisons: per cell, per query, and the latencies of operations. No I/O.

Only records with outcome Measured count; the others are counted, and shown beside the results.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dbbench import stats
from dbbench.api import status
from dbbench.api.benchmark import DBBenchmark
from dbbench.api.spec import CONTROL
from dbbench.explain import Account
from dbbench.plan import Cell, cells
from dbbench.results.causes import cause, explained, explained_query
from dbbench.results.consolidation import InstanceFigures, instance_figures
from dbbench.results.curves import Curve, curves
from dbbench.results.driver_result import UNIT_COST
from dbbench.results.operations import (
    MeasuredTrial,
    OperationFigures,
    latency_slowdowns,
    operation_figures,
)
from dbbench.results.record import Outcome, TrialRecord
from dbbench.results.repetitions import (
    BlocksPerDeployment,
    Repetitions,
    blocks_per_deployment,
    repetitions,
)
from dbbench.results.samples import (
    PRIMARY_UNITS,
    Unusable,
    latest_measured,
    metric_samples,
    metrics_of,
    primary_metric,
    query_samples,
    usable,
)
from dbbench.results.status_form import comparison
from dbbench.results.variants import VariantComparison, variant_comparisons
from dbbench.stats import AggregateSlowdowns, Slowdown, Unit, compare, judged, reach

# A cost of events is a cause itself, and has none.
_WITHOUT_ACCOUNT = frozenset({UNIT_COST})


@dataclass(frozen=True)
class MetricComparison:
    """One metric of one cell on one target. A primary metric is what the workload is judged by.

    Only a primary metric has an account of its slowdown, and only where both sides have counters.
    """

    cell: Cell
    metric: str
    primary: bool
    slowdown: Slowdown
    aggregates: AggregateSlowdowns | None
    emulated: bool
    account: Account | None = None

    @property
    def explained(self) -> bool:
        """Whether its slowdown has a cause at all, known or not."""
        return self.primary and self.metric not in _WITHOUT_ACCOUNT

    @property
    def cause(self) -> str:
        """The largest cause in one sentence; empty where no slowdown was found."""
        if not self.explained:
            return ""
        return cause(self.account, self.slowdown.verdict, self.emulated)

    def as_status(self) -> status.Comparison:
        """The same as status shows it."""
        return comparison(
            self.cell,
            self.metric,
            self.slowdown,
            self.aggregates,
            self.cause,
            emulated=self.emulated,
        )


@dataclass(frozen=True)
class QueryComparison:
    """One query of a TPC-H cell on one target; `slowdown.cell` is the query's name.

    It has an account only where both sides have counters around each of its runs.
    """

    cell: Cell
    slowdown: Slowdown
    share_of_baseline: float
    contribution: float
    emulated: bool
    account: Account | None = None

    @property
    def cause(self) -> str:
        """The largest cause in one sentence; empty without a slowdown or an account."""
        if self.account is None:
            return ""
        return cause(self.account, self.slowdown.verdict, self.emulated)


@dataclass(frozen=True)
class LatencyComparison:
    """One quantile of one operation's latency; `slowdown.cell` names both: `NEW_ORDER p99`."""

    cell: Cell
    operation: str
    quantile: str
    slowdown: Slowdown
    emulated: bool


@dataclass(frozen=True)
class TrialCounts:
    """Attempts at trials of one target, by outcome."""

    target: str
    measured: int = 0
    invalid: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Analysis:
    """Everything that is computed from the records.

    `controls` compare the baseline with itself; they are in none of the other lists. All verdicts
    are those of families: the primary metrics of the benchmark, its other metrics, its queries, its
    quantiles of latencies.
    """

    metrics: tuple[MetricComparison, ...]
    queries: tuple[QueryComparison, ...]
    controls: tuple[MetricComparison, ...]
    instances: tuple[InstanceFigures, ...]
    operations: tuple[OperationFigures, ...]
    latencies: tuple[LatencyComparison, ...]
    repetitions: tuple[Repetitions, ...]
    deployments: tuple[BlocksPerDeployment, ...]
    curves: tuple[Curve, ...]
    variants: tuple[VariantComparison, ...]
    counts: tuple[TrialCounts, ...]
    unusable: tuple[Unusable, ...]
    emulated_targets: frozenset[str]

    @property
    def primary(self) -> tuple[MetricComparison, ...]:
        """The comparisons that workloads are judged by: one for each cell and target."""
        return tuple(found for found in self.metrics if found.primary)

    @property
    def comparisons(self) -> tuple[status.Comparison, ...]:
        """The same as status shows them."""
        return tuple(found.as_status() for found in self.primary)

    @property
    def instance_results(self) -> tuple[status.InstanceResults, ...]:
        """Instances as status shows them."""
        return tuple(found.as_status() for found in self.instances)


def analyse(
    benchmark: DBBenchmark,
    records: Sequence[TrialRecord],
    emulated_targets: frozenset[str],
    *,
    latencies: bool = True,
) -> Analysis:
    """Compares the targets of `benchmark`, as far as the records go.

    `emulated_targets` are those that ran under software emulation: comparisons with them, and
    with a baseline among them, are marked. Of several measured attempts at a trial the last
    counts. `latencies=False` leaves `operations`, `latencies`, `repetitions`, `deployments`,
    `curves`, `variants` and the accounts of queries empty: merging histograms takes most of the
    time.
    """
    spec = benchmark.spec
    by_cell: dict[tuple[str, str], list[TrialRecord]] = defaultdict(list)
    for record in latest_measured(records):
        by_cell[record.workload, record.cell].append(record)
    metrics: list[MetricComparison] = []
    queries: list[QueryComparison] = []
    operations: list[OperationFigures] = []
    instances: list[InstanceFigures] = []
    tails: list[LatencyComparison] = []
    advices: list[Repetitions] = []
    deployments: list[BlocksPerDeployment] = []
    unusable: list[Unusable] = []
    measured: dict[Cell, list[MeasuredTrial]] = {}
    for cell in cells(spec):
        workload = spec.workload(cell.workload)
        primary = primary_metric(workload)
        own_records = by_cell[cell.workload, cell.name]
        trials, refused = usable(spec, own_records, primary)
        unusable += refused
        measured[cell] = trials
        query_table = compare(query_samples(trials) if workload.tpch else (), spec.baseline)
        for metric, unit in metrics_of(trials, primary):
            table = compare(metric_samples(trials, metric, unit), spec.baseline)
            metrics += [
                MetricComparison(
                    cell=cell,
                    metric=metric,
                    primary=metric == primary,
                    slowdown=slowdown,
                    aggregates=query_table.aggregate(slowdown.target, Unit.SECONDS),
                    emulated=bool({spec.baseline, slowdown.target} & emulated_targets),
                    account=_account(trials, spec.baseline, slowdown)
                    if metric == primary and metric not in _WITHOUT_ACCOUNT
                    else None,
                )
                for slowdown in table.slowdowns
            ]
        queries += _queries(
            cell, query_table, trials if latencies else (), spec.baseline, emulated_targets
        )
        instances += [
            found
            for target in spec.measured_targets
            if (found := instance_figures(cell, target.name, primary, own_records))
        ]
        for target in spec.measured_targets if latencies else ():
            own = [trial for trial in trials if trial.target == target.name]
            operations += operation_figures(cell, target.name, own)
            if target.name != spec.baseline:
                base = [trial for trial in trials if trial.target == spec.baseline]
                emulated = bool({spec.baseline, target.name} & emulated_targets)
                advice = repetitions(cell, base, own) if workload.tpch else None
                advices += [advice] if advice else []
                shared = blocks_per_deployment(cell, primary, base, own)
                deployments += [shared] if shared else []
                tails += [
                    LatencyComparison(cell, operation, quantile, slowdown, emulated)
                    for operation, quantile, slowdown in latency_slowdowns(base, own)
                ]
    names = {workload.name: primary_metric(workload) for workload in spec.workloads}
    primaries = {name: (metric, PRIMARY_UNITS[metric]) for name, metric in names.items()}
    compared = [target.name for target in spec.targets]
    controls = [one for one in metrics if one.slowdown.target == CONTROL]
    metrics = [one for one in metrics if one.slowdown.target != CONTROL]
    query_controls = [one for one in queries if one.slowdown.target == CONTROL]
    queries = [one for one in queries if one.slowdown.target != CONTROL]
    families = ([one for one in metrics if one.primary is kind] for kind in (True, False))
    verdicts = {
        (one.cell, one.metric, one.slowdown.target): one
        for family in families
        for one in _judged(family, controls, spec.trials.control)
    }
    return Analysis(
        metrics=tuple(verdicts[one.cell, one.metric, one.slowdown.target] for one in metrics),
        queries=tuple(_judged(queries, query_controls, spec.trials.control)),
        controls=tuple(controls),
        instances=tuple(instances),
        operations=tuple(operations),
        latencies=tuple(
            _judged(
                [one for one in tails if one.slowdown.target != CONTROL],
                [one for one in tails if one.slowdown.target == CONTROL],
                spec.trials.control,
            )
        ),
        repetitions=tuple(advices),
        deployments=tuple(deployments),
        curves=tuple(curves(measured, compared, primaries, emulated_targets) if latencies else ()),
        variants=tuple(
            variant_comparisons(spec, measured, compared, primaries, emulated_targets)
            if latencies
            else ()
        ),
        counts=tuple(_counts(target.name, records) for target in spec.measured_targets),
        unusable=tuple(unusable),
        emulated_targets=emulated_targets,
    )


_Found = TypeVar("_Found", MetricComparison, QueryComparison, LatencyComparison)


def _judged(found: Sequence[_Found], controls: Sequence[_Found], control: bool) -> list[_Found]:
    """One family, with its verdicts: none below the noise floor, where there is a control."""
    floors = {(one.cell, one.slowdown.cell): reach(one.slowdown.interval) for one in controls}
    unknown = math.inf if control else 0.0
    slowdowns = judged(
        [one.slowdown for one in found],
        floors=[floors.get((one.cell, one.slowdown.cell), unknown) for one in found],
    )
    return [replace(one, slowdown=slowdown) for one, slowdown in zip(found, slowdowns, strict=True)]


def _account(trials: Sequence[MeasuredTrial], baseline: str, slowdown: Slowdown) -> Account | None:
    return explained(*_sides(trials, baseline, slowdown.target), slowdown)


def _query_account(
    trials: Sequence[MeasuredTrial], baseline: str, slowdown: Slowdown
) -> Account | None:
    return explained_query(*_sides(trials, baseline, slowdown.target), slowdown)


def _sides(
    trials: Sequence[MeasuredTrial], baseline: str, target: str
) -> tuple[list[MeasuredTrial], list[MeasuredTrial]]:
    base, own = ([one for one in trials if one.target == name] for name in (baseline, target))
    return base, own


def _queries(
    cell: Cell,
    table: stats.ComparisonTable,
    trials: Sequence[MeasuredTrial],
    baseline: str,
    emulated_targets: frozenset[str],
) -> list[QueryComparison]:
    shares = {
        (aggregate.target, share.cell): share
        for aggregate in table.aggregates
        for share in aggregate.shares
    }
    return [
        QueryComparison(
            cell,
            slowdown,
            shares[slowdown.target, slowdown.cell].of_baseline,
            shares[slowdown.target, slowdown.cell].contribution,
            bool({baseline, slowdown.target} & emulated_targets),
            _query_account(trials, baseline, slowdown),
        )
        for slowdown in table.slowdowns
    ]


def _counts(target: str, records: Sequence[TrialRecord]) -> TrialCounts:
    outcomes = [record.outcome for record in records if record.target == target]
    return TrialCounts(
        target,
        measured=outcomes.count(Outcome.MEASURED),
        invalid=outcomes.count(Outcome.INVALID),
        failed=outcomes.count(Outcome.FAILED),
    )
