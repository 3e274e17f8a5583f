"""What to do next about a cluster, from what there is of it. No I/O.

One instance after the other: its claim, the Job that fills it, its pod, until that is ready.
"""

from dataclasses import dataclass, field

from standin import instance
from standin.cloud_native_pg import (
    ANNOTATION_CLAIM_STATUS,
    LABEL_INSTANCE_ROLE,
    PRIMARY,
    READY,
    Object,
    Phase,
    has_condition,
    is_going,
    name_of,
)
from standin.services import services
from standin.translation import Cluster


@dataclass(frozen=True)
class Found:
    """What a cluster owns, by name; of pods those of its instances, not those of its Jobs."""

    services: dict[str, Object] = field(default_factory=dict)
    claims: dict[str, Object] = field(default_factory=dict)
    jobs: dict[str, Object] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)

    @property
    def ready_pods(self) -> list[str]:
        return sorted(
            name
            for name, pod in self.pods.items()
            if has_condition(pod, "Ready") and not is_going(pod)
        )

    @property
    def filled_claims(self) -> list[str]:
        return sorted(name for name, claim in self.claims.items() if is_filled(claim))


@dataclass(frozen=True)
class Step:
    """Where a cluster is, and what is to be made, marked as filled, and deleted now."""

    phase: Phase
    reason: str = ""
    create: tuple[Object, ...] = ()
    filled: tuple[Object, ...] = ()
    delete_jobs: tuple[Object, ...] = ()
    delete_pods: tuple[Object, ...] = ()


def is_filled(claim: Object) -> bool:
    """Whether a Job has put a data directory there."""
    annotations = claim["metadata"].get("annotations", {})
    return bool(annotations.get(ANNOTATION_CLAIM_STATUS) == READY)


def next_step(cluster: Cluster, found: Found) -> Step:
    """The step of a cluster that is to run."""
    missing = tuple(one for one in services(cluster) if name_of(one) not in found.services)
    if missing:
        return Step(Phase.FIRST_PRIMARY, "Creating the Services", create=missing)
    for serial in cluster.serials:
        if step := _filling(cluster, found, serial) or _serving(cluster, found, serial):
            return step
    return Step(Phase.HEALTHY)


def hibernation_step(found: Found) -> Step:
    """The step of a healthy cluster that is to stop: its primary first, so that none takes over."""
    pods = sorted(found.pods.values(), key=name_of)
    if any(is_going(pod) for pod in pods):
        return Step(Phase.HEALTHY)
    primaries = [pod for pod in pods if pod["metadata"]["labels"][LABEL_INSTANCE_ROLE] == PRIMARY]
    return Step(Phase.HEALTHY, delete_pods=tuple(primaries or pods))


def _filling(cluster: Cluster, found: Found, serial: int) -> Step | None:
    """Until the instance's claim has a data directory."""
    name = cluster.instance(serial)
    if serial == 1:
        phase, reason = Phase.FIRST_PRIMARY, f"Creating primary instance {name}"
    else:
        phase, reason = Phase.CREATING_REPLICA, f"Creating replica {name}"
    claim = found.claims.get(name)
    job = found.jobs.get(instance.job_name(cluster, serial))
    if claim is None:
        return Step(phase, reason, create=(instance.claim(cluster, serial),))
    if is_filled(claim):
        return None
    if job is None:
        return Step(phase, reason, create=(instance.job(cluster, serial),))
    if has_condition(job, "Complete"):
        return Step(phase, reason, filled=(claim,))
    if has_condition(job, "Failed"):
        return Step(phase, f"Job {name_of(job)} has failed: see the log of its pods")
    return Step(phase, reason)


def _serving(cluster: Cluster, found: Found, serial: int) -> Step | None:
    """Until the instance's server is ready. Its Job is done, and goes."""
    name = cluster.instance(serial)
    waiting = "Some instances are not yet active. Please wait."
    job = found.jobs.get(instance.job_name(cluster, serial))
    if job is not None:
        done = () if is_going(job) else (job,)
        return Step(Phase.WAITING, waiting, delete_jobs=done)
    if name not in found.pods:
        return Step(Phase.WAITING, waiting, create=(instance.pod(cluster, serial),))
    if name not in found.ready_pods:
        return Step(Phase.WAITING, waiting)
    return None
