"""Reads the queue for nodes: all DBBenchmarks that this operator serves, and the nodes."""

import asyncio
import time

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.queue import Contender, contender, queue
from dbbench.evaluate.tenure import Wait
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import DBBENCHMARK, NODE

_MAX_AGE_SECONDS = 5.0


class Queue:
    """What benchmarks wait for.

    That one must wait may be told from a list that is some seconds old; that it may run, only from
    one that was asked for after the question. Of all benchmarks only their part in the queue is
    kept, by the version that it was read from.
    """

    def __init__(self, cluster: Cluster, namespaces: tuple[str, ...]) -> None:
        self._cluster = cluster
        self._namespaces = namespaces
        self._waits: dict[str, Wait] = {}
        self._contenders: dict[str, tuple[str | None, Contender | None]] = {}
        self._read = -_MAX_AGE_SECONDS

    def known_wait(self, benchmark: DBBenchmark) -> Wait | None:
        """Why the benchmark must wait, by the last list; None where that cannot be told from it."""
        return None if self._is_old() else self._waits.get(_name(benchmark))

    async def wait_of(self, benchmark: DBBenchmark) -> Wait | None:
        """Why the benchmark cannot have its nodes now; None when it can."""
        if self.known_wait(benchmark) is None:
            await self._refresh()
        return self._waits.get(_name(benchmark))

    def forget(self) -> None:
        """A node has been taken or given back."""
        self._read = -_MAX_AGE_SECONDS

    def _is_old(self) -> bool:
        return time.monotonic() - self._read >= _MAX_AGE_SECONDS

    async def _refresh(self) -> None:
        found: dict[str, tuple[str | None, Contender | None]] = {}
        for namespace in self._namespaces or (None,):
            async for page in self._cluster.pages(DBBENCHMARK, namespace):
                for body in page:
                    uid, version = body["metadata"]["uid"], body["metadata"].get("resourceVersion")
                    known = self._contenders.get(uid)
                    same = known is not None and version is not None and known[0] == version
                    found[uid] = known if known and same else (version, contender(body))
        nodes = await self._cluster.readable(NODE)
        self._contenders = found
        contenders = [one for _, one in found.values() if one is not None]
        self._waits = await asyncio.to_thread(queue, contenders, nodes)
        self._read = time.monotonic()


def _name(benchmark: DBBenchmark) -> str:
    return f"{benchmark.metadata.namespace}/{benchmark.metadata.name}"
