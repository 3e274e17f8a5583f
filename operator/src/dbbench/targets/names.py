"""Names, labels and owners of the objects that a benchmark creates. No I/O."""

import hashlib
import re
from enum import StrEnum

from dbbench.api import API_VERSION, GROUP, KIND
from dbbench.api.benchmark import DBBenchmark
from dbbench.plan import Trial
from dbbench.targets.context import Manifest

MANAGED_BY = "dbbench"

LABEL_NAME = "app.kubernetes.io/name"
LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"
LABEL_COMPONENT = "app.kubernetes.io/component"
LABEL_BENCHMARK = f"{GROUP}/benchmark"
LABEL_TARGET = f"{GROUP}/target"
LABEL_DEPLOYMENT = f"{GROUP}/deployment"
LABEL_INSTANCE = f"{GROUP}/instance"
LABEL_WORKLOAD = f"{GROUP}/workload"
LABEL_TRIAL = f"{GROUP}/trial"
LABEL_PARTNER = f"{GROUP}/partner"
LABEL_ATTEMPT = f"{GROUP}/attempt"
LABEL_JOB = f"{GROUP}/job"

_HASH_LENGTH = 8
# A StatefulSet's pods carry <name>-<10 characters> in a label of at most 63.
INSTANCE_NAME_LIMIT = 52
# CloudNativePG makes names of its own from a cluster's, and refuses a longer one.
_CLUSTER_NAME_LIMIT = 50


class Component(StrEnum):
    """What an object is for: the value of app.kubernetes.io/component."""

    TARGET = "target"
    DRIVER = "driver"
    PREPARATION = "preparation"
    RESULTS = "results"
    CREDENTIALS = "credentials"
    NETWORK = "network"


class JobKind(StrEnum):
    """What a Job does: the value of dbbench.io/job."""

    LOAD = "load"
    TRIAL = "trial"
    DISK = "disk"


def child_name(*parts: str, limit: int = 63) -> str:
    """A DNS label made of the parts, the first of which is the benchmark's name.

    Different parts give different names. `<bench>-<part>-<part>` wherever that can be read back,
    which is when no later part has a dash of its own; else, and when the text is too long or not
    a DNS label that starts with a letter, a hash of the parts is appended.
    """
    joined = "-".join(parts)
    text = re.sub(r"[^a-z0-9-]", "-", joined.lower())
    if not text[:1].isalpha():
        text = f"b{text}"
    ambiguous = any("-" in part for part in parts[1:])
    if text == joined and not ambiguous and len(text) <= limit:
        return text
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_HASH_LENGTH]
    return f"{text[: limit - _HASH_LENGTH - 1].rstrip('-')}-{digest}"


def label_value(text: str) -> str:
    """The text itself where it may be a label's value, else a shortened form with a hash."""
    if len(text) <= 63:
        return text
    return child_name(text)


def selector(benchmark: DBBenchmark, target: str | None = None) -> dict[str, str]:
    """Labels that select everything of a benchmark, of a target or of one of its instances."""
    found = {LABEL_BENCHMARK: label_value(benchmark.metadata.name)}
    if target is not None:
        found |= place(target)
    return found


def place(target: str) -> dict[str, str]:
    """Labels of a target, of its deployment `T@cpu2`, or of an instance of either: `T@cpu2.0`."""
    deployment, _, instance = target.partition(".")
    name, _, point = deployment.partition("@")
    found = {LABEL_TARGET: name, LABEL_DEPLOYMENT: point, LABEL_INSTANCE: instance}
    return {label: value for label, value in found.items() if value}


