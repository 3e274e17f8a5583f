"""Requests to the API server: list, get, apply, delete, logs. Objects are plain dictionaries."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from kubernetes_asyncio.client import ApiClient, ApiException

from dbbench.kube.kinds import DBBENCHMARK, POD, Kind

FIELD_MANAGER = "dbbench"
REQUEST_TIMEOUT_SECONDS = 30
PAGE = 200
"""Objects that one answer to a list has at most."""
_MERGE = "application/merge-patch+json"
# With a parameter, so that the client sends the bytes that it is given.
_APPLY = "application/apply-patch+yaml; charset=utf-8"

Manifest = dict[str, Any]


def as_yaml(manifest: Manifest) -> bytes:
    """JSON that is YAML, too: in YAML a character is not escaped by two halves, as JSON does it.

    All else that is not ASCII is escaped: some of it is no text, or a line's end, in YAML.
    """
    text = json.dumps(manifest, ensure_ascii=False)
    escaped = re.sub(r"[^\x00-\x7e\U00010000-\U0010ffff]", lambda m: f"\\u{ord(m[0]):04x}", text)
    return escaped.encode()


class Cluster:
    """The API server, as far as dbbench needs it. ApiException for what the server refuses."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Manifest]:
        """All objects of a kind that the selectors match, in all namespaces when none is given."""
        pages = self.pages(kind, namespace, labels=labels, fields=fields)
        return [item async for page in pages for item in page]

    async def pages(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> AsyncIterator[tuple[Manifest, ...]]:
        """The same some at a time: a thousand objects need not be in memory at once."""
        query = {"labelSelector": labels, "fieldSelector": fields, "limit": f"{PAGE}"}
        query = {key: value for key, value in query.items() if value}
        while True:
            page = await self._request("GET", kind.path(namespace), query=query)
            for item in page["items"]:
                # Larger than all the rest of many objects, and of no use here.
                item["metadata"].pop("managedFields", None)
            # Items of a list carry no type of their own.
            kinds = {"apiVersion": kind.api_version, "kind": kind.name}
            yield tuple(kinds | item for item in page["items"])
            query["continue"] = page["metadata"].get("continue", "")
            if not query["continue"]:
                return

    async def readable(
        self, kind: Kind, namespace: str | None = None, *, labels: str = ""
    ) -> tuple[Manifest, ...] | None:
        """As `list`; None without the right, or where there is no such kind."""
        try:
            return tuple(await self.list(kind, namespace, labels=labels))
        except ApiException as error:
            if error.status in (403, 404):
                return None
            raise

    async def get(self, kind: Kind, namespace: str | None, name: str) -> Manifest | None:
        """One object; None when it does not exist."""
        try:
            return await self._request("GET", kind.path(namespace, name))
        except ApiException as error:
            if error.status == 404:
                return None
            raise

    async def apply(self, kind: Kind, manifest: Manifest) -> Manifest:
        """Server-side apply: create the object or change the fields that dbbench owns."""
        metadata = manifest["metadata"]
        return await self._request(
            "PATCH",
            kind.path(metadata.get("namespace"), metadata["name"]),
            query={"fieldManager": FIELD_MANAGER, "force": "true"},
            body=as_yaml(manifest),
            content_type=_APPLY,
        )

    async def create(self, kind: Kind, manifest: Manifest, *, dry_run: bool = False) -> bool:
        """Create the object; False when one of that name exists, which is then left as it is.

        A field that the server does not know is refused, not dropped.
        """
        query = {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"}
        query |= {"dryRun": "All"} if dry_run else {}
        try:
            await self._request(
                "POST",
                kind.path(manifest["metadata"].get("namespace")),
                query=query,
                body=manifest,
            )
        except ApiException as error:
            if error.status == 409:
                return False
            raise
        return True

    async def merge(self, kind: Kind, live: Manifest, patch: Manifest) -> Manifest:
        """JSON merge patch of an object as it was seen: ApiException 409 when it has changed."""
        metadata = live["metadata"]
        version = {"resourceVersion": metadata["resourceVersion"]}
        return await self._request(
            "PATCH",
            kind.path(metadata["namespace"], metadata["name"]),
            query={"fieldManager": FIELD_MANAGER},
            body=patch | {"metadata": version},
            content_type=_MERGE,
        )

    async def replace_status(
        self, namespace: str, name: str, status: Manifest, *, resource_version: str
    ) -> None:
        """Write the whole status of a DBBenchmark as it was seen; nothing happens when it is gone.

        ApiException 409 when there is another version of it by now.
        """
        body = {
            "apiVersion": DBBENCHMARK.api_version,
            "kind": DBBENCHMARK.name,
            "metadata": {
                "namespace": namespace,
                "name": name,
                "resourceVersion": resource_version,
            },
            "status": status,
        }
        path = DBBENCHMARK.path(namespace, name) + "/status"
        try:
            await self._request("PUT", path, query={"fieldManager": FIELD_MANAGER}, body=body)
        except ApiException as error:
            if error.status != 404:
                raise

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        resource_version: str = "",
        dependents_first: bool = False,
    ) -> None:
        """Delete the object and what it owns; nothing happens when it is gone already.

        With `resource_version` only this version of it: ApiException 409 when there is another.
        With `dependents_first` it is there until what it owns is gone.
        """
        policy = "Foreground" if dependents_first else "Background"
        options: Manifest = {"propagationPolicy": policy}
        if resource_version:
            options["preconditions"] = {"resourceVersion": resource_version}
        try:
            await self._request("DELETE", kind.path(namespace, name), body=options)
        except ApiException as error:
            if error.status != 404:
                raise

    async def log(
        self, namespace: str, pod: str, container: str, *, last_lines: int = 0
    ) -> str | None:
        """The container's log, whole or its last lines; None when the pod or its log is gone."""
        query = [("container", container)]
        if last_lines:
            query.append(("tailLines", str(last_lines)))
        response = await self._client.call_api(
            f"{POD.path(namespace, pod)}/log",
            "GET",
            query_params=query,
            auth_settings=["BearerToken"],
            _preload_content=False,
            _request_timeout=REQUEST_TIMEOUT_SECONDS,
        )
        async with response:
            if response.status in (400, 404):
                return None
            content = await response.read()
            text = bytes(content).decode("utf-8", "replace")
            if response.status != 200:
                raise ApiException(status=response.status, reason=text)
        return text

    async def serves(self, kind: Kind) -> bool:
        """Whether the cluster serves the kind's API (discovery needs no special rights)."""
        try:
            resources = await self._request("GET", kind.prefix)
        except ApiException as error:
            if error.status == 404:
                return False
            raise
        return any(entry["name"] == kind.plural for entry in resources["resources"])

    async def version(self) -> str:
        """Version of the API server, such as `v1.34.4`."""
        return str((await self._request("GET", "/version"))["gitVersion"])

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Manifest | bytes | None = None,
        content_type: str = "application/json",
    ) -> Manifest:
        answer: Manifest = await self._client.call_api(
            path,
            method,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json", "Content-Type": content_type},
            body=body,
            auth_settings=["BearerToken"],
            response_types_map=dict.fromkeys((200, 201, 202), "object"),
            _return_http_data_only=True,
            _request_timeout=REQUEST_TIMEOUT_SECONDS,
        )
        return answer
