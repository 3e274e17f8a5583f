"""Variants: the named values of an axis that is no number. Types and rules of their own, no I/O.

A variant says a part of what storage, resources and virtual machines say, under the same names; a
field that it leaves out is as the rest of the spec has it. So none of its fields has a default.
Rules that also read the rest of the spec are in `variant_rules`.
"""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, ObjectName, rule, rules
from dbbench.api.machine import (
    READ_AHEAD_RULE,
    Accelerator,
    Count,
    CPUModel,
    DiskBus,
    DiskCache,
    DiskIO,
    DiskVolume,
    IOThreads,
    IOThreadsPolicy,
    MachineType,
    Network,
    Numa,
    ProgramImage,
    ReadAhead,
)
from dbbench.api.resources import Hugepages, Medium, VolumeMode

MOST_AXES = 3
MOST_VARIANTS = 8

_TAKEN = ("cache", "connection", "confirm", "clients", "workProcesses", "cpu", "instances")
"""Names of the other axes of a cell."""


def _in_place(of: str) -> Any:  # noqa: ANN401 - what pydantic's Field is
    return Field(None, description=f"In place of {of}.")


def _of_storage(field: str) -> Any:  # noqa: ANN401
    return _in_place(f"spec.database.storage.{field}")


def _of_machines(field: str) -> Any:  # noqa: ANN401
    return _in_place(f"{field} of every virtual machine")


class StorageVariant(ApiModel):
    """Where the files of all databases are."""

    storage_class_name: ObjectName | None = _of_storage("storageClassName")
    volume_mode: VolumeMode | None = _of_storage("volumeMode")
    medium: Medium | None = _of_storage("medium")


class ResourcesVariant(ApiModel):
    """Resources of all databases."""

    hugepages: Hugepages | None = _in_place("spec.resources.hugepages")


class MachineCPUVariant(ApiModel):
    """CPUs of every guest."""

    sockets: Count | None = _of_machines("cpu.sockets")
    cores: Count | None = _of_machines("cpu.cores")
    threads: Count | None = _of_machines("cpu.threads")
    max_sockets: Count | None = _of_machines("cpu.maxSockets")
    model: CPUModel | None = _of_machines("cpu.model")
    dedicated_cpu_placement: bool | None = _of_machines("cpu.dedicatedCpuPlacement")
    isolate_emulator_thread: bool | None = _of_machines("cpu.isolateEmulatorThread")
    numa: Numa | None = _of_machines("cpu.numa")


class DataDiskVariant(ApiModel):
    """How the data disk of every guest is attached."""

    model_config = ConfigDict(json_schema_extra=rules(READ_AHEAD_RULE))

    volume: DiskVolume | None = _of_machines("dataDisk.volume")
    bus: DiskBus | None = _of_machines("dataDisk.bus")
    cache: DiskCache | None = _of_machines("dataDisk.cache")
    io: DiskIO | None = _of_machines("dataDisk.io")
    dedicated_io_thread: bool | None = Field(
        None,
        alias="dedicatedIOThread",
        description="In place of dataDisk.dedicatedIOThread of every virtual machine.",
    )
    read_ahead: ReadAhead | None = _of_machines("dataDisk.readAhead")


class VirtualMachineVariant(ApiModel):
    """Options of every target that is a virtual machine."""

    machine: MachineType | None = _of_machines("machine")
    accelerator: Accelerator | None = _of_machines("accelerator")
    guest_kernel: ProgramImage | None = _of_machines("guestKernel")
    launcher: ProgramImage | None = _of_machines("launcher")
    cpu: MachineCPUVariant | None = Field(None, description="CPUs of every guest.")
    io_threads_policy: IOThreadsPolicy | None = _of_machines("ioThreadsPolicy")
    io_threads: IOThreads | None = _of_machines("ioThreads")
    block_multi_queue: bool | None = _of_machines("blockMultiQueue")
    network_interface_multiqueue: bool | None = _of_machines("networkInterfaceMultiqueue")
    data_disk: DataDiskVariant | None = Field(
        None, description="How the data disk of every guest is attached."
    )
    network: Network | None = _of_machines("network")


class Variant(ApiModel):
    """One named value: what it says holds instead of what the rest of the spec says."""

    name: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[A-Za-z0-9]+$")] = Field(
        description="Name of the value, unique on its axis: letters and digits, for example "
        "writeback. Results call the point by it: diskCache=writeback."
    )
    storage: StorageVariant | None = Field(
        None, description="Where the files of all databases are, in every target."
    )
    resources: ResourcesVariant | None = Field(
        None, description="Resources of all databases, in every target."
    )
    virtual_machine: VirtualMachineVariant | None = Field(
        None,
        description="Options of every target that is a virtual machine; the other targets stay "
        "what they are.",
    )


class VariantAxis(ApiModel):
    """An axis of named values, without an order: results compare each value with the first."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"!(self.name in [{', '.join(repr(name) for name in _TAKEN)}]) && "
                "!self.name.startsWith('block')",
                f"{', '.join(_TAKEN)} and what begins with block have a meaning of their own in "
                "the names of points; write another name, for example diskCache",
                field_path=".name",
            ),
        )
    )

    name: Annotated[str, Field(min_length=1, max_length=20, pattern=r"^[a-z][A-Za-z0-9]*$")] = (
        Field(description="Name of the axis in results: letters and digits, for example diskCache.")
    )
    values: list[Variant] = Field(
        min_length=2,
        max_length=MOST_VARIANTS,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        description="The variants. The first one is the axis's base: the others are compared with "
        "it, and with design: OneAtATime the other axes are varied there.",
    )
