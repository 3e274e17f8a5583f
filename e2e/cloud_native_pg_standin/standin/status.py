"""status of a Cluster, as CloudNativePG writes it. No I/O."""

from standin.cloud_native_pg import HIBERNATION, Object, Phase, is_going
from standin.progress import Found, Step
from standin.translation import Cluster


def is_hibernating(cluster: Cluster, status: Object) -> bool:
    """Whether its pods are to go: only a healthy cluster begins with that, and then goes on."""
    return cluster.hibernation and (
        status.get("phase") == Phase.HEALTHY or _named(status, HIBERNATION) is not None
    )


def next_status(document: Object, cluster: Cluster, found: Found, step: Step, now: str) -> Object:
    """The whole status; `now` is the time of conditions that change."""
    before: Object = document.get("status", {})
    hibernating = is_hibernating(cluster, before)
    primary = cluster.instance(1)
    conditions = [_ready(step.phase)]
    if hibernating:
        conditions.append(_hibernation(found))
    return {
        "phase": step.phase.value,
        "phaseReason": step.reason,
        "instances": len(found.claims),
        "readyInstances": len(found.ready_pods),
        "instanceNames": sorted(found.claims),
        "instancesStatus": {"healthy": found.ready_pods},
        "latestGeneratedNode": len(found.claims),
        "pvcCount": len(found.claims),
        "healthyPVC": found.filled_claims,
        "jobCount": len(found.jobs),
        "image": cluster.image,
        "targetPrimary": primary,
        "currentPrimary": primary if primary in found.filled_claims else "",
        "writeService": cluster.write_service,
        "readService": f"{cluster.name}-r",
        "conditions": [_since(one, before, now) for one in conditions],
    }


def refused(document: Object, reason: str, now: str) -> Object:
    """The status of a cluster that cannot be carried out; nothing else of it changes."""
    before: Object = document.get("status", {})
    others = [one for one in before.get("conditions", []) if one["type"] != "Ready"]
    return before | {
        "phase": Phase.CANNOT_CREATE.value,
        "phaseReason": reason,
        "conditions": [_since(_ready(Phase.CANNOT_CREATE), before, now), *others],
    }


def _ready(phase: Phase) -> Object:
    if phase is Phase.HEALTHY:
        return _condition("Ready", "True", "ClusterIsReady", "Cluster is Ready")
    return _condition("Ready", "False", "ClusterIsNotReady", "Cluster Is Not Ready")


def _hibernation(found: Found) -> Object:
    going = sorted(name for name, pod in found.pods.items() if is_going(pod))
    if not found.pods:
        return _condition(HIBERNATION, "True", "Hibernated", "Cluster has been hibernated")
    if going:
        message = f"Waiting for {going[0]} to be deleted"
        return _condition(HIBERNATION, "False", "WaitingPodsDeletion", message)
    return _condition(HIBERNATION, "False", "DeletingPods", "Hibernation is in progress")


def _condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _since(condition: Object, before: Object, now: str) -> Object:
    known = _named(before, condition["type"]) or {}
    same = known.get("status") == condition["status"]
    return condition | {"lastTransitionTime": known["lastTransitionTime"] if same else now}


def _named(status: Object, kind: str) -> Object | None:
    return next((one for one in status.get("conditions", []) if one["type"] == kind), None)
