"""The API server, as the stand-in uses it: plain dictionaries in and out."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from kubernetes_asyncio import client, config

from standin.cloud_native_pg import (
    ANNOTATION_CLAIM_STATUS,
    CLUSTERS,
    GROUP,
    INSTANCE,
    LABEL_CLUSTER,
    LABEL_POD_ROLE,
    READY,
    VERSION,
    Object,
    name_of,
)
from standin.progress import Found


class ApiServer:
    """Clusters of all namespaces, and what they own."""

    def __init__(self, api: client.ApiClient) -> None:
        self._api = api
        self._custom = client.CustomObjectsApi(api)
        self._core = client.CoreV1Api(api)
        self._batch = client.BatchV1Api(api)

    async def clusters(self) -> list[Object]:
        found = await self._custom.list_cluster_custom_object(GROUP, VERSION, CLUSTERS)
        items: list[Object] = found["items"]
        return items

    async def found(self, cluster: Object) -> Found:
        """What the cluster owns."""
        namespace, name = cluster["metadata"]["namespace"], name_of(cluster)
        own = f"{LABEL_CLUSTER}={name}"
        lists = (
            await self._core.list_namespaced_service(namespace, label_selector=own),
            await self._core.list_namespaced_persistent_volume_claim(namespace, label_selector=own),
            await self._batch.list_namespaced_job(namespace, label_selector=own),
            await self._core.list_namespaced_pod(
                namespace, label_selector=f"{own},{LABEL_POD_ROLE}={INSTANCE}"
            ),
        )
        uid = cluster["metadata"]["uid"]
        return Found(*(_owned(self._api.sanitize_for_serialization(one), uid) for one in lists))

    async def create(self, body: Object) -> None:
        kinds: dict[str, Callable[[str, Any], Awaitable[object]]] = {
            "Service": self._core.create_namespaced_service,
            "PersistentVolumeClaim": self._core.create_namespaced_persistent_volume_claim,
            "Job": self._batch.create_namespaced_job,
            "Pod": self._core.create_namespaced_pod,
        }
        await kinds[body["kind"]](body["metadata"]["namespace"], body)

    async def mark_filled(self, claim: Object) -> None:
        """A claim with a data directory."""
        patch = {"metadata": {"annotations": {ANNOTATION_CLAIM_STATUS: READY}}}
        await self._core.patch_namespaced_persistent_volume_claim(
            name_of(claim), claim["metadata"]["namespace"], patch
        )

    async def delete_pod(self, pod: Object) -> None:
        await self._core.delete_namespaced_pod(name_of(pod), pod["metadata"]["namespace"])

    async def delete_job(self, job: Object) -> None:
        """With its pods."""
        await self._batch.delete_namespaced_job(
            name_of(job), job["metadata"]["namespace"], propagation_policy="Background"
        )

    async def write_status(self, cluster: Object) -> None:
        """The whole status; a conflict is an ApiException with status 409."""
        metadata = cluster["metadata"]
        await self._custom.replace_namespaced_custom_object_status(
            GROUP, VERSION, metadata["namespace"], CLUSTERS, metadata["name"], cluster
        )


def _owned(answer: Object, uid: str) -> dict[str, Object]:
    """Objects of a list whose controller has that uid, by name."""
    return {
        name_of(one): one
        for one in answer.get("items") or []
        if any(reference["uid"] == uid for reference in one["metadata"].get("ownerReferences", []))
    }


@asynccontextmanager
async def connect() -> AsyncIterator[ApiServer]:
    """The cluster that this pod runs in, else the one of KUBECONFIG."""
    try:
        config.load_incluster_config()  # type: ignore[no-untyped-call]
    except config.ConfigException:
        await config.load_kube_config()
    async with client.ApiClient() as api:
        yield ApiServer(api)