def labels(
    benchmark: DBBenchmark,
    component: Component,
    *,
    target: str | None = None,
    workload: str | None = None,
    trial: str | None = None,
    partner: str | None = None,
    attempt: int | None = None,
    job: JobKind | None = None,
) -> dict[str, str]:
    """Labels of a child; an absent part has no label."""
    found = {
        LABEL_NAME: "dbbench",
        LABEL_MANAGED_BY: MANAGED_BY,
        LABEL_COMPONENT: component.value,
        **selector(benchmark, target),
    }
    optional = {
        LABEL_WORKLOAD: workload,
        LABEL_TRIAL: trial,
        LABEL_PARTNER: partner,
        LABEL_ATTEMPT: None if attempt is None else str(attempt),
        LABEL_JOB: None if job is None else job.value,
    }
    return found | {key: value for key, value in optional.items() if value is not None}


def metadata(benchmark: DBBenchmark, name: str, labels: dict[str, str]) -> Manifest:
    """Metadata of a child: garbage-collected with the benchmark, which waits for it."""
    return {
        "name": name,
        "namespace": benchmark.metadata.namespace,
        "labels": labels,
        "ownerReferences": [
            {
                "apiVersion": API_VERSION,
                "kind": KIND,
                "name": benchmark.metadata.name,
                "uid": benchmark.metadata.uid,
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


def service_name(benchmark: DBBenchmark, target: str) -> str:
    """Service of a target: the host that drivers connect to."""
    return child_name(benchmark.metadata.name, target)


def instance_name(benchmark: DBBenchmark, target: str) -> str:
    """StatefulSet or VirtualMachine of a target."""
    return child_name(benchmark.metadata.name, target, limit=INSTANCE_NAME_LIMIT)


def cluster_name(benchmark: DBBenchmark, target: str) -> str:
    """Cluster of CloudNativePG."""
    return child_name(benchmark.metadata.name, target, limit=_CLUSTER_NAME_LIMIT)


def primary_service_name(benchmark: DBBenchmark, target: str) -> str:
    """Service of the primary, which CloudNativePG makes for a cluster."""
    return f"{cluster_name(benchmark, target)}-rw"


def config_name(benchmark: DBBenchmark, target: str) -> str:
    """ConfigMap with agent.json and the server's configuration file."""
    return child_name(benchmark.metadata.name, target, "config")


def launcher_config_name(benchmark: DBBenchmark, target: str) -> str:
    """ConfigMap with launcher.json, for QEMU in a pod."""
    return child_name(benchmark.metadata.name, target, "launcher")


def scripts_name(benchmark: DBBenchmark, workload: str) -> str:
    """ConfigMap with the scripts of a workload sql."""
    return child_name(benchmark.metadata.name, workload, "scripts")


def data_claim_name(benchmark: DBBenchmark, target: str) -> str:
    """PersistentVolumeClaim of the database's files."""
    return child_name(benchmark.metadata.name, target, "data")


def root_claim_name(benchmark: DBBenchmark, target: str) -> str:
    """PersistentVolumeClaim of a guest's root disk."""
    return child_name(benchmark.metadata.name, target, "root")


def credentials_name(benchmark: DBBenchmark) -> str:
    """Secret with the database's password, one for all targets."""
    return child_name(benchmark.metadata.name, "credentials")


def policy_name(benchmark: DBBenchmark, what: str) -> str:
    """NetworkPolicy of some of the benchmark's pods."""
    return child_name(benchmark.metadata.name, what)


def disk_job_name(benchmark: DBBenchmark, target: str) -> str:
    """Job that makes a guest's root disk."""
    return child_name(benchmark.metadata.name, "disk", target)


def load_job_name(benchmark: DBBenchmark, target: str, workload: str, attempt: int) -> str:
    """Job that loads one workload's data into one target."""
    return child_name(benchmark.metadata.name, "load", target, workload, str(attempt))


def trial_job_name(benchmark: DBBenchmark, trial: Trial, attempt: int) -> str:
    """Job that runs one trial."""
    workload = trial.cell.workload
    if trial.cell.point:
        workload += f"-{trial.point_hash}"
    return child_name(
        benchmark.metadata.name, f"b{trial.block:03d}", trial.target, workload, str(attempt)
    )
