"""Carries a decision out. Every action is idempotent: doing it twice is doing it once."""

import asyncio
import secrets
from collections.abc import Coroutine, Iterable, Mapping
from itertools import chain
from typing import Any

from kubernetes_asyncio.client import ApiException

from dbbench.evaluate.decision import Decision
from dbbench.evaluate.state import State
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import BY_NAME, CONFIG_MAP, DBBENCHMARK, NETWORK_POLICY, SECRET
from dbbench.results.record import LoadRecord, TrialRecord
from dbbench.results.storage import (
    CONTENT_LABEL,
    CONTENT_LOADS,
    CONTENT_TRIALS,
    config_map_of,
    encode,
    place,
    record_key,
)
from dbbench.targets.build import secret
from dbbench.targets.names import Component, labels, metadata


async def act(cluster: Cluster, state: State, decision: Decision) -> None:
    """Store, create, apply and delete, then the status. ApiException when the server refuses."""
    benchmark = state.benchmark
    namespace = benchmark.metadata.namespace
    if decision.expired:
        # Whoever has just asked for more time has made another version of it.
        await cluster.delete(
            DBBENCHMARK,
            namespace,
            benchmark.metadata.name,
            resource_version=benchmark.metadata.resource_version,
        )
        return
    if decision.store:
        await _store(cluster, state, decision.store)
    if decision.create_credentials:
        await cluster.create(SECRET, secret(state.context, secrets.token_urlsafe(32)))
    await _together(cluster.create(BY_NAME[one["kind"]], one) for one in decision.create)
    # Policies before any pod that they are about.
    policies = [one for one in decision.apply if one["kind"] == NETWORK_POLICY.name]
    await _together(cluster.apply(NETWORK_POLICY, one) for one in policies)
    others = [one for one in decision.apply if one["kind"] != NETWORK_POLICY.name]
    # Passwords last: without them, databases look as if somebody had deleted theirs.
    passwords = [ref for ref in decision.delete if ref.kind == SECRET.name]
    gone = [ref for ref in decision.delete if ref.kind != SECRET.name]
    applied = (cluster.apply(BY_NAME[one["kind"]], one) for one in others)
    deleted = (cluster.delete(BY_NAME[ref.kind], namespace, ref.name) for ref in gone)
    await _together(chain(applied, deleted))
    await _together(cluster.delete(SECRET, namespace, ref.name) for ref in passwords)
    if decision.status != benchmark.status:
        await cluster.replace_status(
            namespace,
            benchmark.metadata.name,
            decision.status.document(),
            resource_version=benchmark.metadata.resource_version,
        )


async def _together(requests: Iterable[Coroutine[Any, Any, object]]) -> None:
    """All of them at once. The first error, when all have been answered."""
    answers = await asyncio.gather(*requests, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer


async def _store(
    cluster: Cluster, state: State, records: tuple[TrialRecord | LoadRecord, ...]
) -> None:
    """Adds records to their ConfigMaps, one write each: a key is there whole or not at all.

    ApiException 409 when another operator, such as one about to end, has written there since: what
    it stored must not be replaced by what was made of an older look.
    """
    benchmark = state.benchmark
    there = {ref.name: item for ref, item in state.objects.items() if ref.kind == CONFIG_MAP.name}
    existing = {name: dict(item.get("binaryData") or {}) for name, item in there.items()}
    added: dict[str, dict[str, str]] = {}
    content: dict[str, str] = {}
    for record in records:
        key, text = record_key(record), encode(record.to_document())
        name = place(existing, config_map_of(benchmark.metadata.name, record), key, text)
        existing.setdefault(name, {})[key] = text
        added.setdefault(name, {})[key] = text
        content[name] = CONTENT_TRIALS if isinstance(record, TrialRecord) else CONTENT_LOADS
    for name, data in added.items():
        if name in there:
            await cluster.merge(CONFIG_MAP, there[name], {"binaryData": data})
        elif not await cluster.create(CONFIG_MAP, _config_map(state, name, content[name], data)):
            raise ApiException(status=409, reason=f"Conflict: configmap {name} exists by now")


def _config_map(state: State, name: str, content: str, data: Mapping[str, str]) -> dict[str, Any]:
    found = labels(state.benchmark, Component.RESULTS) | {CONTENT_LABEL: content}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(state.benchmark, name, found),
        "binaryData": dict(data),
    }
