"""The queue in memory: what is seen, written and gone counts in the order of versions."""

from typing import Any

from dbbench.kube.offer import Offer
from dbbench.kube.queueing import Queue
from tests.test_admission import Cluster, benchmark

HELD = {"startTime": "2026-01-01T00:00:00Z", "reason": "Running"}


def seen(name: str, second: int, version: int, **status: Any) -> dict[str, Any]:
    body = benchmark(name, second, "a", "b")
    body["metadata"]["resourceVersion"] = f"{version}"
    return body | ({"status": status} if status else {})


def queue_of(*bodies: dict[str, Any]) -> tuple[Queue, Cluster]:
    cluster = Cluster(list(bodies), 0)
    return Queue(cluster, (), Offer(cluster)), cluster


async def test_all_are_read_once_and_then_noted():
    queue, cluster = queue_of(seen("one", 0, 5), seen("two", 1, 6))
    assert await queue.wait_of("ns/one") is None
    assert (await queue.wait_of("ns/two")).benchmark == "ns/one"
    queue.note(seen("three", 2, 7))
    assert (await queue.wait_of("ns/three")).position == 3
    assert cluster.lists == 1


async def test_what_was_written_counts_and_what_was_seen_before_it_does_not():
    queue, _ = queue_of(seen("one", 1, 5), seen("two", 0, 6))
    assert await queue.wait_of("ns/two") is None
    queue.note(seen("one", 1, 5) | {"status": HELD}, written=True)
    assert (await queue.wait_of("ns/two")).holds
    # The watch tells late of the version before, and then of the one that was written.
    queue.note(seen("one", 1, 5))
    assert (await queue.wait_of("ns/two")).holds
    queue.note(seen("one", 1, 8, **HELD))
    assert (await queue.wait_of("ns/two")).holds
    queue.note(seen("one", 1, 9, **HELD, completionTime="2026-01-01T01:00:00Z"))
    assert await queue.wait_of("ns/two") is None


async def test_who_is_gone_waits_for_nothing_and_keeps_nobody_waiting():
    queue, cluster = queue_of(seen("one", 0, 5), seen("two", 1, 6), seen("three", 2, 7))
    assert (await queue.wait_of("ns/three")).position == 3
    queue.drop("ns/one")
    assert await queue.wait_of("ns/two") is None
    # Of this one no event has told.
    del cluster.benchmarks["two"], cluster.benchmarks["one"]
    assert [len(page) async for page in queue.read()] == [0, 1]
    assert await queue.wait_of("ns/three") is None


async def test_after_a_failure_all_are_read_again():
    queue, cluster = queue_of(seen("one", 0, 5))
    assert await queue.wait_of("ns/one") is None
    cluster.benchmarks["zero"] = seen("zero", 0, 9, **HELD)
    assert await queue.wait_of("ns/one") is None
    queue.forget()
    assert (await queue.wait_of("ns/one")).benchmark == "ns/zero"
    assert cluster.lists == 2
