"""DBBenchmark documents that tests and the demo apply."""

import yaml

from access.kubectl import Manifest
from access.paths import SAMPLE

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
            "trials": {"min": 1},
            **spec,
        },
    }
