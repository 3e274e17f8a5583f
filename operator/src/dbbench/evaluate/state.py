"""State: everything a decision is made from, as read from the cluster. No I/O here."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.connection import Connection
from dbbench.evaluate.tenure import Wait
from dbbench.plan.deployment import deployed
from dbbench.plan.sweep import Point
from dbbench.results.record import LoadRecord, TrialRecord
from dbbench.targets.context import NO_DEVICES, Context, Devices, Images

Manifest = dict[str, Any]


@dataclass(frozen=True, order=True)
class Ref:
    """Names one object of the benchmark's namespace."""

    kind: str
    name: str


class Served(StrEnum):
    """Whether the cluster serves an API, and lets the operator use it."""

    NO = "No"
    FORBIDDEN = "Forbidden"
    YES = "Yes"


@dataclass(frozen=True)
class State:
    """What was found in the cluster.

    `objects` holds what the benchmark owns, without pods; `pods` all pods of those; `warnings` the
    Warning events of the namespace; `logs` the logs of finished jobs that have no record yet, one
    for each instance of the target (None where the log is gone). `nodes`, `storage_classes` and
    `kubevirts` (KubeVirt's own settings) are read before the start only, and None where the
    operator may not read them (it watches single namespaces); so is `data_volumes`: whether the
    cluster serves CDI's DataVolumes, `cloud_native_pg`: what of CloudNativePG's API is there for
    the operator, where a target needs it, and `connections`: the Secrets of external databases that
    there are, by name, None where they may not be read. `scripts`: texts of the user's ConfigMaps
    that are still to be copied from, by name and key, None where they may not be read.
    `privileged_targets`: whether this operator may run targets that use a node's own namespaces or
    files. `network_policies`: whether it makes them. `devices`: which QEMU in a pod asks for.
    `wait`: why the benchmark cannot have its nodes now; looked for only when it needs them and does
    not have them.
    """

    benchmark: DBBenchmark
    now: datetime
    images: Images
    kubevirt: bool
    privileged_targets: bool = False
    network_policies: bool = False
    devices: Devices = NO_DEVICES
    kubernetes_version: str = ""
    objects: Mapping[Ref, Manifest] = field(default_factory=dict)
    pods: tuple[Manifest, ...] = ()
    warnings: tuple[Manifest, ...] = ()
    nodes: tuple[Manifest, ...] | None = None
    storage_classes: tuple[Manifest, ...] | None = None
    kubevirts: tuple[Manifest, ...] | None = None
    data_volumes: bool = False
    cloud_native_pg: Served = Served.NO
    connections: Mapping[str, Connection] | None = field(default_factory=dict)
    scripts: Mapping[str, Mapping[str, str]] | None = field(default_factory=dict)
    logs: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    wait: Wait | None = None
    trials: tuple[TrialRecord, ...] = ()
    loads: tuple[LoadRecord, ...] = ()

    @property
    def context(self) -> Context:
        """What manifests are built from."""
        return Context(self.benchmark, self.images, self.kubevirt, self.devices)

    def at(self, point: Point) -> "State":
        """The same, with the deployments at a point of a sweep as the targets."""
        spec = deployed(self.benchmark.spec, point)
        return replace(self, benchmark=self.benchmark.model_copy(update={"spec": spec}))

    @property
    def records(self) -> tuple[TrialRecord | LoadRecord, ...]:
        """Of all attempts, at trials and at loads."""
        return (*self.trials, *self.loads)

    def with_records(self, records: Iterable[TrialRecord | LoadRecord]) -> "State":
        """The same, with more records, of attempts later than those of the same trial or load."""
        more = tuple(records)
        trials = tuple(one for one in more if isinstance(one, TrialRecord))
        loads = tuple(one for one in more if isinstance(one, LoadRecord))
        return replace(self, trials=self.trials + trials, loads=self.loads + loads)

    def of_kind(self, kind: str) -> list[Manifest]:
        """The benchmark's objects of one kind."""
        return [manifest for ref, manifest in self.objects.items() if ref.kind == kind]

    def pods_of(self, **labels: str) -> list[Manifest]:
        """Pods with these labels of dbbench's own, such as target="vm"."""
        wanted = {f"dbbench.io/{key}": value for key, value in labels.items()}
        return [pod for pod in self.pods if wanted.items() <= labels_of(pod).items()]


def labels_of(manifest: Manifest) -> dict[str, str]:
    """An object's labels; empty when it has none."""
    return manifest["metadata"].get("labels") or {}


def timestamp(moment: datetime) -> str:
    """As the API writes it: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_timestamp(text: str) -> datetime:
    """Inverse of `timestamp`; also reads fractions of a second."""
    return datetime.fromisoformat(text)
