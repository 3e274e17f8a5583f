"""Rules between targets and the resources and storage that all of them share. No I/O.

They read fields of the whole spec, and so belong to it and not to a target.
"""

from dbbench.api.base import rule

# Where a target may say otherwise.
_DEDICATED = (
    "(has(t.virtualMachine.cpu.dedicatedCpuPlacement) ? t.virtualMachine.cpu.dedicatedCpuPlacement "
    ": self.resources.dedicatedCPUs)"
)


def _each_machine_cpu(expression: str, message: str) -> dict[str, str]:
    """Rule: what holds for the `cpu` of every virtual machine that has one, as `t`."""
    return rule(
        "self.targets.all(t, !has(t.virtualMachine) || !has(t.virtualMachine.cpu) || "
        f"{expression})",
        f"virtualMachine.cpu of a target: {message}",
        field_path=".targets",
    )


MACHINE_RULES = (
    _each_machine_cpu(
        "(!has(t.virtualMachine.cpu.sockets) && !has(t.virtualMachine.cpu.cores) && "
        "!has(t.virtualMachine.cpu.threads)) || "
        + " * ".join(
            f"(has(t.virtualMachine.cpu.{part}) ? t.virtualMachine.cpu.{part} : 1)"
            for part in ("sockets", "cores", "threads")
        )
        + " == self.resources.cpu",
        "sockets x cores x threads (an absent one is 1) must be equal to spec.resources.cpu",
    ),
    _each_machine_cpu(
        f"!t.virtualMachine.cpu.isolateEmulatorThread || {_DEDICATED}",
        "isolateEmulatorThread needs exclusive CPUs: set spec.resources.dedicatedCPUs or "
        "dedicatedCpuPlacement to true",
    ),
    _each_machine_cpu(
        f"!has(t.virtualMachine.cpu.numa) || ({_DEDICATED} && has(self.resources.hugepages))",
        "numa.guestMappingPassthrough needs exclusive CPUs and spec.resources.hugepages",
    ),
)


CONTAINER_DISK_RULES = (
    rule(
        "self.database.engine == 'PostgreSQL' || self.targets.all(t, !has(t.virtualMachine) || "
        "!has(t.virtualMachine.containerDisk))",
        "virtualMachine.containerDisk of a target: runs PostgreSQL alone; remove it, and the "
        "guest boots the pod's image",
        field_path=".targets",
    ),
    rule(
        "!has(self.resources.hugepages) || self.targets.all(t, !has(t.virtualMachine) || "
        "!has(t.virtualMachine.containerDisk))",
        "virtualMachine.containerDisk of a target: its kernel is not told to set huge pages aside; "
        "remove spec.resources.hugepages, or containerDisk",
        field_path=".targets",
    ),
)


EXTERNAL_RULES = (
    rule(
        "self.targets.exists(t, !has(t.external))",
        "all of them are external, and spec.database, resources and placement.database would say "
        "nothing; make one that dbbench deploys, for example pod: {}",
        field_path=".targets",
    ),
)


STORAGE_RULES = (
    rule(
        "self.database.storage.volumeMode == 'Filesystem' || "
        "self.targets.exists(t, has(t.virtualMachine) && "
        "t.virtualMachine.dataDisk.volume in ['PersistentVolumeClaim', 'DataVolume'])",
        "Block is how virtual machines get their data volume, and none of the targets is a virtual "
        "machine with such a volume; a pod, a HostDisk and an EmptyDisk need Filesystem",
        field_path=".database.storage.volumeMode",
    ),
    rule(
        "self.database.storage.medium == 'Disk' || "
        "quantity(self.database.storage.size).isLessThan(quantity(self.resources.memory))",
        "must be less than spec.resources.memory with medium: Memory, because the data are a part "
        "of that memory",
        field_path=".database.storage.size",
    ),
    rule(
        "self.database.storage.medium == 'Disk' || self.targets.all(t, !has(t.virtualMachine) || "
        "(!has(t.virtualMachine.dataDisk.cache) && !has(t.virtualMachine.dataDisk.io) && "
        "!t.virtualMachine.dataDisk.dedicatedIOThread && "
        "!has(t.virtualMachine.dataDisk.readAhead) && "
        "t.virtualMachine.dataDisk.volume == 'PersistentVolumeClaim' && "
        "t.virtualMachine.dataDisk.bus == 'virtio'))",
        "virtualMachine.dataDisk of a target: there is no data disk with "
        "spec.database.storage.medium: Memory; remove its options",
        field_path=".targets",
    ),
)
