"""A command's way into the cluster, and what it says when that way is barred."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import aiohttp
from kubernetes_asyncio.client import ApiClient, ApiException
from kubernetes_asyncio.config import ConfigException
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.cli.where import Where
from dbbench.evaluate.queue import newcomer
from dbbench.evaluate.state import State, labels_of
from dbbench.evaluate.tenure import Wait
from dbbench.kube.access import load_access
from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.gather import is_owned, survey
from dbbench.kube.kinds import (
    CONFIG_MAP,
    DBBENCHMARK,
    DEPLOYMENT,
    EVENT,
    NODE,
    POD,
    SECRET,
    Kind,
)
from dbbench.results.storage import StoredRecords, read
from dbbench.settings import PRIVILEGED_TARGETS
from dbbench.targets.context import Images
from dbbench.targets.names import LABEL_BENCHMARK, LABEL_NAME, label_value

_NO_IMAGES = Images(driver="", launcher="", guest_kernel="")
_OPERATOR = f"{LABEL_NAME}=dbbench-operator"


class Unreachable(CommandFailed):
    """The API server did not answer, or not sensibly; it may the next time."""


class LoggedOut(CommandFailed):
    """The API server does not accept the credentials, or no longer."""


class Session:
    """Reads from one namespace; everything that goes wrong is a CommandFailed in plain words."""

    def __init__(self, cluster: Cluster, namespace: str, server: str) -> None:
        self._cluster = cluster
        self.namespace = namespace
        self._server = server

    @property
    def server(self) -> str:
        """Address of the API server."""
        return self._server

    def within(self, namespace: str) -> "Session":
        """The same cluster, another namespace."""
        return Session(self._cluster, namespace, self._server)

    async def body(self, name: str) -> Manifest:
        """The benchmark as the server has it; a failure names those that exist when it is not."""
        with _Explained(self._server, "get dbbenchmarks.dbbench.io", self.namespace):
            body = await self._cluster.get(DBBENCHMARK, self.namespace, name)
            if body is None:
                raise await self._no_benchmark(name)
        return body

    async def create(self, body: Manifest, *, otherwise: str) -> None:
        """Create the benchmark; BenchmarkFailed when one of its name is there already.

        `otherwise` says what the user can do then.
        """
        name = body["metadata"]["name"]
        body = {**body, "metadata": {**body["metadata"], "namespace": self.namespace}}
        with _Explained(self._server, "create dbbenchmarks.dbbench.io", self.namespace):
            created = await self._cluster.create(DBBENCHMARK, body)
        if not created:
            raise BenchmarkFailed(
                f"benchmark {name!r} exists in namespace {self.namespace!r} already: {otherwise}"
            )

    async def refusal(self, body: Manifest) -> str:
        """Why the API server would not take the benchmark, in its words; empty when it would."""
        body = {**body, "metadata": {**body.get("metadata", {}), "namespace": self.namespace}}
        try:
            with _Explained(self._server, "create dbbenchmarks.dbbench.io", self.namespace):
                await self._cluster.create(DBBENCHMARK, body, dry_run=True)
        except Refused as error:
            return error.message
        return ""

    async def survey(self, benchmark: DBBenchmark, *, privileged_targets: bool) -> State:
        """What the operator would see before it starts the benchmark, with the user's rights."""
        with _Explained(self._server, "list nodes", self.namespace):
            return await survey(
                self._cluster, benchmark, _NO_IMAGES, privileged_targets=privileged_targets
            )

    async def place_in_queue(self, benchmark: DBBenchmark) -> Wait | None:
        """What a benchmark that is created now would wait for, as far as the user may look."""
        with _Explained(self._server, "list dbbenchmarks.dbbench.io", self.namespace):
            others = await self._cluster.readable(DBBENCHMARK)
            if others is None:
                others = tuple(await self._cluster.list(DBBENCHMARK, self.namespace))
            nodes = await self._cluster.readable(NODE)
        return newcomer(benchmark, others, nodes)

    async def privileged_targets(self) -> bool | None:
        """Whether the operator runs privileged targets; None where it is not to be seen."""
        with _Explained(self._server, "list deployments.apps", self.namespace):
            found = await self._cluster.readable(DEPLOYMENT, labels=_OPERATOR)
        for deployment in found or ():
            for container in deployment["spec"]["template"]["spec"]["containers"]:
                for variable in container.get("env") or []:
                    if variable["name"] == PRIVILEGED_TARGETS:
                        return bool(variable.get("value") == "true")
        return None

    async def delete(self, name: str) -> None:
        """Delete the benchmark, so that it is gone only when all that it owns is gone."""
        with _Explained(self._server, "delete dbbenchmarks.dbbench.io", self.namespace):
            await self._cluster.delete(DBBENCHMARK, self.namespace, name, dependents_first=True)

    async def exists(self, name: str) -> bool:
        """Whether there is a benchmark of that name."""
        with _Explained(self._server, "get dbbenchmarks.dbbench.io", self.namespace):
            return await self._cluster.get(DBBENCHMARK, self.namespace, name) is not None

    async def selected(self, labels: str = "") -> tuple[Manifest, ...]:
        """The benchmarks of the namespace that a label selector matches; all without one."""
        with _Explained(self._server, "list dbbenchmarks.dbbench.io", self.namespace):
            return tuple(await self._cluster.list(DBBENCHMARK, self.namespace, labels=labels))

    async def all_benchmarks(self, *, everywhere: bool) -> tuple[Manifest, ...]:
        """Those of the namespace, or of all."""
        if not everywhere:
            return await self.selected()
        found = await self.everywhere(DBBENCHMARK)
        if found is None:
            raise CommandFailed(
                "you may not list benchmarks of all namespaces. Check with: kubectl auth can-i "
                "list dbbenchmarks.dbbench.io -A"
            )
        return found

    async def names(self) -> list[str]:
        """Names of all benchmarks of the namespace."""
        found = await self.all_benchmarks(everywhere=False)
        return sorted(item["metadata"]["name"] for item in found)

    async def benchmark(self, name: str) -> DBBenchmark:
        """The same, checked."""
        return parsed(await self.body(name))

    async def config_map(self, name: str) -> dict[str, str] | None:
        """The ConfigMap's data; None when there is no such ConfigMap."""
        with _Explained(self._server, "get configmaps", self.namespace):
            body = await self._cluster.get(CONFIG_MAP, self.namespace, name)
        return None if body is None else dict(body.get("data") or {})

    async def pods(self, name: str) -> list[Manifest]:
        """The pods of the benchmark, by name."""
        with _Explained(self._server, "list pods", self.namespace):
            found = await self._cluster.list(POD, self.namespace, labels=_of(name))
        return sorted(found, key=lambda pod: str(pod["metadata"]["name"]))

    async def log(
        self, pod: str, container: str, last_lines: int, *, namespace: str = ""
    ) -> str | None:
        """The last lines of a container's log, 0 for all; None when there is none."""
        place = namespace or self.namespace
        with _Explained(self._server, "get pods/log", place):
            return await self._cluster.log(place, pod, container, last_lines=last_lines)

    async def children(self, kind: Kind, name: str) -> tuple[Manifest, ...] | None:
        """The benchmark's objects of a kind; None without the right, or where there is no such."""
        return await self._readable(kind, labels=_of(name))

    async def events(self, name: str) -> list[Manifest] | None:
        """Events about the benchmark and what is named after it; None without the right."""
        found = await self._readable(EVENT)
        if found is None:
            return None
        return [event for event in found if _is_about(event["involvedObject"], name)]

    async def secrets(self, name: str, pods: Sequence[Manifest]) -> tuple[Manifest, ...] | None:
        """The Secrets of the benchmark and those that its pods use; None without the right."""
        used = {
            volume["secret"]["secretName"]
            for pod in pods
            for volume in pod["spec"].get("volumes") or []
            if "secret" in volume
        }
        found = await self._readable(SECRET)
        if found is None:
            return None
        own = _of(name).partition("=")
        return tuple(
            secret
            for secret in found
            if secret["metadata"]["name"] in used or labels_of(secret).get(own[0]) == own[2]
        )

    async def everywhere(self, kind: Kind) -> tuple[Manifest, ...] | None:
        """All objects of a kind of the whole cluster; None without the right."""
        with _Explained(self._server, f"list {kind.plural}", self.namespace):
            return await self._cluster.readable(kind)

    async def operator_pods(self) -> tuple[Manifest, ...] | None:
        """The operator's pods, wherever it runs; None without the right."""
        with _Explained(self._server, "list pods", self.namespace):
            return await self._cluster.readable(POD, labels=_OPERATOR)

    async def _readable(self, kind: Kind, *, labels: str = "") -> tuple[Manifest, ...] | None:
        with _Explained(self._server, f"list {kind.plural}", self.namespace):
            return await self._cluster.readable(kind, self.namespace, labels=labels)

    async def records(self, benchmark: DBBenchmark) -> StoredRecords:
        """The raw records of the ConfigMaps that belong to the benchmark."""
        selector = _of(benchmark.metadata.name)
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


def parsed(body: Manifest) -> DBBenchmark:
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


def _of(name: str) -> str:
    """Selects what belongs to a benchmark."""
    return f"{LABEL_BENCHMARK}={label_value(name)}"


def _is_about(involved: Manifest, name: str) -> bool:
    return involved.get("name") == name or str(involved.get("name", "")).startswith(f"{name}-")


class Refused(CommandFailed):
    """The API server does not take the object, or a selector: why, in its words."""


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
            return LoggedOut(
                f"the cluster at {self._server} does not accept these credentials; log in again"
            )
        if error.status == 403:
            return CommandFailed(
                f"{_message(error)}. Check with: kubectl auth can-i {self._action} "
                f"-n {self._namespace}"
            )
        if error.status in (400, 422):
            return Refused(_message(error))
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
