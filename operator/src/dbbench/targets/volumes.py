"""PersistentVolumeClaims, and the volumes of pods. No I/O."""

from typing import Any

from dbbench.api.machine import VirtualMachineTarget
from dbbench.api.quantities import quantity
from dbbench.api.spec import Storage
from dbbench.api.target import Target
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest

_MIB = 2**20
# Share of a volume that a disk image may fill: the volume's own file system takes the rest.
# KubeVirt keeps 5.5 % by default; a little more is safe on every file system.
_IMAGE_SHARE_PERCENT = 94
# Read by the owner and by the pod's fsGroup.
_SECRET_MODE = 0o440


def guest_disk_bytes(size: str) -> int:
    """Size of a disk image on a volume of that size, in bytes, a whole number of MiB."""
    return quantity(size) * _IMAGE_SHARE_PERCENT // 100 // _MIB * _MIB


def _volume_for_image(size: str) -> str:
    """Size of a volume that holds a disk image of that size."""
    return f"{-(-quantity(size) * 100 // _IMAGE_SHARE_PERCENT // _MIB)}Mi"


def data_claim(ctx: Context, target: Target) -> Manifest:
    """Claim of the database's files."""
    storage = ctx.spec.database.storage
    return _claim(
        ctx, target, names.data_claim_name(ctx.benchmark, target.name), storage.size, storage
    )


def root_claim(ctx: Context, target: Target, machine: VirtualMachineTarget) -> Manifest:
    """Claim of a guest's root disk, which the disk Job writes."""
    return _claim(
        ctx,
        target,
        names.root_claim_name(ctx.benchmark, target.name),
        _volume_for_image(machine.root_disk_size),
        ctx.spec.database.storage,
    )


def _claim(ctx: Context, target: Target, name: str, size: str, storage: Storage) -> Manifest:
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "volumeMode": "Filesystem",
    }
    if storage.storage_class_name is not None:
        spec["storageClassName"] = storage.storage_class_name
    labels = names.labels(ctx.benchmark, names.Component.TARGET, target=target.name)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": names.metadata(ctx.benchmark, name, labels),
        "spec": spec,
    }


def from_claim(name: str, claim: str) -> Manifest:
    """A volume that is a PersistentVolumeClaim."""
    return {"name": name, "persistentVolumeClaim": {"claimName": claim}}


def from_config_map(name: str, config_map: str) -> Manifest:
    """A volume with a ConfigMap's files."""
    return {"name": name, "configMap": {"name": config_map}}


def from_secret(name: str, secret: str) -> Manifest:
    """A volume with a Secret's files."""
    return {"name": name, "secret": {"secretName": secret, "defaultMode": _SECRET_MODE}}


def scratch(name: str) -> Manifest:
    """An empty volume on the node's disk."""
    return {"name": name, "emptyDir": {}}


def memory(name: str, size: str) -> Manifest:
    """An empty volume in memory, charged to the containers that write to it."""
    return {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": size}}


def mount(name: str, path: str, *, read_only: bool = False) -> Manifest:
    """A mount of a volume in a container."""
    found: Manifest = {"name": name, "mountPath": path}
    if read_only:
        found["readOnly"] = True
    return found
