"""The rules of `trials.mode: Duet` on a real API server: what it accepts, and what it refuses."""

from typing import Any

import pytest
from access.documents import benchmark, check, refusal
from access.kubectl import Kubectl


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


POD, OTHER, THIRD = ({"name": name, "pod": {}} for name in ("pod", "other", "third"))
TPCC, TATP = {"name": "o", "tpcc": {"warehouses": 1}}, {"name": "t", "tatp": {"subscribers": 1000}}
SQL = {"name": "s", "sql": {"scripts": [{"name": "one", "text": "SELECT 1"}]}}
TPCH = {"name": "q", "tpch": {"scaleFactor": "1"}}
EXTERNAL = {"name": "other", "external": {"connection": {"secretRef": {"name": "access"}}}}
NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}


def machine(**options: Any) -> dict[str, Any]:
    return {"name": "vm", "virtualMachine": {"runtime": "KubeVirt", **options}}


def duet(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "targets": [POD, machine()],
        "workloads": [TATP],
        "resources": {"cpu": 1, "memory": "1Gi"},
        "trials": {"mode": "Duet"},
    }
    return found | changes


def shared(pinned: bool) -> dict[str, Any]:
    return {"cpu": {"dedicatedCpuPlacement": pinned}}


def variants(pinned: bool) -> dict[str, Any]:
    values = [{"name": "one"}, {"name": "two", "virtualMachine": shared(pinned)}]
    return {"variants": [{"name": "pinning", "values": values}]}


ACCEPTED: list[dict[str, Any]] = [
    duet(),
    duet(targets=[POD, OTHER], workloads=[TPCC, TATP, SQL], trials={"mode": "Duet", "max": 9}),
    duet(targets=[POD, machine(**shared(pinned=True))]),
    duet(placement={"database": NODE, "driver": {"colocation": "SameNode"}}),
    duet(sweep={"cpu": [1, 2], "clients": [1, 8]}, trials={"mode": "Duet", "redeploy": True}),
    duet(sweep=variants(pinned=True)),
    duet(trials={"mode": "Sequential", "control": True}, workloads=[TPCH]),
]


@pytest.mark.parametrize("spec", ACCEPTED, ids=lambda value: str(value)[:80])
def test_accepted(server: Kubectl, spec: dict[str, Any]) -> None:
    check(server, benchmark("checked", **spec))


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (duet(targets=[POD, OTHER, THIRD]), "trials.mode", "write two targets"),
    (duet(trials={"mode": "Duet", "control": True}), "trials.mode", "no trials.control"),
    (duet(targets=[POD, EXTERNAL]), "targets", "a pod or a virtualMachine"),
    (duet(targets=[POD, {"name": "node", "host": {}}]), "targets", "a pod or a virtualMachine"),
    (duet(targets=[POD, {**OTHER, "instances": 2}]), "targets", "with one instance"),
    (duet(sweep={"instances": [1, 2]}), "targets", "with one instance"),
    (duet(resources={"cpu": 1, "dedicatedCPUs": False}), "trials.mode", "dedicatedCPUs to true"),
    (duet(targets=[POD, machine(**shared(pinned=False))]), "trials.mode", "no target to false"),
    (duet(sweep=variants(pinned=False)), "sweep.variants", "of no variant may be false"),
    (duet(workloads=[TATP, TPCH]), "workloads", "windows are equally long"),
    (
        duet(placement={"database": NODE, "driver": {"colocation": "SameGuest"}}),
        "placement.driver.colocation",
        "which SameGuest has not",
    ),
    (duet(confirm=True), "confirm", "one target at a time"),
    (duet(trials={"mode": "Both"}), "trials.mode", "Unsupported value"),
]


@pytest.mark.parametrize(("spec", "field", "says"), REFUSED, ids=lambda value: str(value)[:80])
def test_refused(server: Kubectl, spec: dict[str, Any], field: str, says: str) -> None:
    said = refusal(server, benchmark("checked", **spec))
    assert says in said
    assert f"spec.{field}" in said
