"""What the cluster offers to every benchmark alike: nodes, storage classes, its version."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.kinds import NODE, STORAGE_CLASS

_MAX_AGE_SECONDS = 5.0


class Offer:
    """Read anew when it is asked for and some seconds old: many that wait share one answer."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = asyncio.Lock()
        self._known: dict[str, tuple[float, Any]] = {}

    async def nodes(self) -> tuple[Manifest, ...] | None:
        """All nodes; None without the right to list them."""
        found: tuple[Manifest, ...] | None = await self._fresh(
            "nodes", lambda: self._cluster.readable(NODE)
        )
        return found

    async def storage_classes(self) -> tuple[Manifest, ...] | None:
        """All storage classes; None without the right to list them."""
        found: tuple[Manifest, ...] | None = await self._fresh(
            "storage classes", lambda: self._cluster.readable(STORAGE_CLASS)
        )
        return found

    async def version(self) -> str:
        """Version of the API server, such as `v1.34.4`."""
        return str(await self._fresh("version", self._cluster.version))

    async def _fresh(self, name: str, read: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401
        async with self._lock:
            known = self._known.get(name)
            if known is None or time.monotonic() - known[0] >= _MAX_AGE_SECONDS:
                known = time.monotonic(), await read()
                self._known[name] = known
            return known[1]
