"""A stand-in for kubelets: says that pods run and end, and serves the logs of drivers.

It starts nothing. Everything else of the cluster is real: jobs, stateful sets, scheduling, garbage
collection. The API server asks it for logs as it asks a kubelet, over TLS with certificates of both
sides, at the address that the nodes have in their status.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from access.kubectl import Manifest
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web
from localcluster.pki import CLUSTER_CA, Pki

from dbbench.targets.names import LABEL_JOB
from scale import load

PORT = 10250
_HEARTBEAT_SECONDS = 10
_WATCH_SECONDS = 120
_JSON = "application/json"
_STRATEGIC = "application/strategic-merge-patch+json"
_APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True)
class Pace:
    """How long stand-in pods take, seconds: until they run, and a job's until it ends."""

    start: float
    job: float


class Kubelets:
    """All nodes at once. `session` is the administrator's."""

    def __init__(self, session: ClientSession, names: list[str], address: str, pace: Pace) -> None:
        self._session = session
        self._names = names
        self._address = address
        self._pace = pace
        self._pods: dict[tuple[str, str], Manifest] = {}
        self._lives: dict[str, asyncio.Task[None]] = {}

    async def register(self) -> None:
        """Make the nodes, Ready and large enough for any pod of theirs."""
        for name in self._names:
            await self._send("POST", "/api/v1/nodes", _JSON, node(name))
            await self._send(
                "PATCH", f"/api/v1/nodes/{name}/status", _STRATEGIC,
                {"status": node_status(self._address)},
            )  # fmt: skip

    async def beat(self) -> None:
        """Renew the nodes' leases for ever."""
        while True:
            for name in self._names:
                path = f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}"
                await self._send("PATCH", f"{path}?fieldManager=kubelet", _APPLY, lease(name))
            await asyncio.sleep(_HEARTBEAT_SECONDS)

    async def watch(self) -> None:
        """Let every scheduled pod live, for ever."""
        path = "/api/v1/pods?fieldSelector=spec.nodeName!%3D"
        while True:
            async with self._session.get(path) as answer:
                answer.raise_for_status()
                found = await answer.json()
            for pod in found["items"]:
                self._see("MODIFIED", pod)
            version = found["metadata"]["resourceVersion"]
            watched = f"{path}&watch=1&resourceVersion={version}&timeoutSeconds={_WATCH_SECONDS}"
            async with self._session.get(watched) as answer:
                answer.raise_for_status()
                async for line in answer.content:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        break
                    self._see(event["type"], event["object"])

    def _see(self, kind: str, pod: Manifest) -> None:
        metadata = pod["metadata"]
        place = (metadata["namespace"], metadata["name"])
        if kind == "DELETED":
            self._pods.pop(place, None)
            if life := self._lives.pop(metadata["uid"], None):
                life.cancel()
            return
        self._pods[place] = pod
        if metadata.get("deletionTimestamp"):
            if life := self._lives.pop(f"end {metadata['uid']}", None):
                life.cancel()
            self._lives[f"end {metadata['uid']}"] = asyncio.create_task(self._remove(pod))
        elif metadata["uid"] not in self._lives:
            self._lives[metadata["uid"]] = asyncio.create_task(self._live(pod))

    async def _live(self, pod: Manifest) -> None:
        if pod["status"]["phase"] in ("Succeeded", "Failed"):
            return
        await asyncio.sleep(self._pace.start)
        await self._report(pod, running(pod, _now()))
        if LABEL_JOB in pod["metadata"].get("labels", {}):
            began = _now()
            await asyncio.sleep(self._pace.job)
            await self._report(pod, succeeded(pod, began, _now()))

    async def _remove(self, pod: Manifest) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}}
        await self._send("DELETE", path, _JSON, body, missing_is_fine=True)

    async def _report(self, pod: Manifest, status: Manifest) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
        body = {"metadata": {"uid": metadata["uid"]}, "status": status}
        await self._send("PATCH", path, _STRATEGIC, body, missing_is_fine=True)

    async def _send(
        self, method: str, path: str, kind: str, body: Manifest, *, missing_is_fine: bool = False
    ) -> None:
        async with self._session.request(
            method, path, data=json.dumps(body), headers={"Content-Type": kind}
        ) as answer:
            if missing_is_fine and answer.status in (404, 409):
                return
            answer.raise_for_status()

    async def logs(self, request: web.Request) -> web.Response:
        """What the API server asks a kubelet: /containerLogs/NAMESPACE/POD/CONTAINER."""
        pod = self._pods.get((request.match_info["namespace"], request.match_info["pod"]))
        if pod is None:
            return web.Response(status=404, text="no such pod\n")
        return web.Response(text=load.log(pod))


