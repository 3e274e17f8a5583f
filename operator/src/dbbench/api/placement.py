"""Which nodes the database and the driver run on. Types only, no I/O."""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from dbbench.api.base import (
    LABEL_KEY_LENGTH,
    LABEL_KEY_PATTERN,
    ApiModel,
    LabelValue,
    literal,
    rule,
    rules,
)


class Colocation(StrEnum):
    SAME_NODE = "SameNode"
    SAME_GUEST = "SameGuest"


class Occupancy(StrEnum):
    EXCLUSIVE = "Exclusive"
    SHARED = "Shared"


_OCCUPANCY = (
    "Exclusive: no other benchmark runs on a node that the selector matches; those that want one "
    "queue up for it. Shared: others that say so, too, may run there at the same time, and disturb "
    "each other's measurements."
)


class TolerationOperator(StrEnum):
    EXISTS = "Exists"
    EQUAL = "Equal"


class TaintEffect(StrEnum):
    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Toleration(ApiModel):
    """A toleration of the pods, as in the core API."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
                "without a key every taint is tolerated: that needs operator: Exists; write it, or "
                "a key",
                field_path=".operator",
            ),
            rule(
                "!has(self.value) || self.value == '' || !has(self.operator) || "
                "self.operator == 'Equal'",
                "operator: Exists compares no value: remove the value, or write Equal",
                field_path=".value",
            ),
        )
    )

    key: str | None = Field(
        None,
        pattern=LABEL_KEY_PATTERN,
        max_length=LABEL_KEY_LENGTH,
        description="Key of the taint; every taint when absent.",
    )
    operator: TolerationOperator | None = Field(
        None, description="Exists: whatever the taint's value. Equal, or absent: only this value."
    )
    value: LabelValue | None = Field(None, description="Value of the taint.")
    effect: TaintEffect | None = Field(
        None, description="Effect of the taint; every effect when absent."
    )


NodeSelector = Annotated[
    dict[str, LabelValue],
    Field(
        max_length=20,
        min_length=1,
        json_schema_extra=rules(
            rule(
                f"self.all(k, k.size() <= {LABEL_KEY_LENGTH} && "
                f"k.matches({literal(LABEL_KEY_PATTERN)}))",
                "not the name of a label: letters, digits, '-', '_' and '.', after a domain and "
                "'/' if need be, for example kubernetes.io/hostname",
            )
        ),
    ),
]


class NodePlacement(ApiModel):
    """Which node a role runs on."""

    node_selector: NodeSelector = Field(
        description="Labels of the node, for example kubernetes.io/hostname: bench-1."
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
                "database's node, or SameGuest, for the inside of every target",
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

    node_selector: NodeSelector | None = Field(
        None, description="Labels of the node, for example kubernetes.io/hostname: bench-2."
    )
    tolerations: list[Toleration] | None = Field(
        None, max_length=20, description="Taints of the node that are tolerated."
    )
    occupancy: Occupancy | None = Field(None, description=f"{_OCCUPANCY} Exclusive when absent.")
    colocation: Colocation | None = Field(
        None,
        description=(
            "SameNode: on the database's node, on CPUs that are not the database's, for every "
            "target alike. No cable and no switch lie between them then. It needs exclusive CPUs. "
            "SameGuest: inside every target, in the database's container or guest and on its CPUs, "
            "over its loopback interface. What the driver uses is a part of what is compared then."
        ),
    )


class Placement(ApiModel):
    """Where the database and the driver run: the same nodes for all targets."""

    database: NodePlacement = Field(description="The node that every target runs on in turn.")
    driver: DriverPlacement = Field(description="The node that the client program runs on.")

    @property
    def inside_targets(self) -> bool:
        """Whether the agents of the targets run what is measured, beside their databases."""
        return self.driver.colocation is Colocation.SAME_GUEST

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
        "!has(self.placement.driver.colocation) || "
        "self.placement.driver.colocation != 'SameNode' || (self.resources.dedicatedCPUs && "
        "self.targets.all(t, !has(t.virtualMachine) || !has(t.virtualMachine.cpu) || "
        "!has(t.virtualMachine.cpu.dedicatedCpuPlacement) || "
        "t.virtualMachine.cpu.dedicatedCpuPlacement))",
        "SameNode needs exclusive CPUs, which the driver then stays away from: set "
        "spec.resources.dedicatedCPUs to true, and dedicatedCpuPlacement of no target to false",
        field_path=".placement.driver.colocation",
    ),
    rule(
        "!has(self.placement.driver.colocation) || "
        "self.placement.driver.colocation != 'SameGuest' || "
        "(self.targets.all(t, !has(t.external) && !has(t.cloudNativePG) && t.instances == 1) && "
        "(!has(self.sweep) || !has(self.sweep.instances)))",
        "SameGuest is done by the agent inside a target, for one database: remove the targets "
        "external and cloudNativePG, which have none, and instances, or give the driver a node",
        field_path=".placement.driver.colocation",
    ),
)
