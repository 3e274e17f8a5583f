"""What the data disk of a virtual machine in KubeVirt is on. No I/O."""

from dbbench.api.machine import DiskVolume
from dbbench.api.target import Target
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest
from dbbench.targets.volumes import in_memory

# Folder of the node below which a HostDisk is. No choice of a benchmark's author, who could else
# write a file to any place of the node, or attach one that is there.
HOST_DISKS = "/var/lib/dbbench/disks"


def volume(ctx: Context, target: Target) -> Manifest:
    """The disk's volume in KubeVirt's words, without its name."""
    claim = names.data_claim_name(ctx.benchmark, target.name)
    size = ctx.spec.database.storage.size
    match target.data_volume:
        case DiskVolume.PERSISTENT_VOLUME_CLAIM:
            return {"persistentVolumeClaim": {"claimName": claim}}
        case DiskVolume.DATA_VOLUME:
            return {"dataVolume": {"name": claim}}
        case DiskVolume.HOST_DISK:
            path = f"{host_folder(ctx)}/{target.name}.img"
            return {"hostDisk": {"path": path, "type": "DiskOrCreate", "capacity": size}}
        case DiskVolume.EMPTY_DISK:
            return {"emptyDisk": {"capacity": size}}


def host_folder(ctx: Context) -> str:
    """Folder of the benchmark's own disks on the node; no other benchmark's, before or after."""
    metadata = ctx.benchmark.metadata
    return f"{HOST_DISKS}/{metadata.namespace}-{metadata.name}-{metadata.uid}"


def templates(ctx: Context, target: Target) -> Manifest:
    """Field of the VirtualMachine from which KubeVirt makes a DataVolume; empty without one."""
    if in_memory(ctx) or target.data_volume is not DiskVolume.DATA_VOLUME:
        return {}
    storage = ctx.spec.database.storage
    request: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": storage.size}},
        "volumeMode": storage.volume_mode.value,
    }
    if storage.storage_class_name is not None:
        request["storageClassName"] = storage.storage_class_name
    metadata = {
        "name": names.data_claim_name(ctx.benchmark, target.name),
        "labels": names.labels(ctx.benchmark, names.Component.TARGET, target=target.name),
    }
    spec = {"source": {"blank": {}}, "storage": request}
    return {"dataVolumeTemplates": [{"metadata": metadata, "spec": spec}]}
