"""What every new cluster gets: access rules, DNS, storage, and its nodes' pod ranges."""

import json
import string
import time
from pathlib import Path
from typing import Any

from localcluster import cluster_images, node_config
from localcluster.addresses import Addresses
from localcluster.api import Api
from localcluster.errors import ClusterError

_READY_SECONDS = 180.0
_DEPLOYMENTS = "/apis/apps/v1/deployments"


def render(folder: Path, addresses: Addresses) -> str:
    """The templates in ``folder`` with the cluster's values, as one YAML stream."""
    values = {
        "domain": node_config.DOMAIN,
        "dns_service": str(addresses.dns_service),
        "dns_replicas": str(min(2, len(addresses.nodes))),
        "coredns_image": cluster_images.name("coredns"),
        "busybox_image": cluster_images.name("busybox"),
        "local_path_image": cluster_images.name("local-path-provisioner"),
    }
    templates = sorted(folder.glob("*.yaml"))
    documents = [string.Template(path.read_text()).substitute(values) for path in templates]
    return "\n---\n".join([*documents, *map(json.dumps, node_objects(addresses))])


def node_objects(addresses: Addresses) -> list[dict[str, object]]:
    """The nodes' objects with their pod ranges, which no controller gives out here."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": node.name},
            "spec": {"podCIDR": str(node.pods), "podCIDRs": [str(node.pods)]},
        }
        for node in addresses.nodes
    ]


def not_ready(nodes: dict[str, Any], deployments: dict[str, Any], expected: int) -> list[str]:
    """What is still missing, in words; both arguments are lists as the API server returns them."""
    missing = []
    ready = 0
    for node in nodes["items"]:
        conditions = {entry["type"]: entry for entry in node["status"].get("conditions", [])}
        if conditions.get("Ready", {}).get("status") == "True":
            ready += 1
        else:
            reason = conditions.get("Ready", {}).get("message", "no kubelet has reported yet")
            missing.append(f"node {node['metadata']['name']}: {reason}")
    if len(nodes["items"]) < expected:
        missing.append(f"{ready} of {expected} nodes registered")
    for deployment in deployments["items"]:
        namespace = deployment["metadata"]["namespace"]
        if namespace not in {"kube-system", "local-path-storage"}:
            continue
        status = deployment.get("status", {})
        wanted = deployment["spec"]["replicas"]
        available = status.get("availableReplicas", 0)
        if available < wanted:
            name = deployment["metadata"]["name"]
            missing.append(f"deployment {namespace}/{name}: {available} of {wanted} pods available")
    return missing


def missing_parts(api: Api, expected: int) -> list[str]:
    """What of the nodes and of the cluster's own Deployments is not ready, in words."""
    return not_ready(api.get("/api/v1/nodes"), api.get(_DEPLOYMENTS), expected)


def wait_until_ready(api: Api, addresses: Addresses) -> None:
    """Waits for every node and for the cluster's own Deployments."""
    deadline = time.monotonic() + _READY_SECONDS
    while missing := missing_parts(api, len(addresses.nodes)):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"not ready after {_READY_SECONDS:.0f} s: {'; '.join(missing)}; see "
                "`kubectl get pods -A` and the logs below .state/cluster"
            )
        time.sleep(0.2)
