"""The rules of sweeps on a real API server: what it accepts, what it refuses, in which words."""

from typing import Any

import pytest
from access.documents import benchmark, changed, check, refusal
from access.kubectl import Kubectl, Manifest

TATP = {"subscribers": 100}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def swept(sweep: Any, **spec: Any) -> Manifest:
    """A benchmark of a pod and a virtual machine with one workload, TATP, and this sweep if any."""
    document = benchmark("checked") if sweep is None else changed("sweep", sweep)
    document["spec"] |= spec
    return document


def tatps(count: int) -> list[dict[str, Any]]:
    return [{"name": f"t{number}", "tatp": TATP} for number in range(count)]


TPCH = {
    "name": "q",
    "tpch": {"scaleFactor": "1", "cache": ["Warm", "Cold"], "connection": ["Shared", "PerQuery"]},
}


def tpchs(count: int) -> list[dict[str, Any]]:
    """Workloads of three cells each."""
    return [TPCH | {"name": f"q{number}"} for number in range(count)]


def pods(count: int) -> list[dict[str, Any]]:
    return [{"name": f"p{number}", "pod": {}} for number in range(count)]


POD, VM = {"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}
SOCKETS = {"name": "vm", "virtualMachine": {"cpu": {"sockets": 1}}}
MODEL = {"name": "vm", "virtualMachine": {"runtime": "KubeVirt", "cpu": {"model": "host-model"}}}

MINE = {"name": "mine", "sql": {"scripts": [{"name": "one", "text": "SELECT 1"}]}}
COSTS = {"name": "costs", "micro": {"threads": [1, 2]}}
MEMORY = {"name": "memory", "zachmann": {"tableSize": "10M"}}

ACCEPTED: list[tuple[Any, dict[str, Any]]] = [
    ({"clients": [1, 8, 64]}, {}),
    ({"clients": [64, 1], "design": "OneAtATime"}, {}),
    ({"clients": [1, 10000]}, {"workloads": [TPCH, *tatps(1)]}),
    ({"clients": [1, 8]}, {"workloads": [MINE]}),
    ({"cpu": [1, 2, 4]}, {}),
    ({"cpu": [1, 512], "instances": [1, 16], "clients": [1, 64]}, {}),
    ({"cpu": [1, 2]}, {"workloads": [TPCH], "targets": [POD, MODEL]}),
    ({"cpu": [1, 2]}, {"targets": [{**POD, "instances": 2}, {"name": "bare", "host": {}}]}),
    ({"instances": [1, 3]}, {"targets": [{**POD, "instances": 1}, SOCKETS]}),
    ({"cpu": [2, 4]}, {"workloads": [COSTS], "resources": {"cpu": 1}}),
    ({"workProcesses": [1, 3, 12]}, {"workloads": [MEMORY]}),
    ({"workProcesses": [1, 2], "clients": [1, 8]}, {"workloads": [TPCH, MEMORY, *tatps(1)]}),
    # Clients multiply the cells of TATP alone: 2 targets x (32 + 18 x 1) is 100.
    (
        {"clients": list(range(1, 33))},
        {"workloads": [*tatps(1), *({**MEMORY, "name": f"m{n}"} for n in range(18))]},
    ),
    # 2 targets x 8 x 31 points is 496.
    ({"cpu": list(range(1, 9)), "clients": list(range(1, 32))}, {}),
    (
        {"design": "OneAtATime", "cpu": list(range(1, 33)), "clients": list(range(1, 33))},
        {"workloads": tatps(3)},
    ),
    # 8 targets x 3 cells x 20 workloads is 480.
    (None, {"workloads": tpchs(20), "targets": [POD, *pods(7)]}),
    # 2 targets x (3 cells of TPC-H + 7 workloads x 32 points) is 454.
    ({"clients": list(range(1, 33))}, {"workloads": [TPCH, *tatps(7)]}),
]


@pytest.mark.parametrize(("sweep", "spec"), ACCEPTED, ids=lambda value: str(value)[:60])
def test_accepted(server: Kubectl, sweep: Any, spec: dict[str, Any]) -> None:
    check(server, swept(sweep, **spec))


REFUSED: list[tuple[Any, dict[str, Any], str, str]] = [
    # the sweep, other fields, the field that the message names, and what the message says
    (
        {"workProcesses": [1, 2]},
        {},
        "spec.sweep.workProcesses",
        "only zachmann has work processes",
    ),
    ({"cpu": [1, 2]}, {"workloads": [COSTS]}, "spec.workloads", "needs a CPU of its own"),
    ({"instances": [1, 2]}, {"workloads": [COSTS]}, "spec.workloads", "measures one instance"),
    ({"clients": [1, 2]}, {"workloads": [MEMORY]}, "spec.sweep.clients", "only tpcc, tatp and sql"),
    (
        {"workProcesses": [1, 4096]},
        {"workloads": [MEMORY]},
        "spec.sweep.workProcesses",
        "smaller than spec.resources.memory",
    ),
    (
        {"workProcesses": [0, 1]},
        {"workloads": [MEMORY]},
        "spec.sweep.workProcesses[0]",
        "equal to 1",
    ),
    ({}, {}, "spec.sweep", "a sweep needs an axis"),
    ({"design": "Full"}, {}, "spec.sweep", "a sweep needs an axis"),
    ({"design": "Random", "clients": [1, 2]}, {}, "spec.sweep.design", "Full"),
    ({"memory": ["1Gi", "2Gi"]}, {}, "spec.sweep.memory", "unknown field"),
    ({"cpu": [0, 1]}, {}, "spec.sweep.cpu[0]", "or equal to 1"),
    ({"cpu": [4]}, {}, "spec.sweep.cpu", "at least 2 items"),
    ({"instances": [1, 17]}, {}, "spec.sweep.instances[1]", "or equal to 16"),
    ({"cpu": [1, 2]}, {"targets": [POD, SOCKETS]}, "spec.sweep.cpu", "remove them from its cpu"),
    (
        {"instances": [1, 2]},
        {"targets": [{**POD, "instances": 2}, VM]},
        "spec.sweep.instances",
        "remove targets[].instances",
    ),
    (
        {"instances": [1, 2]},
        {"targets": [POD, {"name": "bare", "host": {}}]},
        "spec.sweep.instances",
        "listen on the same ports",
    ),
    (
        {"cpu": list(range(1, 9)), "clients": list(range(1, 33))},
        {},
        "spec.workloads",
        "more than 500 trials in each block",
    ),
    ({"clients": [8]}, {}, "spec.sweep.clients", "at least 2 items"),
    ({"clients": list(range(1, 34))}, {}, "spec.sweep.clients", "at most 32 items"),
    ({"clients": [1, 1]}, {}, "spec.sweep.clients[1]", "Duplicate value"),
    ({"clients": [0, 1]}, {}, "spec.sweep.clients[0]", "or equal to 1"),
    ({"clients": [1, 10001]}, {}, "spec.sweep.clients[1]", "or equal to 10000"),
    (
        {"clients": [1, 8]},
        {"workloads": [TPCH]},
        "spec.sweep.clients",
        "only tpcc, tatp and sql have clients",
    ),
    (
        {"clients": list(range(1, 33))},
        {"workloads": tatps(8)},
        "spec.workloads",
        "more than 500 trials in each block",
    ),
    (
        {"clients": list(range(1, 33))},
        {"workloads": tatps(6), "trials": {"control": True}},
        "spec.workloads",
        "write design: OneAtATime",
    ),
    (
        None,
        {"workloads": tpchs(20), "targets": [POD, *pods(19)]},
        "spec.workloads",
        "make several benchmarks",
    ),
]


@pytest.mark.parametrize(
    ("sweep", "spec", "field", "says"), REFUSED, ids=lambda value: str(value)[:60]
)
def test_refused(server: Kubectl, sweep: Any, spec: dict[str, Any], field: str, says: str) -> None:
    said = refusal(server, swept(sweep, **spec))
    assert says in said
    assert field in said
