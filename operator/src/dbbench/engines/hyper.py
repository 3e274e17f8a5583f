"""Hyper in dbbench's own image, workloads/images/hyper, or one that behaves like it. No I/O."""

import json

from dbbench.api import database as api
from dbbench.api.database import Database
from dbbench.api.quantities import quantity
from dbbench.api.resources import Medium, Resources
from dbbench.engines.engine import CONFIG, DATA, DATABASE_USER, PASSWORD_FILE, Readiness
from dbbench.engines.settings import requested, unprintable

_FILE = "hyper.json"
# The server's working folder: databases that are named without a path are here.
_FOLDER = f"{DATA}/hyper"
_DATABASE = "dbbench.hyper"

# Everything that dbbench itself sets; docs/engines.md says why.
_OWN = {
    "listen_connection": "tab.tcp://0.0.0.0:7483",
    "init_user": DATABASE_USER,
    # By default every statement goes to a file beside the program, which cannot be written there.
    "log_config": "cerr,string,error",
    # What does not fit into memory goes to the storage that is measured: /tmp is memory in a guest.
    "hyper_temp_directory_override": f"{_FOLDER}/temporary",
    # They would serve another protocol than the driver's; by default they are half as many as CPUs.
    "grpc_threads": "1",
}

# Hyper's own rules, which it would apply to the machine below it: in a pod that is the whole node.
_LEAST_THREADS = 4
_HARD_LIMIT_PERCENT = 150
_MEMORY_PERCENT = 80


def checked(value: str) -> str:
    """The value as it is, for JSON; ValueError for control characters, as with every engine."""
    if unprintable(value):
        raise ValueError(f"{value!r} has control characters; remove them")
    return value


def _as_large_as(database: Database, resources: Resources) -> dict[str, str]:
    """What Hyper derives from CPUs and memory, for those of the target. The user may change it."""
    cpus = resources.cpu
    memory = quantity(resources.memory)
    if resources.hugepages is not None:
        memory -= quantity(resources.hugepages.size)
    if database.storage.medium is Medium.MEMORY:
        memory -= quantity(database.storage.size)
    hard = -(-cpus * _HARD_LIMIT_PERCENT // 100)
    return {
        "hard_concurrent_query_thread_limit": str(max(_LEAST_THREADS, hard)),
        "memory_limit": f"{max(1, memory * _MEMORY_PERCENT // 100 // 2**20)}m",
        "network_threads": str(max(_LEAST_THREADS, cpus)),
        "soft_concurrent_query_thread_limit": str(cpus),
    }


class Hyper:
    """The server `hyperd` of the Python package tableauhyperapi."""

    driver_name = "hyper"
    port = 7483
    executables = ("hyperd",)
    readiness = Readiness(protocol="Hyper", port=7483)
    stop_signal = "SIGTERM"
    # A commit is on the storage when it returns: there is little left to write.
    stop_grace_seconds = 60
    writable_directories = ()

    def config_file(self, database: Database, resources: Resources) -> tuple[str, str]:
        """hyper.json: what dbbench must set, then the others sorted by name."""
        asked = requested(api.Engine.HYPER, database, checked)
        others = dict(sorted((_as_large_as(database, resources) | asked).items()))
        return _FILE, json.dumps(_OWN | others, indent=2, ensure_ascii=False) + "\n"

    def command(self, database: Database) -> list[str]:
        """The entrypoint puts `hyperd run` before a first option.

        In strict mode a setting that the server does not know keeps it from starting.
        """
        return ["docker-entrypoint.sh", f"--config={CONFIG}/{_FILE}", "--strict-settings-mode"]

    def environment(self, database: Database) -> dict[str, str]:
        """What the entrypoint reads. The folder is below the mount, whose root may hold lost+found.

        The name of the user is in the configuration file.
        """
        return {"HYPER_DATA": _FOLDER, "HYPER_PASSWORD_FILE": PASSWORD_FILE}

    def driver_url(self, host: str) -> str:
        """hyper://dbbench@host:7483/dbbench.hyper, a file that the first load makes."""
        return f"hyper://{DATABASE_USER}@{host}:{self.port}/{_DATABASE}"

    def unequal_settings(self, resources: Resources) -> frozenset[str]:
        """None is known: what would follow from the machine is set."""
        return frozenset()
