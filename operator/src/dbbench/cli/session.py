"""A command's way into the cluster, and what it says when that way is barred."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import click
from kubernetes_asyncio.client import ApiClient, ApiException
from kubernetes_asyncio.config import ConfigException
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.kube.access import load_access
from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.gather import is_owned
from dbbench.kube.kinds import CONFIG_MAP, DBBENCHMARK
from dbbench.results.storage import StoredRecords, read
from dbbench.targets.names import LABEL_BENCHMARK, label_value


@dataclass(frozen=True)
class Where:
    """The options that say which cluster and namespace are meant."""

    namespace: str | None
    kubeconfig: str | None
    context: str | None


class Unreachable(CommandFailed):
    """The API server did not answer, or not sensibly; it may the next time."""


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of `Where` to a command, spelt as kubectl spells them."""
    for option in (
        click.option("--kubeconfig", help="Path of the kubeconfig; $KUBECONFIG by default."),
        click.option("--context", help="Context of the kubeconfig; the current one by default."),
        click.option("-n", "--namespace", help="Namespace; the context's by default."),
    ):
        command = option(command)
    return command


class Session:
    """Reads from one namespace; everything that goes wrong is a CommandFailed in plain words."""

    def __init__(self, cluster: Cluster, namespace: str, server: str) -> None:
        self._cluster = cluster
        self.namespace = namespace
        self._server = server

    async def body(self, name: str) -> Manifest:
        """The benchmark as the server has it; a failure names those that exist when it is not."""
        with _Explained(self._server, "get dbbenchmarks.dbbench.io", self.namespace):
            body = await self._cluster.get(DBBENCHMARK, self.namespace, name)
            if body is None:
                raise await self._no_benchmark(name)
        return body

    async def create(self, body: Manifest) -> None:
        """Create the benchmark; BenchmarkFailed when one of its name is there already."""
        name = body["metadata"]["name"]
        body = {**body, "metadata": {**body["metadata"], "namespace": self.namespace}}
        with _Explained(self._server, "create dbbenchmarks.dbbench.io", self.namespace):
            created = await self._cluster.create(DBBENCHMARK, body)
        if not created:
            raise BenchmarkFailed(
                f"benchmark {name!r} exists in namespace {self.namespace!r} already: print it with "
                f"--name {name}, or delete it first"
            )

    async def benchmark(self, name: str) -> DBBenchmark:
        """The same, checked."""
        return self.parsed(await self.body(name))

    def parsed(self, body: Manifest) -> DBBenchmark:
        """The benchmark of a body; a failure says what this version does not know in it."""
        try:
            return DBBenchmark.parse(body)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            name = body["metadata"]["name"]
            raise CommandFailed(
                f"benchmark {name} is of another version of dbbench: {field}: {first['msg']}"
            ) from error

    async def config_map(self, name: str) -> dict[str, str] | None:
        """The ConfigMap's data; None when there is no such ConfigMap."""
        with _Explained(self._server, "get configmaps", self.namespace):
            body = await self._cluster.get(CONFIG_MAP, self.namespace, name)
        return None if body is None else dict(body.get("data") or {})

    async def records(self, benchmark: DBBenchmark) -> StoredRecords:
        """The raw records of the ConfigMaps that belong to the benchmark."""
        selector = f"{LABEL_BENCHMARK}={label_value(benchmark.metadata.name)}"
        with _Explained(self._server, "list configmaps", self.namespace):
            found = await self._cluster.list(CONFIG_MAP, self.namespace, labels=selector)
        return read(item.get("binaryData") or {} for item in found if is_owned(item, benchmark))

    async def _no_benchmark(self, name: str) -> CommandFailed:
        # A missing resource type answers 404 as well, but to a list of its objects too.
        try:
            items = await self._cluster.list(DBBENCHMARK, self.namespace)
        except ApiException as error:
            if error.status == 404:
                return CommandFailed(
                    f"the cluster at {self._server} does not know DBBenchmark: install "
                    "dbbench-operator first (helm install dbbench charts/dbbench-operator)"
                )
            items = []
        names = ", ".join(sorted(item["metadata"]["name"] for item in items))
        found = f"there are: {names}" if names else "it has none; -n names another namespace"
        return BenchmarkFailed(
            f"there is no benchmark {name!r} in namespace {self.namespace!r}; {found}"
        )


@asynccontextmanager
async def connect(where: Where) -> AsyncIterator[Session]:
    """A session that is closed at the end."""
    try:
        access = await load_access(where.kubeconfig, where.context)
    except ConfigException as error:
        raise CommandFailed(f"no access to a cluster: {error}") from error
    async with ApiClient(access.configuration) as client:
        namespace = where.namespace or access.namespace
        yield Session(Cluster(client), namespace, str(access.configuration.host))


class _Explained:
    """Turns what the client raises into a CommandFailed."""

    def __init__(self, server: str, action: str, namespace: str) -> None:
        self._server = server
        self._action = action
        self._namespace = namespace

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, ApiException):
            raise self._refusal(error) from error
        if isinstance(error, aiohttp.ClientError | OSError | asyncio.TimeoutError):
            reason = str(error) or type(error).__name__
            raise Unreachable(
                f"no cluster answers at {self._server}: {reason}. Is it running, and is this the "
                "right --context?"
            ) from error

    def _refusal(self, error: ApiException) -> CommandFailed:
        if error.status == 401:
            return CommandFailed(
                f"the cluster at {self._server} does not accept these credentials; log in again"
            )
        if error.status == 403:
            return CommandFailed(
                f"{_message(error)}. Check with: kubectl auth can-i {self._action} "
                f"-n {self._namespace}"
            )
        text = f"the cluster at {self._server} answered {error.status}: {_message(error)}"
        if not error.status or error.status == 429 or error.status >= 500:
            return Unreachable(text)
        return CommandFailed(text)


def _message(error: ApiException) -> str:
    """The API server's own words, where it answered with a Status object."""
    try:
        return str(json.loads(error.body or b"")["message"])
    except (TypeError, ValueError, LookupError):
        return str(error.reason or "no reason given")
