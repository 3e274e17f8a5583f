"""Rules between the variants of a sweep and the rest of the spec. No I/O.

A variant is checked against every virtual machine as it will be: where the variant leaves a field
out, with what the target says. Fields that depend on each other are varied by one axis alone, so
that no point of several axes can be wrong where each of their variants is right.
"""

from dbbench.api.base import rule

_NONE = "!has(self.sweep) || !has(self.sweep.variants)"
_PATH = ".sweep.variants"
_DISK = "virtualMachine.dataDisk"
_CPU = "virtualMachine.cpu"

_VARIED_TOGETHER = (
    ("storage.storageClassName", "storage.volumeMode", "storage.medium"),
    ("resources.hugepages", f"{_CPU}.numa"),
    (f"{_DISK}.volume",),
    (f"{_DISK}.cache", f"{_DISK}.io"),
    (f"{_DISK}.bus", f"{_DISK}.dedicatedIOThread"),
    (f"{_DISK}.readAhead",),
    (f"{_CPU}.sockets", f"{_CPU}.cores", f"{_CPU}.threads", f"{_CPU}.maxSockets"),
    (f"{_CPU}.model",),
    (f"{_CPU}.dedicatedCpuPlacement", f"{_CPU}.isolateEmulatorThread", f"{_CPU}.numa"),
    ("virtualMachine.machine", "virtualMachine.accelerator"),
    ("virtualMachine.guestKernel",),
    ("virtualMachine.launcher",),
    ("virtualMachine.ioThreadsPolicy", "virtualMachine.ioThreads"),
    ("virtualMachine.blockMultiQueue",),
    ("virtualMachine.networkInterfaceMultiqueue",),
    ("virtualMachine.network",),
)


def _has(of: str, path: str) -> str:
    """Whether a field is there, as are the objects that it is in."""
    parts = path.split(".")
    return " && ".join(f"has({of}.{'.'.join(parts[: end + 1])})" for end in range(len(parts)))


def _said(path: str) -> str:
    return f"({_has('v', path)})"


def _of_target(path: str, absent: str) -> str:
    """What a variant `v` makes of a field of the virtual machine `t`."""
    return f"({_has('v', path)} ? v.{path} : {_has('t', path)} ? t.{path} : {absent})"


def _of_spec(variant: str, path: str) -> str:
    """What a variant `v` makes of a field of the spec that has a default."""
    return f"({_has('v', variant)} ? v.{variant} : self.{path})"


def _each(right: str, message: str) -> dict[str, str]:
    """Rule: what holds for every variant, as `v`.

    It names the field and not the variant: a text that is looked for costs more than CEL may.
    """
    return rule(
        f"{_NONE} || self.sweep.variants.all(a, a.values.all(v, {right}))",
        f"a variant: {message}",
        field_path=_PATH,
    )


def _each_machine(right: str, message: str) -> dict[str, str]:
    """Rule: what holds for every variant `v` of options in every virtual machine `t`."""
    return _each(
        f"!has(v.virtualMachine) || self.targets.all(t, !has(t.virtualMachine) || ({right}))",
        message,
    )


def _kubevirt_alone(path: str, absent: str = "") -> dict[str, str]:
    unused = f"!{_said(path)}" + (f" || !v.{path}" if absent == "false" else "")
    return _each_machine(
        f"t.virtualMachine.runtime == 'KubeVirt' || {unused}",
        f"{path} needs runtime: KubeVirt in every virtual machine; QEMU in a pod does not have it",
    )


def _alone(paths: tuple[str, ...]) -> dict[str, str]:
    """Rule: of these fields, at most one axis varies any."""
    varied = " || ".join(_said(path) for path in paths)
    together = f"{', '.join(paths)} depend on each other" if len(paths) > 1 else paths[0]
    return rule(
        f"{_NONE} || self.sweep.variants.size() < 2 || self.sweep.variants.filter(a, "
        f"a.values.exists(v, {varied})).size() < 2",
        f"{together}: vary {'them' if len(paths) > 1 else 'it'} by one axis, whose values are the "
        "combinations that you want",
        field_path=_PATH,
    )


