"""Options of a virtual machine, under KubeVirt's names where KubeVirt has them. Types only, no I/O.

Values are KubeVirt's own words too where the field is KubeVirt's (`native`, `supplementalPool`).
What KubeVirt's admission would refuse is refused by rules here, at `kubectl apply`; rules that also
read spec.resources are with DBBenchmarkSpec.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, Quantity, rule, rules
from dbbench.api.container_disk import ContainerDisk
from dbbench.api.database import ImagePullPolicy
from dbbench.api.quantities import QUANTITY_PATTERN


class Runtime(StrEnum):
    AUTO = "Auto"
    KUBEVIRT = "KubeVirt"
    QEMU = "QEMU"


class Network(StrEnum):
    MASQUERADE = "Masquerade"
    BRIDGE = "Bridge"
    USER = "User"
    TAP = "Tap"


class IOThreadsPolicy(StrEnum):
    SHARED = "shared"
    AUTO = "auto"
    SUPPLEMENTAL_POOL = "supplementalPool"


class MachineType(StrEnum):
    Q35 = "q35"
    MICROVM = "microvm"


class Accelerator(StrEnum):
    AUTO = "Auto"
    KVM = "KVM"
    TCG = "TCG"


class DiskBus(StrEnum):
    VIRTIO = "virtio"
    SCSI = "scsi"


class DiskVolume(StrEnum):
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    DATA_VOLUME = "DataVolume"
    HOST_DISK = "HostDisk"
    EMPTY_DISK = "EmptyDisk"


class DiskCache(StrEnum):
    NONE = "none"
    WRITETHROUGH = "writethrough"
    WRITEBACK = "writeback"


class DiskIO(StrEnum):
    NATIVE = "native"
    THREADS = "threads"


Count = Annotated[int, Field(ge=1, le=512)]
"""Of CPUs, of their parts, or of threads."""

CPUModel = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
ReadAhead = Annotated[str, Field(pattern=QUANTITY_PATTERN, max_length=20)]


class GuestMappingPassthrough(ApiModel):
    """The guest's NUMA nodes are those of the CPUs that its pod was given."""


class Numa(ApiModel):
    """NUMA topology of the guest."""

    guest_mapping_passthrough: GuestMappingPassthrough = Field(
        description="Give the guest the NUMA nodes of its CPUs. Needs exclusive CPUs and hugepages."
    )


class MachineCPU(ApiModel):
    """CPUs of the guest. Their number is spec.resources.cpu."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.maxSockets) || (has(self.sockets) ? self.sockets : 1) <= "
                "self.maxSockets",
                "must not be less than sockets",
                field_path=".maxSockets",
            ),
        )
    )

    sockets: Count | None = Field(None, description="Sockets; 1 when absent. See cores.")
    cores: Count | None = Field(
        None,
        description=(
            "Cores of a socket. sockets x cores x threads is spec.resources.cpu; where none of the "
            "three is set, there is one socket with so many cores of one thread, else an absent "
            "one is 1."
        ),
    )
    threads: Count | None = Field(None, description="Threads of a core; see cores.")
    max_sockets: Count | None = Field(
        None,
        description="Sockets up to which CPUs can be plugged in later, which costs tables in "
        "QEMU and the guest. KubeVirt alone; its own default when absent.",
    )
    model: CPUModel | None = Field(
        None,
        description=(
            "CPU model that the guest sees: host-passthrough, host-model (KubeVirt alone) or a "
            "named one, for example Skylake-Server. When absent, KubeVirt's own default "
            "(host-model), and host-passthrough under QEMU."
        ),
    )
    dedicated_cpu_placement: bool | None = Field(
        None,
        description=(
            "Exclusive CPUs for this target alone: true or false whatever "
            "spec.resources.dedicatedCPUs says, which holds when absent. A difference from the "
            "baseline is listed in FairnessVerified."
        ),
    )
    isolate_emulator_thread: bool = Field(
        False,
        description=(
            "One exclusive CPU more, for QEMU's own thread. KubeVirt alone; needs exclusive CPUs. "
            "The CPU more is listed in FairnessVerified."
        ),
    )
    numa: Numa | None = Field(None, description="NUMA topology of the guest. KubeVirt alone.")


def topology(cpus: int, cpu: MachineCPU | None) -> tuple[int, int, int]:
    """Sockets, cores of a socket and threads of a core of a guest with so many CPUs."""
    if cpu is None or (cpu.sockets, cpu.cores, cpu.threads) == (None, None, None):
        return 1, cpus, 1
    return cpu.sockets or 1, cpu.cores or 1, cpu.threads or 1


class IOThreads(ApiModel):
    """The pool of I/O threads of ioThreadsPolicy: supplementalPool."""

    supplemental_pool_thread_count: Count = Field(
        description="Threads of the pool, which all disks share."
    )


READ_AHEAD_RULE = rule(
    "!has(self.readAhead) || (quantity(self.readAhead).isInteger() && "
    "quantity(self.readAhead).asInteger() % 4096 == 0 && "
    "quantity(self.readAhead).asInteger() <= 1073741824)",
    "must be 0 (none) or a multiple of 4Ki, at most 1Gi: for example 128Ki",
    field_path=".readAhead",
)


class DataDisk(ApiModel):
    """How the data disk is attached; the root disk keeps the runtime's defaults."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.io) || self.io != 'native' || (has(self.cache) && self.cache == 'none')",
                "native needs cache: none, because the kernel's asynchronous I/O bypasses the page "
                "cache",
                field_path=".io",
            ),
            rule(
                "!has(self.dedicatedIOThread) || !self.dedicatedIOThread || !has(self.bus) || "
                "self.bus == 'virtio'",
                "dedicatedIOThread needs bus: virtio; disks of the bus scsi share their "
                "controller's thread",
                field_path=".dedicatedIOThread",
            ),
            READ_AHEAD_RULE,
        )
    )

    volume: DiskVolume = Field(
        DiskVolume.PERSISTENT_VOLUME_CLAIM,
        description=(
            "What the disk is on. PersistentVolumeClaim: as the pod's data. DataVolume: a claim "
            "that CDI makes and fills. HostDisk: an image file in a folder of the node, which "
            "stays there after the run; it needs the operator's privilegedTargets.enabled. "
            "EmptyDisk: an image in the virtual machine's pod, empty whenever the target starts, "
            "so that the data are loaded in every turn. All but the first with KubeVirt alone."
        ),
    )
    bus: DiskBus = Field(
        DiskBus.VIRTIO,
        description="Device that the guest sees. virtio: virtio-blk. scsi: a disk of a virtio-scsi "
        "controller.",
    )
    cache: DiskCache | None = Field(
        None,
        description=(
            "What the node does with the disk's data. none: bypass its page cache. writeback: keep "
            "them there, flush when the guest asks for it. writethrough: keep them there, and "
            "write each at once. When absent, none in KubeVirt where the storage allows it (else "
            "writethrough), and writeback under QEMU."
        ),
    )
    io: DiskIO | None = Field(
        None,
        description=(
            "native: the kernel's asynchronous I/O, with cache none alone. threads: a pool of "
            "threads. When absent, KubeVirt's own choice, and threads under QEMU."
        ),
    )
    dedicated_io_thread: bool = Field(
        False,
        alias="dedicatedIOThread",
        description="A thread of its own for this disk's I/O, instead of QEMU's main thread.",
    )
    read_ahead: ReadAhead | None = Field(
        None,
        description=(
            'Bytes that the guest reads ahead on this disk: "0" for none, or for example 128Ki. '
            "When absent, as much as the node does on the volume below it, and so as a pod there."
        ),
    )


