"""Carries a decision out. Every action is idempotent: doing it twice is doing it once."""

import secrets
from typing import Any

from dbbench.evaluate.decision import Decision
from dbbench.evaluate.state import Manifest, Ref, State
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import BY_NAME, CONFIG_MAP, DBBENCHMARK, SECRET
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
    """Store, create, apply, delete, then the status. ApiException when the server refuses."""
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
    for manifest in decision.apply:
        await cluster.apply(BY_NAME[manifest["kind"]], manifest)
    for ref in decision.delete:
        await cluster.delete(BY_NAME[ref.kind], namespace, ref.name)
    if decision.status != benchmark.status:
        await cluster.replace_status(namespace, benchmark.metadata.name, decision.status.document())


async def _store(
    cluster: Cluster, state: State, records: tuple[TrialRecord | LoadRecord, ...]
) -> None:
    """Adds records to their ConfigMaps, one write each: a key is there whole or not at all."""
    benchmark = state.benchmark
    existing: dict[str, dict[str, str]] = {
        ref.name: dict(item.get("binaryData") or {})
        for ref, item in state.objects.items()
        if ref.kind == CONFIG_MAP.name
    }
    for record in records:
        key, text = record_key(record), encode(record.to_document())
        name = place(existing, config_map_of(benchmark.metadata.name, record), key, text)
        if Ref(CONFIG_MAP.name, name) not in state.objects and name not in existing:
            await cluster.create(CONFIG_MAP, _empty(state, name, record))
        patch: Manifest = {"binaryData": {key: text}}
        await cluster.merge(CONFIG_MAP, benchmark.metadata.namespace, name, patch)
        existing.setdefault(name, {})[key] = text


def _empty(state: State, name: str, record: TrialRecord | LoadRecord) -> dict[str, Any]:
    content = CONTENT_TRIALS if isinstance(record, TrialRecord) else CONTENT_LOADS
    found = labels(state.benchmark, Component.RESULTS) | {CONTENT_LABEL: content}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(state.benchmark, name, found),
    }