_MEDIUM = _of_spec("storage.medium", "database.storage.medium")
_VOLUME_MODE = _of_spec("storage.volumeMode", "database.storage.volumeMode")
_VOLUME = _of_target(f"{_DISK}.volume", "'PersistentVolumeClaim'")
_EXCLUSIVE = _of_target(f"{_CPU}.dedicatedCpuPlacement", "self.resources.dedicatedCPUs")
_PARTS = tuple(f"{_CPU}.{part}" for part in ("sockets", "cores", "threads"))
_COLD = (
    "self.workloads.exists(w, has(w.tpch) && has(w.tpch.cache) && "
    "w.tpch.cache.exists(c, c == 'Cold'))"
)
_NO_DISK_OPTION = " && ".join(
    f"!({_has(of, path)}{extra})"
    for of in ("v", "t")
    for path, extra in (
        (f"{_DISK}.cache", ""),
        (f"{_DISK}.io", ""),
        (f"{_DISK}.readAhead", ""),
        (f"{_DISK}.dedicatedIOThread", f" && {of}.{_DISK}.dedicatedIOThread"),
        (f"{_DISK}.volume", f" && {of}.{_DISK}.volume != 'PersistentVolumeClaim'"),
        (f"{_DISK}.bus", f" && {of}.{_DISK}.bus != 'virtio'"),
    )
)
_IN_BYTES = "quantity({0}).asInteger() % (v.resources.hugepages.pageSize == '1Gi' ? 1073741824 : 2097152) == 0"  # noqa: E501

