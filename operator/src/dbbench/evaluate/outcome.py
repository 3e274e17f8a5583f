"""What has been found out so far: comparisons, fairness, gates, environment, documents. No I/O."""

from dataclasses import dataclass

from dbbench.api.status import Environment, ResultsRef
from dbbench.evaluate import fairness
from dbbench.evaluate.conditions import Finding
from dbbench.evaluate.environment import (
    emulated_targets,
    environment,
    representative,
    with_properties,
)
from dbbench.evaluate.schedule import Schedule, usable_records
from dbbench.evaluate.state import Manifest, State
from dbbench.evaluate.sweep_fairness import differences_by_point, profiles_by_point
from dbbench.plan.deployment import deployment_points, largest_first
from dbbench.results.analysis import Analysis, analyse
from dbbench.results.confirmation import Confirmation, confirmations
from dbbench.results.documents import results_data, summary
from dbbench.results.gates import GateOutcome, gates, worst_slowdown
from dbbench.results.storage import CONTENT_LABEL, CONTENT_RESULTS, results_config_map
from dbbench.results.summary import Document
from dbbench.targets.names import Component, labels, metadata


@dataclass(frozen=True)
class Assessment:
    """Everything that status and documents say about the measurements."""

    analysis: Analysis
    confirmations: tuple[Confirmation, ...]
    fairness: Finding
    representative: Finding
    environment: Environment
    gates: tuple[GateOutcome, ...]
    worst_slowdown: str
    results_ref: ResultsRef


def assess(state: State, stand: Schedule, *, latencies: bool = False) -> Assessment:
    """From the complete blocks only: a block without its baseline says nothing.

    Latencies are for the documents; status does without them.
    """
    benchmark = state.benchmark
    records = usable_records(state, stand.blocks_done)
    found = environment(state)
    profiles = profiles_by_point(benchmark.spec, state.trials, state.loads, found)
    analysis = analyse(benchmark, records, emulated_targets(state), latencies=latencies)
    return Assessment(
        analysis=analysis,
        confirmations=confirmations(benchmark, stand.tests, records),
        fairness=fairness.finding(differences_by_point(benchmark.spec, profiles)),
        representative=representative(state),
        environment=with_properties(
            found, profiles[largest_first(deployment_points(benchmark.spec))[0]]
        ),
        gates=tuple(gates(benchmark.spec, analysis)),
        worst_slowdown=worst_slowdown(analysis),
        results_ref=ResultsRef(config_map=results_config_map(benchmark.metadata.name)),
    )


def results_document(state: State, assessment: Assessment) -> Document:
    """All results as the one document that everything published is made of."""
    return summary(
        state.benchmark,
        assessment.analysis,
        state.trials,
        assessment.environment,
        fairness=assessment.fairness.message,
        confirmations=assessment.confirmations,
    )


def results_manifest(state: State, assessment: Assessment) -> Manifest:
    """The ConfigMap with summary.json, summary.csv and report.md."""
    benchmark = state.benchmark
    document = results_document(state, assessment)
    name = results_config_map(benchmark.metadata.name)
    found = labels(benchmark, Component.RESULTS) | {CONTENT_LABEL: CONTENT_RESULTS}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(benchmark, name, found),
        "data": results_data(document),
    }
