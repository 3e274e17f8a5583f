"""The driver's node on a real API server: accepted, refused, in which words."""

from typing import Any

import pytest
from access.documents import benchmark, changed, check, on_node
from access.kubectl import CallError, Kubectl, Manifest


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def with_changes(changes: dict[str, Any]) -> Manifest:
    """The minimal benchmark with several fields set."""
    document = benchmark("checked")
    for path, value in changes.items():
        document = changed(path, value, document)
    return document


def machine(runtime: str, **options: Any) -> dict[str, Any]:
    return {"name": "vm", "virtualMachine": {"runtime": runtime, **options}}


SAME_NODE = {"colocation": "SameNode"}


@pytest.mark.parametrize(
    "changes",
    [
        {"placement.driver": SAME_NODE},
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
        ({"placement.driver": {}}, "spec.placement.driver", "set either nodeSelector"),
        (
            {"placement.driver": {**on_node("b"), **SAME_NODE}},
            "spec.placement.driver",
            "set either nodeSelector, for a node of its own, or colocation: SameNode",
        ),
        (
            {"placement.driver": {"colocation": "SameGuest"}},
            "spec.placement.driver.colocation",
            'supported values: "SameNode"',
        ),
        (
            {"placement.driver": {**SAME_NODE, "tolerations": [{"operator": "Exists"}]}},
            "spec.placement.driver.tolerations",
            "are those of placement.database; remove them",
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
    with pytest.raises(CallError) as refused:
        check(server, with_changes(changes))
    assert field in refused.value.output
    assert says in refused.value.output
