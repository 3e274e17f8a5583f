"""What only the cluster can tell: Stalled, with the field, the object and the way out."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from access import kubevirt
from access.benchmarks import Benchmark
from access.documents import LOCAL_IMAGE, benchmark, on_node
from access.kubectl import Kubectl, Manifest
from access.namespaces import new_namespace
from access.operator import Helm

# The stated timeouts, and what the test allows on top for everything before and after them.
TIMEOUTS = {"ready": "25s", "load": "60s", "trial": "60s", "disk": "60s"}
SLACK_SECONDS = 150
PODS = [{"name": "pod", "pod": {}}, {"name": "other", "pod": {}}]
MACHINES = [
    {"name": "pod", "virtualMachine": {"runtime": "QEMU", "rootDiskSize": "2Gi"}},
    {"name": "other", "virtualMachine": {"runtime": "QEMU", "rootDiskSize": "2Gi"}},
]


def database(**changes: Any) -> dict[str, Any]:
    return {**benchmark("x")["spec"]["database"], **changes}


CASES: dict[str, tuple[dict[str, Any], set[str], list[str]]] = {
    # what is wrong: (fields of the spec, possible reasons, texts that the message has)
    "node-missing": (
        {"placement": {"database": on_node("bench-9"), "driver": on_node("bench-driver")}},
        {"NodeNotFound"},
        ["spec.placement.database.nodeSelector", "bench-9", "bench-db", "kubectl label node"],
    ),
    "driver-node-missing": (
        {"placement": {"database": on_node("bench-db"), "driver": on_node("bench-9")}},
        {"NodeNotFound"},
        ["spec.placement.driver.nodeSelector", "bench-9", "bench-driver"],
    ),
    "storage-class-missing": (
        {"database": database(storage={"size": "1Gi", "storageClassName": "gold"})},
        {"StorageClassNotFound"},
        ["spec.database.storage.storageClassName", "'gold'", "standard"],
    ),
    "too-many-cpus": (
        {"resources": {"cpu": 500}},
        {"InsufficientCPU"},
        ["spec.resources.cpu", "500", "bench-db"],
    ),
    "kubevirt-missing": (
        {"targets": [PODS[0], {"name": "vm", "virtualMachine": {"runtime": "KubeVirt"}}]},
        {"KubeVirtNotInstalled"},
        ["spec.targets[1].virtualMachine.runtime", "'vm'", "write QEMU or Auto"],
    ),
    "image-missing-pod": (
        {"database": database(image="localhost/dbbench/no-such-image:1"), "targets": PODS},
        {"ImagePullFailed"},
        ["localhost/dbbench/no-such-image:1", "pod", "spec.database.image"],
    ),
    "image-missing-vm": (
        {"database": database(image="localhost/dbbench/no-such-image:1"), "targets": MACHINES},
        {"ImagePullFailed"},
        ["localhost/dbbench/no-such-image:1", "root disk", "spec.database.image"],
    ),
    "root-disk-too-small": (
        {
            "targets": [
                {**target, "virtualMachine": {"runtime": "QEMU", "rootDiskSize": "16Mi"}}
                for target in MACHINES
            ]
        },
        {"DiskNotMade"},
        ["root disk", "spec.targets[].virtualMachine.rootDiskSize", "kubectl logs"],
    ),
    "guest-does-not-boot": (
        # Too little memory for the guest's kernel; QEMU itself has enough.
        {"targets": MACHINES, "resources": {"cpu": 1, "memory": "24Mi"}},
        {"ContainerCrashing", "ContainerFailed", "NotReady"},
        ["target '", "kubectl logs", "spec."],
    ),
    "database-does-not-start": (
        {"database": database(config={"shared_buffers": "100TB"}), "targets": PODS},
        {"ContainerCrashing", "ContainerFailed"},
        ["target '", "kubectl logs", "spec.database.config"],
    ),
    "not-a-database": (
        {"database": database(image="localhost/dbbench/busybox:0.1.0"), "targets": PODS},
        {"ContainerCrashing", "ContainerFailed"},
        ["target '", "kubectl logs"],
    ),
}


@pytest.fixture(scope="module", autouse=True)
def without_kubevirt(kubectl: Kubectl) -> None:
    """An aborted session may have left the stand-in."""
    kubevirt.remove(kubectl)


# These get so far as to hold a CPU of the one node that they are pinned to: one after the other.
HOLD_A_CPU = {
    "image-missing-pod",
    "image-missing-vm",
    "root-disk-too-small",
    "guest-does-not-boot",
    "database-does-not-start",
    "not-a-database",
}


@dataclass(frozen=True)
class Ending:
    """What a benchmark said when it could not go on, and what it had measured."""

    condition: Manifest
    status: Manifest
    records: dict[str, Any]


def ending(kubectl: Kubectl, case: str) -> Ending:
    """Apply the case in a namespace of its own, and wait until it stalls."""
    fields, _, _ = CASES[case]
    with new_namespace(kubectl, case) as namespace:
        # Always: a failed run must not keep the CPUs that the next one needs.
        namespace.apply(benchmark(case, timeouts=TIMEOUTS, cleanupPolicy="Always", **fields))
        run = Benchmark(namespace, case)
        condition = run.wait_until_stalled(limit=SLACK_SECONDS)
        return Ending(condition, run.status, run.records())


@pytest.fixture(scope="module")
def endings(
    operator: Helm, kubectl: Kubectl, without_kubevirt: None
) -> Iterator[dict[str, Future[Ending]]]:
    """All cases, under way at the same time as far as CPUs allow."""
    with ThreadPoolExecutor(1) as in_turn, ThreadPoolExecutor(len(CASES)) as together:
        yield {
            case: (in_turn if case in HOLD_A_CPU else together).submit(ending, kubectl, case)
            for case in CASES
        }


@pytest.mark.parametrize("case", CASES)
def test_it_stalls_and_says_why(endings: dict[str, Future[Ending]], case: str) -> None:
    _, reasons, texts = CASES[case]
    found = endings[case].result()
    message = found.condition["message"]
    assert found.condition["reason"] in reasons, message
    for text in texts:
        assert text in message
    conditions = {c["type"]: c["status"] for c in found.status["conditions"]}
    ended = (conditions["Succeeded"], conditions["Ready"], conditions["Reconciling"])
    assert ended == ("False",) * 3
    assert found.status["reason"] == found.condition["reason"]
    assert not found.records, "nothing was measured"
    assert "comparisons" not in found.status or found.status["comparisons"] == []


def test_what_appears_later_unblocks_the_benchmark(operator: Helm, namespace: Kubectl) -> None:
    """Before anything is deployed problems are looked at again: no new object is needed."""
    document = benchmark(
        "waiting",
        database=database(image=LOCAL_IMAGE, storage={"size": "1Gi", "storageClassName": "later"}),
    )
    namespace.apply(document)
    run = Benchmark(namespace, "waiting")
    assert run.wait_until_stalled(limit=60)["reason"] == "StorageClassNotFound"
    patch = '{"spec": {"database": {"storage": {"storageClassName": "standard"}}}}'
    namespace("patch", "dbb", "waiting", "--type=merge", "-p", patch)
    run.wait_until_seen(limit=60)
    run.wait_for_step("start:", limit=180)
