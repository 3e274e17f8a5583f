"""A model of the cluster for property tests of decide(): controllers reduced to their outcomes.

It is no substitute for the end-to-end tests, which run on a real cluster. It exists because it can
be interrupted after every single action, thousands of times, and real clusters cannot.
"""

import copy
import json
import random
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.connection import Connection
from dbbench.evaluate.decide import decide
from dbbench.evaluate.decision import Decision
from dbbench.evaluate.harvest import (
    finished,
    record_identity,
    recorded_identities,
    unrecorded_jobs,
)
from dbbench.evaluate.state import Ref, Served, State, labels_of, timestamp
from dbbench.results.record import LoadRecord, TrialRecord
from dbbench.targets.context import NO_DEVICES, Devices, Images

IMAGES = Images(driver="driver:1", launcher="launcher:1", guest_kernel="kernel:1")
START = datetime(2026, 1, 1, tzinfo=UTC)


LOCKED_OUT = (
    '{"kind":"Error","exitCode":3,"reason":"AuthenticationFailed","message":"wrong password"}'
)


class OperatorKilledError(Exception):
    """The operator ended here."""


def deployment_of(manifest: dict[str, Any]) -> str:
    """The target, and where a sweep deploys it anew, at which point: `vm@cpu2`."""
    labels = labels_of(manifest)
    point = labels.get("dbbench.io/deployment")
    return f"{labels['dbbench.io/target']}@{point}" if point else labels["dbbench.io/target"]


def spec(**changes: Any) -> dict[str, Any]:
    """A small valid spec: two targets, two workloads, two blocks."""
    found: dict[str, Any] = {
        "database": {"engine": "PostgreSQL", "image": "postgres:17"},
        "placement": {
            "database": {"nodeSelector": {"kubernetes.io/hostname": "a"}},
            "driver": {"nodeSelector": {"kubernetes.io/hostname": "b"}},
        },
        "baseline": "pod",
        "targets": [
            {"name": "pod", "pod": {}},
            {"name": "vm", "virtualMachine": {"runtime": "QEMU"}},
        ],
        "workloads": [
            {"name": "analytics", "tpch": {"scaleFactor": "0.01"}},
            {"name": "telecom", "tatp": {"subscribers": 1000}},
        ],
        "trials": {"min": 2},
    }
    return found | changes


def node(name: str, cpu: str = "4", memory: str = "8Gi") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "capacity": {"cpu": cpu, "memory": memory},
            "allocatable": {"cpu": cpu, "memory": memory},
            "nodeInfo": {
                "kernelVersion": "6.1",
                "containerRuntimeVersion": "containerd://1",
                "kubeletVersion": "v1.34.4",
            },
        },
    }


STORAGE_CLASS = {
    "metadata": {
        "name": "standard",
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    }
}


PASSWORD = Ref("Secret", "bench-credentials")

# What runs a target's database.
INSTANCES = ("StatefulSet", "VirtualMachine", "Cluster")


