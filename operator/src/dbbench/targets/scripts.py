"""The user's own statements as files of the driver: no word of them is in a command line. No I/O.

They are copied into a ConfigMap of the benchmark's own, so that all trials run the same ones.
"""

from collections.abc import Mapping

from dbbench.api.sql import Script, SqlWorkload
from dbbench.targets import names, volumes
from dbbench.targets.context import Context, Manifest

# The ConfigMap's files inside the driver's container.
_SCRIPTS = "/dbbench/scripts"
_VOLUME = "scripts"
# No script's name begins with a dash or an underscore.
_SETUP = "_setup"


def files(sql: SqlWorkload) -> dict[str, Script]:
    """All scripts by the names of their files, that of the setup first."""
    setup = {} if sql.setup is None else {_file(_SETUP): sql.setup}
    return setup | {_file(script.name): script for script in sql.scripts}


def _file(name: str) -> str:
    return f"{name}.sql"


LOAD_OPTIONS = ("--script", f"{_SCRIPTS}/{_file(_SETUP)}")
"""The driver's options of the load."""


def run_options(sql: SqlWorkload) -> list[str]:
    """The driver's options of a run. It calls each kind of transaction as its file."""
    return [
        word
        for script in sql.scripts
        for word in ("--script", f"{_SCRIPTS}/{_file(script.name)}@{script.weight}")
    ]


def config_map(ctx: Context, workload: str, texts: Mapping[str, str]) -> Manifest:
    """The texts of a workload's scripts, by the names of their files. They never change."""
    labels = names.labels(ctx.benchmark, names.Component.DRIVER, workload=workload)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": names.metadata(
            ctx.benchmark, names.scripts_name(ctx.benchmark, workload), labels
        ),
        "immutable": True,
        "data": dict(texts),
    }


def volume(ctx: Context, workload: str) -> Manifest:
    """That ConfigMap as the driver's pod has it."""
    return volumes.from_config_map(_VOLUME, names.scripts_name(ctx.benchmark, workload))


def mount() -> Manifest:
    """That volume in the driver's container."""
    return volumes.mount(_VOLUME, _SCRIPTS, read_only=True)
