"""Fits the quickstart sample to the cluster that is there, and says what was changed."""

import os
from dataclasses import dataclass, field

from access import cluster, documents
from access.kubectl import Kubectl, Manifest


@dataclass(frozen=True)
class Overlay:
    """The sample with the changes made; `changes` says each in one line."""

    document: Manifest
    changes: list[str] = field(default_factory=list)


def overlay(kubectl: Kubectl) -> Overlay:
    """Image and nodes of the local cluster, or of the one that KUBECONFIG names.

    For a cluster of the user's own, DBBENCH_DATABASE_IMAGE, DBBENCH_DATABASE_NODE and
    DBBENCH_DRIVER_NODE choose; without them the sample's image and the first two nodes are taken.
    """
    result = Overlay(documents.sample())
    spec = result.document["spec"]
    image = os.environ.get("DBBENCH_DATABASE_IMAGE", "")
    if not image and cluster.user_kubeconfig() is None:
        image = documents.LOCAL_IMAGE
    if image:
        _change(result, spec["database"], "image", image, "spec.database.image")
    nodes = cluster.nodes(kubectl)
    for role, variable, index in (
        ("database", "DBBENCH_DATABASE_NODE", 0),
        ("driver", "DBBENCH_DRIVER_NODE", -1),
    ):
        wanted = os.environ.get(variable, "")
        selector = spec["placement"][role]["nodeSelector"]
        hostname = "kubernetes.io/hostname"
        node = wanted or (selector[hostname] if selector[hostname] in nodes else nodes[index])
        path = f"spec.placement.{role}.nodeSelector[{hostname}]"
        _change(result, selector, hostname, node, path)
    return result


def _change(result: Overlay, place: Manifest, key: str, value: str, path: str) -> None:
    if place[key] != value:
        result.changes.append(f"{path}: {place[key]} -> {value}")
        place[key] = value