def _kubevirt_alone(field: str, absent: str) -> dict[str, str]:
    """Rule: a field that only KubeVirt has, with the condition under which it is not used."""
    return rule(
        f"self.runtime == 'KubeVirt' || {absent}",
        f"{field} needs runtime: KubeVirt; QEMU in a pod does not have it",
        field_path=f".{field}",
    )


class ProgramImage(ApiModel):
    """An image that takes the place of one of dbbench's own."""

    image: str = Field(
        min_length=1,
        max_length=512,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$",
        description=(
            "The image, built from this release's Containerfile (docs/targets.md, Versions of the "
            "guest's kernel and of QEMU)."
        ),
    )
    image_pull_policy: ImagePullPolicy = Field(
        ImagePullPolicy.IF_NOT_PRESENT, description="Pull policy of that image."
    )


class VirtualMachineTarget(ApiModel):
    """The database in a virtual machine that boots the pod's image, or a disk of the user's."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.machine) || self.machine == 'q35' || self.runtime == 'QEMU'",
                "microvm needs runtime: QEMU; KubeVirt has q35",
                field_path=".machine",
            ),
            rule(
                "!has(self.accelerator) || self.accelerator == 'Auto' || self.runtime == 'QEMU'",
                "KVM and TCG need runtime: QEMU; KubeVirt emulates where its own useEmulation "
                "says so",
                field_path=".accelerator",
            ),
            rule(
                "!has(self.accelerator) || self.accelerator != 'TCG' || self.machine != 'microvm'",
                "a microvm is not emulated; write KVM, or machine: q35",
                field_path=".accelerator",
            ),
            rule(
                "!has(self.launcher) || self.runtime == 'QEMU'",
                "launcher needs runtime: QEMU; KubeVirt has a QEMU of its own",
                field_path=".launcher",
            ),
            rule(
                "!has(self.guestKernel) || !has(self.containerDisk)",
                "the disk of containerDisk has a kernel of its own; remove guestKernel",
                field_path=".guestKernel",
            ),
            _kubevirt_alone("cpu.maxSockets", "!has(self.cpu) || !has(self.cpu.maxSockets)"),
            _kubevirt_alone(
                "cpu.isolateEmulatorThread", "!has(self.cpu) || !self.cpu.isolateEmulatorThread"
            ),
            _kubevirt_alone("cpu.numa", "!has(self.cpu) || !has(self.cpu.numa)"),
            _kubevirt_alone("containerDisk", "!has(self.containerDisk)"),
            rule(
                "!has(self.containerDisk) || self.rootDiskSize == '4Gi'",
                "is that of a root disk made from the image; containerDisk has a size of its own, "
                "so remove rootDiskSize",
                field_path=".rootDiskSize",
            ),
            _kubevirt_alone("ioThreadsPolicy", "!has(self.ioThreadsPolicy)"),
            _kubevirt_alone("blockMultiQueue", "!self.blockMultiQueue"),
            _kubevirt_alone("networkInterfaceMultiqueue", "!self.networkInterfaceMultiqueue"),
            rule(
                "self.runtime == 'KubeVirt' || self.dataDisk.volume == 'PersistentVolumeClaim'",
                "DataVolume, HostDisk and EmptyDisk need runtime: KubeVirt; QEMU in a pod has "
                "PersistentVolumeClaim",
                field_path=".dataDisk.volume",
            ),
            rule(
                "self.runtime == 'KubeVirt' || !has(self.cpu) || !has(self.cpu.model) || "
                "self.cpu.model != 'host-model'",
                "host-model needs runtime: KubeVirt; QEMU in a pod has host-passthrough and named "
                "models",
                field_path=".cpu.model",
            ),
            rule(
                "!has(self.network) || "
                "self.runtime == (self.network in ['User', 'Tap'] ? 'QEMU' : 'KubeVirt')",
                "Masquerade and Bridge need runtime: KubeVirt; User and Tap need runtime: QEMU",
                field_path=".network",
            ),
            rule(
                "has(self.ioThreads) == "
                "(has(self.ioThreadsPolicy) && self.ioThreadsPolicy == 'supplementalPool')",
                "ioThreads.supplementalPoolThreadCount and ioThreadsPolicy: supplementalPool need "
                "each other",
                field_path=".ioThreads",
            ),
        )
    )

    runtime: Runtime = Field(
        Runtime.AUTO,
        description=(
            "KubeVirt: a VirtualMachine of kubevirt.io/v1. QEMU: QEMU in a pod, without KubeVirt. "
            "Auto: KubeVirt where its API is served, else QEMU."
        ),
    )
    root_disk_size: Quantity = Field(
        "4Gi",
        description="Size of the root disk that is made from the image; it is written sparse.",
    )
    container_disk: ContainerDisk | None = Field(
        None,
        description=(
            "Boot a disk with a kernel, an init and a database of its own instead of the pod's "
            "image, with cloud-init. KubeVirt and PostgreSQL alone. What differs from the pod is "
            "listed in FairnessVerified."
        ),
    )
    machine: MachineType = Field(
        MachineType.Q35,
        description="Machine type. microvm: QEMU's minimal machine without PCI; QEMU alone, and "
        "with hardware virtualisation alone.",
    )
    accelerator: Accelerator = Field(
        Accelerator.AUTO,
        description=(
            "What executes the guest's instructions. KVM: the node's CPU; the target does not "
            "start where that cannot be. TCG: software, whatever the node can; its results are "
            "marked as emulated. Auto: KVM where the CPU has it and the pod is given /dev/kvm, "
            "else TCG. KVM and TCG need runtime: QEMU."
        ),
    )
    guest_kernel: ProgramImage | None = Field(
        None,
        description="Image with the guest's kernel, for example of another version, in place of "
        "the operator's guest-kernel.",
    )
    launcher: ProgramImage | None = Field(
        None,
        description="Image with QEMU, for example of another version, in place of the operator's "
        "launcher. Needs runtime: QEMU.",
    )
    cpu: MachineCPU | None = Field(None, description="Topology, model and placement of the CPUs.")
    io_threads_policy: IOThreadsPolicy | None = Field(
        None,
        description=(
            "Threads for the disks' I/O instead of QEMU's main thread. shared: one for all disks. "
            "auto: one for each, up to twice the vCPUs. supplementalPool: a pool of the size in "
            "ioThreads. KubeVirt alone."
        ),
    )
    io_threads: IOThreads | None = Field(None, description="Size of the supplemental pool.")
    block_multi_queue: bool = Field(
        False,
        description="As many queues for each disk as there are vCPUs. KubeVirt alone; QEMU in a "
        "pod always has them.",
    )
    network_interface_multiqueue: bool = Field(
        False,
        description="As many queues for the network interface as there are vCPUs. KubeVirt alone.",
    )
    data_disk: DataDisk = Field(
        default_factory=DataDisk,
        json_schema_extra={"default": {}},
        description="How the data disk is attached.",
    )
    network: Network | None = Field(
        None,
        description=(
            "Network path to the guest. KubeVirt: Masquerade (default) translates addresses, "
            "Bridge gives the pod's own to the guest, where KubeVirt's configuration permits it. "
            "QEMU: User (default), a network stack in QEMU that needs no privilege; Tap, the "
            "kernel's, in which the guest takes the pod's place. Tap is the fair path on hardware; "
            "it needs the operator's privilegedTargets.enabled, and a namespace that admits such "
            "pods."
        ),
    )
