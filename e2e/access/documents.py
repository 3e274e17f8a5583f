"""DBBenchmark documents that tests and the demo apply."""

import asyncio
import copy
import json
from typing import Any

import yaml
from kubernetes_asyncio.client import ApiClient, ApiException

from access.kubectl import CallError, Kubectl, Manifest
from access.paths import SAMPLE
from dbbench.kube.access import load_configuration
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import BY_NAME

LOCAL_IMAGE = "localhost/dbbench/postgres:15"
DATABASE_NODE = "bench-db"
DRIVER_NODE = "bench-driver"


def sample() -> Manifest:
    """The quickstart sample, as a user applies it."""
    document: Manifest = yaml.safe_load(SAMPLE.read_text())
    return document


def on_node(name: str) -> Manifest:
    """A placement on one node."""
    return {"nodeSelector": {"kubernetes.io/hostname": name}}


def benchmark(name: str, **spec: object) -> Manifest:
    """A small benchmark for the local cluster: one block of one short workload, pod and QEMU VM.

    `spec` replaces whole fields of the spec.
    """
    return {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {"name": name},
        "spec": {
            "database": {
                "engine": "PostgreSQL",
                "image": LOCAL_IMAGE,
                "config": {"shared_buffers": "128MB"},
                "storage": {"size": "1Gi"},
            },
            "resources": {"cpu": 1, "memory": "768Mi"},
            "placement": {"database": on_node(DATABASE_NODE), "driver": on_node(DRIVER_NODE)},
            "baseline": "pod",
            "targets": [
                {"name": "pod", "pod": {}},
                {"name": "vm", "virtualMachine": {"runtime": "QEMU", "rootDiskSize": "2Gi"}},
            ],
            "workloads": [
                {"name": "telecom", "tatp": {"subscribers": 100, "warmup": "1s", "duration": "2s"}}
            ],
            # On a noisy machine, runs would take as much longer as there are repetitions.
            "trials": {"min": 1, "contamination": {"maxRepeats": 0}},
            **spec,
        },
    }


def changed(path: str, value: Any, base: Manifest | None = None) -> Manifest:  # noqa: ANN401 (JSON)
    """The minimal benchmark, or `base`, with one field set, or removed when the value is None.

    `path` is made of field names and list indices: `targets.0.name`.
    """
    document = copy.deepcopy(base or benchmark("checked"))
    *parents, last = path.split(".")
    place: Any = document["spec"]
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    if value is None:
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return document


def check(server: Kubectl, document: Manifest) -> None:
    """Ask the server to validate without storing; CallError with its answer when it refuses.

    It is asked directly: it answers hundreds of these before as many kubectls have started.
    """
    manifest = {**document, "metadata": {**document["metadata"], "namespace": server.namespace}}
    asyncio.run(_check(server, manifest))


def refusal(server: Kubectl, document: Manifest) -> str:
    """What the server says against the document; AssertionError when it accepts it."""
    try:
        check(server, document)
    except CallError as refused:
        return refused.output
    raise AssertionError(f"{document['metadata']['name']} is accepted")


async def _check(server: Kubectl, manifest: Manifest) -> None:
    kind = manifest["kind"]
    configuration = await load_configuration(str(server.kubeconfig))
    async with ApiClient(configuration) as client:
        try:
            created = await Cluster(client).create(BY_NAME[kind], manifest, dry_run=True)
        except ApiException as refused:
            said = str(json.loads(refused.body or "{}").get("message", refused))
            raise CallError(["create", kind], refused.status, said) from refused
    if not created:
        raise CallError(["create", kind], 409, f"{manifest['metadata']['name']} exists already")
