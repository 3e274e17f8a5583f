"""The API server of a model cluster: answers the operator's own requests, and writes down each.

Everything below `Cluster._request` is left out, everything above it is the operator's real code.
"""

import copy
import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from kubernetes_asyncio.client import ApiException

from dbbench.evaluate.harvest import finished
from dbbench.evaluate.state import Ref, labels_of, timestamp

from .model_cluster import ModelCluster

Manifest = dict[str, Any]
OWNER = {"ownerReferences": [{"uid": "u-1"}]}
# Kubernetes grants these to everybody: discovery and its version.
_OPEN = ("/version",)


class Right(NamedTuple):
    """What a rule of RBAC must allow for one request. `resource` with its subresource."""

    group: str
    resource: str
    verb: str


@dataclass
class RecordedApi:
    """An ApiClient. `served`: plurals of the optional kinds that are there."""

    model: ModelCluster
    served: frozenset[str] = frozenset()
    rights: set[Right] = field(default_factory=set)
    cluster_scoped: dict[str, list[Manifest]] = field(default_factory=dict)
    secrets: list[Manifest] = field(default_factory=list)

    async def call_api(self, path: str, method: str, **options: Any) -> Any:
        """As kubernetes_asyncio's, for what Cluster asks of it."""
        if path in _OPEN:
            return {"gitVersion": "v1.34.4"}
        group, parts = place(path)
        if not parts:
            return {"resources": [{"name": name} for name in self.served]}
        resource, name, subresource = (*parts, "", "")[:3]
        target = f"{resource}/{subresource}" if subresource else resource
        verb = _verb(method, name)
        self.rights.add(Right(group, target, verb))
        if subresource == "log":
            return self._log(name, dict(options["query_params"])["container"])
        body = options.get("body")
        if verb == "list":
            return {"items": copy.deepcopy(self._list(resource)), "metadata": {}}
        if resource == "dbbenchmarks":
            return self._benchmark(verb, body)
        ref = Ref(_KINDS[resource], name or body["metadata"]["name"])
        if verb == "delete":
            self.model._delete(ref)
            return {}
        if verb == "patch" and "merge-patch" not in options["header_params"]["Content-Type"]:
            # What server-side apply makes anew, it must be allowed to create, too.
            if ref not in self.model.objects:
                self.rights.add(Right(group, resource, "create"))
            self.model._apply(json.loads(body))
        elif verb == "patch":
            self.model.objects[ref]["binaryData"] |= body["binaryData"]
        elif ref in self.model.objects:
            raise ApiException(status=409)
        else:
            self.model.objects[ref] = copy.deepcopy(body)
        return body

    def body(self) -> Manifest:
        metadata = {
            "name": "bench",
            "namespace": "ns",
            "uid": "u-1",
            "generation": 1,
            "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        }
        return {
            "metadata": metadata,
            "spec": copy.deepcopy(self.model.spec),
            "status": copy.deepcopy(self.model.status),
        }

    def _benchmark(self, verb: str, body: Manifest | None) -> Manifest:
        if self.model.deleted:
            raise ApiException(status=404)
        if verb == "update" and body is not None:
            self.model.status = body["status"]
        if verb == "delete":
            self.model.deleted = self.model.now
        return self.body()

    def _list(self, resource: str) -> list[Manifest]:
        match resource:
            case "dbbenchmarks":
                return [] if self.model.deleted else [self.body()]
            case "events":
                return []
            case "nodes":
                return list(self.model.nodes)
            case "storageclasses":
                return list(self.model.storage_classes)
            case "kubevirts":
                return list(self.model.kubevirts or ())
            case "pods":
                return [*self.model.pods.values(), *self._job_pods()]
        kind = _KINDS[resource]
        found = [
            manifest | {"metadata": {"resourceVersion": "1"} | manifest["metadata"] | OWNER}
            for ref, manifest in self.model.objects.items()
            if ref.kind == kind
        ]
        return found + (self.secrets if resource == "secrets" else [])

    def _job_pods(self) -> list[Manifest]:
        """Of jobs that have ended; the model lets them end as soon as they begin."""
        return [
            {
                "metadata": {
                    "name": f"{ref.name}-pod",
                    "labels": labels_of(manifest) | {"job-name": ref.name},
                    "creationTimestamp": timestamp(self.model.now),
                },
                "status": {"phase": "Succeeded"},
            }
            for ref, manifest in self.model.objects.items()
            if ref.kind == "Job" and finished(manifest)
        ]

    def _log(self, pod: str, container: str) -> "_Response":
        job = pod.removesuffix("-pod")
        manifest = self.model.objects[Ref("Job", job)]
        drivers = [one["name"] for one in manifest["spec"]["template"]["spec"]["containers"]]
        return _Response(self.model.logs[job][drivers.index(container)] or "")


class Clock:
    """Stands in for `datetime`: the model's time is what the operator reads."""

    def __init__(self, model: ModelCluster) -> None:
        self._model = model

    def now(self, _: object = None) -> datetime:
        return self._model.now


@dataclass
class _Response:
    text: str
    status: int = 200

    async def __aenter__(self) -> "_Response":
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def read(self) -> bytes:
        return self.text.encode()


def place(path: str) -> tuple[str, list[str]]:
    """API group of a path, and what follows: resource, name and subresource, as far as given."""
    _, root, *parts = path.split("/")
    group = parts.pop(0) if root == "apis" else ""
    rest = parts[1:]
    return group, rest[2:] if rest[:1] == ["namespaces"] else rest


def _verb(method: str, name: str) -> str:
    if method == "GET":
        return "get" if name else "list"
    return {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]


_KINDS = {
    "configmaps": "ConfigMap",
    "jobs": "Job",
    "networkpolicies": "NetworkPolicy",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "secrets": "Secret",
    "services": "Service",
    "statefulsets": "StatefulSet",
    "virtualmachines": "VirtualMachine",
    "clusters": "Cluster",
}
