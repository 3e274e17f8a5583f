"""The workload sql: the user's own statements. Types only, no I/O."""

from typing import Annotated

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, Duration, Name, ObjectName, OptionalWait, rule, rules

ConfigMapKey = Annotated[str, Field(pattern=r"^[-._a-zA-Z0-9]+$", min_length=1, max_length=253)]


class ConfigMapKeyReference(ApiModel):
    """Names a text in a ConfigMap of the benchmark's namespace."""

    name: ObjectName = Field(description="Name of the ConfigMap.")
    key: ConfigMapKey = Field(description="Key of its data, for example orders.sql.")


class Script(ApiModel):
    """Statements in the driver's script syntax, pgbench's: written here, or in a ConfigMap."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "has(self.text) != has(self.configMapKeyRef)",
                "a script is written in one place: set either text or configMapKeyRef",
            ),
        )
    )

    text: str | None = Field(
        None,
        min_length=1,
        max_length=32768,
        description=(
            "The statements, in a subset of pgbench's script syntax (docs/workloads/sql.md)."
        ),
    )
    config_map_key_ref: ConfigMapKeyReference | None = Field(
        None,
        description=(
            "A ConfigMap with the statements. They are read when the run begins; later changes "
            "have no effect on it."
        ),
    )


class WeightedScript(Script):
    """One kind of transaction."""

    name: Name = Field(description="Name of the transaction in the results.")
    weight: int = Field(
        1, ge=1, le=1000000, description="How often it is drawn, relative to the other scripts."
    )


class SqlWorkload(ApiModel):
    """The user's own statements: each run of a script is one transaction."""

    setup: Script | None = Field(
        None,
        description=(
            "Makes the tables and rows, once in every deployment; it must be able to begin again "
            "after an interruption, as with DROP TABLE IF EXISTS. Without it nothing is loaded."
        ),
    )
    scripts: list[WeightedScript] = Field(
        min_length=1,
        max_length=16,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        description="What the clients run; each transaction is drawn by weight.",
    )
    clients: int = Field(1, ge=1, le=10000, description="Concurrent clients, no think time.")
    warmup: OptionalWait = Field("10s", description="Time before the measured window.")
    duration: Duration = Field("1m", description="Length of the measured window.")
