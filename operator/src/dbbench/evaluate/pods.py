"""Which of a benchmark's pods do what. No I/O."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from dbbench.evaluate.state import Manifest, State, labels_of, parse_timestamp
from dbbench.targets.cloud_native_pg import CLUSTER_LABEL, JOB_LABEL
from dbbench.targets.names import LABEL_DEPLOYMENT, place


def target_pods(state: State, target: str) -> list[Manifest]:
    """Pods that run the target's databases, or one instance of it (not those of its jobs).

    None of another deployment of the target, such as one that tests a cause.
    """
    return [pod for pod in _deployment_pods(state, target) if _runs_database(pod)]


def filling_pods(state: State, target: str) -> list[Manifest]:
    """Pods of CloudNativePG's jobs that make or join an instance: the last of each job.

    None of a job whose last pod has done its work.
    """
    jobs = [pod for pod in _deployment_pods(state, target) if JOB_LABEL in labels_of(pod)]
    last = {labels_of(pod).get("job-name"): pod for pod in sorted(jobs, key=created)}
    return [pod for pod in last.values() if pod.get("status", {}).get("phase") != "Succeeded"]


def is_ready(pod: Manifest) -> bool:
    """Whether the pod's readiness probe succeeds and nobody has asked it to end."""
    if pod["metadata"].get("deletionTimestamp"):
        return False
    conditions = pod.get("status", {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def active_job_pods(state: State) -> list[Manifest]:
    """Pods of dbbench's jobs that have not ended."""
    return [
        pod
        for pod in state.pods
        if labels_of(pod).get("dbbench.io/job")
        and pod.get("status", {}).get("phase") in ("Pending", "Running")
    ]


def container_statuses(pod: Mapping[str, Any]) -> Iterator[Manifest]:
    """The states of its containers, those that run first before the others."""
    status = pod.get("status") or {}
    yield from status.get("initContainerStatuses") or []
    yield from status.get("containerStatuses") or []


def created(pod: Manifest) -> datetime:
    """When the pod was made."""
    return parse_timestamp(pod["metadata"]["creationTimestamp"])


def _deployment_pods(state: State, target: str) -> list[Manifest]:
    """All pods of the target's deployment, those of jobs included."""
    wanted = {LABEL_DEPLOYMENT: ""} | place(target)
    return [
        pod
        for pod in state.pods
        if wanted.items() <= ({LABEL_DEPLOYMENT: ""} | labels_of(pod)).items()
    ]


def _runs_database(pod: Manifest) -> bool:
    """Whether it is no pod of a job, neither of dbbench's nor of CloudNativePG's."""
    labels = labels_of(pod)
    if CLUSTER_LABEL in labels:
        return JOB_LABEL not in labels
    return labels.get("app.kubernetes.io/component") == "target"
