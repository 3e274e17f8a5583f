"""Which nodes the database and the driver run on. Types only, no I/O."""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, rule, rules

LabelValue = Annotated[str, Field(max_length=63)]


class Colocation(StrEnum):
    SAME_NODE = "SameNode"


class Occupancy(StrEnum):
    EXCLUSIVE = "Exclusive"
    SHARED = "Shared"


_OCCUPANCY = (
    "Exclusive: no other benchmark runs on a node that the selector matches; those that want one "
    "queue up for it. Shared: others that say so, too, may run there at the same time, and disturb "
    "each other's measurements."
)


class Toleration(ApiModel):
    """A toleration of the pods, as in the core API."""

    key: str | None = Field(None, max_length=317)
    operator: str | None = Field(None, max_length=10)
    value: str | None = Field(None, max_length=63)
    effect: str | None = Field(None, max_length=20)


class NodePlacement(ApiModel):
    """Which node a role runs on."""

    node_selector: dict[str, LabelValue] = Field(
        max_length=20,
        min_length=1,
        description="Labels of the node, for example kubernetes.io/hostname: bench-1.",
    )
    tolerations: list[Toleration] | None = Field(
        None, max_length=20, description="Taints of the node that are tolerated."
    )
    occupancy: Occupancy = Field(Occupancy.EXCLUSIVE, description=_OCCUPANCY)


class DriverPlacement(ApiModel):
    """Which node the client program runs on: one of its own, or the database's."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "has(self.nodeSelector) != has(self.colocation)",
                "set either nodeSelector, for a node of its own, or colocation: SameNode, for the "
                "database's node",
            ),
            rule(
                "!has(self.tolerations) || has(self.nodeSelector)",
                "with colocation, the tolerations are those of placement.database; remove them",
                field_path=".tolerations",
            ),
            rule(
                "!has(self.occupancy) || has(self.nodeSelector)",
                "with colocation, the occupancy is that of placement.database; remove it",
                field_path=".occupancy",
            ),
        )
    )

    node_selector: dict[str, LabelValue] | None = Field(
        None,
        max_length=20,
        min_length=1,
        description="Labels of the node, for example kubernetes.io/hostname: bench-2.",
    )
    tolerations: list[Toleration] | None = Field(
        None, max_length=20, description="Taints of the node that are tolerated."
    )
    occupancy: Occupancy | None = Field(None, description=f"{_OCCUPANCY} Exclusive when absent.")
    colocation: Colocation | None = Field(
        None,
        description=(
            "SameNode: on the database's node, on CPUs that are not the database's, for every "
            "target alike. No cable and no switch lie between them then. It needs exclusive CPUs."
        ),
    )


class Placement(ApiModel):
    """Where the database and the driver run: the same nodes for all targets."""

    database: NodePlacement = Field(description="The node that every target runs on in turn.")
    driver: DriverPlacement = Field(description="The node that the client program runs on.")

    @property
    def of_driver(self) -> NodePlacement:
        """The driver's node, colocation resolved."""
        if self.driver.node_selector is None:
            return self.database
        return NodePlacement(
            node_selector=self.driver.node_selector,
            tolerations=self.driver.tolerations,
            occupancy=self.driver.occupancy or Occupancy.EXCLUSIVE,
        )


# Without exclusive CPUs of the database's own, the driver would take them away from it.
PLACEMENT_RULES = (
    rule(
        "!has(self.placement.driver.colocation) || (self.resources.dedicatedCPUs && "
        "self.targets.all(t, !has(t.virtualMachine) || !has(t.virtualMachine.cpu) || "
        "!has(t.virtualMachine.cpu.dedicatedCpuPlacement) || "
        "t.virtualMachine.cpu.dedicatedCpuPlacement))",
        "SameNode needs exclusive CPUs, which the driver then stays away from: set "
        "spec.resources.dedicatedCPUs to true, and dedicatedCpuPlacement of no target to false",
        field_path=".placement.driver.colocation",
    ),
)
