"""The reconciler's workers admit benchmarks to their nodes, many at once, and never two to one."""

import asyncio
import copy
import random
from typing import Any

import pytest

from dbbench.evaluate.queue import Standing, contender
from dbbench.kube.kinds import DBBENCHMARK, NODE, STORAGE_CLASS
from dbbench.reconciler import QUEUED_LOOKS_PER_SECOND, Key, Reconciler
from dbbench.targets.context import Images

IMAGES = Images(driver="driver:1", launcher="launcher:1", guest_kernel="kernel:1")
HOSTS = ("a", "b", "c")
INFO = {
    "kernelVersion": "6.1",
    "containerRuntimeVersion": "containerd://1",
    "kubeletVersion": "v1.34.4",
}


def node(name: str) -> dict[str, Any]:
    room = {"cpu": "8", "memory": "32Gi"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": room, "allocatable": room, "nodeInfo": INFO},
    }


def benchmark(name: str, second: int, database: str, driver: str, **role: str) -> dict[str, Any]:
    def on(host: str) -> dict[str, Any]:
        return {"nodeSelector": {"kubernetes.io/hostname": host}, **role}

    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "generation": 1,
            "creationTimestamp": f"2026-01-01T00:00:{second:02d}Z",
        },
        "spec": {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": on(database), "driver": on(driver)},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, {"name": "other", "pod": {}}],
            "workloads": [{"name": "telecom", "tatp": {"subscribers": 1000}}],
        },
    }


class Cluster:
    """Benchmarks, nodes and a storage class; other workers run in the middle of every request."""

    def __init__(self, benchmarks: list[dict[str, Any]], seed: int) -> None:
        self.benchmarks = {body["metadata"]["name"]: body for body in benchmarks}
        self.most: dict[str, int] = dict.fromkeys(HOSTS, 0)
        self.admitted: list[str] = []
        self.lists = 0
        self._random = random.Random(seed)

    async def _pass_time(self) -> None:
        for _ in range(self._random.randrange(4)):
            await asyncio.sleep(0)

    async def readable(self, kind):
        return tuple(await self.list(kind))

    async def get(self, kind, namespace, name):
        await self._pass_time()
        return copy.deepcopy(self.benchmarks.get(name))

    async def serves(self, kind):
        await self._pass_time()
        return False

    async def version(self):
        return "v1.34.4"

    async def create(self, kind, manifest):
        await self._pass_time()
        return True

    async def apply(self, kind, manifest):
        await self._pass_time()
        name = manifest["metadata"]["labels"]["dbbench.io/benchmark"]
        assert name in self.holders(), f"{name} deploys {kind.name}, and has no nodes"

    async def replace_status(self, namespace, name, status, *, resource_version):
        await self._pass_time()
        before = set(self.holders())
        self.benchmarks[name]["status"] = status
        self.admitted += sorted(set(self.holders()) - before)
        for host in HOSTS:
            there = [one for one in self.holders() if host in self.hosts(one)]
            self.most[host] = max(self.most[host], len(there))

    def hosts(self, name: str) -> set[str]:
        placement = self.benchmarks[name]["spec"]["placement"]
        return {role["nodeSelector"]["kubernetes.io/hostname"] for role in placement.values()}

    def holders(self) -> list[str]:
        found = {name: contender(body) for name, body in self.benchmarks.items()}
        return [name for name, one in found.items() if one and one.standing is Standing.HOLDS]

    def finish(self, name: str) -> None:
        self.benchmarks[name]["status"]["completionTime"] = "2026-01-01T01:00:00Z"

    async def pages(self, kind, namespace=None):
        found = await self.list(kind, namespace)
        half = len(found) // 2
        for page in (found[:half], found[half:]):
            yield tuple(page)

    async def list(self, kind, namespace=None, *, labels="", fields=""):
        await self._pass_time()
        found = []
        if kind is DBBENCHMARK:
            self.lists += 1
            found = copy.deepcopy(list(self.benchmarks.values()))
        if kind is NODE:
            found = [node(name) for name in HOSTS]
        if kind is STORAGE_CLASS:
            default = {"storageclass.kubernetes.io/is-default-class": "true"}
            found = [{"metadata": {"name": "standard", "annotations": default}}]
        await self._pass_time()
        return found


async def settle(reconciler: Reconciler, keys: list[Key]) -> None:
    await asyncio.gather(*(reconciler.reconcile(key) for key in keys))


