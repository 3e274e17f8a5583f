"""What a VirtualMachineInstance's status becomes, given its pod. No I/O."""

import copy

from standin.kubevirt import Object, Phase, condition
from standin.translation import Machine

_ORDER = [Phase.PENDING, Phase.SCHEDULING, Phase.SCHEDULED, Phase.RUNNING]
_NOT_MIGRATABLE = (
    "cannot migrate VMI: a PersistentVolumeClaim is not shared (ReadWriteMany is needed)"
)
# The launcher's termination messages for it.
_SWITCHED_OFF = ("the guest failed: ", "the guest ended by itself (guest-shutdown)")
_PULL_FAILURES = ("ErrImagePull", "ImagePullBackOff")


def phase_of(instance: Object) -> Phase | None:
    """The instance's phase; None before the first."""
    text = instance.get("status", {}).get("phase")
    return Phase(text) if text else None


def next_phase(current: Phase | None, pod: Object | None) -> Phase:
    """One step from phase to phase, in KubeVirt's order; a final phase stays."""
    if current is not None and current.final:
        return current
    if pod is None:
        # The pod was there and has gone: lost with its node, or deleted by somebody.
        return Phase.PENDING if current in (None, Phase.PENDING) else Phase.FAILED
    match pod["status"].get("phase"):
        case "Succeeded":
            return Phase.SUCCEEDED
        case "Failed":
            return Phase.SUCCEEDED if _powered_off(pod) else Phase.FAILED
    goal = Phase.RUNNING if _computes(pod) else Phase.SCHEDULING
    position = _ORDER.index(current or Phase.PENDING)
    return _ORDER[min(position + 1, max(position, _ORDER.index(goal)))]


def next_status(
    instance: Object,
    machine: Machine,
    pod: Object | None,
    problem: tuple[str, str] | None,
    now: str,
) -> Object:
    """The new status at `now` (RFC 3339). `problem`: reason and message why there is no pod."""
    old = instance.get("status", {})
    status: Object = copy.deepcopy(old)
    phase = next_phase(phase_of(instance), pod)
    if old.get("phase") != phase.value:
        status["phase"] = phase.value
        status.setdefault("phaseTransitionTimestamps", []).append(
            {"phase": phase.value, "phaseTransitionTimestamp": now}
        )
    status["runtimeUser"] = 107
    if pod is not None:
        status |= _of_pod(pod, machine)
    if phase is Phase.RUNNING and pod is not None:
        status |= _of_guest(pod, machine)
    conditions = _conditions(phase, pod, problem)
    status["conditions"] = [_dated(entry, old.get("conditions", []), now) for entry in conditions]
    return status


def pull_failure(pod: Object) -> tuple[str, str] | None:
    """Reason and message of an image that cannot be pulled."""
    statuses = pod["status"]
    for entry in [
        *statuses.get("initContainerStatuses", []),
        *statuses.get("containerStatuses", []),
    ]:
        waiting = entry.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in _PULL_FAILURES:
            return waiting["reason"], waiting.get("message", "")
    return None


def _computes(pod: Object) -> bool:
    return any(
        entry["name"] == "compute" and entry.get("state", {}).get("running")
        for entry in pod["status"].get("containerStatuses", [])
    )


def _powered_off(pod: Object) -> bool:
    """Whether the guest switched itself off.

    To the launcher that is a failure, and its message says so; to KubeVirt a shutdown from inside
    is a success, whatever made the guest do it.
    """
    for entry in pod["status"].get("containerStatuses", []):
        ended = entry.get("state", {}).get("terminated") or {}
        if any(text in ended.get("message", "") for text in _SWITCHED_OFF):
            return True
    return False


def _of_pod(pod: Object, machine: Machine) -> Object:
    spec = pod["spec"]
    found: Object = {
        "qosClass": pod["status"].get("qosClass", ""),
        "launcherContainerImageVersion": spec["containers"][0]["image"],
        "activePods": {pod["metadata"]["uid"]: spec.get("nodeName", "")},
        "volumeStatus": [
            {"name": disk.name, "target": f"vd{chr(ord('a') + index)}"}
            for index, disk in enumerate(machine.disks)
        ],
    }
    if spec.get("nodeName"):
        found["nodeName"] = spec["nodeName"]
    return found


def _of_guest(pod: Object, machine: Machine) -> Object:
    memory = f"{machine.memory_mib}Mi"
    found: Object = {
        "machine": {"type": "pc-q35-10.0"},
        "memory": {"guestAtBoot": memory, "guestCurrent": memory, "guestRequested": memory},
        "currentCPUTopology": {"cores": machine.cpus, "sockets": 1, "threads": 1},
        "guestOSInfo": {},
    }
    address = pod["status"].get("podIP")
    if address:
        found["interfaces"] = [
            {
                "name": "default",
                "ipAddress": address,
                "ipAddresses": [address],
                "infoSource": "domain",
                "podInterfaceName": "eth0",
                "queueCount": 1,
            }
        ]
    return found


def _conditions(phase: Phase, pod: Object | None, problem: tuple[str, str] | None) -> list[Object]:
    found = [_ready(phase, pod)]
    scheduled = condition(pod["status"].get("conditions", []), "PodScheduled") if pod else None
    if scheduled is not None and scheduled["status"] == "False":
        found.append(
            _condition(
                "PodScheduled", False, scheduled.get("reason", ""), scheduled.get("message", "")
            )
        )
    if phase is Phase.RUNNING:
        found.append(_condition("LiveMigratable", False, "DisksNotLiveMigratable", _NOT_MIGRATABLE))
        found.append(_condition("StorageLiveMigratable", True))
    problem = problem or (pull_failure(pod) if pod is not None else None)
    if problem is not None:
        found.append(_condition("Synchronized", False, *problem))
    return found


def _ready(phase: Phase, pod: Object | None) -> Object:
    if phase is not Phase.RUNNING or pod is None:
        return _condition("Ready", False, "GuestNotRunning", "Guest VM is not reported as running")
    ready = condition(pod["status"].get("conditions", []), "Ready")
    if ready is not None and ready["status"] == "True":
        return _condition("Ready", True)
    reason = ready.get("reason", "") if ready else "PodNotReady"
    return _condition("Ready", False, reason, ready.get("message", "") if ready else "")


def _condition(type_: str, status: bool, reason: str = "", message: str = "") -> Object:
    found: Object = {"type": type_, "status": str(status)}
    if reason:
        found["reason"] = reason
    if message:
        found["message"] = message
    return found


def _dated(entry: Object, old: list[Object], now: str) -> Object:
    before = condition(old, entry["type"])
    same = before is not None and before["status"] == entry["status"]
    return entry | {
        "lastTransitionTime": before["lastTransitionTime"] if before and same else now,
        "lastProbeTime": None,
    }
