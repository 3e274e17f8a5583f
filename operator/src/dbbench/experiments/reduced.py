"""The reduced form of an experiment: small enough for the local cluster of this project. No I/O.

The rules are few and the same for all; docs/experiments.md has them in words. What makes an
experiment what it is stays: engine, settings, kinds of targets, kinds of workloads, connections,
caches. Figures of a reduced form show that an experiment runs, not what the study measured.
"""

import copy
import itertools
import re
from typing import Any

Manifest = dict[str, Any]

SUFFIX = "-reduced"
IMAGES = {
    "PostgreSQL": "localhost/dbbench/postgres:15",
    "Hyper": "localhost/dbbench/hyper:0.0.26963",
}
"""By engine, of the local cluster; `dbbench reproduce --image` names another one."""

MEMORY, SHARED_BUFFERS = "1Gi", "256MB"
STORAGE, IN_MEMORY = "2Gi", "512Mi"
HUGEPAGES = "384Mi"
INSTANCES = 2
CPUS = [1, 2]
WORK_PROCESSES = [1, 2]
COLD_QUERIES = [1, 4, 6, 12]
"""Each cold query costs a restart of the database, and in an emulated guest half a minute."""

SETUP_ROWS = 20000

RUNS = 2
_TPCH = {"scaleFactor": "0.01"}
_TPCC = {"warehouses": 1, "clients": 1, "warmup": "3s", "duration": "8s"}
_TATP = {"subscribers": 5000, "clients": 1, "warmup": "2s", "duration": "6s"}
_SQL = {"clients": 1, "warmup": "2s", "duration": "6s"}
_ROWS = re.compile(r"^\\set rows [0-9]+$", re.MULTILINE)
_ZACHMANN = {"tableSize": "32M", "warmup": "2s", "duration": "8s", "maxSystemTime": "20%"}
_MICRO = {"time": "1s", "fileSize": "16Mi", "sortSizes": [1000, 100000]}
_TRIALS = {"min": 2}
_TOPOLOGY = ("sockets", "cores", "threads", "maxSockets")


def reduced(full: Manifest) -> Manifest:
    """A copy of a full DBBenchmark, reduced."""
    document = copy.deepcopy(full)
    document["metadata"]["name"] += SUFFIX
    spec = document["spec"]
    _database(spec["database"])
    resources = spec["resources"]
    resources |= {"cpu": 1, "memory": MEMORY}
    if "hugepages" in resources:
        resources["hugepages"]["size"] = HUGEPAGES
    if "cpu" in spec.get("sweep", {}):
        spec["sweep"]["cpu"] = list(CPUS)
        # As many CPUs as the machine of the local cluster has cannot be exclusive.
        resources["dedicatedCPUs"] = False
    if "workProcesses" in spec.get("sweep", {}):
        spec["sweep"]["workProcesses"] = list(WORK_PROCESSES)
    _targets(spec)
    for workload in spec["workloads"]:
        _workload(workload)
    spec["trials"] = dict(_TRIALS)
    return document


def _database(database: Manifest) -> None:
    database["image"] = IMAGES[database["engine"]]
    if database["engine"] == "PostgreSQL":
        config = database.setdefault("config", {})
        config["shared_buffers"] = SHARED_BUFFERS
        for name in ("work_mem", "max_wal_size", "max_connections"):
            config.pop(name, None)
    storage = database["storage"]
    storage["size"] = IN_MEMORY if storage.get("medium") == "Memory" else STORAGE


def _targets(spec: Manifest) -> None:
    """Without host targets, which need rights that the operator does not have by default."""
    spec["targets"] = [target for target in spec["targets"] if "host" not in target]
    names = [target["name"] for target in spec["targets"]]
    if spec["baseline"] not in names:
        spec["baseline"] = names[0]
    for target in spec["targets"]:
        if "instances" in target:
            target["instances"] = min(target["instances"], INSTANCES)
        machine = target.get("virtualMachine", {})
        for program in ("guestKernel", "launcher"):
            if program in machine:
                machine[program]["image"] = _local(machine[program]["image"])
        if machine.get("accelerator") == "KVM":
            machine["accelerator"] = "Auto"
        cpu = machine.get("cpu", {})
        for part in _TOPOLOGY:
            cpu.pop(part, None)


def _local(image: str) -> str:
    """The image of the local cluster that has the same name."""
    return f"localhost/dbbench/{image.rpartition('/')[2]}"


def _workload(workload: Manifest) -> None:
    tpch = workload.get("tpch")
    if tpch is not None:
        tpch |= _TPCH | {"runs": min(tpch.get("runs", RUNS), RUNS)}
        if "Cold" in tpch.get("cache", ()):
            tpch |= {"queries": list(COLD_QUERIES), "runs": 1}
    kinds = {"tpcc": _TPCC, "tatp": _TATP, "sql": _SQL, "zachmann": _ZACHMANN}
    for kind, values in kinds.items():
        if kind in workload:
            workload[kind] |= values
    setup = workload.get("sql", {}).get("setup", {})
    if "text" in setup:
        setup["text"] = _ROWS.sub(rf"\\set rows {SETUP_ROWS}", setup["text"])
    micro = workload.get("micro", {})
    micro |= {name: value for name, value in _MICRO.items() if name in micro}
    if "threads" in micro:
        micro["threads"] = [1]
    zachmann = workload.get("zachmann", {})
    if "workProcesses" in zachmann:
        zachmann["workProcesses"] = min(zachmann["workProcesses"], WORK_PROCESSES[-1])
    # The node's CPUs are others.
    zachmann.pop("physicalCPUs", None)


def changes(full: Manifest, other: Manifest) -> list[str]:
    """Every field of the spec that is otherwise, as `path: 1 -> 0.01`; lists of names by name."""
    return _differences("spec", full["spec"], other["spec"])


def _differences(path: str, one: Any, two: Any) -> list[str]:  # noqa: ANN401 - any JSON
    if isinstance(one, dict) and isinstance(two, dict):
        return [
            line
            for name in dict.fromkeys([*one, *two])
            for line in _differences(f"{path}.{name}", one.get(name), two.get(name))
        ]
    if _named(one) and _named(two):
        ones, twos = ({entry["name"]: entry for entry in entries} for entries in (one, two))
        return [
            line
            for name in dict.fromkeys([*ones, *twos])
            for line in _differences(f"{path}[{name}]", ones.get(name), twos.get(name))
        ]
    if isinstance(one, str) and isinstance(two, str) and "\n" in one:
        lines = itertools.zip_longest(one.splitlines(), two.splitlines())
        return [
            line
            for number, (before, after) in enumerate(lines, 1)
            for line in _differences(f"{path}, line {number}", before, after)
        ]
    return [] if one == two else [f"{path}: {_shown(one)} -> {_shown(two)}"]


def _named(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict) and "name" in entry for entry in value
    )


def _shown(value: object) -> str:
    if value is None:
        return "absent"
    if isinstance(value, dict):
        inner = ", ".join(f"{name}: {_shown(entry)}" for name, entry in value.items())
        return f"{{{inner}}}"
    if isinstance(value, list):
        return f"[{', '.join(_shown(entry) for entry in value)}]"
    return str(value)