@pytest.mark.parametrize("seed", range(20))
async def test_never_two_on_a_node_and_everyone_has_a_turn_in_order(seed):
    chance = random.Random(seed)
    bodies = [
        benchmark(f"n{index:02d}", chance.randrange(4), *chance.sample(HOSTS, 2))
        for index in range(8)
    ]
    cluster = Cluster(bodies, seed)
    reconciler = Reconciler(cluster, IMAGES, ())
    keys = [Key("ns", name) for name in cluster.benchmarks]
    for _ in range(40):
        chance.shuffle(keys)
        await settle(reconciler, keys)
        assert cluster.holders() or len(cluster.admitted) == len(bodies)
        for name in cluster.holders():
            if chance.random() < 0.5:
                cluster.finish(name)
                reconciler._nodes.forget()
    assert sorted(cluster.admitted) == sorted(cluster.benchmarks)
    assert cluster.most == dict.fromkeys(HOSTS, 1)
    created = {body["metadata"]["name"]: body["metadata"]["creationTimestamp"] for body in bodies}
    for host in HOSTS:
        turns = [(created[name], name) for name in cluster.admitted if host in cluster.hosts(name)]
        assert turns == sorted(turns)


async def test_two_that_agree_to_share_run_at_once():
    one, two = (benchmark(name, 0, "a", "b", occupancy="Shared") for name in ("one", "two"))
    cluster = Cluster([one, two], 0)
    reconciler = Reconciler(cluster, IMAGES, ())
    await settle(reconciler, [Key("ns", "one"), Key("ns", "two")])
    assert cluster.holders() == ["one", "two"]


async def test_who_waits_is_looked_at_as_soon_as_the_holder_is_gone():
    cluster = Cluster([benchmark("one", 0, "a", "b"), benchmark("two", 1, "a", "b")], 0)
    reconciler = Reconciler(cluster, IMAGES, ())
    await reconciler.reconcile(Key("ns", "one"))
    await reconciler.reconcile(Key("ns", "two"))
    assert cluster.benchmarks["two"]["status"]["queue"]["benchmark"] == "ns/one"
    assert len(reconciler.queue) == 0
    del cluster.benchmarks["one"]
    await reconciler.reconcile(Key("ns", "one"))
    woken, _ = await asyncio.wait_for(reconciler.queue.get(), 5)
    assert woken == Key("ns", "two")
    await reconciler.reconcile(Key("ns", "two"))
    assert cluster.holders() == ["two"]


async def test_a_long_queue_does_not_read_all_benchmarks_for_each_of_them():
    cluster = Cluster([benchmark(f"n{index:02d}", index, "a", "b") for index in range(40)], 0)
    reconciler = Reconciler(cluster, IMAGES, ())
    keys = [Key("ns", name) for name in cluster.benchmarks]
    await settle(reconciler, keys)
    await settle(reconciler, keys)
    assert cluster.holders() == ["n00"]
    assert cluster.lists < 5


async def test_who_waits_is_looked_at_the_later_the_more_wait():
    cluster = Cluster([benchmark(f"n{index:02d}", index, "a", "b") for index in range(100)], 0)
    reconciler = Reconciler(cluster, IMAGES, ())
    waits = [await reconciler.reconcile(Key("ns", name)) for name in sorted(cluster.benchmarks)]
    assert set(waits[1:50]) == {30}
    assert waits[-1] == 99 / QUEUED_LOOKS_PER_SECOND


async def test_the_second_in_the_queue_is_looked_at_too_when_a_node_is_given_back():
    cluster = Cluster([benchmark(f"n{index}", index, "a", "b") for index in range(5)], 0)
    reconciler = Reconciler(cluster, IMAGES, ())
    for name in sorted(cluster.benchmarks):
        await reconciler.reconcile(Key("ns", name))
    # The first has its turn meanwhile, of which the second has not been told.
    cluster.finish("n0")
    reconciler._nodes.forget()
    await reconciler.reconcile(Key("ns", "n1"))
    assert cluster.holders() == ["n1"]
    assert cluster.benchmarks["n2"]["status"]["queue"]["position"] == 2
    del cluster.benchmarks["n1"]
    await reconciler.reconcile(Key("ns", "n1"))
    woken, _ = await asyncio.wait_for(reconciler.queue.get(), 5)
    assert woken == Key("ns", "n2")
    await reconciler.reconcile(Key("ns", "n2"))
    assert cluster.holders() == ["n2"]
