"""Records of trials and loads on a real API server: written once, by whoever looked last."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from access.documents import benchmark
from access.kubectl import Kubectl
from kubernetes_asyncio.client import ApiClient, ApiException

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.decision import Decision
from dbbench.evaluate.state import State
from dbbench.kube.access import load_configuration
from dbbench.kube.act import act
from dbbench.kube.cluster import Cluster
from dbbench.kube.gather import gather
from dbbench.kube.kinds import BY_NAME, DBBENCHMARK, Kind
from dbbench.results.record import LoadRecord, Outcome, Record, TrialRecord
from dbbench.targets.context import Images

IMAGES = Images(driver="driver", launcher="launcher", guest_kernel="kernel")
MEASURED = LoadRecord(
    target="pod",
    workload="orders",
    attempt=1,
    outcome=Outcome.MEASURED,
    reason="Measured",
    message="",
    started="2026-01-01T00:00:00Z",
    finished="2026-01-01T00:01:00Z",
    result={"valid": True},
)
LOST = replace(MEASURED, outcome=Outcome.FAILED, reason="ResultLost", result=None)
NEXT = replace(MEASURED, workload="calls")


class Recording(Cluster):
    """The API server, and the order in which kinds were listed."""

    def __init__(self, client: ApiClient) -> None:
        super().__init__(client)
        self.answered: list[str] = []
        self.asked: dict[str, int] = {}

    async def list(self, kind: Kind, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
        self.asked[kind.name] = len(self.answered)
        found = await super().list(kind, *arguments, **options)
        self.answered.append(kind.name)
        return found


@pytest.fixture
def stored(crd: Kubectl, namespace: Kubectl) -> Kubectl:
    """With a benchmark that has started: before, nothing of it is looked for."""
    namespace.apply(benchmark("stored"))
    started = json.dumps({"status": {"startTime": MEASURED.started}})
    namespace("patch", "dbb", "stored", "--subresource=status", "--type=merge", "-p", started)
    return namespace


def on(server: Kubectl, what: Callable[[Recording], Awaitable[Any]]) -> Any:
    """What came of it, with the client that the operator uses."""

    async def run() -> Any:
        async with _cluster(server) as cluster:
            return await what(cluster)

    return asyncio.run(run())


@asynccontextmanager
async def _cluster(server: Kubectl) -> AsyncIterator[Recording]:
    configuration = await load_configuration(str(server.kubeconfig))
    async with ApiClient(configuration) as client:
        yield Recording(client)


async def look(cluster: Cluster, server: Kubectl) -> State:
    body = await cluster.get(DBBENCHMARK, server.namespace, "stored")
    assert body is not None
    return await gather(cluster, DBBenchmark.parse(body), IMAGES, privileged_targets=False)


async def store(cluster: Cluster, state: State, *records: Record) -> None:
    await act(cluster, state, Decision(status=state.benchmark.status, store=records))


def test_what_was_stored_since_the_look_is_not_replaced(stored: Kubectl) -> None:
    async def two_operators(cluster: Recording) -> State:
        await store(cluster, await look(cluster, stored), NEXT)
        state = await look(cluster, stored)
        await store(cluster, state, MEASURED)
        with pytest.raises(ApiException) as refused:
            await store(cluster, state, LOST)
        assert refused.value.status == 409
        return await look(cluster, stored)

    assert on(stored, two_operators).loads == (NEXT, MEASURED)


def test_of_two_that_store_the_first_record_one_looks_again(stored: Kubectl) -> None:
    async def two_operators(cluster: Recording) -> State:
        state = await look(cluster, stored)
        await store(cluster, state, MEASURED)
        with pytest.raises(ApiException) as refused:
            await store(cluster, state, LOST, NEXT)
        assert refused.value.status == 409
        await store(cluster, await look(cluster, stored), NEXT)
        return await look(cluster, stored)

    assert on(stored, two_operators).loads == (NEXT, MEASURED)


def test_records_of_several_kinds_are_stored_at_once(stored: Kubectl) -> None:
    trial = TrialRecord(
        trial="b001.pod.orders",
        block=1,
        target="pod",
        workload="orders",
        cell="",
        attempt=1,
        outcome=Outcome.MEASURED,
        reason="Measured",
        message="",
        started=MEASURED.started,
        finished=MEASURED.finished,
        result={"valid": True},
    )

    async def one_operator(cluster: Recording) -> State:
        await store(cluster, await look(cluster, stored), MEASURED, trial, NEXT)
        return await look(cluster, stored)

    state = on(stored, one_operator)
    assert (state.loads, state.trials) == ((NEXT, MEASURED), (trial,))


def test_pods_and_records_are_looked_for_after_the_jobs(stored: Kubectl) -> None:
    """Else a job that ends in between looks as if its log, or its record, were lost."""

    async def one_look(cluster: Recording) -> Recording:
        await look(cluster, stored)
        return cluster

    seen = on(stored, one_look)
    jobs = seen.answered.index("Job")
    assert seen.asked["Pod"] > jobs
    assert seen.asked["ConfigMap"] > jobs


def test_every_character_that_users_write_arrives_as_it_is(namespace: Kubectl) -> None:
    """In a request that is YAML to the server, which knows none of JSON's halves of a character."""
    text = "\U0001f600 \u00e9 \u2028 \x7f \x85 \ufeff \\ud83d \\ \" ' \t\n"
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "written", "namespace": namespace.namespace},
        "data": {"text": text},
    }
    applied = on(namespace, lambda cluster: cluster.apply(BY_NAME["ConfigMap"], manifest))
    assert applied["data"]["text"] == text
    found = namespace.get("configmap", "written")
    assert found is not None
    assert found["data"]["text"] == text
