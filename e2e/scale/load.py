"""The benchmarks that are created, and what the stand-in drivers answer. Pure."""

import base64
import json
import random

from access.kubectl import Manifest

from dbbench.targets.names import LABEL_JOB, LABEL_TARGET

RUNTIME_CLASS = "stand-in"
# A histogram of a real run is some kilobytes that cannot be made smaller by compressing.
_HISTOGRAM_BYTES = 1_500
_TRANSACTIONS = (
    "GetSubscriberData", "GetNewDestination", "GetAccessData", "UpdateSubscriberData",
    "UpdateLocation", "InsertCallForwarding", "DeleteCallForwarding",
)  # fmt: skip


def node_name(number: int) -> str:
    """Of node `number`, from 0."""
    return f"node-{number:03d}"


def namespace_name(number: int) -> str:
    """Of namespace `number`, from 0."""
    return f"team-{number:02d}"


def benchmark(number: int, *, nodes: int, namespaces: int) -> Manifest:
    """Benchmark `number`: each wants one of the nodes for itself, so that the others wait for it.

    As many run at once as there are nodes. Its data are in memory, for the stand-in nodes have no
    volumes; a run is four loads and four trials.
    """
    return {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {
            "name": f"bench-{number:04d}",
            "namespace": namespace_name(number % namespaces),
        },
        "spec": {
            "database": {
                "engine": "PostgreSQL",
                "image": "registry.invalid/postgres:17",
                "storage": {"size": "1Gi", "medium": "Memory"},
            },
            "resources": {"cpu": 1, "memory": "4Gi"},
            "placement": {
                "database": {"nodeSelector": {"kubernetes.io/hostname": node_name(number % nodes)}},
                "driver": {"colocation": "SameNode"},
            },
            "baseline": "pod",
            "targets": [
                {"name": "pod", "pod": {}},
                {"name": "sandbox", "pod": {"runtimeClassName": RUNTIME_CLASS}},
            ],
            "workloads": [
                {"name": "telecom", "tatp": {"subscribers": 1000, "duration": "10s"}},
            ],
            "trials": {"min": 2, "contamination": {"maxRepeats": 0}},
        },
    }


def log(pod: Manifest) -> str:
    """The log of a stand-in driver: a valid result of the size of a real one, with made-up values.

    They depend on the pod's name alone.
    """
    labels = pod["metadata"]["labels"]
    chance = random.Random(pod["metadata"]["name"])
    rate = chance.uniform(90, 110) * (0.8 if labels[LABEL_TARGET] == "sandbox" else 1.0)
    result = {
        "kind": "Result",
        "schemaVersion": 1,
        "command": labels[LABEL_JOB],
        "valid": True,
        "invalidReasons": [],
        "metrics": [{"name": "throughput", "unit": "per_second", "value": rate}],
        "operations": [_operation(name, chance) for name in _TRANSACTIONS],
        "server": {"engine": "PostgreSQL", "version": "17", "settings": {"shared_buffers": "1GB"}},
        "data": {"rows": {"subscriber": 1000}, "digest": "sha256:1"},
        "target": {"facts": {"emulated": False, "hypervisor": "None", "kernel": "6.1"}},
    }
    progress = '{"kind":"Progress","phase":"measure"}'
    return f"{progress}\n{json.dumps(result, separators=(',', ':'))}\n"


def _operation(name: str, chance: random.Random) -> Manifest:
    return {
        "name": name,
        "kind": "transaction",
        "counts": {"ok": chance.randrange(1000), "expectedFailure": 0, "error": 0},
        "errors": {},
        "samples": base64.b64encode(chance.randbytes(_HISTOGRAM_BYTES)).decode(),
    }
