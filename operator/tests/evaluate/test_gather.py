"""What is asked of the API server for one look at a benchmark."""

import time

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.decision import Decision
from dbbench.evaluate.state import Ref
from dbbench.kube.gather import gather
from dbbench.kube.settled import Settled

from .model_cluster import IMAGES, node, spec

QEMU = {"name": "vm", "virtualMachine": {"runtime": "QEMU"}}
KUBEVIRT = {"name": "vm", "virtualMachine": {"runtime": "KubeVirt"}}
POD = {"name": "pod", "pod": {}}


class Cluster:
    """Writes down what it is asked; there is nothing in it but a node."""

    def __init__(self, **objects):
        self.asked = []
        self.objects = objects

    async def serves(self, kind):
        self.asked.append(f"serves {kind.name}")
        return kind.name == "VirtualMachine"

    async def list(self, kind, namespace=None, *, labels="", fields=""):
        self.asked.append(kind.name)
        return self.objects.get(kind.name, [])

    async def log(self, namespace, pod, container):
        return f"log of {pod}"

    async def readable(self, kind):
        self.asked.append(kind.name)
        return (node("a"),) if kind.name == "Node" else ()

    async def version(self):
        self.asked.append("version")
        return "v1.34.4"


def benchmark(targets, status):
    metadata = {"name": "one", "namespace": "ns", "uid": "u"}
    return DBBenchmark.parse(
        {"metadata": metadata, "spec": spec(targets=targets), "status": status}
    )


async def asked(targets, status):
    cluster = Cluster()
    await gather(cluster, benchmark(targets, status), IMAGES, privileged_targets=False)
    return cluster.asked


async def test_before_its_start_a_benchmark_costs_what_the_cluster_offers_and_no_more():
    assert await asked([POD, QEMU], {}) == ["Node", "StorageClass", "version"]


async def test_whether_kubevirt_is_there_is_asked_for_who_may_use_it_alone():
    assert "serves VirtualMachine" in await asked([POD, KUBEVIRT], {})
    started = {"startTime": "2026-01-01T00:00:00Z"}
    assert "serves VirtualMachine" not in await asked([POD, QEMU], started)
    assert "VirtualMachine" in await asked([POD, KUBEVIRT], started)


async def test_what_belongs_to_an_object_is_looked_for_after_it():
    order = await asked([POD, QEMU], {"startTime": "2026-01-01T00:00:00Z"})
    owners = [order.index(kind) for kind in ("Job", "StatefulSet")]
    assert max(owners) < min(order.index(kind) for kind in ("Pod", "ConfigMap", "Secret"))


@pytest.mark.parametrize(("runtime", "used"), [("QEMU", False), ("KubeVirt", True)])
async def test_after_the_start_it_is_settled_whether_kubevirt_is_used(runtime, used):
    automatic = {"name": "vm", "virtualMachine": {"runtime": "Auto"}}
    target = {"name": "vm", "runtime": runtime, "emulated": False}
    status = {"startTime": "2026-01-01T00:00:00Z", "environment": {"targets": [target]}}
    assert ("VirtualMachine" in await asked([POD, automatic], status)) is used


async def test_the_log_of_a_job_is_not_that_of_a_deleted_one_of_its_name():
    labels = {
        "dbbench.io/job": "trial",
        "dbbench.io/trial": "b001.pod.x",
        "dbbench.io/attempt": "1",
    }
    job = {
        "kind": "Job",
        "metadata": {
            "name": "one-trial", "uid": "new", "labels": labels, "ownerReferences": [{"uid": "u"}],
        },
        "spec": {"template": {"spec": {"containers": [{"name": "driver"}]}}},
        "status": {"conditions": [{"type": "Complete", "status": "True"}]},
    }  # fmt: skip
    pods = [
        {
            "metadata": {
                "name": f"pod-of-{uid}",
                "labels": {"job-name": "one-trial", "batch.kubernetes.io/controller-uid": uid},
            }
        }
        for uid in ("old", "new")
    ]
    cluster = Cluster(Job=[job], Pod=pods)
    started = benchmark([POD, QEMU], {"startTime": "2026-01-01T00:00:00Z"})
    state = await gather(cluster, started, IMAGES, privileged_targets=False)
    assert state.logs == {"one-trial": ("log of pod-of-new",)}


LISTS = {"Service", "StatefulSet", "PersistentVolumeClaim", "Secret"}


def measuring(step="trial:b001.pod.telecom/1"):
    progress = {"step": step, "current": "x"}
    return {"startTime": "2026-01-01T00:00:00Z", "progress": progress}


async def looked(cluster, settled, status):
    """What one more look asks for."""
    before = len(cluster.asked)
    found = benchmark([POD, QEMU], status)
    await gather(cluster, found, IMAGES, privileged_targets=False, settled=settled)
    return set(cluster.asked[before:])


async def test_while_a_job_runs_what_was_made_before_it_is_asked_for_once(monkeypatch):
    cluster = Cluster()
    settled = Settled(cluster)
    assert await looked(cluster, settled, measuring()) >= LISTS
    again = await looked(cluster, settled, measuring())
    assert again.isdisjoint(LISTS)
    assert {"Job", "Pod", "ConfigMap"} <= again
    # What others have changed is seen when it is old.
    later = time.monotonic() + 10
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert await looked(cluster, settled, measuring()) >= LISTS


@pytest.mark.parametrize("step", ["start:vm", "stop:pod", "remove:vm", "disk:vm"])
async def test_in_any_other_step_everything_is_asked_for(step):
    cluster = Cluster()
    settled = Settled(cluster)
    await looked(cluster, settled, measuring())
    assert await looked(cluster, settled, measuring(step)) >= LISTS
    # What was read then is not kept for the next step.
    settled.done(benchmark([POD, QEMU], measuring(step)), Decision(status=None))
    assert await looked(cluster, settled, measuring()) >= LISTS


@pytest.mark.parametrize(
    ("decision", "kept"),
    [
        (Decision(status=None), True),
        (Decision(status=None, apply=({"kind": "Job"},)), True),
        (Decision(status=None, delete=(Ref("Job", "x"),)), True),
        (Decision(status=None, apply=({"kind": "Service"},)), False),
        (Decision(status=None, create=({"kind": "Secret"},)), False),
        (Decision(status=None, delete=(Ref("StatefulSet", "x"),)), False),
        (Decision(status=None, create_credentials=True), False),
    ],
)
async def test_what_the_operator_changes_is_asked_for_again(decision, kept):
    cluster = Cluster()
    settled = Settled(cluster)
    await looked(cluster, settled, measuring())
    settled.done(benchmark([POD, QEMU], measuring()), decision)
    assert (await looked(cluster, settled, measuring())).isdisjoint(LISTS) is kept


async def test_after_a_failure_everything_is_asked_for_again():
    cluster = Cluster()
    settled = Settled(cluster)
    await looked(cluster, settled, measuring())
    settled.forget()
    assert await looked(cluster, settled, measuring()) >= LISTS
