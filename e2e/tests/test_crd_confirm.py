"""The rules of `confirm` on a real API server: what it accepts, what it refuses, in which words."""

from typing import Any

import pytest
from access.documents import benchmark, check, refusal
from access.kubectl import Kubectl


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


POD, OTHER = {"name": "pod", "pod": {}}, {"name": "other", "pod": {}}
VM = {"name": "vm", "virtualMachine": {}}
TPCH = {"name": "q", "tpch": {"scaleFactor": "1"}}
PER_QUERY = {"name": "q", "tpch": {"scaleFactor": "1", "connection": ["Shared", "PerQuery"]}}
MEMORY = {"database": {"engine": "PostgreSQL", "image": "postgres:17", "storage": {
    "size": "1Gi", "medium": "Memory"}}, "resources": {"cpu": 1, "memory": "2Gi"}}  # fmt: skip
TWO = {"min": 2}

ACCEPTED: list[dict[str, Any]] = [
    {"confirm": True, "trials": TWO},
    {"confirm": True, "trials": {}},
    {"confirm": True, "trials": TWO, "targets": [POD, VM], "workloads": [TPCH]},
    {"confirm": True, "trials": TWO, "targets": [POD, OTHER], "workloads": [PER_QUERY]},
    {"confirm": True, "trials": TWO, "targets": [POD, VM], "workloads": [PER_QUERY], **MEMORY},
    {"confirm": False, "trials": {"min": 1}, "targets": [POD, OTHER]},
]


@pytest.mark.parametrize("spec", ACCEPTED, ids=lambda value: str(value)[:60])
def test_accepted(server: Kubectl, spec: dict[str, Any]) -> None:
    check(server, benchmark("checked", **spec))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"confirm": True, "trials": {"min": 1}}, "needs spec.trials.min of 2 or more"),
    ({"confirm": True, "trials": TWO, "targets": [POD, OTHER]}, "there is neither"),
    (
        {"confirm": True, "trials": TWO, "targets": [POD, OTHER], "workloads": [TPCH]},
        "add a workload tpch with connection: [PerQuery]",
    ),
    ({"confirm": True, "trials": TWO, "targets": [POD, VM], **MEMORY}, "there is neither"),
    ({"confirm": "Always"}, "boolean"),
]


@pytest.mark.parametrize(("spec", "says"), REFUSED, ids=lambda value: str(value)[:60])
def test_refused(server: Kubectl, spec: dict[str, Any], says: str) -> None:
    said = refusal(server, benchmark("checked", **spec))
    assert says in said
    assert "spec.confirm" in said