@dataclass
class ModelCluster:
    """Objects by reference. `fail` decides how a job's attempt ends: None means well.

    It may do so for each of the job's drivers, in a list.
    """

    spec: dict[str, Any]
    seed: int = 0
    fail: Any = None
    nodes: tuple[dict[str, Any], ...] = (node("a"), node("b"))
    storage_classes: tuple[dict[str, Any], ...] = (STORAGE_CLASS,)
    kubevirt: bool = False
    network_policies: bool = False
    kubevirts: tuple[dict[str, Any], ...] | None = None
    data_volumes: bool = False
    connections: dict[str, Connection] = field(default_factory=dict)
    encrypted: dict[str, dict[str, str]] = field(default_factory=dict)
    scripts: dict[str, dict[str, str]] | None = field(default_factory=dict)
    cloud_native_pg: Served = Served.YES
    now: datetime = START
    status: dict[str, Any] = field(default_factory=dict)
    deleted: datetime | None = None
    objects: dict[Ref, dict[str, Any]] = field(default_factory=dict)
    pods: dict[str, dict[str, Any]] = field(default_factory=dict)
    logs: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    records: dict[tuple[str, ...], TrialRecord | LoadRecord] = field(default_factory=dict)
    stored: list[tuple[str, ...]] = field(default_factory=list)
    jobs_run: list[str] = field(default_factory=list)
    starts: list[str] = field(default_factory=list)
    most_targets_at_once: int = 0
    stuck: frozenset[str] = frozenset()
    warnings: tuple[dict[str, Any], ...] = ()
    devices: Devices = NO_DEVICES
    passwords: int = 0
    opened_by: dict[str, str] = field(default_factory=dict)
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def benchmark(self) -> DBBenchmark:
        return DBBenchmark.parse(
            {
                "metadata": {"name": "bench", "namespace": "ns", "uid": "u-1", "generation": 1},
                "spec": self.spec,
                "status": copy.deepcopy(self.status),
            }
        )

    def state(self) -> State:
        """As gather reads it."""
        found = State(
            benchmark=self.benchmark(),
            now=self.now,
            images=IMAGES,
            kubevirt=self.kubevirt,
            network_policies=self.network_policies,
            devices=self.devices,
            kubernetes_version="v1.34.4",
            objects=copy.deepcopy(self.objects),
            pods=tuple(copy.deepcopy(list(self.pods.values()))),
            warnings=self.warnings,
            nodes=self.nodes,
            storage_classes=self.storage_classes,
            kubevirts=self.kubevirts,
            data_volumes=self.data_volumes,
            connections=self.connections,
            scripts=self.scripts,
            cloud_native_pg=self.cloud_native_pg,
            trials=tuple(r for r in self.records.values() if isinstance(r, TrialRecord)),
            loads=tuple(r for r in self.records.values() if isinstance(r, LoadRecord)),
        )
        jobs = unrecorded_jobs(found.of_kind("Job"), recorded_identities(found))
        names = [job["metadata"]["name"] for job in jobs]
        return replace(found, logs={name: self.logs[name] for name in names})

    def carry_out(self, decision: Decision, actions_before_death: int | None = None) -> None:
        """As act does, in its order; OperatorKilledError after so many actions."""
        left = actions_before_death

        def action() -> None:
            nonlocal left
            if left is not None:
                if left == 0:
                    raise OperatorKilledError
                left -= 1

        if decision.expired:
            action()
            self.deleted = self.now
            return
        for record in decision.store:
            action()
            self._store(record)
        if decision.create_credentials:
            action()
            self.passwords += 1
            secret = {"metadata": {"name": PASSWORD.name, "labels": {}}}
            secret["stringData"] = {"password": str(self.passwords)}
            self.objects.setdefault(PASSWORD, secret)
        for manifest in self._any_order(decision.create):
            action()
            ref = Ref(manifest["kind"], manifest["metadata"]["name"])
            self.objects.setdefault(ref, copy.deepcopy(manifest))
        for one in self._any_order([*decision.apply, *decision.delete]):
            action()
            if isinstance(one, Ref):
                self._delete(one)
            else:
                self._apply(one)
        action()
        self.status = decision.status.document()

    def _any_order(self, together: Sequence[Any]) -> list[Any]:
        """What is sent at once is done in any order, and some of it not if the operator dies."""

        def rank(one: Any) -> int:
            if isinstance(one, Ref):
                return 1 if one.kind == "Secret" else 0
            return -1 if one["kind"] == "NetworkPolicy" else 0

        return sorted(self.chance.sample(together, len(together)), key=rank)

    def pass_time(self, seconds: float = 5) -> None:
        """Controllers do their work: pods come and go, jobs end."""
        self.now += timedelta(seconds=seconds)
        for ref, manifest in list(self.objects.items()):
            if ref.kind == "Cluster":
                self._run_cluster(ref.name, manifest)
            elif ref.kind in INSTANCES:
                self._run_instance(ref.name, manifest)
            if ref.kind == "Job" and finished(manifest) is None and ref.name not in self.stuck:
                self._finish_job(ref.name, manifest)
        running = {deployment_of(pod) for pod in self.pods.values()}
        self.most_targets_at_once = max(self.most_targets_at_once, len(running))

    def step(self) -> Decision:
        """One undisturbed look, then time passes."""
        decision = decide(self.state())
        self.carry_out(decision)
        self.pass_time()
        return decision

    def run(self, limit: int = 400) -> None:
        """Until the end, or `limit` looks."""
        for _ in range(limit):
            self.step()
            if "completionTime" in self.status:
                self.step()
                return
        raise AssertionError(f"not finished after {limit} looks: {self.status['progress']}")

    def run_killed(self, deaths: Iterable[int]) -> None:
        """Until the end, with an operator that first dies after so many actions of each look."""
        for actions in deaths:
            with suppress(OperatorKilledError):
                self.carry_out(decide(self.state()), actions)
            self.pass_time()
        if "completionTime" not in self.status:
            self.run()

    def condition(self, kind: str) -> dict[str, Any]:
        return {c["type"]: c for c in self.status["conditions"]}[kind]

    def _store(self, record: TrialRecord | LoadRecord) -> None:
        key = record_identity(record)
        self.records[key] = record
        self.stored.append(key)

    def _apply(self, manifest: dict[str, Any]) -> None:
        ref = Ref(manifest["kind"], manifest["metadata"]["name"])
        before = self.objects.get(ref, {})
        merged = copy.deepcopy(manifest)
        merged["metadata"].setdefault("creationTimestamp", timestamp(self.now))
        if "status" in before:
            merged["status"] = before["status"]
        if ref.kind == "Job" and ref not in self.objects:
            self.jobs_run.append(ref.name)
        self.objects[ref] = merged

    def _delete(self, ref: Ref) -> None:
        self.objects.pop(ref, None)
        if ref.kind in INSTANCES:
            self.pods.pop(f"{ref.name}-0", None)
        if ref.kind == "Cluster":
            for pod in [pod for pod in self.pods if pod.startswith(f"{ref.name}-")]:
                del self.pods[pod]

    def _run_instance(self, name: str, manifest: dict[str, Any]) -> None:
        pod = f"{name}-0"
        if manifest["spec"].get("replicas") == 0 or manifest["spec"].get("runStrategy") == "Halted":
            self.pods.pop(pod, None)
        elif name not in self.stuck and (pod in self.pods or PASSWORD in self.objects):
            template = manifest["spec"]["template"]["metadata"]
            if pod not in self.pods:
                self.starts.append(deployment_of({"metadata": template}))
                # Data keep the password that they were made with.
                database = deployment_of({"metadata": template})
                self.opened_by.setdefault(database, self._password())
            before = self.pods.get(pod, {}).get("metadata", {})
            self.pods[pod] = {
                "metadata": {
                    "name": pod,
                    "labels": template["labels"],
                    "creationTimestamp": before.get("creationTimestamp", timestamp(self.now)),
                },
                "spec": manifest["spec"]["template"]["spec"],
                "status": {
                    "phase": "Running",
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            }

    def _run_cluster(self, name: str, manifest: dict[str, Any]) -> None:
        """As CloudNativePG: pods one by one, that of the job which made the first one stays."""
        running = {pod for pod in self.pods if pod.startswith(f"{name}-")}
        if manifest["metadata"]["annotations"]["cnpg.io/hibernation"] == "on":
            for pod in running:
                del self.pods[pod]
            manifest["status"] = {"phase": "Cluster in healthy state", "readyInstances": 0}
            return
        if name in self.stuck:
            manifest["status"] = {"phase": "Setting up primary", "phaseReason": "no volume"}
            return
        labels = manifest["spec"]["inheritedMetadata"]["labels"] | {"cnpg.io/cluster": name}
        number = sum("-initdb" not in pod for pod in running) + 1
        if number == 1:
            self.starts.append(deployment_of({"metadata": {"labels": labels}}))
            self._pod(f"{name}-1-initdb", labels | {"cnpg.io/jobRole": "initdb"})
        if number <= manifest["spec"]["instances"]:
            role = "primary" if number == 1 else "replica"
            self._pod(f"{name}-{number}", labels | {"cnpg.io/instanceRole": role})
            # It is told a look later.
            manifest["status"] = {"phase": "Creating a new replica", "readyInstances": number - 1}
        else:
            manifest["status"] = {"phase": "Cluster in healthy state", "readyInstances": number - 1}

    def _pod(self, name: str, labels: dict[str, str]) -> None:
        self.pods[name] = {
            "metadata": {
                "name": name,
                "labels": labels,
                "creationTimestamp": timestamp(self.now),
            },
            "spec": {"containers": [{"name": "postgres", "image": "postgres:17"}]},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [
                    {"name": "postgres", "image": "postgres:17", "imageID": "postgres@sha256:1"}
                ],
            },
        }

    def _finish_job(self, name: str, job: dict[str, Any]) -> None:
        kind = labels_of(job)["dbbench.io/job"]
        if kind != "disk" and PASSWORD not in self.objects:
            return  # its pod waits for the volume
        problem = self.fail(job) if self.fail else None
        if kind != "disk" and self._is_locked_out(job):
            problem = LOCKED_OUT
        ended = "Complete" if problem is None else "Failed"
        job["status"] = {
            "startTime": timestamp(self.now),
            "completionTime": timestamp(self.now),
            "conditions": [
                {"type": ended, "status": "True", "lastTransitionTime": timestamp(self.now)}
            ],
        }
        drivers = job["spec"]["template"]["spec"]["containers"]
        if problem == "lost":
            self.logs[name] = (None,) * len(drivers)
        elif kind != "disk":
            each = problem if isinstance(problem, list) else [problem] * len(drivers)
            self.logs[name] = tuple(
                self._log(job, index, len(drivers)) if log is None else log
                for index, log in enumerate(each)
            )

    def _is_locked_out(self, job: dict[str, Any]) -> bool:
        password = self._password()
        return self.opened_by.get(deployment_of(job), password) != password

    def _password(self) -> str:
        return str(self.objects[PASSWORD]["stringData"]["password"])

    def _log(self, job: dict[str, Any], index: int, drivers: int) -> str:
        """Instance 1 gets twice as much as instance 0, and so on. Of a duet, 1 is the partner."""
        labels = labels_of(job)
        vm = labels["dbbench.io/target"] == "vm"
        noise = random.Random(f"{self.seed}/{job['metadata']['name']}").uniform(0.98, 1.02)
        if "dbbench.io/partner" in labels:
            vm, index, drivers = vm != (index == 1), 0, 1
        factor = (1.5 if vm else 1.0) * noise / (index + 1)
        processes = {}
        if labels["dbbench.io/workload"] == "analytics":
            metrics = [{"name": "totalRuntime", "unit": "seconds", "value": 2.0 * factor}]
            operations = [
                {"name": f"Q{n}", "kind": "query", "counts": {"ok": 1, "expectedFailure": 0,
                 "error": 0}, "errors": {}, "runtimesSeconds": [factor * n / 10]}
                for n in (1, 2)
            ]  # fmt: skip
        else:
            value = 100 / factor
            if drivers > 1 and index == 0:
                processes = {
                    "processes": [
                        {"index": n, "clients": 1, "throughputPerSecond": value * (n + 1),
                         "driverUsage": {}}
                        for n in range(drivers)
                    ]
                }  # fmt: skip
                value *= sum(n + 1 for n in range(drivers))
            metrics = [{"name": "throughput", "unit": "per_second", "value": value}]
            operations = []
        result = {
            "kind": "Result",
            "schemaVersion": 1,
            "command": "run",
            "valid": True,
            "invalidReasons": [],
            "metrics": metrics,
            **processes,
            "operations": operations,
            "server": {"engine": "PostgreSQL", "version": "17", "settings": {"a": "1"}},
            "data": {"rows": {}, "digest": "sha256:1"},
            "target": {
                "facts": {"emulated": vm, "hypervisor": "TCG" if vm else "None", "kernel": "6.1"},
                **({"host": {"facts": {"qemuVersion": "10.0.2 (Debian)"}}} if vm else {}),
            },
        }
        if "--agent" not in job["spec"]["template"]["spec"]["containers"][index]["args"]:
            del result["target"]
        tls = self.encrypted.get(job["metadata"]["labels"]["dbbench.io/target"])
        result["server"] |= {"tls": tls} if tls else {}
        text = json.dumps(result, separators=(",", ":"))
        return f'{{"kind":"Progress","phase":"measure"}}\n{text}\n'
