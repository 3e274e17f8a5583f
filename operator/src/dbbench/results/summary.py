"""summary.json: all results of a benchmark as one document. No I/O.

The layout is in docs/reference/results.md; `schemaVersion` counts its incompatible changes.
"""

from collections.abc import Sequence
from typing import Any

from dbbench import __version__, stats
from dbbench.api.benchmark import DBBenchmark
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.plan import Cell, plan_seed
from dbbench.plan.deployment import deployment_point, overcommitment
from dbbench.results.along import Series
from dbbench.results.analysis import (
    Analysis,
    LatencyComparison,
    MetricComparison,
    QueryComparison,
)
from dbbench.results.answer import answer
from dbbench.results.caches import CacheEvidence, Range, cache_evidence
from dbbench.results.causes import account_document
from dbbench.results.confirmation import Confirmation
from dbbench.results.consolidation import InstanceFigures
from dbbench.results.curves import Curve
from dbbench.results.figures import bounds
from dbbench.results.gates import gates
from dbbench.results.operations import OperationFigures
from dbbench.results.record import Outcome, TrialRecord
from dbbench.results.variants import VariantComparison
from dbbench.stats import Slowdown

SCHEMA_VERSION = 1

Document = dict[str, Any]


def summary(
    benchmark: DBBenchmark,
    analysis: Analysis,
    records: Sequence[TrialRecord],
    environment: Environment | None,
    *,
    fairness: str = "",
    confirmations: Sequence[Confirmation] = (),
) -> Document:
    """The document, JSON-compatible. It depends on the arguments alone: no clock, no host.

    `fairness` is what was found out about differences between the targets' conditions,
    `confirmations` what came of the tests of causes.
    """
    spec = benchmark.spec
    return {
        "kind": "Summary",
        "schemaVersion": SCHEMA_VERSION,
        "dbbench": __version__,
        "benchmark": {
            "name": benchmark.metadata.name,
            "namespace": benchmark.metadata.namespace,
            "uid": benchmark.metadata.uid,
        },
        "answer": answer(spec, analysis),
        "baseline": spec.baseline,
        "mode": spec.trials.mode.value,
        "representative": not analysis.emulated_targets,
        "emulatedTargets": sorted(analysis.emulated_targets),
        "confidence": stats.CONFIDENCE,
        "equivalenceMargin": stats.MARGIN,
        "seed": plan_seed(spec, benchmark.metadata.uid),
        "comparisons": [_metric(found) for found in analysis.metrics],
        "controls": [_metric(found) for found in analysis.controls],
        "confirmations": [_confirmation(found) for found in confirmations],
        "instances": [_instances(found, spec, environment) for found in analysis.instances],
        "curves": [_curve(found, analysis.primary, spec, environment) for found in analysis.curves],
        "variants": [_variants(found, analysis.primary) for found in analysis.variants],
        "queries": [_query(found) for found in analysis.queries],
        "operations": [_operation(found) for found in analysis.operations],
        "latencies": [_latency(found) for found in analysis.latencies],
        "repetitions": [
            {
                "workload": found.cell.workload,
                "cell": found.cell.name,
                "target": found.target,
                "runs": found.runs,
                "bestRuns": found.best,
                "varianceWithinTrials": found.variances.within,
                "varianceBetweenBlocks": found.variances.between,
            }
            for found in analysis.repetitions
        ],
        "deployments": [
            {
                "workload": found.cell.workload,
                "cell": found.cell.name,
                "target": found.target,
                "deployments": found.deployments,
                "blocksPerDeployment": found.blocks,
                "bestBlocksPerDeployment": found.best,
                "varianceWithinDeployments": found.variances.within,
                "varianceBetweenDeployments": found.variances.between,
            }
            for found in analysis.deployments
        ],
        "caches": [_cache(found) for found in cache_evidence(spec, records)],
        "gates": [
            {
                "workload": gate.workload,
                "cell": gate.cell,
                "target": gate.target,
                "limit": gate.limit,
                "slowdown": gate.slowdown,
                "passed": gate.passed,
            }
            for gate in gates(spec, analysis)
        ],
        "trials": _trials(analysis, records),
        "fairness": fairness,
        "environment": environment.document() if environment else None,
        "spec": spec.document(),
        "omitted": [],
    }


