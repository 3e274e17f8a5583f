"""Many DBBenchmarks to a real API server as dry runs, and what it says about each."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

from access.kubectl import Manifest
from kubernetes_asyncio.client import ApiClient, ApiException, CustomObjectsApi

from dbbench.api import GROUP, PLURAL, VERSION
from dbbench.kube.access import load_configuration
from dbbench.kube.cluster import Cluster
from dbbench.kube.kinds import BY_NAME, Kind

IN_FLIGHT = 16
TOO_LARGE = 413
"""Status of the answer to a request that is larger than the server reads: no field is looked at."""


@dataclass(frozen=True)
class Answer:
    """To one document: the object as it would be stored, or why it would not."""

    document: Manifest
    stored: Manifest | None = None
    status: int = 201
    message: str = ""


class Server:
    """One client for everything; nothing is stored."""

    def __init__(self, client: ApiClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._served: dict[Kind, bool] = {}

    async def ask(self, document: Manifest) -> Answer:
        """Answer to one DBBenchmark; ApiException where the server itself fails."""
        try:
            stored: Manifest = await CustomObjectsApi(self._client).create_namespaced_custom_object(
                GROUP, VERSION, self._namespace, PLURAL, document,
                dry_run="All", field_validation="Strict",
            )  # fmt: skip
        except ApiException as error:
            if error.status not in (400, TOO_LARGE, 422):
                raise
            said = str(json.loads(error.body or "{}")["message"])
            return Answer(document, status=error.status, message=said)
        return Answer(document, stored)

    async def refusal(self, manifest: Manifest) -> str:
        """Why it would not store what the operator has built; empty when it would.

        Nothing is known of a kind that it does not serve.
        """
        metadata = manifest["metadata"] | {"namespace": self._namespace}
        kind = BY_NAME[manifest["kind"]]
        if kind not in self._served:
            self._served[kind] = await Cluster(self._client).serves(kind)
        if not self._served[kind]:
            return ""
        try:
            await Cluster(self._client).create(
                kind, manifest | {"metadata": metadata}, dry_run=True
            )
        except ApiException as error:
            return str(json.loads(error.body or "{}")["message"])
        return ""


async def connect(kubeconfig: Path) -> ApiClient:
    configuration = await load_configuration(str(kubeconfig))
    configuration.connection_pool_maxsize = IN_FLIGHT
    return ApiClient(configuration)


async def answers(server: Server, documents: Iterable[Manifest]) -> AsyncIterator[Answer]:
    """In the order of the documents, with so many requests in flight."""
    waiting: list[asyncio.Task[Answer]] = []
    for document in documents:
        waiting.append(asyncio.create_task(server.ask(document)))
        if len(waiting) == IN_FLIGHT:
            yield await waiting.pop(0)
    for task in waiting:
        yield await task
