"""Reads the queue for nodes: all DBBenchmarks that this operator serves, and the nodes."""

import asyncio
import time

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.queue import contender, queue
from dbbench.evaluate.tenure import Wait
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import DBBENCHMARK, NODE

_MAX_AGE_SECONDS = 5.0


class Queue:
    """What benchmarks wait for.

    That one must wait may be told from a list that is some seconds old; that it may run, only from
    one that was asked for after the question.
    """

    def __init__(self, cluster: Cluster, namespaces: tuple[str, ...]) -> None:
        self._cluster = cluster
        self._namespaces = namespaces
        self._waits: dict[str, Wait] = {}
        self._read = -_MAX_AGE_SECONDS

    async def wait_of(self, benchmark: DBBenchmark) -> Wait | None:
        """Why the benchmark cannot have its nodes now; None when it can."""
        name = f"{benchmark.metadata.namespace}/{benchmark.metadata.name}"
        if time.monotonic() - self._read >= _MAX_AGE_SECONDS or name not in self._waits:
            await self._refresh()
        return self._waits.get(name)

    def forget(self) -> None:
        """A node has been given back."""
        self._read = -_MAX_AGE_SECONDS

    async def _refresh(self) -> None:
        bodies = [
            body
            for namespace in self._namespaces or (None,)
            for body in await self._cluster.list(DBBENCHMARK, namespace)
        ]
        nodes = await self._cluster.readable(NODE)
        found = [one for one in map(contender, bodies) if one is not None]
        self._waits = await asyncio.to_thread(queue, found, nodes)
        self._read = time.monotonic()
