#!/usr/bin/env python3
"""The COPY phase of a load by `dbbench-driver` against COPY of the same bytes from files.

The files are read by the server itself (COPY ... FROM 'file'), on as many connections as the
driver uses, into tables without keys. What a round left behind is dropped before the next one's
time runs, for both. The driver's time runs from the start of its process until it begins to make
keys: making the rows, their digests and the journal of the load are in it. It is ended there. The
server writes without fsync, so that the disk is not what is measured.
Goals: TPC-H at least 0.95 of COPY's speed, TPC-C and TATP at least 0.90.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from copying import Source, copy
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


LOADS = {
    "tpch": Load("--scale-factor {}", "0.2", "1", ">= 0.95"),
    "tpcc": Load("--warehouses {}", "2", "10", ">= 0.9"),
    "tatp": Load("--subscribers {}", "200000", "1000000", ">= 0.9"),
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
            ratios += compare(server, asked.driver, name, scale, asked.connections, asked.rounds)
    show("load", ratios)


def compare(
    server: Server, program: str, name: str, scale: str, connections: list[int], rounds: int
) -> list[Ratio]:
    load = LOADS[name]
    line = f"{name} load {load.arguments.format(scale)} --replace"
    first = driver(program, line, server.url("postgres"))
    tables = [table for table, rows in first.document["data"]["rows"].items() if rows > 0]
    with tempfile.TemporaryDirectory(prefix="dbbench-bench-") as folder:
        source = Source.export(server, name, tables, Path(folder))
        if source.size != first.metric("copiedBytes"):
            raise SystemExit(f"{name}: the files are not what the driver sends")
        return [
            _compare(server, program, line, source, number, rounds, f"{name} {scale}", load.goal)
            for number in connections
        ]


def _compare(
    server: Server,
    program: str,
    line: str,
    source: Source,
    connections: int,
    rounds: int,
    case: str,
    goal: str,
) -> Ratio:
    speeds: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            source.empty(server)
            server.sql("postgres", f"DROP SCHEMA IF EXISTS {source.schema} CASCADE")
            server.sql("postgres", "CHECKPOINT")
            if which == 0:
                taken = load_rows(server, program, f"{line} --connections {connections}")
            else:
                taken = copy(server, source, connections)
            speeds[which].append(source.size / taken / 1e6)
    return ratio(f"{case}, {connections} conn.", "MB/second of COPY", *speeds, goal)


def load_rows(server: Server, program: str, line: str) -> float:
    """Seconds from the start of a load until it begins to make keys, where it is ended."""
    command = [program, *line.split(), "--url", server.url("postgres"), "--progress", "json"]
    began = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        said = ""
        for said in process.stderr or ():
            if json.loads(said).get("phase") == "index":
                taken = time.monotonic() - began
                process.kill()
                break
        else:
            raise SystemExit(f"{line}: {said}")
    # The server would make the key that it has been asked for, and hold its locks.
    server.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    )
    return taken


if __name__ == "__main__":
    main()
