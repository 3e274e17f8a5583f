"""One level-triggered reconcile for every reason to look: gather, decide, act.

Nothing that matters lives here: the queue only says which benchmark to look at next, and a
regular resync adds every benchmark, so that a watch that dies costs time and nothing else.
"""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog
from kubernetes_asyncio.client import ApiException
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.status import DBBenchmarkStatus
from dbbench.durations import Durations
from dbbench.evaluate.decide import decide
from dbbench.evaluate.decision import Decision
from dbbench.evaluate.expiry import expiry
from dbbench.evaluate.invalid import invalid_spec_status
from dbbench.evaluate.state import State
from dbbench.evaluate.tenure import QUEUED, holds
from dbbench.kube.act import act
from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.gather import gather
from dbbench.kube.kinds import DBBENCHMARK
from dbbench.kube.offer import Offer
from dbbench.kube.queueing import Queue, name_of
from dbbench.kube.settled import Settled
from dbbench.targets.context import NO_DEVICES, Devices, Images
from dbbench.workqueue import Workqueue

log = structlog.get_logger()

WORKERS = 4
RESYNC_SECONDS = 60
FIRST_RETRY_SECONDS = 1.0
LAST_RETRY_SECONDS = 60.0
QUEUED_LOOKS_PER_SECOND = 2.0
"""At all benchmarks that wait for nodes together."""
CONFLICT = 409
"""What was written was made of an older look: looked at again, which is no failure."""


@dataclass(frozen=True)
class Key:
    """Names one DBBenchmark."""

    namespace: str
    name: str

    @property
    def text(self) -> str:
        """namespace/name."""
        return f"{self.namespace}/{self.name}"


@dataclass
class Statistics:
    """What the operator counts about itself.

    `durations` of looks; `waits` from when a look was due until a worker began it.
    """

    reconciles: int = 0
    errors: int = 0
    durations: Durations = field(default_factory=Durations)
    waits: Durations = field(default_factory=Durations)
    last_resync: float = field(default_factory=time.monotonic)


