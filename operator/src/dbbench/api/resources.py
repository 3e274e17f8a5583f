"""Resources of the database, the same in every target. Types only, no I/O."""

from enum import StrEnum

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, Quantity, rule, rules


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
