"""PersistentVolumeClaims, and the volumes of pods. No I/O."""

from typing import Any

from dbbench.api.machine import DiskVolume, VirtualMachineTarget
from dbbench.api.quantities import quantity
from dbbench.api.resources import Medium, Storage, VolumeMode
from dbbench.api.target import Target
from dbbench.engines.engine import DATA
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest

# A block volume inside the launcher's container.
DATA_DEVICE = "/dev/dbbench-data"

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


def in_memory(ctx: Context) -> bool:
    """Whether the database's files are in a tmpfs, and no target has a data volume."""
    return ctx.spec.database.storage.medium is Medium.MEMORY


def has_claim(ctx: Context, target: Target) -> bool:
    """Whether the database's files are on a claim of dbbench's own."""
    return not in_memory(ctx) and target.data_volume is DiskVolume.PERSISTENT_VOLUME_CLAIM


def is_block(ctx: Context, target: Target) -> bool:
    """Whether the target's claim is a block device. A pod needs a file system."""
    mode = ctx.spec.database.storage.volume_mode
    machine = target.virtual_machine is not None
    return machine and mode is VolumeMode.BLOCK and has_claim(ctx, target)


def data_claim(ctx: Context, target: Target) -> list[Manifest]:
    """Claim of the database's files; none when they are in memory or on another volume."""
    if not has_claim(ctx, target):
        return []
    storage = ctx.spec.database.storage
    mode = VolumeMode.BLOCK if is_block(ctx, target) else VolumeMode.FILESYSTEM
    name = names.data_claim_name(ctx.benchmark, target.name)
    return [_claim(ctx, target, name, storage.size, storage, mode)]


def data(ctx: Context, target: Target) -> list[Manifest]:
    """The claim as the data volume of a pod that has one."""
    if not has_claim(ctx, target):
        return []
    return [from_claim("data", names.data_claim_name(ctx.benchmark, target.name))]


def data_mounts(ctx: Context, target: Target, *, read_only: bool = False) -> list[Manifest]:
    """Mounts of a container that uses a guest's claim; none for a device."""
    if not has_claim(ctx, target) or is_block(ctx, target):
        return []
    return [mount("data", DATA, read_only=read_only)]


def data_devices(ctx: Context, target: Target) -> Manifest:
    """Field of a container that uses a guest's claim as a device; empty where it is none."""
    if not is_block(ctx, target):
        return {}
    return {"volumeDevices": [{"name": "data", "devicePath": DATA_DEVICE}]}


def root_claim(ctx: Context, target: Target, machine: VirtualMachineTarget) -> Manifest:
    """Claim of a guest's root disk, which the disk Job writes."""
    return _claim(
        ctx,
        target,
        names.root_claim_name(ctx.benchmark, target.name),
        _volume_for_image(machine.root_disk_size),
        ctx.spec.database.storage,
        VolumeMode.FILESYSTEM,
    )


def _claim(
    ctx: Context, target: Target, name: str, size: str, storage: Storage, mode: VolumeMode
) -> Manifest:
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "volumeMode": mode.value,
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
