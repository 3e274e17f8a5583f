"""PostgreSQL in the official image, or one that behaves like it. No I/O."""

import re

from dbbench.api.spec import Database
from dbbench.engines.engine import (
    CONFIG,
    DATA,
    DATABASE_NAME,
    DATABASE_USER,
    PASSWORD_FILE,
    Readiness,
)

_FILE = "postgresql.conf"
_SOCKETS = "/var/run/postgresql"
_NAME = re.compile(r"[a-z_][a-z0-9_.]*")

# Everything that dbbench itself sets; docs/targets.md lists it for users.
_OWN = {
    "listen_addresses": "*",
    "port": "5432",
    "unix_socket_directories": _SOCKETS,
}
# Decided by the entrypoint and PGDATA, or by directives that would pull in other files and so
# make the configuration differ from what was asked for.
_RESERVED = frozenset(
    {*_OWN, "data_directory", "config_file", "hba_file", "ident_file"}
    | {"include", "include_dir", "include_if_exists"}
)


def quote(value: str) -> str:
    """A value as postgresql.conf reads it: in single quotes, with quotes and backslashes doubled.

    The server takes any type of setting in quotes (PostgreSQL documentation, section 20.1.2).
    ValueError for control characters: a line break would start another setting.
    """
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in value):
        raise ValueError(f"{value!r} has control characters; remove them")
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


class PostgreSQL:
    """PostgreSQL 13 and later."""

    port = 5432
    executable = "postgres"
    readiness = Readiness(protocol="PostgreSQL", port=5432)
    # Fast shutdown: sessions are ended, and a checkpoint is written.
    stop_signal = "SIGINT"
    stop_grace_seconds = 60
    writable_directories = (_SOCKETS,)

    def config_file(self, database: Database) -> tuple[str, str]:
        """postgresql.conf: what dbbench must set, then the user's settings sorted by name."""
        lines = ["# Made by dbbench from spec.database.config; the same in every target."]
        lines += [f"{name} = {quote(value)}" for name, value in _OWN.items()]
        for name, value in sorted((database.config or {}).items()):
            if _NAME.fullmatch(name) is None:
                raise ValueError(
                    f"spec.database.config: {name!r} is not the name of a setting; names consist "
                    "of lower-case letters, digits, '_' and '.'"
                )
            if name in _RESERVED:
                raise ValueError(f"spec.database.config: {name} is set by dbbench; remove it")
            try:
                lines.append(f"{name} = {quote(value)}")
            except ValueError as error:
                raise ValueError(f"spec.database.config: {name}: {error}") from error
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