@asynccontextmanager
async def serving(
    kubelets: Kubelets, pki: Pki, node_certificate: str, address: str
) -> AsyncIterator[None]:
    """The kubelets' own endpoint; only who has a certificate of the cluster is answered."""
    context = ssl.create_default_context(
        ssl.Purpose.CLIENT_AUTH, cafile=str(pki.certificate(CLUSTER_CA))
    )
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(pki.certificate(node_certificate), pki.key(node_certificate))
    application = web.Application()
    application.router.add_get("/containerLogs/{namespace}/{pod}/{container}", kubelets.logs)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host=address, port=PORT, ssl_context=context).start()
    try:
        yield
    finally:
        await runner.cleanup()


def session(url: str, pki: Pki) -> ClientSession:
    """A client of the API server with the administrator's certificate."""
    context = ssl.create_default_context(cafile=str(pki.certificate(CLUSTER_CA)))
    context.load_cert_chain(pki.certificate("admin"), pki.key("admin"))
    connector = TCPConnector(ssl=context, limit=0)
    # A watch's line is a whole pod.
    return ClientSession(
        url, connector=connector, timeout=ClientTimeout(total=None), read_bufsize=2**22
    )


def node(name: str) -> Manifest:
    """A Node as a kubelet registers it."""
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def node_status(address: str) -> Manifest:
    """Ready, with room for a database and its drivers; logs are asked for at `address`."""
    room = {"cpu": "8", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
    return {
        "capacity": room,
        "allocatable": room,
        "conditions": [condition("Ready", "KubeletReady")],
        "addresses": [{"type": "InternalIP", "address": address}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": PORT}},
    }


def lease(name: str) -> Manifest:
    """A node's sign of life, now."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "namespace": "kube-node-lease"},
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": 40,
            "renewTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        },
    }


def running(pod: Manifest, now: str) -> Manifest:
    """Status of a pod all of whose containers run and are ready."""
    state = {"running": {"startedAt": now}}
    return {
        "phase": "Running",
        "startTime": now,
        "podIP": "127.213.64.1",
        "podIPs": [{"ip": "127.213.64.1"}],
        "conditions": [condition(kind, "") for kind in ("Initialized", "ContainersReady", "Ready")],
        "containerStatuses": _statuses(pod, state, ready=True),
    }


def succeeded(pod: Manifest, began: str, now: str) -> Manifest:
    """Status of a pod all of whose containers ended well."""
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": began, "finishedAt": now}
    return {
        "phase": "Succeeded",
        "conditions": [
            condition(kind, "PodCompleted", "False") for kind in ("ContainersReady", "Ready")
        ],
        "containerStatuses": _statuses(pod, {"terminated": ended}, ready=False),
    }


def _statuses(pod: Manifest, state: Manifest, *, ready: bool) -> list[Manifest]:
    return [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": f"{container['image']}@sha256:{'0' * 64}",
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "state": state,
        }
        for container in pod["spec"]["containers"]
    ]


def condition(kind: str, reason: str, status: str = "True") -> Manifest:
    """Of a node or a pod, from now on."""
    now = _now()
    found = {"type": kind, "status": status, "lastTransitionTime": now}
    return found | ({"reason": reason} if reason else {})


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
