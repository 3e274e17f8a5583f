#!/usr/bin/env python3
"""The COPY phase of a load by `dbbench-driver` against COPY of the same rows from files.

The files are read by the server itself (COPY ... FROM 'file'), on as many connections as the
driver uses, into tables without keys. What a round left behind is dropped before the next one's
time runs, for both. The driver's time runs from the start of its process until it begins to make
keys: making the rows, their digests and the journal of the load are in it. It is ended there. The
server writes without fsync, so that the disk is not what is measured.
The files are text, as dbgen and others make them. The driver sends TPC-H's rows in the server's
binary format; `--files binary` gives the server files of that, too.
Goals: TPC-H at least 0.95 of COPY's speed, TPC-C and TATP at least 0.90. The second row of each
case is the CPU time of the server, and on the driver's side of the driver, for the same rows. It
tells more than the speed where other programs run.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from copying import FORMATS, Source, copy
from program import driver
from ratio import Ratio, parser, ratio, show
from server import Server


@dataclass(frozen=True)
class Load:
    arguments: str
    scale: str
    """What is loaded unless another scale is asked for: a fifth of the goal's."""
    full: str
    goal: str
    cpu_goal: str


LOADS = {
    "tpch": Load("--scale-factor {}", "0.2", "1", ">= 0.95", "<= 1.05"),
    "tpcc": Load("--warehouses {}", "2", "10", ">= 0.9", "<= 1.1"),
    "tatp": Load("--subscribers {}", "200000", "1000000", ">= 0.9", "<= 1.1"),
}


def main() -> None:
    options = parser(__doc__, rounds=5)
    options.add_argument(
        "--workloads", nargs="+", default=list(LOADS), choices=LOADS, help="[%(default)s]"
    )
    cpus = os.cpu_count() or 1
    options.add_argument(
        "--connections",
        type=int,
        nargs="+",
        default=[max(1, cpus // 2), cpus],
        help="with as many as there are CPUs, the driver and the server share them [%(default)s]",
    )
    options.add_argument("--full", action="store_true", help="the scales that the goals are for")
    options.add_argument(
        "--files", choices=FORMATS, default="text", help="format of the files [%(default)s]"
    )
    for name, load in LOADS.items():
        options.add_argument(
            f"--{name}-scale", help=f"argument of {load.arguments} [{load.scale}, full {load.full}]"
        )
    asked = options.parse_args()
    ratios: list[Ratio] = []
    for name in asked.workloads:
        load = LOADS[name]
        scale = getattr(asked, f"{name}_scale") or (load.full if asked.full else load.scale)
        with Server({"fsync": "off"}) as server:
            case = Case(server, asked.driver, name, scale, asked.files)
            ratios += compare(case, asked.connections, asked.rounds)
    show("load", ratios)


@dataclass(frozen=True)
class Case:
    server: Server
    program: str
    name: str
    scale: str
    format: str

    @property
    def line(self) -> str:
        return f"{self.name} load {LOADS[self.name].arguments.format(self.scale)} --replace"


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu_seconds: float


def compare(case: Case, connections: list[int], rounds: int) -> list[Ratio]:
    first = driver(case.program, case.line, case.server.url("postgres"))
    rows = {table: count for table, count in first.document["data"]["rows"].items() if count > 0}
    with tempfile.TemporaryDirectory(prefix="dbbench-bench-") as folder:
        source = Source.export(case.server, case.name, rows, Path(folder), case.format)
        return [one for number in connections for one in _compare(case, source, number, rounds)]


def _compare(case: Case, source: Source, connections: int, rounds: int) -> list[Ratio]:
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            source.empty(case.server)
            case.server.sql("postgres", f"DROP SCHEMA IF EXISTS {source.schema} CASCADE")
            case.server.sql("postgres", "CHECKPOINT")
            before = case.server.cpu_seconds()
            if which == 0:
                cost = load_rows(case, connections)
            else:
                cost = Cost(copy(case.server, source, connections), 0)
            server = case.server.cpu_seconds() - before
            costs[which].append(Cost(cost.seconds, cost.cpu_seconds + server))
    load = LOADS[case.name]
    title = f"{case.name} {case.scale}, {connections} conn."
    speeds = [[source.size / cost.seconds / 1e6 for cost in side] for side in costs]
    cpu = [[cost.cpu_seconds for cost in side] for side in costs]
    return [
        ratio(title, f"MB/s of {source.format} COPY", speeds[0], speeds[1], load.goal),
        ratio(title, "CPU seconds", cpu[0], cpu[1], load.cpu_goal),
    ]


def load_rows(case: Case, connections: int) -> Cost:
    """The driver's cost from its start until it begins to make keys, where it is ended."""
    line = f"{case.line} --connections {connections}"
    command = [case.program, *line.split(), "--url", case.server.url("postgres")]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--progress", "json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = ""
    for said in process.stderr or ():
        if json.loads(said).get("phase") == "index":
            break
    else:
        raise SystemExit(f"{line}: {said}")
    taken = time.monotonic() - began
    process.kill()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # The server would make the key that it has been asked for, and hold its locks.
    case.server.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )
    return Cost(taken, usage.ru_utime + usage.ru_stime)


if __name__ == "__main__":
    main()
