"""Creates the benchmarks, waits until as many run as can, and watches them for a while."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

from access.kubectl import Manifest
from aiohttp import ClientError, ClientSession
from kubernetes_asyncio.client import ApiClient

from dbbench.api.status import DBBenchmarkStatus
from dbbench.evaluate.tenure import holds
from dbbench.kube.access import load_configuration
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import DBBENCHMARK
from scale import load
from scale.control_plane import NODE, Server
from scale.figures import Histogram, Scrape, scrape
from scale.kubelet import Kubelets, Pace, serving, session
from scale.operator_process import Operator

_NAMESPACES = 10
_IN_FLIGHT = 16
_START_SECONDS = 1.0
_LOOK_SECONDS = 5.0
_SETTLE_SECONDS = 900.0


@dataclass(frozen=True)
class Run:
    """What was seen in the window from `began` to `finished`; before it, all were created."""

    began: datetime
    finished: datetime
    seen_after: float
    least_active: int
    most_active: int
    ended: int
    durations: Histogram
    waits: Histogram
    errors: float
    cpu_seconds: float


async def measure(
    server: Server, operator: Operator, *, benchmarks: int, active: int, window: float, job: float
) -> Run:
    """`active` nodes, on each of which one benchmark runs and the others wait; seconds."""
    server.kubectl.apply(*surroundings())
    names = [load.node_name(n) for n in range(active)]
    address = str(server.addresses.node(NODE).address)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(session(server.addresses.api_url, server.pki))
        scraper = await stack.enter_async_context(ClientSession())
        configuration = await load_configuration(str(server.layout.kubeconfig))
        configuration.connection_pool_maxsize = _IN_FLIGHT
        cluster = Cluster(await stack.enter_async_context(ApiClient(configuration)))
        kubelets = Kubelets(client, names, address, Pace(_START_SECONDS, job))
        await stack.enter_async_context(serving(kubelets, server.pki, f"node-{NODE}", address))
        await kubelets.register()
        async with asyncio.TaskGroup() as group:
            beside = [group.create_task(kubelets.beat()), group.create_task(kubelets.watch())]
            try:
                return await _measure(
                    cluster, _Operator(scraper, operator), benchmarks, active, window
                )
            finally:
                for task in beside:
                    task.cancel()


@dataclass(frozen=True)
class _Operator:
    """The operator's metrics."""

    session: ClientSession
    process: Operator

    async def scrape(self) -> Scrape:
        async with self.session.get(f"http://127.0.0.1:{self.process.port}/metrics") as answer:
            answer.raise_for_status()
            return scrape(await answer.text())

    async def wait(self) -> None:
        while True:
            try:
                await self.scrape()
            except ClientError:
                await asyncio.sleep(0.5)
            else:
                return


async def _measure(
    cluster: Cluster, operator: _Operator, benchmarks: int, active: int, window: float
) -> Run:
    await asyncio.wait_for(operator.wait(), 60)
    created = datetime.now(UTC)
    await _create(cluster, benchmarks, active)
    print(f"{benchmarks} created in {_since(created):.0f} s", flush=True)
    async with asyncio.timeout(_SETTLE_SECONDS):
        while not _settled(found := await _statuses(cluster), active):
            seen = sum(status.observed_generation > 0 for status in found)
            print(f"{seen} seen, {sum(map(holds, found))} active", flush=True)
            await asyncio.sleep(_LOOK_SECONDS)
    seen_after = _since(created)
    began, before, ended = datetime.now(UTC), await operator.scrape(), _ended(found)
    used, counts = operator.process.cpu_seconds(), []
    while (left := window - _since(began)) > 0:
        await asyncio.sleep(min(left, _LOOK_SECONDS))
        found = await _statuses(cluster)
        counts.append(sum(map(holds, found)))
        print(f"{counts[-1]} active, {_ended(found)} ended", flush=True)
    after = await operator.scrape()
    return Run(
        began=began,
        finished=datetime.now(UTC),
        seen_after=seen_after,
        least_active=min(counts),
        most_active=max(counts),
        ended=_ended(found) - ended,
        durations=after.durations.since(before.durations),
        waits=after.waits.since(before.waits),
        errors=after.errors - before.errors,
        cpu_seconds=operator.process.cpu_seconds() - used,
    )


def surroundings() -> list[Manifest]:
    """What the benchmarks need to be there: namespaces, and the second target's RuntimeClass."""
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": load.namespace_name(n)}}
        for n in range(_NAMESPACES)
    ]
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": load.RUNTIME_CLASS},
        "handler": load.RUNTIME_CLASS,
    }
    return [*namespaces, runtime]


async def _create(cluster: Cluster, benchmarks: int, active: int) -> None:
    places = asyncio.Semaphore(_IN_FLIGHT)

    async def one(number: int) -> None:
        async with places:
            document = load.benchmark(number, nodes=active, namespaces=_NAMESPACES)
            await cluster.create(DBBENCHMARK, document)

    await asyncio.gather(*(one(number) for number in range(benchmarks)))


async def _statuses(cluster: Cluster) -> list[DBBenchmarkStatus]:
    bodies = await cluster.list(DBBENCHMARK)
    return [DBBenchmarkStatus.model_validate(body.get("status") or {}) for body in bodies]


def _settled(found: Sequence[DBBenchmarkStatus], active: int) -> bool:
    """Whether the operator has looked at every one, and as many as can have their nodes."""
    return sum(map(holds, found)) >= active and all(one.observed_generation > 0 for one in found)


def _ended(found: Sequence[DBBenchmarkStatus]) -> int:
    return sum(status.completion_time is not None for status in found)


def _since(moment: datetime) -> float:
    return (datetime.now(UTC) - moment).total_seconds()
