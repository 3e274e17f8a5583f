"""Resources and storage of the database, the same in every target. Types only, no I/O."""

from enum import StrEnum

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, ObjectName, Quantity, rule, rules


class HugepageSize(StrEnum):
    TWO_MEBIBYTES = "2Mi"
    ONE_GIBIBYTE = "1Gi"


class Hugepages(ApiModel):
    """Huge pages of the database, and behind the memory of guests."""

    page_size: HugepageSize = Field(description="Size of a page.")
    size: Quantity = Field(
        description=(
            "Part of resources.memory that the database gets as huge pages, in every target; a "
            "multiple of pageSize. Whether it uses them is a setting of the engine, for example "
            "huge_pages. In addition, all memory of a guest is taken from the node's huge pages."
        )
    )


class Resources(ApiModel):
    """Resources of the database in every target: the pod's limits, the guest's size."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.hugepages) || "
                "quantity(self.hugepages.size).isLessThan(quantity(self.memory))",
                "must be less than memory: it is a part of it, and the rest must hold everything "
                "else",
                field_path=".hugepages.size",
            ),
            *(
                rule(
                    f"!has(self.hugepages) || (quantity(self.{field}).isInteger() && "
                    f"quantity(self.{field}).asInteger() % "
                    "(self.hugepages.pageSize == '1Gi' ? 1073741824 : 2097152) == 0)",
                    "must be a multiple of hugepages.pageSize, written without a fraction: 1536Mi, "
                    "not 1.5Gi",
                    field_path=f".{field}",
                )
                for field in ("memory", "hugepages.size")
            ),
        )
    )

    cpu: int = Field(1, ge=1, le=512, description="CPUs of the pod, and vCPUs of the guest.")
    memory: Quantity = Field("1Gi", description="Memory of the pod, and of the guest.")
    hugepages: Hugepages | None = Field(
        None, description="Huge pages that the node has set aside; none when absent."
    )
    dedicated_cpus: bool = Field(
        True,
        alias="dedicatedCPUs",
        description=(
            "Ask for exclusive CPUs: Guaranteed QoS, pinned by the kubelet's static CPU manager."
        ),
    )


class VolumeMode(StrEnum):
    FILESYSTEM = "Filesystem"
    BLOCK = "Block"


class Medium(StrEnum):
    DISK = "Disk"
    MEMORY = "Memory"


class Storage(ApiModel):
    """Where the database's files are; the same for every target."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                # Also read on the default {}, before the fields' own defaults.
                "!has(self.medium) || self.medium == 'Disk' || !has(self.volumeMode) || "
                "self.volumeMode == 'Filesystem'",
                "Block needs medium: Disk; data in memory have no volume",
                field_path=".volumeMode",
            ),
        )
    )

    size: Quantity = Field("10Gi", description="Size of the data volume of each target.")
    storage_class_name: ObjectName | None = Field(
        None,
        description="StorageClass of the volumes; the cluster's default when absent.",
    )
    volume_mode: VolumeMode = Field(
        VolumeMode.FILESYSTEM,
        description=(
            "How virtual machines get the data volume. Filesystem: as an image file on it. Block: "
            "the volume is the guest's disk, as it is the disk below the file system that a pod "
            "gets from the same StorageClass."
        ),
    )
    medium: Medium = Field(
        Medium.DISK,
        description=(
            "Disk: a persistent volume. Memory: a tmpfs of this size inside the pod and inside the "
            "guest, which is a part of resources.memory; the data are loaded anew each time that a "
            "target starts."
        ),
    )
