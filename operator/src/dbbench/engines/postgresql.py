"""PostgreSQL in the official image, or one that behaves like it. No I/O."""

from dbbench.api import database as api
from dbbench.api.database import Database
from dbbench.api.resources import Resources
from dbbench.engines.engine import (
    CONFIG,
    DATA,
    DATABASE_NAME,
    DATABASE_USER,
    PASSWORD_FILE,
    Readiness,
)
from dbbench.engines.settings import requested, unprintable

_FILE = "postgresql.conf"
_SOCKETS = "/var/run/postgresql"

# Everything that dbbench itself sets; docs/engines.md lists it for users.
_OWN = {
    "listen_addresses": "*",
    "port": "5432",
    "unix_socket_directories": _SOCKETS,
}
_UNEQUAL = frozenset({"in_hot_standby", "max_open_files"})


def quote(value: str) -> str:
    """A value as postgresql.conf reads it: in single quotes, with quotes and backslashes doubled.

    The server takes any type of setting in quotes (PostgreSQL documentation, section 20.1.2).
    ValueError for control characters: a line break would start another setting.
    """
    if unprintable(value):
        raise ValueError(f"{value!r} has control characters; remove them")
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


class PostgreSQL:
    """PostgreSQL 13 and later."""

    driver_name = "postgres"
    port = 5432
    executables = ("postgres",)
    readiness = Readiness(protocol="PostgreSQL", port=5432)
    # Fast shutdown: sessions are ended, and a checkpoint is written.
    stop_signal = "SIGINT"
    stop_grace_seconds = 60
    writable_directories = (_SOCKETS,)

    def config_file(self, database: Database, resources: Resources) -> tuple[str, str]:
        """postgresql.conf: what dbbench must set, then the user's settings sorted by name."""
        lines = ["# Made by dbbench from spec.database.config; the same in every target."]
        lines += [f"{name} = {quote(value)}" for name, value in _OWN.items()]
        settings = requested(api.Engine.POSTGRESQL, database, quote)
        lines += [f"{name} = {value}" for name, value in settings.items()]
        return _FILE, "\n".join(lines) + "\n"

    def command(self, database: Database) -> list[str]:
        """The entrypoint makes the database on first start; hba file and data stay in PGDATA."""
        return ["docker-entrypoint.sh", "postgres", "-c", f"config_file={CONFIG}/{_FILE}"]

    def environment(self, database: Database) -> dict[str, str]:
        """What the entrypoint reads. PGDATA is below the mount: its root may hold lost+found."""
        return {
            "PGDATA": f"{DATA}/pgdata",
            "POSTGRES_DB": DATABASE_NAME,
            "POSTGRES_PASSWORD_FILE": PASSWORD_FILE,
            "POSTGRES_USER": DATABASE_USER,
        }

    def driver_url(self, host: str) -> str:
        """postgres://dbbench@host:5432/dbbench."""
        return f"postgres://{DATABASE_USER}@{host}:{self.port}/{DATABASE_NAME}"

    def unequal_settings(self, resources: Resources) -> frozenset[str]:
        """What the server finds out by itself, from limits and huge pages of where it runs."""
        if resources.hugepages is not None:
            # Every target has them then, and using them is no matter of the target.
            return _UNEQUAL
        return _UNEQUAL | {"huge_pages_status"}
