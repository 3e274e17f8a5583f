"""MySQL and MariaDB in their official images, or in ones that behave like them. No I/O."""

from dbbench.api import database as api
from dbbench.api.database import Database
from dbbench.api.resources import Resources
from dbbench.engines.engine import CONFIG, DATA, PASSWORD_FILE, Readiness
from dbbench.engines.settings import requested, unprintable

_FILE = "my.cnf"

# Everything that dbbench itself sets; docs/engines.md says why.
_OWN = {
    "bind_address": "*",
    "port": "3306",
    # Every image has /tmp; where its own directory for sockets is differs between images.
    "socket": "/tmp/mysqld.sock",  # noqa: S108
    "pid_file": "/tmp/mysqld.pid",  # noqa: S108
    "datadir": f"{DATA}/mysql",
    # Sorts and temporary tables go to the storage that is measured: /tmp is memory in a guest.
    "tmpdir": DATA,
    # Compiled into MySQL is a directory that not every image has.
    "secure_file_priv": "/tmp",  # noqa: S108
    # The driver loads by LOAD DATA LOCAL.
    "local_infile": "ON",
    # No name server is asked at each connection; the official images do the same.
    "skip_name_resolve": "ON",
    # MySQL alone has it: a second port, which on the host target would be the node's.
    "loose_mysqlx": "OFF",
    # MariaDB alone has it: above 1 every readiness probe would write a line to the log.
    "loose_log_warnings": "1",
}

# They follow from the name of the pod or guest, are drawn at random by each fresh server, or count
# its transactions.
_UNEQUAL = frozenset(
    {"hostname", "wsrep_node_name", "report_host", "server_uuid", "server_uid"}
    | {"feedback_server_uid", "general_log_file", "slow_query_log_file", "log_slow_query_file"}
    | {"relay_log", "relay_log_basename", "relay_log_index"}
    | {"gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_executed", "gtid_purged"}
)


def quote(value: str) -> str:
    r"""A value as an option file is read: in double quotes, `"` and `\` behind a backslash.

    Quotes keep spaces at the ends and `#` (MySQL manual, "Using Option Files"). ValueError for
    control characters: a line break would start another setting.
    """
    if unprintable(value):
        raise ValueError(f"{value!r} has control characters; remove them")
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


class MySQL:
    """MySQL 8 and later, MariaDB 10.6 and later."""

    driver_name = "mysql"
    port = 3306
    executables = ("mariadbd", "mysqld")
    readiness = Readiness(protocol="MySQL", port=3306)
    stop_signal = "SIGTERM"
    # InnoDB writes its changed pages only as far as a fast shutdown needs it.
    stop_grace_seconds = 60
    writable_directories = ()

    def config_file(self, database: Database, resources: Resources) -> tuple[str, str]:
        """my.cnf: what dbbench must set, then the user's settings sorted by name."""
        lines = ["# Made by dbbench from spec.database.config; the same in every target."]
        # Both servers read this group.
        lines.append("[mysqld]")
        lines += [f"{name} = {quote(value)}" for name, value in _OWN.items()]
        settings = requested(api.Engine.MYSQL, database, quote)
        lines += [f"{name} = {value}" for name, value in settings.items()]
        return _FILE, "\n".join(lines) + "\n"

    def command(self, database: Database) -> list[str]:
        """The entrypoint puts its own server's name, mysqld or mariadbd, before a first option.

        --defaults-file must be the first one; the server then reads no other file.
        """
        return ["docker-entrypoint.sh", f"--defaults-file={CONFIG}/{_FILE}"]

    def environment(self, database: Database) -> dict[str, str]:
        """What the entrypoint reads; MariaDB's knows these names too.

        The driver makes a schema for each workload, for which a user of MYSQL_USER has no right.
        """
        return {
            # Tables of time zones take long to fill under emulation, and nothing reads them.
            "MYSQL_INITDB_SKIP_TZINFO": "1",
            "MYSQL_ROOT_HOST": "%",
            "MYSQL_ROOT_PASSWORD_FILE": PASSWORD_FILE,
        }

    def driver_url(self, host: str) -> str:
        """mysql://root@host:3306."""
        return f"mysql://root@{host}:{self.port}"

    def unequal_settings(self, resources: Resources) -> frozenset[str]:
        """Names, random identifiers and counts of the server itself."""
        return _UNEQUAL
