"""PostgreSQL's configuration of an instance: custom.conf, as CloudNativePG calls it. No I/O."""

from standin.cloud_native_pg import REPLICATION_USER
from standin.translation import Cluster

SOCKETS = "/controller/run"
PORT = 5432

# Of CloudNativePG's own defaults those that need nothing of CloudNativePG's beside the server.
_DEFAULTS = {
    "dynamic_shared_memory_type": "posix",
    "full_page_writes": "on",
    "max_parallel_workers": "32",
    "max_replication_slots": "32",
    "max_worker_processes": "32",
    "shared_memory_type": "mmap",
    "wal_keep_size": "512MB",
    "wal_level": "logical",
    "wal_log_hints": "on",
}


def custom_conf(cluster: Cluster, serial: int) -> str:
    """The settings of one instance: defaults, the cluster's own, and those that none may change."""
    fixed = {
        "cluster_name": cluster.name,
        "hot_standby": "on",
        "listen_addresses": "*",
        "port": str(PORT),
        # Read by standbys alone. The password is in the server's environment.
        "primary_conninfo": (
            f"host={cluster.write_service} port={PORT} user={REPLICATION_USER} "
            f"application_name={cluster.instance(serial)}"
        ),
        "synchronous_standby_names": synchronous_standby_names(cluster),
        "unix_socket_directories": SOCKETS,
    }
    settings = _DEFAULTS | cluster.parameters | fixed
    return "".join(f"{name} = {_quoted(value)}\n" for name, value in sorted(settings.items()))


def synchronous_standby_names(cluster: Cluster) -> str:
    """`ANY 1 ("c-2","c-3")`; empty where no commit waits."""
    if cluster.synchronous_method is None:
        return ""
    standbys = ",".join(f'"{cluster.instance(serial)}"' for serial in cluster.serials[1:])
    return f"{cluster.synchronous_method.upper()} {cluster.synchronous_number} ({standbys})"


def _quoted(value: str) -> str:
    """A value of postgresql.conf, in which a backslash would begin an escape."""
    text = value.replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"
