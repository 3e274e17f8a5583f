"""The rules of external databases on a real API server: what it accepts, what it refuses."""

from typing import Any

import pytest
from access.documents import benchmark, changed, check, refusal
from access.kubectl import Kubectl, Manifest

CONNECTION = {"connection": {"secretRef": {"name": "orders-app"}}}
POD, EXTERNAL = {"name": "pod", "pod": {}}, {"name": "prod", "external": CONNECTION}
TATP = {"subscribers": 100}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def with_external(**spec: object) -> Manifest:
    """A benchmark of a pod and an external database."""
    document = benchmark("checked", targets=[POD, EXTERNAL])
    document["spec"] |= spec
    return document


def tpch(cache: str) -> list[dict[str, Any]]:
    return [{"name": "q", "tpch": {"scaleFactor": "1", "cache": [cache]}}]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"baseline": "prod"},
        {"baseline": "prod", "trials": {"min": 2, "control": True}},
        {"trials": {"redeploy": False}},
        {"targets": [POD, EXTERNAL, EXTERNAL | {"name": "other", "instances": 1}]},
        {"workloads": tpch("Warm")},
        {"sweep": {"clients": [1, 8]}},
        {"placement": benchmark("checked")["spec"]["placement"]
         | {"driver": {"colocation": "SameNode"}}},
    ],
    ids=str,
)  # fmt: skip
def test_accepted(server: Kubectl, spec: dict[str, Any]) -> None:
    check(server, with_external(**spec))


@pytest.mark.parametrize(
    ("spec", "field", "says"),
    [
        (
            {"targets": [EXTERNAL, EXTERNAL | {"name": "other"}], "baseline": "prod"},
            "spec.targets",
            "make one that dbbench deploys",
        ),
        (
            {"targets": [POD, EXTERNAL | {"instances": 2}]},
            "spec.targets[1].instances",
            "the one database that connection leads to; remove instances",
        ),
        (
            {"targets": [POD, EXTERNAL | {"pod": {}}]},
            "spec.targets[1]",
            "virtualMachine: {}, cloudNativePG: {}, external: {connection: ...}",
        ),
        ({"targets": [POD, {"name": "prod", "external": {}}]}, "external.connection", "Required"),
        (
            {"targets": [POD, {"name": "prod", "external": {"connection": {"secretRef": {}}}}]},
            "external.connection.secretRef.name",
            "Required",
        ),
        ({"workloads": tpch("Cold")}, "spec.workloads", "Cold needs dbbench's agent beside"),
        ({"sweep": {"cpu": [1, 2]}}, "spec.sweep", "deploying every target anew"),
        ({"sweep": {"instances": [1, 2]}}, "spec.sweep", "remove these axes or the external"),
        (
            {"trials": {"min": 2, "redeploy": True}},
            "spec.trials.redeploy",
            "which an external one is not; remove trials.redeploy or the external targets",
        ),
    ],
    ids=str,
)
def test_refused(server: Kubectl, spec: dict[str, Any], field: str, says: str) -> None:
    said = refusal(server, with_external(**spec))
    assert field in said
    assert says in said


@pytest.mark.parametrize("name", ["", "Orders", "a/b", "-a", "a" * 254])
def test_a_name_that_no_secret_has_is_refused(server: Kubectl, name: str) -> None:
    document = changed("targets.1", EXTERNAL)
    document["spec"]["targets"][1] = {
        "name": "prod", "external": {"connection": {"secretRef": {"name": name}}},
    }  # fmt: skip
    said = refusal(server, document)
    assert "external.connection.secretRef.name" in said
