"""A target: one way of running the database. Types only, no I/O."""

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, Name, ObjectName, rule, rules
from dbbench.api.cloud_native_pg import CloudNativePGTarget
from dbbench.api.external import ExternalTarget
from dbbench.api.machine import DiskVolume, VirtualMachineTarget


class PodTarget(ApiModel):
    """The database in a plain pod."""

    runtime_class_name: ObjectName | None = Field(
        None,
        description="RuntimeClass of the pod, for example kata; the cluster's default when absent.",
    )


class HostTarget(ApiModel):
    """The database in the namespaces of the node itself: as near to bare metal as a pod can be.

    It needs the operator's privilegedTargets.enabled, and a namespace that admits such pods.
    """


_KINDS = "pod: {}, host: {}, virtualMachine: {}, cloudNativePG: {}, external: {connection: ...}"


class Target(ApiModel):
    """One way of running the database. Exactly one kind is set."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "(has(self.pod) ? 1 : 0) + (has(self.host) ? 1 : 0) + "
                "(has(self.virtualMachine) ? 1 : 0) + (has(self.cloudNativePG) ? 1 : 0) + "
                "(has(self.external) ? 1 : 0) == 1",
                f"a target has exactly one kind: set one of {_KINDS}",
                message_expression=(
                    '"target \'" + self.name + "\' must have exactly one kind: set one of '
                    f'{_KINDS}"'
                ),
            ),
            rule(
                "!has(self.instances) || self.instances == 1 || !has(self.host)",
                "instances of a target host: {} would listen on the same ports of the node; remove "
                "instances, or write pod: {}",
                field_path=".instances",
            ),
            rule(
                "!has(self.instances) || self.instances == 1 || !has(self.external)",
                "external is the one database that connection leads to; remove instances",
                field_path=".instances",
            ),
        )
    )

    name: Name = Field(description="Name of the target, unique within the benchmark.")
    instances: int = Field(
        1,
        ge=1,
        le=16,
        description=(
            "Databases that run side by side, each with resources, storage, data and clients of "
            "its own. The sum of their throughputs or the mean of their times is compared, and "
            "what each got is reported."
        ),
    )
    pod: PodTarget | None = None
    host: HostTarget | None = None
    virtual_machine: VirtualMachineTarget | None = None
    cloud_native_pg: CloudNativePGTarget | None = Field(None, alias="cloudNativePG")
    external: ExternalTarget | None = None

    @property
    def deployed(self) -> bool:
        """Whether dbbench makes the database; else it exists already, and stays."""
        return self.external is None

    @property
    def databases(self) -> int:
        """Servers that run side by side: the instances, each with its standbys."""
        return self.instances * (self.cloud_native_pg.instances if self.cloud_native_pg else 1)

    @property
    def has_agent(self) -> bool:
        """Whether dbbench's agent runs beside the database, and reports facts and counters."""
        return self.deployed and self.cloud_native_pg is None

    @property
    def boots_image(self) -> bool:
        """Whether it is a guest whose root disk is made from the database's image."""
        return self.virtual_machine is not None and self.virtual_machine.container_disk is None

    @property
    def data_volume(self) -> DiskVolume:
        """What a deployed database's files on disk are on: a claim but for some guests."""
        if self.virtual_machine is None:
            return DiskVolume.PERSISTENT_VOLUME_CLAIM
        return self.virtual_machine.data_disk.volume
