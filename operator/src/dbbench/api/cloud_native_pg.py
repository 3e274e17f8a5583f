"""The database as a cluster of CloudNativePG, under its own field names. Types only, no I/O."""

from enum import StrEnum

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, rule, rules


class SynchronousMethod(StrEnum):
    ANY = "any"
    FIRST = "first"


class Synchronous(ApiModel):
    """Standbys that a commit waits for."""

    method: SynchronousMethod = Field(
        SynchronousMethod.ANY,
        description="any: of so many standbys, whichever they are. first: of the first ones.",
    )
    number: int = Field(1, ge=1, le=4, description="Standbys that a commit waits for.")


class CloudNativePGTarget(ApiModel):
    """The database in a postgresql.cnpg.io/v1 Cluster, on the database's node."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.synchronous) || self.synchronous.number < self.instances",
                "must be less than instances: the primary is one of these, and no standby",
                field_path=".synchronous.number",
            )
        )
    )

    instances: int = Field(
        1,
        ge=1,
        le=5,
        description=(
            "The primary, which is measured, and its standbys: each with resources and storage of "
            "its own, all on the database's node."
        ),
    )
    synchronous: Synchronous | None = Field(
        None, description="Synchronous replication; none waits for a standby when absent."
    )