class Reconciler:
    """Works through the queue with a few workers, never two on the same benchmark."""

    def __init__(
        self,
        cluster: Cluster,
        images: Images,
        namespaces: tuple[str, ...],
        *,
        privileged_targets: bool = False,
        network_policies: bool = False,
        devices: Devices = NO_DEVICES,
    ) -> None:
        self.queue: Workqueue[Key] = Workqueue()
        self.statistics = Statistics()
        self._cluster = cluster
        self._images = images
        self._privileged_targets = privileged_targets
        self._network_policies = network_policies
        self._devices = devices
        self._offer = Offer(cluster)
        self._settled = Settled(cluster)
        self._nodes = Queue(cluster, namespaces, self._offer)
        self._admission = asyncio.Lock()
        self._queued: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start workers and resync in the running event loop."""
        self._tasks = [asyncio.create_task(self._work()) for _ in range(WORKERS)]
        self._tasks.append(asyncio.create_task(self._resync()))

    async def stop(self) -> None:
        """Stop at once: whatever is half done is done again by the next operator."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def healthy(self) -> bool:
        """Whether all tasks live and the resync has reached the API server lately."""
        alive = all(not task.done() for task in self._tasks)
        return alive and time.monotonic() - self.statistics.last_resync < 5 * RESYNC_SECONDS

    async def reconcile(self, key: Key) -> float | None:
        """Look at one benchmark and do what is due. Seconds until the next look, if any."""
        body = await self._cluster.get(DBBENCHMARK, key.namespace, key.name)
        if body is None or body["metadata"].get("deletionTimestamp"):
            self._queued.discard(key)
            self._nodes.drop(key.text)
            await self._wake_next()
            return None  # the garbage collector takes everything that the benchmark owns
        self._nodes.note(body)
        try:
            benchmark = DBBenchmark.parse(body)
        except ValidationError as error:
            status = invalid_spec_status(body, error)
            if status != body.get("status"):
                await self._cluster.replace_status(
                    key.namespace,
                    key.name,
                    status,
                    resource_version=body["metadata"]["resourceVersion"],
                )
            return None
        state = await gather(
            self._cluster,
            benchmark,
            self._images,
            privileged_targets=self._privileged_targets,
            network_policies=self._network_policies,
            devices=self._devices,
            offer=self._offer,
            settled=self._settled,
        )
        # In a thread: the analysis of a large result must not hold up the other benchmarks.
        decision = await asyncio.to_thread(decide, state)
        if holds(decision.status) and not holds(benchmark.status):
            wait = await self._nodes.wait_of(key.text)
            if wait is None:
                return await self._admit(key, body, state)
            decision = decide(replace(state, wait=wait))
        await self._act(key, body, state, decision)
        return self._at_leisure(key, decision)

    async def _admit(self, key: Key, body: Manifest, state: State) -> float | None:
        # One at a time: of two that look at once, each would find the node free.
        async with self._admission:
            wait = await self._nodes.wait_of(key.text)
            decision = decide(replace(state, wait=wait))
            await self._act(key, body, state, decision)
        return self._at_leisure(key, decision)

    def _at_leisure(self, key: Key, decision: Decision) -> float | None:
        """Seconds until the next look: the longer the queue, the longer between looks at it."""
        if key not in self._queued or decision.requeue_after is None:
            return decision.requeue_after
        return max(decision.requeue_after, len(self._queued) / QUEUED_LOOKS_PER_SECOND)

    async def _act(self, key: Key, body: Manifest, state: State, decision: Decision) -> None:
        before, after = state.benchmark.status, decision.status
        await act(self._cluster, state, decision)
        self._settled.done(state.benchmark, decision)
        self._nodes.note(body | {"status": after.document()}, written=True)
        if after.queue is None:
            self._queued.discard(key)
        else:
            self._queued.add(key)
        if holds(before) and not holds(after):
            await self._wake_next()
        _report(key, before, after)

    async def _wake_next(self) -> None:
        """A node may be free; without this, whoever waits for it finds out somewhat later.

        It comes before everything else that is due: nothing costs users more than idle nodes.
        """
        waits = await self._nodes.waits() if self._queued else {}
        for key in self._queued:
            if key.text not in waits:
                self.queue.add_first(key)

    def observe(self, body: Manifest, *, gone: bool) -> None:
        """What a watch tells of a benchmark: its place in the queue counts from now on."""
        if gone:
            self._nodes.drop(name_of(body))
        else:
            self._nodes.note(body)

    async def _work(self) -> None:
        while True:
            key, late = await self.queue.get()
            self.statistics.waits.add(late)
            began = time.monotonic()
            try:
                delay = await self.reconcile(key)
            except Exception as error:
                self.statistics.errors += 1
                # What was to be written may have been.
                self._nodes.forget()
                self._settled.forget()
                delay = self._backoff(key, error)
            else:
                self._failures.pop(key, None)
            self.statistics.reconciles += 1
            self.statistics.durations.add(time.monotonic() - began)
            self.queue.done(key)
            if delay is not None:
                self.queue.add(key, delay)

    def _backoff(self, key: Key, error: Exception) -> float:
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        delay = float(min(FIRST_RETRY_SECONDS * 2**count, LAST_RETRY_SECONDS))
        if isinstance(error, ApiException) and namespace_is_ending(error):
            log.info("namespace is being deleted", benchmark=key.name, namespace=key.namespace)
        elif isinstance(error, ApiException) and error.status == CONFLICT:
            log.info("changed since it was read", benchmark=key.name, namespace=key.namespace)
        elif isinstance(error, ApiException):
            log.warning(
                "api server refused",
                benchmark=key.name,
                namespace=key.namespace,
                status=error.status,
                reason=error.reason,
                retry_in=delay,
                body=str(error.body)[:500],
            )
        else:
            log.error(
                "reconcile failed",
                benchmark=key.name,
                namespace=key.namespace,
                retry_in=delay,
                exc_info=error,
            )
        return delay

    async def _resync(self) -> None:
        while True:
            try:
                async for page in self._nodes.read():
                    self._add_due(page)
                self.statistics.last_resync = time.monotonic()
            except Exception as error:
                log.warning("resync failed", error=str(error))
            await asyncio.sleep(RESYNC_SECONDS)

    def _add_due(self, bodies: Iterable[Manifest]) -> None:
        now = datetime.now(UTC)
        for body in bodies:
            if is_due(body, now):
                metadata = body["metadata"]
                self.queue.add(Key(metadata["namespace"], metadata["name"]))


def is_due(body: Manifest, now: datetime) -> bool:
    """Whether there is something to do about a benchmark that no event may have told of.

    One that waits in the queue is looked at in its own time, unless its spec has changed.
    """
    status = body.get("status") or {}
    if status.get("reason") == QUEUED:
        return bool(status.get("observedGeneration") != body["metadata"].get("generation"))
    completed = status.get("completionTime")
    if not completed:
        return True
    expires = expiry(body["spec"].get("ttlAfterFinished"), completed)
    return expires is not None and expires <= now


def namespace_is_ending(error: ApiException) -> bool:
    """Whether the server refused because the namespace is being deleted, not for want of rights."""
    return error.status == 403 and "NamespaceTerminating" in str(error.body)


def _report(key: Key, before: DBBenchmarkStatus, after: DBBenchmarkStatus) -> None:
    """One line for each change of step or reason."""
    old = before.progress.step if before.progress else ""
    new = after.progress.step if after.progress else ""
    if (old, before.reason) != (new, after.reason):
        log.info(
            "step",
            benchmark=key.name,
            namespace=key.namespace,
            step=new,
            reason=after.reason,
            current=after.progress.current if after.progress else "",
        )
