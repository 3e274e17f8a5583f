"""What the cluster offers, asked for once by many."""

import asyncio

import pytest

from dbbench.kube import offer
from dbbench.kube.offer import Offer


class Cluster:
    def __init__(self):
        self.asked = []

    async def readable(self, kind):
        self.asked.append(kind.name)
        await asyncio.sleep(0)
        return ({"metadata": {"name": f"{kind.name}-{len(self.asked)}"}},)

    async def version(self):
        self.asked.append("version")
        return "v1.34.4"


async def test_many_that_ask_at_once_share_one_answer():
    cluster = Cluster()
    found = Offer(cluster)
    answers = await asyncio.gather(*(found.nodes() for _ in range(50)))
    assert cluster.asked == ["Node"]
    assert len({id(answer) for answer in answers}) == 1
    assert await found.version() == "v1.34.4"
    assert cluster.asked == ["Node", "version"]


async def test_an_old_answer_is_asked_for_again(monkeypatch: pytest.MonkeyPatch):
    cluster = Cluster()
    found = Offer(cluster)
    now = [100.0]
    monkeypatch.setattr(offer.time, "monotonic", lambda: now[0])
    first = await found.storage_classes()
    now[0] += 4.9
    assert await found.storage_classes() is first
    now[0] += 0.2
    assert await found.storage_classes() != first
    assert cluster.asked == ["StorageClass"] * 2