def _metric(found: MetricComparison) -> Document:
    aggregates: Document | None = None
    if found.aggregates is not None:
        aggregates = {
            "meanOfSlowdowns": found.aggregates.mean_of_slowdowns,
            "slowdownOfTotal": found.aggregates.slowdown_of_total,
            "geometricMean": found.aggregates.geometric_mean,
            "intervals": {
                "meanOfSlowdowns": bounds(found.aggregates.mean_interval),
                "slowdownOfTotal": bounds(found.aggregates.total_interval),
                "geometricMean": bounds(found.aggregates.geometric_interval),
            },
        }
    return {
        "workload": found.cell.workload,
        "cell": found.cell.name,
        "target": found.slowdown.target,
        "metric": found.metric,
        "primary": found.primary,
        **_slowdown(found.slowdown),
        "emulated": found.emulated,
        "aggregates": aggregates,
        "cause": found.cause,
        "account": account_document(found.account),
    }


def _confirmation(found: Confirmation) -> Document:
    test, after = found.test, found.after
    return {
        "workload": test.found.cell.workload,
        "cell": test.found.cell.name,
        "target": test.found.slowdown.target,
        "emulated": test.found.emulated,
        "cause": None if test.cause is None else test.cause.value,
        "intervention": None if test.intervention is None else test.intervention.value,
        "slowdownBefore": test.found.slowdown.relative,
        "slowdownBeforeInterval": bounds(test.found.slowdown.interval),
        "slowdownAfter": None if after is None else after.relative,
        "slowdownAfterInterval": None if after is None else bounds(after.interval),
        "reduction": found.reduced,
        "interval": bounds(found.interval),
        "verdict": found.verdict.value,
        "blocks": 0 if after is None else after.trials,
        "message": found.message,
    }


def _overcommitment(
    spec: DBBenchmarkSpec, cell: Cell, target: str, environment: Environment | None
) -> float | None:
    node_cpus = environment.node_cpus if environment else None
    return overcommitment(spec, target, deployment_point(cell), node_cpus)


def _instances(
    found: InstanceFigures, spec: DBBenchmarkSpec, environment: Environment | None
) -> Document:
    return {
        "workload": found.cell.workload,
        "cell": found.cell.name,
        "target": found.target,
        "metric": found.metric,
        "unit": found.unit.value,
        "total": found.total,
        "values": list(found.values),
        "fairnessIndex": found.fairness,
        "leastFairnessIndex": found.least_fairness,
        "overcommitment": _overcommitment(spec, found.cell, found.target, environment),
        "trials": found.trials,
    }


def _curve(
    found: Curve,
    primary: Sequence[MetricComparison],
    spec: DBBenchmarkSpec,
    environment: Environment | None,
) -> Document:
    against = _Baseline(primary, found.target)
    return _along(found) | {
        "points": [
            {
                "axisValue": point.axis_value,
                "cell": point.cell.name,
                "value": point.value,
                "interval": bounds(point.interval),
                "speedup": point.speedup,
                "speedupInterval": bounds(point.speedup_interval),
                **against.at(point.cell),
                "blocks": point.blocks,
                "overcommitment": _overcommitment(spec, point.cell, found.target, environment),
            }
            for point in found.points
        ]
    }


def _variants(found: VariantComparison, primary: Sequence[MetricComparison]) -> Document:
    against = _Baseline(primary, found.target)
    return _along(found) | {
        "points": [
            {
                "variant": point.value,
                "cell": point.cell.name,
                "value": point.level,
                "interval": bounds(point.interval),
                "slowdownToFirst": point.slowdown.relative if point.slowdown else None,
                "slowdownToFirstInterval": bounds(point.slowdown.interval)
                if point.slowdown
                else None,
                **against.at(point.cell),
                "blocks": point.blocks,
            }
            for point in found.points
        ]
    }


def _along(found: Series) -> Document:
    return {
        "workload": found.workload,
        "axis": found.axis,
        "fixed": found.fixed,
        "target": found.target,
        "metric": found.metric,
        "unit": found.unit.value,
        "emulated": found.emulated,
    }


