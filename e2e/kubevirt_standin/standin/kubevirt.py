"""Names of KubeVirt's API that the stand-in uses, with KubeVirt's spelling. No I/O."""

from enum import StrEnum
from typing import Any

Object = dict[str, Any]

GROUP = "kubevirt.io"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
MACHINES = "virtualmachines"
INSTANCES = "virtualmachineinstances"

LABEL_APP = "kubevirt.io"
LABEL_CREATED_BY = "kubevirt.io/created-by"
LABEL_NODE = "kubevirt.io/nodeName"
LABEL_MACHINE = "vm.kubevirt.io/name"
LABEL_INSTANCE = "vmi.kubevirt.io/id"
ANNOTATION_DOMAIN = "kubevirt.io/domain"
LAUNCHER = "virt-launcher"
LAUNCHER_SELECTOR = f"{LABEL_APP}={LAUNCHER}"

MACHINE_FINALIZER = "kubevirt.io/virtualMachineControllerFinalize"
INSTANCE_FINALIZER = "foregroundDeleteVirtualMachine"


class Phase(StrEnum):
    """Phase of a VirtualMachineInstance."""

    PENDING = "Pending"
    SCHEDULING = "Scheduling"
    SCHEDULED = "Scheduled"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        return self in (Phase.SUCCEEDED, Phase.FAILED)


class RunStrategy(StrEnum):
    """The strategies that the stand-in carries out."""

    RERUN_ON_FAILURE = "RerunOnFailure"
    HALTED = "Halted"


class PrintableStatus(StrEnum):
    """What `kubectl get vm` shows."""

    STOPPED = "Stopped"
    STARTING = "Starting"
    RUNNING = "Running"
    STOPPING = "Stopping"
    TERMINATING = "Terminating"
    CRASH_LOOP_BACK_OFF = "CrashLoopBackOff"
    UNSCHEDULABLE = "ErrorUnschedulable"
    PVC_NOT_FOUND = "ErrorPvcNotFound"
    ERR_IMAGE_PULL = "ErrImagePull"
    IMAGE_PULL_BACK_OFF = "ImagePullBackOff"


class UntranslatableError(Exception):
    """The virtual machine uses something that the stand-in does not do."""


def owner(kind: str, object_: Object) -> list[Object]:
    """Owner references to a VirtualMachine or VirtualMachineInstance."""
    return [
        {
            "apiVersion": API_VERSION,
            "kind": kind,
            "name": object_["metadata"]["name"],
            "uid": object_["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


def controlled_by(object_: Object, uid: str) -> bool:
    """Whether the object's controller has that uid."""
    return any(
        reference.get("controller") and reference["uid"] == uid
        for reference in object_["metadata"].get("ownerReferences", [])
    )


def condition(conditions: list[Object], type_: str) -> Object | None:
    """The condition of that type."""
    return next((entry for entry in conditions if entry["type"] == type_), None)
