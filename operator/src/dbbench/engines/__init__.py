"""What is special about each database engine: one module for each. No I/O."""

from dbbench.api import database as api
from dbbench.engines.engine import Engine, Readiness
from dbbench.engines.hyper import Hyper
from dbbench.engines.mysql import MySQL
from dbbench.engines.postgresql import PostgreSQL

_ENGINES: dict[api.Engine, Engine] = {
    api.Engine.POSTGRESQL: PostgreSQL(),
    api.Engine.MYSQL: MySQL(),
    api.Engine.HYPER: Hyper(),
}


def engine_of(database: api.Database) -> Engine:
    """The engine that the spec names."""
    return _ENGINES[database.engine]


__all__ = ["Engine", "Hyper", "MySQL", "PostgreSQL", "Readiness", "engine_of"]