class _Baseline:
    """A target's slowdowns against the baseline at the same point; its own points have none."""

    def __init__(self, primary: Sequence[MetricComparison], target: str) -> None:
        self._found = {one.cell: one.slowdown for one in primary if one.slowdown.target == target}

    def at(self, cell: Cell) -> Document:
        slowdown = self._found.get(cell)
        return {
            "slowdown": slowdown.relative if slowdown else None,
            "slowdownInterval": bounds(slowdown.interval) if slowdown else None,
            "verdict": slowdown.verdict.value if slowdown else None,
        }


def _query(found: QueryComparison) -> Document:
    return {
        "workload": found.cell.workload,
        "cell": found.cell.name,
        "target": found.slowdown.target,
        "query": found.slowdown.cell,
        **_slowdown(found.slowdown),
        "shareOfBaseline": found.share_of_baseline,
        "contribution": found.contribution,
        "cause": found.cause,
        "account": account_document(found.account),
    }


def _latency(found: LatencyComparison) -> Document:
    return {
        "workload": found.cell.workload,
        "cell": found.cell.name,
        "target": found.slowdown.target,
        "operation": found.operation,
        "quantile": found.quantile,
        **_slowdown(found.slowdown),
        "emulated": found.emulated,
    }


def _slowdown(slowdown: Slowdown) -> Document:
    return {
        "unit": slowdown.unit.value,
        "baselineValue": slowdown.baseline_value,
        "targetValue": slowdown.target_value,
        "absolute": slowdown.absolute,
        "slowdown": slowdown.relative,
        "interval": bounds(slowdown.interval),
        "verdict": slowdown.verdict.value,
        "adjustedP": slowdown.adjusted_p,
        "noiseFloor": slowdown.noise_floor,
        "blocks": slowdown.trials,
    }


def _operation(found: OperationFigures) -> Document:
    latency = None
    if found.latency is not None:
        latency = {
            "count": found.latency.count,
            "mean": found.latency.mean,
            "p50": found.latency.p50,
            "p95": found.latency.p95,
            "p99": found.latency.p99,
            "p999": found.latency.p999,
            "max": found.latency.maximum,
        }
    return {
        "workload": found.cell.workload,
        "cell": found.cell.name,
        "target": found.target,
        "operation": found.operation,
        "counts": {
            "ok": found.ok,
            "expectedFailure": found.expected_failures,
            "error": found.failed,
        },
        "errors": dict(found.errors),
        "latencySeconds": latency,
    }


def _cache(found: CacheEvidence) -> Document:
    return {
        "workload": found.cell.workload,
        "cell": found.cell.name,
        "target": found.target,
        "state": found.state.value,
        "trials": found.trials,
        "blocksRead": _least_and_most(found.blocks_read),
        "readBytes": _least_and_most(found.read_bytes),
        "hostReadBytes": _least_and_most(found.host_read_bytes),
    }


def _least_and_most(found: Range | None) -> Document | None:
    return None if found is None else {"least": found[0], "most": found[1]}


def _trials(analysis: Analysis, records: Sequence[TrialRecord]) -> Document:
    return {
        "counts": [
            {
                "target": counts.target,
                "measured": counts.measured,
                "invalid": counts.invalid,
                "failed": counts.failed,
            }
            for counts in analysis.counts
        ],
        "notMeasured": [
            {
                "trial": record.trial,
                "attempt": record.attempt,
                "outcome": record.outcome.value,
                "reason": record.reason,
                "message": record.message,
            }
            for record in sorted(records, key=lambda record: (record.trial, record.attempt))
            if record.outcome is not Outcome.MEASURED
        ],
        "contaminated": [
            {"trial": record.trial, "attempt": record.attempt, "message": record.message}
            for record in sorted(records, key=lambda record: (record.trial, record.attempt))
            if record.counts_though_contaminated
        ],
        "unusable": [
            {"trial": entry.trial, "attempt": entry.attempt, "reason": entry.reason}
            for entry in analysis.unusable
        ],
    }