VARIANT_RULES = (
    _each(
        "!has(v.virtualMachine) || self.targets.exists(t, has(t.virtualMachine))",
        "varies options of virtual machines, and there is no target virtualMachine: add one, or "
        "remove virtualMachine from the variant",
    ),
    # ---- the data disk
    _each_machine(
        f"{_of_target(f'{_DISK}.io', repr(''))} != 'native' || "
        f"{_of_target(f'{_DISK}.cache', repr(''))} == 'none'",
        "virtualMachine.dataDisk.io: native needs cache: none, because the kernel's asynchronous "
        "I/O bypasses the page cache",
    ),
    _each_machine(
        f"!{_of_target(f'{_DISK}.dedicatedIOThread', 'false')} || "
        f"{_of_target(f'{_DISK}.bus', repr('virtio'))} == 'virtio'",
        "virtualMachine.dataDisk.dedicatedIOThread needs bus: virtio; disks of the bus scsi share "
        "their controller's thread",
    ),
    _each_machine(
        f"t.virtualMachine.runtime == 'KubeVirt' || {_VOLUME} == 'PersistentVolumeClaim'",
        "virtualMachine.dataDisk.volume: DataVolume, HostDisk and EmptyDisk need runtime: KubeVirt "
        "in every virtual machine; QEMU in a pod has PersistentVolumeClaim",
    ),
    _each_machine(
        f"!self.trials.redeploy || {_VOLUME} != 'HostDisk'",
        "virtualMachine.dataDisk.volume: HostDisk leaves its image on the node, and would leave "
        "one for each block; remove trials.redeploy or write another volume",
    ),
    _each_machine(
        f"!{_COLD} || t.virtualMachine.runtime == 'QEMU' || "
        f"{_of_target(f'{_DISK}.cache', repr('none'))} == 'none'",
        "virtualMachine.dataDisk.cache: workloads with cache: [Cold] need cache: none with "
        "KubeVirt; nothing of dbbench's is there to take the guest's disk out of the node's page "
        "cache",
    ),
    # ---- CPUs
    _each_machine(
        f"!({' || '.join(_said(path) for path in _PARTS)}) || (!has(self.sweep.cpu) && "
        f"{' * '.join(_of_target(path, '1') for path in _PARTS)} == self.resources.cpu)",
        "virtualMachine.cpu: sockets x cores x threads (an absent one is 1) must be equal to "
        "spec.resources.cpu, and there can be no axis sweep.cpu",
    ),
    _each_machine(
        f"!({_has('v', f'{_CPU}.sockets')} || {_has('v', f'{_CPU}.maxSockets')}) || "
        f"{_of_target(f'{_CPU}.sockets', '1')} <= {_of_target(f'{_CPU}.maxSockets', '512')}",
        "virtualMachine.cpu.maxSockets must not be less than sockets",
    ),
    _each_machine(
        f"!{_of_target(f'{_CPU}.isolateEmulatorThread', 'false')} || {_EXCLUSIVE}",
        "virtualMachine.cpu.isolateEmulatorThread needs exclusive CPUs: set "
        "spec.resources.dedicatedCPUs or dedicatedCpuPlacement to true",
    ),
    _each_machine(
        f"!({_has('v', f'{_CPU}.numa')} || {_has('t', f'{_CPU}.numa')}) || ({_EXCLUSIVE} && "
        f"({_said('resources.hugepages')} || has(self.resources.hugepages)))",
        "virtualMachine.cpu.numa.guestMappingPassthrough needs exclusive CPUs and huge pages",
    ),
    _each_machine(
        f"t.virtualMachine.runtime == 'KubeVirt' || "
        f"{_of_target(f'{_CPU}.model', repr(''))} != 'host-model'",
        "virtualMachine.cpu.model: host-model needs runtime: KubeVirt in every virtual machine; "
        "QEMU in a pod has host-passthrough and named models",
    ),
    # ---- what one runtime alone has
    _each_machine(
        f"{_of_target('virtualMachine.machine', repr('q35'))} == 'q35' || "
        "t.virtualMachine.runtime == 'QEMU'",
        "virtualMachine.machine: microvm needs runtime: QEMU in every virtual machine; KubeVirt "
        "has q35",
    ),
    _each_machine(
        f"{_of_target('virtualMachine.accelerator', repr('Auto'))} == 'Auto' || "
        "t.virtualMachine.runtime == 'QEMU'",
        "virtualMachine.accelerator: KVM and TCG need runtime: QEMU in every virtual machine",
    ),
    _each_machine(
        f"{_of_target('virtualMachine.accelerator', repr('Auto'))} != 'TCG' || "
        f"{_of_target('virtualMachine.machine', repr('q35'))} == 'q35'",
        "virtualMachine.accelerator: a microvm is not emulated; write KVM, or machine: q35",
    ),
    _each_machine(
        f"!{_said('virtualMachine.launcher')} || t.virtualMachine.runtime == 'QEMU'",
        "virtualMachine.launcher needs runtime: QEMU in every virtual machine; KubeVirt has a QEMU "
        "of its own",
    ),
    _each_machine(
        f"!{_said('virtualMachine.guestKernel')} || !has(t.virtualMachine.containerDisk)",
        "virtualMachine.guestKernel goes with no target of virtualMachine.containerDisk, whose "
        "disk has a kernel of its own; remove one of them",
    ),
    _each_machine(
        f"!{_said('virtualMachine.network')} || t.virtualMachine.runtime == "
        "(v.virtualMachine.network in ['User', 'Tap'] ? 'QEMU' : 'KubeVirt')",
        "virtualMachine.network: Masquerade and Bridge need runtime: KubeVirt in every virtual "
        "machine; User and Tap need runtime: QEMU",
    ),
    _kubevirt_alone(f"{_CPU}.maxSockets"),
    _kubevirt_alone(f"{_CPU}.isolateEmulatorThread", "false"),
    _kubevirt_alone(f"{_CPU}.numa"),
    _kubevirt_alone("virtualMachine.ioThreadsPolicy"),
    _kubevirt_alone("virtualMachine.blockMultiQueue", "false"),
    _kubevirt_alone("virtualMachine.networkInterfaceMultiqueue", "false"),
    _each_machine(
        f"({_has('v', 'virtualMachine.ioThreads')} || {_has('t', 'virtualMachine.ioThreads')}) == "
        f"({_of_target('virtualMachine.ioThreadsPolicy', repr(''))} == 'supplementalPool')",
        "virtualMachine.ioThreads.supplementalPoolThreadCount and ioThreadsPolicy: "
        "supplementalPool need each other; a target that has them cannot lose them in a variant",
    ),
    # ---- storage and memory
    _each(
        f"{_MEDIUM} == 'Disk' || {_VOLUME_MODE} == 'Filesystem'",
        "storage.volumeMode: Block needs medium: Disk; data in memory have no volume",
    ),
    _each(
        f"!{_said('storage.volumeMode')} || v.storage.volumeMode == 'Filesystem' || "
        f"self.targets.exists(t, has(t.virtualMachine) && {_VOLUME} in "
        "['PersistentVolumeClaim', 'DataVolume'])",
        "storage.volumeMode: Block is how virtual machines get their data volume, and none of the "
        "targets is a virtual machine with such a volume",
    ),
    _each(
        f"{_MEDIUM} == 'Disk' || "
        "quantity(self.database.storage.size).isLessThan(quantity(self.resources.memory))",
        "storage.medium: Memory needs a spec.database.storage.size less than "
        "spec.resources.memory, because the data are a part of that memory",
    ),
    _each(
        f"{_MEDIUM} == 'Disk' || (!{_COLD} && self.targets.all(t, !has(t.cloudNativePG)))",
        "storage.medium: Memory goes neither with workloads of cache: [Cold] nor with targets "
        "cloudNativePG; write Disk, or remove them",
    ),
    _each(
        f"{_MEDIUM} == 'Disk' || self.targets.all(t, !has(t.virtualMachine) || "
        f"({_NO_DISK_OPTION}))",
        "there is no data disk with storage.medium: Memory; remove the options of dataDisk from "
        "the variant and from the targets",
    ),
    rule(
        f"{_NONE} || self.sweep.variants.size() < 2 || !self.sweep.variants.exists(a, "
        "a.values.exists(v, has(v.storage) && has(v.storage.medium))) || "
        "self.sweep.variants.filter(a, a.values.exists(v, (has(v.storage) && "
        f"has(v.storage.medium)) || {_said(_DISK)})).size() < 2",
        "storage.medium and virtualMachine.dataDisk depend on each other, for data in memory have "
        "no disk: vary them by one axis, whose values are the combinations that you want",
        field_path=_PATH,
    ),
    *(
        _each(
            f"!{_said('resources.hugepages')} || (quantity({size}).isInteger() && "
            f"{_IN_BYTES.format(size)})",
            f"{name} must be a multiple of resources.hugepages.pageSize, written without a "
            "fraction: 1536Mi, not 1.5Gi",
        )
        for size, name in (
            ("self.resources.memory", "spec.resources.memory"),
            ("v.resources.hugepages.size", "resources.hugepages.size"),
        )
    ),
    _each(
        f"!{_said('resources.hugepages')} || "
        "quantity(v.resources.hugepages.size).isLessThan(quantity(self.resources.memory))",
        "resources.hugepages.size must be less than spec.resources.memory: it is a part of it, and "
        "the rest must hold everything else",
    ),
    _each(
        f"!{_said('resources.hugepages')} || self.targets.all(t, !has(t.virtualMachine) || "
        "!has(t.virtualMachine.containerDisk))",
        "resources.hugepages goes with no target of virtualMachine.containerDisk: its kernel is "
        "not told to set huge pages aside; remove one of them",
    ),
    *(_alone(paths) for paths in _VARIED_TOGETHER),
)  # fmt: skip
