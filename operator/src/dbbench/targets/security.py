"""Security contexts. Every pod passes Pod Security `restricted`, but for what is named. No I/O."""

from dbbench.targets.context import Manifest

# User that QEMU runs as, here and in KubeVirt; disk images belong to its group.
QEMU_ID = 107
# User of dbbench's own images.
DRIVER_ID = 65532


def pod(user: int) -> Manifest:
    """A pod whose containers all run as one unprivileged user, which owns its volumes' group."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container() -> Manifest:
    """A container without capabilities that cannot write to its image."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def image_reader() -> Manifest:
    """A container that reads every file of its own image, whoever owns it.

    Root without capabilities cannot look into directories of mode 0700; DAC_OVERRIDE is the one
    that it needs, and Pod Security `baseline` allows it.
    """
    return _root("DAC_OVERRIDE")


def tap_maker() -> Manifest:
    """A container that makes a tap device in its pod's network, for QEMU's group.

    MKNOD is for the device's file, which a node may have for root alone, and Pod Security
    `baseline` allows it. NET_ADMIN, which counts in the pod's own network alone, only `privileged`.
    """
    return _root("NET_ADMIN", "MKNOD")


def _root(*capabilities: str) -> Manifest:
    return container() | {
        "runAsNonRoot": False,
        "runAsUser": 0,
        "runAsGroup": QEMU_ID,
        "capabilities": {"drop": ["ALL"], "add": list(capabilities)},
    }
