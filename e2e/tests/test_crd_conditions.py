"""Cache states and the driver's node on a real API server: accepted, refused, in which words."""

from typing import Any

import pytest
from access.documents import benchmark, changed, check, on_node, refusal
from access.kubectl import Kubectl, Manifest


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def with_changes(changes: dict[str, Any]) -> Manifest:
    """The minimal benchmark with several fields set."""
    document = benchmark("checked")
    for path, value in changes.items():
        document = changed(path, value, document)
    return document


def tpch(*cache: str, **options: Any) -> dict[str, Any]:
    return {"name": "q", "tpch": {"scaleFactor": "0.01", "cache": list(cache), **options}}


def machine(runtime: str, **options: Any) -> dict[str, Any]:
    return {"name": "vm", "virtualMachine": {"runtime": runtime, **options}}


WRITEBACK = {"dataDisk": {"cache": "writeback"}}
DIRECT = {"dataDisk": {"cache": "none"}}
SAME_NODE = {"colocation": "SameNode"}
SAME_GUEST = {"colocation": "SameGuest"}
SQL = {"name": "mine", "sql": {"scripts": [{"name": "one", "text": "SELECT 1"}]}}


@pytest.mark.parametrize(
    "changes",
    [
        {"workloads.0": tpch("Warm", "Cold")},
        {"workloads.0": tpch("Cold", warmupRuns=0)},
        {"workloads.0": tpch("Warm", connection=["Shared", "PerQuery"])},
        {"workloads.0": tpch("Cold"), "targets.1": machine("QEMU", **WRITEBACK)},
        {"workloads.0": tpch("Cold"), "targets.1": machine("KubeVirt", **DIRECT)},
        {"workloads.0": tpch("Cold"), "targets.1": machine("KubeVirt")},
        {"workloads.0": tpch("Warm"), "targets.1": machine("KubeVirt", **WRITEBACK)},
        {"placement.driver": SAME_NODE},
        {"placement.driver": SAME_GUEST},
        {"placement.driver": SAME_GUEST, "resources.dedicatedCPUs": False},
        {"placement.driver.occupancy": "Shared"},
        {"placement.database.occupancy": "Exclusive", "placement.driver.occupancy": "Exclusive"},
        {"placement.database.occupancy": "Shared", "placement.driver": SAME_NODE},
        {"placement.driver": {**on_node("b"), "tolerations": [{"operator": "Exists"}]}},
        {
            "placement.driver": SAME_NODE,
            "targets.1": machine("KubeVirt", cpu={"dedicatedCpuPlacement": True}),
        },
    ],
    ids=str,
)
def test_accepted(server: Kubectl, changes: dict[str, Any]) -> None:
    check(server, with_changes(changes))


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        (
            {"workloads.0": tpch("Lukewarm")},
            "spec.workloads[0].tpch.cache[0]",
            'supported values: "Warm", "Cold"',
        ),
        ({"workloads.0": tpch()}, "spec.workloads[0].tpch.cache", "at least 1 items"),
        (
            {"workloads.0": tpch("Cold", "Cold")},
            "spec.workloads[0].tpch.cache[1]",
            "Duplicate value",
        ),
        (
            {"workloads.0": tpch("Warm", warmupRuns=0)},
            "spec.workloads[0].tpch.warmupRuns",
            "set warmupRuns to 1 or more",
        ),
        (
            {
                "workloads.0": tpch("Cold"),
                "database.storage": {"size": "64Mi", "medium": "Memory"},
            },
            "spec.workloads",
            "Cold needs spec.database.storage.medium: Disk",
        ),
        (
            {"workloads.0": tpch("Cold"), "targets.1": machine("KubeVirt", **WRITEBACK)},
            "spec.targets",
            "Cold with KubeVirt needs dataDisk.cache: none",
        ),
        (
            {"workloads.0": tpch("Cold"), "targets.1": machine("Auto", **WRITEBACK)},
            "spec.targets",
            "Cold with KubeVirt needs dataDisk.cache: none",
        ),
        ({"placement.driver": {}}, "spec.placement.driver", "set either nodeSelector"),
        (
            {"placement.driver": {**on_node("b"), **SAME_NODE}},
            "spec.placement.driver",
            "set either nodeSelector, for a node of its own, or colocation: SameNode",
        ),
        (
            {"placement.driver": {"colocation": "SamePlanet"}},
            "spec.placement.driver.colocation",
            'supported values: "SameNode", "SameGuest"',
        ),
        (
            {"placement.driver": {**SAME_NODE, "tolerations": [{"operator": "Exists"}]}},
            "spec.placement.driver.tolerations",
            "are those of placement.database; remove them",
        ),
        (
            {"placement.driver.occupancy": "Sometimes"},
            "spec.placement.driver.occupancy",
            'supported values: "Exclusive", "Shared"',
        ),
        (
            {"placement.driver": {**SAME_NODE, "occupancy": "Shared"}},
            "spec.placement.driver.occupancy",
            "the occupancy is that of placement.database; remove it",
        ),
        (
            {"placement.driver": SAME_GUEST, "targets.1.instances": 2},
            "spec.placement.driver.colocation",
            "SameGuest is done by the agent inside a target",
        ),
        (
            {"placement.driver": SAME_GUEST, "targets.1": {"name": "cnpg", "cloudNativePG": {}}},
            "spec.placement.driver.colocation",
            "remove the targets external and cloudNativePG",
        ),
        (
            {"placement.driver": SAME_GUEST, "sweep": {"instances": [1, 2]}},
            "spec.placement.driver.colocation",
            "SameGuest is done by the agent inside a target",
        ),
        (
            {"placement.driver": SAME_GUEST, "workloads.0": SQL},
            "spec.placement.driver.colocation",
            "the driver inside a target reads no files",
        ),
        (
            {"placement.driver": SAME_NODE, "resources.dedicatedCPUs": False},
            "spec.placement.driver.colocation",
            "SameNode needs exclusive CPUs",
        ),
        (
            {
                "placement.driver": SAME_NODE,
                "targets.1": machine("QEMU", cpu={"dedicatedCpuPlacement": False}),
            },
            "spec.placement.driver.colocation",
            "dedicatedCpuPlacement of no target to false",
        ),
    ],
    ids=str,
)
def test_refused_with_a_message_that_names_the_field(
    server: Kubectl, changes: dict[str, Any], field: str, says: str
) -> None:
    said = refusal(server, with_changes(changes))
    assert field in said
    assert says in said
