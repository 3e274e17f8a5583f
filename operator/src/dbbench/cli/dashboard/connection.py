"""The dashboard's way into the cluster: as long as it runs, with the user's rights."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self, TypeVar

from dbbench.cli.failure import BenchmarkFailed
from dbbench.cli.report import Output, rendering_of
from dbbench.cli.session import LoggedOut, Session, connect
from dbbench.cli.where import Where
from dbbench.kube.cluster import Manifest

T = TypeVar("T")


class Connection:
    """Reads benchmarks of one namespace, or of all, and logs in again when the server asks for it.

    Credentials that a kubeconfig gets from a program often last for minutes; a dashboard for days.
    """

    def __init__(self, where: Where, *, everywhere: bool) -> None:
        self._where = where
        self._everywhere = everywhere
        self._stack = AsyncExitStack()
        self._lock = asyncio.Lock()
        self._session: Session | None = None

    async def __aenter__(self) -> Self:
        await self._open(None)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    @property
    def scope(self) -> str:
        """What is shown, and of which cluster."""
        session = self._opened()
        shown = "all namespaces" if self._everywhere else f"namespace {session.namespace}"
        return f"{shown} of {session.server}"

    async def benchmarks(self) -> tuple[Manifest, ...]:
        """All benchmarks that are shown."""
        return await self._ask(lambda one: one.all_benchmarks(everywhere=self._everywhere))

    async def benchmark(self, namespace: str, name: str) -> Manifest:
        """One of them; BenchmarkFailed when there is no such."""
        return await self._ask(lambda one: self._at(one, namespace).body(name))

    async def report(self, namespace: str, name: str, wanted: Output) -> str:
        """Its results; BenchmarkFailed when there are none."""
        return await self._ask(lambda one: rendering_of(self._at(one, namespace), name, wanted))

    def _at(self, session: Session, namespace: str) -> Session:
        if not self._everywhere and namespace != session.namespace:
            raise BenchmarkFailed(
                f"this dashboard shows namespace {session.namespace!r} alone; start one with "
                f"-n {namespace} or -A"
            )
        return session.within(namespace)

    async def _ask(self, question: Callable[[Session], Awaitable[T]]) -> T:
        used = self._opened()
        try:
            return await question(used)
        except LoggedOut:
            await self._open(used)
            return await question(self._opened())

    async def _open(self, used: Session | None) -> None:
        """A new session in place of `used`, once for all who noticed."""
        async with self._lock:
            if self._session is used:
                self._session = await self._stack.enter_async_context(connect(self._where))

    def _opened(self) -> Session:
        if self._session is None:
            raise RuntimeError("the connection is not open")
        return self._session
