"""What a VirtualMachine's status becomes, given its instance; and what is to be done. No I/O."""

import datetime
from enum import Enum, auto

from standin.instance_status import phase_of
from standin.kubevirt import Object, Phase, PrintableStatus, RunStrategy, condition

# KubeVirt waits longer after each early failure, up to this.
_LONGEST_BACK_OFF_SECONDS = 300
_BACK_OFF_STEP_SECONDS = 10


class Action(Enum):
    """What a machine's run strategy asks for."""

    NOTHING = auto()
    START = auto()
    STOP = auto()


def action(
    machine: Object, strategy: RunStrategy, instance: Object | None, now: datetime.datetime
) -> Action:
    """What to do about the instance."""
    if machine["metadata"].get("deletionTimestamp") or strategy is RunStrategy.HALTED:
        return Action.STOP if instance is not None else Action.NOTHING
    if instance is None:
        return Action.NOTHING if _backs_off(machine, now) else Action.START
    # After a failure the instance is deleted, and made anew when it has gone. One that has
    # succeeded was shut down from inside, and stays so.
    return Action.STOP if phase_of(instance) is Phase.FAILED else Action.NOTHING


def start_failure(
    machine: Object, instance: Object | None, now: datetime.datetime
) -> Object | None:
    """The record of failures before the guest ran; None when there is none."""
    old: Object | None = machine.get("status", {}).get("startFailure")
    if instance is None:
        return old
    phases = {
        entry["phase"] for entry in instance.get("status", {}).get("phaseTransitionTimestamps", [])
    }
    if Phase.RUNNING in phases:
        return None
    uid = instance["metadata"]["uid"]
    if phase_of(instance) is not Phase.FAILED or (old and old["lastFailedVMIUID"] == uid):
        return old
    count = (old["consecutiveFailCount"] if old else 0) + 1
    wait = min(count * _BACK_OFF_STEP_SECONDS, _LONGEST_BACK_OFF_SECONDS)
    return {
        "consecutiveFailCount": count,
        "lastFailedVMIUID": uid,
        "retryAfterTimestamp": timestamp(now + datetime.timedelta(seconds=wait)),
    }


def next_status(
    machine: Object,
    strategy: RunStrategy | None,
    instance: Object | None,
    problem: tuple[str, str] | None,
    now: datetime.datetime,
) -> Object:
    """The new status. `problem` is the reason and message why no instance can be made."""
    old = machine.get("status", {})
    conditions = instance.get("status", {}).get("conditions", []) if instance else []
    ready = condition(conditions, "Ready")
    status = {key: value for key, value in old.items() if key not in ("startFailure", "conditions")}
    status |= {
        "created": instance is not None,
        "ready": ready is not None and ready["status"] == "True",
        "printableStatus": printable(machine, strategy, instance, now).value,
        "observedGeneration": machine["metadata"]["generation"],
        "desiredGeneration": machine["metadata"]["generation"],
    }
    if strategy is not None:
        status["runStrategy"] = strategy.value
    failure = start_failure(machine, instance, now)
    if failure is not None:
        status["startFailure"] = failure
    found = list(conditions)
    if ready is None:
        found.append(_new(old, "Ready", "False", "VMINotExists", "VMI does not exist", now))
    if problem is not None:
        found.append(_new(old, "Failure", "True", *problem, now))
    status["conditions"] = found
    return status


def printable(
    machine: Object,
    strategy: RunStrategy | None,
    instance: Object | None,
    now: datetime.datetime,
) -> PrintableStatus:
    """One word for people."""
    if machine["metadata"].get("deletionTimestamp"):
        return PrintableStatus.TERMINATING
    if instance is None:
        if strategy is not RunStrategy.RERUN_ON_FAILURE:
            return PrintableStatus.STOPPED
        backs_off = _backs_off(machine, now)
        return PrintableStatus.CRASH_LOOP_BACK_OFF if backs_off else PrintableStatus.STARTING
    phase = phase_of(instance)
    if phase is not None and phase.final:
        return PrintableStatus.STOPPED
    if instance["metadata"].get("deletionTimestamp"):
        return PrintableStatus.STOPPING
    conditions = instance.get("status", {}).get("conditions", [])
    scheduled = condition(conditions, "PodScheduled")
    if scheduled is not None and scheduled.get("reason") == "Unschedulable":
        return PrintableStatus.UNSCHEDULABLE
    synchronized = condition(conditions, "Synchronized")
    match synchronized.get("reason") if synchronized else None:
        case "FailedPvcNotFound":
            return PrintableStatus.PVC_NOT_FOUND
        case "ErrImagePull":
            return PrintableStatus.ERR_IMAGE_PULL
        case "ImagePullBackOff":
            return PrintableStatus.IMAGE_PULL_BACK_OFF
    return PrintableStatus.RUNNING if phase is Phase.RUNNING else PrintableStatus.STARTING


def timestamp(moment: datetime.datetime) -> str:
    """RFC 3339 in UTC, whole seconds."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _backs_off(machine: Object, now: datetime.datetime) -> bool:
    failure = machine.get("status", {}).get("startFailure")
    return failure is not None and failure["retryAfterTimestamp"] > timestamp(now)


def _new(
    old: Object, type_: str, status: str, reason: str, message: str, now: datetime.datetime
) -> Object:
    before = condition(old.get("conditions", []), type_)
    since = before["lastTransitionTime"] if before and before["status"] == status else None
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since or timestamp(now),
        "lastProbeTime": None,
    }
