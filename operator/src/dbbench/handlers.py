"""The kopf shell: every event about a benchmark or one of its children is a reason to look.

Event handlers alone: they need no finalizer, no annotation and no state of kopf's in the objects,
so that nothing is in the way when an object is deleted while the operator is away.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import kopf
from kubernetes_asyncio.client import ApiClient

from dbbench.api import GROUP, PLURAL, VERSION
from dbbench.evaluate.harvest import finished
from dbbench.evaluate.pods import container_statuses
from dbbench.kube.cluster import Cluster
from dbbench.metrics import Server
from dbbench.reconciler import Key, Reconciler
from dbbench.settings import Settings
from dbbench.targets.names import LABEL_BENCHMARK, LABEL_JOB, LABEL_MANAGED_BY, MANAGED_BY

# Watches end by themselves after this time and are begun anew; a dead one is noticed no later.
SERVER_TIMEOUT_SECONDS = 240
CLIENT_TIMEOUT_SECONDS = 270
CONNECT_TIMEOUT_SECONDS = 30

# Events come in bursts (a pod is scheduled, runs, is ready): one look at all of them will do.
TOGETHER_SECONDS = 0.2

CHILDREN = {LABEL_MANAGED_BY: MANAGED_BY}

# Why a container that will run has not begun to; None is one that has.
_STARTING = {None, "ContainerCreating", "PodInitializing"}


def register(registry: kopf.OperatorRegistry, settings: Settings, client: ApiClient) -> None:
    """Add all handlers to the registry."""
    cluster = Cluster(client)
    reconciler = Reconciler(
        cluster,
        settings.images,
        settings.namespaces,
        privileged_targets=settings.privileged_targets,
        network_policies=settings.network_policies,
        devices=settings.devices,
    )
    server = Server(cluster, reconciler, settings)

    @kopf.on.startup(registry=registry)
    async def startup(settings: kopf.OperatorSettings, **_: object) -> None:
        settings.watching.server_timeout = SERVER_TIMEOUT_SECONDS
        settings.watching.client_timeout = CLIENT_TIMEOUT_SECONDS
        settings.watching.connect_timeout = CONNECT_TIMEOUT_SECONDS
        settings.posting.enabled = False
        settings.scanning.disabled = True
        settings.persistence.finalizer = f"{GROUP}/finalizer"
        reconciler.start()
        await server.start()

    @kopf.on.login(registry=registry)
    def login(settings: kopf.OperatorSettings, **_: object) -> kopf.ConnectionInfo | None:
        return kopf.login_with_service_account(settings=settings) or kopf.login_with_kubeconfig(
            settings=settings
        )

    @kopf.on.cleanup(registry=registry)
    async def cleanup(**_: object) -> None:
        await server.stop()
        await reconciler.stop()

    @kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)
    async def benchmark_changed(
        namespace: str | None, name: str, type: str | None, body: kopf.Body, **_: object
    ) -> None:
        reconciler.observe(dict(body), gone=type == "DELETED")
        if type != "MODIFIED" or is_news(body):
            reconciler.queue.add(Key(namespace or "", name), TOGETHER_SECONDS)

    def on_child(group: str, version: str, plural: str, tells: "_Tells") -> None:
        @kopf.on.event(group, version, plural, labels=CHILDREN, registry=registry)
        async def child_changed(
            namespace: str | None,
            labels: Mapping[str, str],
            type: str | None,
            body: kopf.Body,
            **_: object,
        ) -> None:
            if LABEL_BENCHMARK in labels and tells(body, gone=type == "DELETED"):
                key = Key(namespace or "", labels[LABEL_BENCHMARK])
                reconciler.queue.add(key, TOGETHER_SECONDS)

    on_child("batch", "v1", "jobs", is_news_of_job)
    on_child("", "v1", "pods", is_news_of_pod)


class _Tells(Protocol):
    def __call__(self, body: Mapping[str, Any], *, gone: bool) -> bool: ...


def is_news(body: Mapping[str, Any]) -> bool:
    """Whether a change of a benchmark is more than what the operator itself wrote into its status.

    That needs no look of its own: whoever wrote it has said when the next one is due.
    """
    metadata, status = body["metadata"], body.get("status") or {}
    seen = status.get("observedGeneration") == metadata.get("generation")
    return bool(metadata.get("deletionTimestamp")) or not seen


def is_news_of_job(body: Mapping[str, Any], *, gone: bool = False) -> bool:
    """Whether a Job has ended, or ends before that, and not how many of its pods run.

    One that has ended is deleted when its record is safe.
    """
    ended = finished(body) is not None
    return not ended if gone else ended or bool(body["metadata"].get("deletionTimestamp"))


def is_news_of_pod(body: Mapping[str, Any], *, gone: bool = False) -> bool:
    """Whether a pod is anything else than one of a Job's on its usual way.

    That it has succeeded is told by its Job, and is of use only then; nor does it matter after that
    when it goes.
    """
    metadata, status = body["metadata"], body.get("status") or {}
    if LABEL_JOB not in (metadata.get("labels") or {}):
        return True
    phase = status.get("phase")
    if phase == "Succeeded":
        return False
    scheduled = all(
        condition["status"] == "True"
        for condition in status.get("conditions") or []
        if condition["type"] == "PodScheduled"
    )
    containers = list(container_statuses(body))
    waiting = {((one.get("state") or {}).get("waiting") or {}).get("reason") for one in containers}
    restarted = any(one.get("restartCount") for one in containers)
    ends = gone or phase == "Failed" or bool(metadata.get("deletionTimestamp"))
    return ends or restarted or not scheduled or not waiting <= _STARTING
