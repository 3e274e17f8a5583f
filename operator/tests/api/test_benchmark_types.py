"""The types read what the API server serves, and refuse what the CRD refuses."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.machine import Runtime
from dbbench.api.spec import CleanupPolicy, DBBenchmarkSpec
from dbbench.api.status import DBBenchmarkStatus
from dbbench.api.workload import Connection

SAMPLES = Path(__file__).parents[3] / "manifests" / "samples"


def minimal() -> dict[str, Any]:
    node = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
    return {
        "database": {"engine": "PostgreSQL", "image": "postgres:17"},
        "placement": {"database": node, "driver": node},
        "baseline": "pod",
        "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
        "workloads": [{"name": "orders", "tpcc": {"warehouses": 1}}],
    }


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_every_sample_parses(path: Path) -> None:
    for document in yaml.safe_load_all(path.read_text()):
        document["metadata"] |= {"namespace": "default", "uid": "0"}
        DBBenchmark.parse(document)


def test_absent_fields_get_the_documented_defaults() -> None:
    spec = DBBenchmarkSpec.model_validate(minimal())
    assert (spec.resources.cpu, spec.resources.memory, spec.resources.dedicated_cpus) == (
        1,
        "1Gi",
        True,
    )
    assert (spec.trials.min, spec.trials.max) == (3, None)
    assert spec.cleanup_policy is CleanupPolicy.ON_SUCCESS
    machine = spec.target("vm").virtual_machine
    assert machine is not None
    assert machine.runtime is Runtime.AUTO
    assert spec.database.run_as_user == 999


def test_defaults_of_the_crd_are_those_of_the_types() -> None:
    """The API server fills fields in; without it (dbbench plan FILE) the types do, the same way."""
    spec = minimal()
    spec["workloads"] = [{"name": "q", "tpch": {"scaleFactor": "1"}}]
    document = DBBenchmarkSpec.model_validate(spec).document()
    assert document["workloads"][0]["tpch"] == {
        "scaleFactor": "1",
        "connection": [Connection.SHARED],
        "warmupRuns": 1,
        "runs": 3,
        "queryTimeout": "10m",
    }


def test_a_document_survives_the_round_trip() -> None:
    spec = DBBenchmarkSpec.model_validate(minimal())
    assert DBBenchmarkSpec.model_validate(spec.document()) == spec


def test_unknown_fields_are_refused_by_name() -> None:
    spec = minimal() | {"tragets": []}
    with pytest.raises(ValidationError, match="tragets"):
        DBBenchmarkSpec.model_validate(spec)


@pytest.mark.parametrize(
    "name", ["", "Upper", "under_score", "-dash", "dash-", "a" * 21, "dot.ted", "name\n"]
)
def test_names_that_kubernetes_cannot_use_are_refused(name: str) -> None:
    spec = minimal()
    spec["targets"][0]["name"] = name
    with pytest.raises(ValidationError):
        DBBenchmarkSpec.model_validate(spec)


def test_target_and_workload_are_found_by_name() -> None:
    spec = DBBenchmarkSpec.model_validate(minimal())
    assert spec.workload("orders").tpcc is not None
    with pytest.raises(KeyError):
        spec.target("absent")


def test_a_new_status_says_that_nothing_was_observed() -> None:
    assert DBBenchmarkStatus().observed_generation == -1
    body = {"metadata": {"name": "a", "namespace": "b", "uid": "c"}, "spec": minimal()}
    assert DBBenchmark.parse(body).status == DBBenchmarkStatus()


def test_a_status_is_written_without_absent_fields() -> None:
    document = DBBenchmarkStatus(observed_generation=1, seed=7).document()
    assert document["seed"] == 7
    assert "startTime" not in document
