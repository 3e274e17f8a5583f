"""The API server, as the stand-in uses it: plain dictionaries in and out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kubernetes_asyncio import client, config, watch
from kubernetes_asyncio.client.exceptions import ApiException

from standin.kubevirt import GROUP, INSTANCES, LAUNCHER_SELECTOR, MACHINES, VERSION, Object

# Watches end after this long and are begun anew: one that has died silently does no harm.
_WATCH_SECONDS = 60
_PAUSE_SECONDS = 1

CONFLICT = 409
NOT_FOUND = 404


class Cluster:
    """Lists, writes and watches machines, instances and their pods in all namespaces."""

    def __init__(self, api: client.ApiClient) -> None:
        self._api = api
        self._custom = client.CustomObjectsApi(api)
        self._core = client.CoreV1Api(api)

    async def machines(self) -> list[Object]:
        return await self._list(MACHINES)

    async def instances(self) -> list[Object]:
        return await self._list(INSTANCES)

    async def pods(self) -> list[Object]:
        """The launchers' pods."""
        found = await self._core.list_pod_for_all_namespaces(label_selector=LAUNCHER_SELECTOR)
        pods: list[Object] = self._api.sanitize_for_serialization(found.items)
        return pods

    async def claim(self, namespace: str, name: str) -> tuple[str, str] | None:
        """Requested size and volume mode of a PersistentVolumeClaim; None when there is none."""
        try:
            claim = await self._core.read_namespaced_persistent_volume_claim(name, namespace)
        except ApiException as error:
            if error.status == NOT_FOUND:
                return None
            raise
        return claim.spec.resources.requests["storage"], claim.spec.volume_mode

    async def create_instance(self, body: Object) -> None:
        await self._custom.create_namespaced_custom_object(
            GROUP, VERSION, body["metadata"]["namespace"], INSTANCES, body
        )

    async def create_pod(self, body: Object) -> None:
        await self._core.create_namespaced_pod(
            body["metadata"]["namespace"],
            body,  # type: ignore[arg-type]  # plain JSON is taken too
        )

    async def label_pod(self, pod: Object, labels: dict[str, str]) -> None:
        metadata = pod["metadata"]
        await self._core.patch_namespaced_pod(
            metadata["name"], metadata["namespace"], {"metadata": {"labels": labels}}
        )

    async def replace(self, plural: str, body: Object) -> None:
        """Writes the whole object; a conflict is an ApiException with status 409."""
        metadata = body["metadata"]
        await self._custom.replace_namespaced_custom_object(
            GROUP, VERSION, metadata["namespace"], plural, metadata["name"], body
        )

    async def replace_machine_status(self, body: Object) -> None:
        metadata = body["metadata"]
        await self._custom.replace_namespaced_custom_object_status(
            GROUP, VERSION, metadata["namespace"], MACHINES, metadata["name"], body
        )

    async def delete_instance(self, instance: Object) -> None:
        metadata = instance["metadata"]
        await self._custom.delete_namespaced_custom_object(
            GROUP, VERSION, metadata["namespace"], INSTANCES, metadata["name"]
        )

    async def delete_pod(self, pod: Object) -> None:
        metadata = pod["metadata"]
        await self._core.delete_namespaced_pod(metadata["name"], metadata["namespace"])

    async def watch(self, changed: asyncio.Event) -> None:
        """Sets the event on every change; runs until cancelled."""
        async with asyncio.TaskGroup() as group:
            for plural in (MACHINES, INSTANCES):
                group.create_task(self._watch_custom(plural, changed))
            group.create_task(self._watch_pods(changed))

    async def _watch_custom(self, plural: str, changed: asyncio.Event) -> None:
        while True:
            try:
                async with watch.Watch().stream(
                    self._custom.list_cluster_custom_object,
                    GROUP,
                    VERSION,
                    plural,
                    timeout_seconds=_WATCH_SECONDS,
                ) as stream:
                    async for _ in stream:
                        changed.set()
            except (TimeoutError, ApiException, OSError) as error:
                print(f"watch of {plural}: {error!r}", flush=True)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _watch_pods(self, changed: asyncio.Event) -> None:
        while True:
            try:
                async with watch.Watch().stream(
                    self._core.list_pod_for_all_namespaces,
                    label_selector=LAUNCHER_SELECTOR,
                    timeout_seconds=_WATCH_SECONDS,
                ) as stream:
                    async for _ in stream:
                        changed.set()
            except (TimeoutError, ApiException, OSError) as error:
                print(f"watch of pods: {error!r}", flush=True)
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _list(self, plural: str) -> list[Object]:
        found = await self._custom.list_cluster_custom_object(GROUP, VERSION, plural)
        items: list[Object] = found["items"]
        return items


@asynccontextmanager
async def connect() -> AsyncIterator[Cluster]:
    """The cluster that this pod runs in, else the one of KUBECONFIG."""
    try:
        config.load_incluster_config()  # type: ignore[no-untyped-call]
    except config.ConfigException:
        await config.load_kube_config()
    async with client.ApiClient() as api:
        yield Cluster(api)
