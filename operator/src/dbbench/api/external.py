"""A database that exists already, and is measured without being deployed. Types only, no I/O."""

from pydantic import Field

from dbbench.api.base import ApiModel, ObjectName


class SecretReference(ApiModel):
    """Names a Secret of the benchmark's namespace."""

    name: ObjectName = Field(
        description=(
            "Secret with the keys host, password, user or username, and if need be port and "
            "database or dbname, as CloudNativePG makes for its applications. For TLS with "
            "PostgreSQL: sslmode (disable, require, verify-ca or verify-full; disable without it), "
            "and in ca.crt the certificates of the authorities that are trusted, in PEM; without "
            "it the public ones, for verify-full alone."
        )
    )


class ExternalConnection(ApiModel):
    """Where the database is, and as whom to ask."""

    secret_ref: SecretReference


class ExternalTarget(ApiModel):
    """A database that exists already. dbbench deploys nothing for it, and changes no setting.

    It loads into schemas of its own there, called dbbench_ID_TARGET_WORKLOAD. Nothing of dbbench's
    runs beside the server: there are no counters and no facts of its machine.
    """

    connection: ExternalConnection
