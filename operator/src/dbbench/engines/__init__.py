"""What is special about each database engine. No I/O."""

from dbbench.api import spec
from dbbench.engines.engine import Engine, Readiness
from dbbench.engines.postgresql import PostgreSQL

_ENGINES: dict[spec.Engine, Engine] = {spec.Engine.POSTGRESQL: PostgreSQL()}


def engine_of(database: spec.Database) -> Engine:
    """The engine that the spec names."""
    return _ENGINES[database.engine]


__all__ = ["Engine", "PostgreSQL", "Readiness", "engine_of"]
