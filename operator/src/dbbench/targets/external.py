"""A database that exists already: how the driver finds it, and what it may use there. No I/O."""

import hashlib

from dbbench.api.external import ExternalTarget
from dbbench.targets import volumes
from dbbench.targets.context import Context, Manifest

# The Secret's files inside the driver's container.
_CONNECTION = "/dbbench/connection"
_VOLUME = "connection"
_ID_LENGTH = 8

SCHEMA_PREFIX = "dbbench_"


def options(ctx: Context, target: str, workload: str) -> list[str]:
    """The driver's options: a folder in place of a URL, so that no value of the Secret is shown."""
    return [
        "--connection-files", _CONNECTION,
        "--engine", ctx.engine.driver_name,
        "--schema", schema(ctx, target, workload),
    ]  # fmt: skip


def schema(ctx: Context, target: str, workload: str) -> str:
    """Schema of one workload's data, which nobody else has: `dbbench_1f0c22ab_rds_orders`.

    At most 58 characters; PostgreSQL's names have 63, MySQL's 64.
    """
    digest = hashlib.sha256(ctx.benchmark.metadata.uid.encode()).hexdigest()[:_ID_LENGTH]
    return f"{SCHEMA_PREFIX}{digest}_{target}_{workload}"


def volume(external: ExternalTarget) -> Manifest:
    """The Secret as the driver's pod has it."""
    return volumes.from_secret(_VOLUME, external.connection.secret_ref.name)


def mount() -> Manifest:
    """That volume in the driver's container."""
    return volumes.mount(_VOLUME, _CONNECTION, read_only=True)
