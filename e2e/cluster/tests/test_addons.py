"""What every new cluster gets, and when it counts as ready."""

from ipaddress import IPv4Network
from typing import Any

from localcluster import addons, cluster_images
from localcluster.addresses import plan
from localcluster.layout import Layout

ADDRESSES = plan(IPv4Network("10.213.0.0/16"), ["bench-db", "bench-driver"])


def _node(name: str, ready: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": ready, "message": "container runtime is down"}
    return {"metadata": {"name": name}, "status": {"conditions": [condition]}}


def _deployment(namespace: str, available: int) -> dict[str, Any]:
    return {
        "metadata": {"namespace": namespace, "name": "coredns"},
        "spec": {"replicas": 2},
        "status": {"availableReplicas": available},
    }


def test_templates_are_filled_with_the_clusters_values() -> None:
    text = addons.render(Layout.of_project().addons, ADDRESSES)
    assert "clusterIP: 10.213.128.10" in text
    assert f"image: {cluster_images.name('busybox')}" in text
    assert 'mkdir -m 0777 -p "$VOL_DIR"' in text
    assert '"podCIDR": "10.213.65.0/24"' in text


def test_one_node_gets_one_dns_server() -> None:
    one = plan(IPv4Network("10.213.0.0/16"), ["solo"])
    assert "replicas: 1\n" in addons.render(Layout.of_project().addons, one)


def test_cluster_with_everything_is_ready() -> None:
    nodes = {"items": [_node("a", "True"), _node("b", "True")]}
    deployments = {"items": [_deployment("kube-system", 2), _deployment("default", 0)]}
    assert addons.not_ready(nodes, deployments, expected=2) == []


def test_what_is_missing_is_named() -> None:
    nodes = {"items": [_node("a", "False")]}
    deployments = {"items": [_deployment("kube-system", 1)]}
    assert addons.not_ready(nodes, deployments, expected=2) == [
        "node a: container runtime is down",
        "0 of 2 nodes registered",
        "deployment kube-system/coredns: 1 of 2 pods available",
    ]
