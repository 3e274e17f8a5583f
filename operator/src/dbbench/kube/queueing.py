"""The queue for nodes: the part of every DBBenchmark in it, kept up to date in memory."""

from collections.abc import AsyncIterator, Sequence

from dbbench.evaluate.queue import Contender, contender, queue
from dbbench.evaluate.tenure import Wait
from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.kinds import DBBENCHMARK
from dbbench.kube.offer import Offer


class Queue:
    """What benchmarks wait for.

    All of them are read once; after that each is noted as it was seen last, or written by the
    operator itself, which alone gives nodes away. So no admission is ever missed, and what others
    change is known as soon as the watch tells of it, or the next whole reading.
    """

    def __init__(self, cluster: Cluster, namespaces: tuple[str, ...], offer: Offer) -> None:
        self._cluster = cluster
        self._namespaces = namespaces
        self._offer = offer
        self._known: dict[str, tuple[int, Contender | None]] = {}
        self._whole = False
        self._waits: dict[str, Wait] | None = None
        self._nodes: Sequence[Manifest] | None = None

    def note(self, body: Manifest, *, written: bool = False) -> None:
        """A benchmark as it was seen; `written`: with the status that was written after that.

        An older version than the known one is passed over.
        """
        # Nobody has written between the version that was seen and the one that was written.
        version = 2 * _version(body) + written
        name = name_of(body)
        before = self._known.get(name)
        if before is not None and version and version < before[0]:
            return
        found = contender(body)
        self._known[name] = (version, found)
        if before is None or before[1] != found:
            self._waits = None

    def drop(self, name: str) -> None:
        """A benchmark, by namespace/name, that is gone."""
        if self._known.pop(name, None) is not None:
            self._waits = None

    def forget(self) -> None:
        """It is not sure what was written: all are read again before anything is decided."""
        self._whole = False

    async def read(self) -> AsyncIterator[Sequence[Manifest]]:
        """Reads all benchmarks, notes them, and hands them on."""
        before, found = set(self._known), set()
        for namespace in self._namespaces or (None,):
            async for page in self._cluster.pages(DBBENCHMARK, namespace):
                for body in page:
                    self.note(body)
                    found.add(name_of(body))
                yield page
        for name in before - found:
            self.drop(name)
        self._whole = True

    async def wait_of(self, name: str) -> Wait | None:
        """Why the benchmark, by namespace/name, cannot have its nodes now; None when it can."""
        return (await self.waits()).get(name)

    async def waits(self) -> dict[str, Wait]:
        """What each benchmark that cannot have its nodes waits for, by namespace/name."""
        if not self._whole:
            async for _ in self.read():
                pass
        nodes = await self._offer.nodes()
        if self._waits is None or nodes is not self._nodes:
            known = [one for _, one in self._known.values() if one is not None]
            self._waits, self._nodes = queue(known, nodes), nodes
        return self._waits


def name_of(body: Manifest) -> str:
    """namespace/name."""
    return f"{body['metadata']['namespace']}/{body['metadata']['name']}"


def _version(body: Manifest) -> int:
    """0 where it does not tell which of two is newer."""
    version = str(body["metadata"].get("resourceVersion", ""))
    return int(version) if version.isdecimal() else 0
