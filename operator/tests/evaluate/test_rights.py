"""The rights of the plain install are those that the operator's code asks for: no more, no fewer.

The operator's own code runs whole benchmarks against a model cluster; each of its requests is one
right. kopf asks for what it is told to watch.
"""

import base64
from pathlib import Path
from typing import Any

import kopf
import pytest
import yaml

from dbbench.handlers import register
from dbbench.kube import gather
from dbbench.kube.cluster import Cluster
from dbbench.reconciler import Key, Reconciler
from dbbench.settings import from_environment

from .model_cluster import IMAGES, ModelCluster, node, spec
from .recorded_api import Clock, RecordedApi, Right

PROJECT = Path(__file__).parents[3]
INSTALL = PROJECT / "manifests" / "install.yaml"
OPERATOR = {"dbbench-operator", "dbbench-operator-kubevirt"}
POD = {"name": "pod", "pod": {}}
KUBEVIRT = {
    "metadata": {"name": "kubevirt", "namespace": "kubevirt"},
    "spec": {"configuration": {"developerConfiguration": {
        "featureGates": ["CPUManager"], "useEmulation": True}}},
}  # fmt: skip
SECRET = {
    "metadata": {"name": "orders-app"},
    "data": {k: base64.b64encode(b"x").decode() for k in ("host", "user", "password")},
}
# Asked for by an admission plug-in of the API server when a child that blocks its owner's deletion
# is made, not by a request of the operator's.
BY_ADMISSION = {Right("dbbench.io", "dbbenchmarks/finalizers", "update")}


async def rights_used(
    monkeypatch: pytest.MonkeyPatch, targets: list[dict[str, Any]], **changes: Any
) -> set[Right]:
    """Of a benchmark from its creation until it is deleted because its time has passed."""
    served = frozenset(changes.pop("served", ()))
    policies = changes.pop("network_policies", False)
    settings = {"targets": targets, "ttlAfterFinished": "1m", "trials": {"min": 1}}
    model = ModelCluster(
        spec(**settings, **changes),
        nodes=(node("a", "16", "64Gi"), node("b")),
        kubevirts=(KUBEVIRT,),
    )
    api = RecordedApi(model, served, secrets=[SECRET])
    monkeypatch.setattr(gather, "datetime", Clock(model))
    reconciler = Reconciler(Cluster(api), IMAGES, (), network_policies=policies)
    for _ in range(200):
        await reconciler.reconcile(Key("ns", "bench"))
        model.pass_time()
        if model.deleted:
            return api.rights
    raise AssertionError(f"not finished: {model.status}")


def rights_watched() -> set[Right]:
    """kopf lists and then watches."""
    registry = kopf.OperatorRegistry()
    register(registry, from_environment({}), client=None)
    selectors = [handler.selector for handler in registry._watching.get_all_handlers()]
    return {
        Right(selector.group or "", selector.any_name, verb)
        for selector in selectors
        for verb in ("list", "watch")
    }


def rights_granted() -> set[Right]:
    return {
        Right(group, resource, verb)
        for role in yaml.safe_load_all(INSTALL.read_text())
        if role["kind"] == "ClusterRole" and role["metadata"]["name"] in OPERATOR
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


async def test_the_rights_are_those_that_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = {"name": "vm", "virtualMachine": {"runtime": "QEMU"}}
    external = {"connection": {"secretRef": {"name": "orders-app"}}}
    used = await rights_used(monkeypatch, [POD, machine, {"name": "prod", "external": external}])
    of_kubevirt = await rights_used(
        monkeypatch,
        [POD, {"name": "vm", "virtualMachine": {"runtime": "KubeVirt"}}],
        served=["virtualmachines"],
    )
    needed = used | of_kubevirt | rights_watched() | BY_ADMISSION
    granted = rights_granted()
    assert sorted(needed - granted) == [], "needed, but not granted"
    assert sorted(granted - needed) == [], "granted, but never used"


async def test_clusters_of_cloudnativepg_are_the_one_right_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = await rights_used(
        monkeypatch,
        [POD, {"name": "cnpg", "cloudNativePG": {}}],
        served=["clusters"],
    )
    assert sorted(used - rights_granted()) == [
        Right("postgresql.cnpg.io", "clusters", verb)
        for verb in ("create", "delete", "list", "patch")
    ]


async def test_network_policies_are_the_one_right_more(monkeypatch: pytest.MonkeyPatch) -> None:
    external = {"connection": {"secretRef": {"name": "orders-app"}}}
    used = await rights_used(
        monkeypatch, [POD, {"name": "prod", "external": external}], network_policies=True
    )
    assert sorted(used - rights_granted()) == [
        Right("networking.k8s.io", "networkpolicies", verb)
        for verb in ("create", "delete", "list", "patch")
    ]
