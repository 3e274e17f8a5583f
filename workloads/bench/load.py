#!/usr/bin/env python3
"""A load by `dbbench-driver` against COPY of the same bytes from files that are on disk already.

The files are read by the server itself (COPY ... FROM 'file'), on as many connections as the
driver uses, into tables without keys, as in the driver's own COPY phase. Generating the rows is
part of the driver's time only.
Goals: TPC-H at least 0.95 of COPY's speed, TPC-C and TATP at least 0.90.
"""

from __future__ import annotations

import os
import queue
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from program import driver
from ratio import Ratio, parser, ratio, show
from server import Server

FORMAT = "(FORMAT text, DELIMITER '|')"
PIECE = "32M"


@dataclass(frozen=True)
class Load:
    arguments: str
    goal: str


LOADS = {
    "tpch": Load("--scale-factor {}", ">= 0.95"),
    "tpcc": Load("--warehouses {}", ">= 0.9"),
    "tatp": Load("--subscribers {}", ">= 0.9"),
}
SCALES = {"tpch": "1", "tpcc": "10", "tatp": "1000000"}


def main() -> None:
    options = parser(__doc__, rounds=3)
    options.add_argument(
        "--workloads", nargs="+", default=list(LOADS), choices=LOADS, help="[%(default)s]"
    )
    options.add_argument("--connections", type=int, default=os.cpu_count(), help="[%(default)s]")
    for name, scale in SCALES.items():
        options.add_argument(
            f"--{name}-scale", default=scale, help=f"argument of {LOADS[name].arguments} [{scale}]"
        )
    asked = options.parse_args()
    ratios: list[Ratio] = []
    for name in asked.workloads:
        scale = getattr(asked, f"{name}_scale")
        with Server() as server:
            ratios.append(
                compare(server, asked.driver, name, scale, asked.connections, asked.rounds)
            )
    show("load", ratios)


def compare(
    server: Server, program: str, name: str, scale: str, connections: int, rounds: int
) -> Ratio:
    load = LOADS[name]
    line = f"{name} load {load.arguments.format(scale)} --connections {connections} --replace"
    first = driver(program, line, server.url("postgres"))
    tables = [table for table, rows in first.document["data"]["rows"].items() if rows > 0]
    ours: list[float] = []
    theirs: list[float] = []
    with tempfile.TemporaryDirectory(prefix="dbbench-bench-") as folder:
        Path(folder).chmod(0o755)
        files = export(server, name, tables, Path(folder))
        copied = sum(path.stat().st_size for path, _ in files)
        server.sql("postgres", "CREATE DATABASE files")
        create(server, name)
        for number in range(rounds):
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                server.sql("postgres", "CHECKPOINT")
                if which == 0:
                    measured = driver(program, line, server.url("postgres"))
                    ours.append(measured.metric("copiedBytes") / measured.metric("copyTime") / 1e6)
                else:
                    listed = ", ".join(f"{name}.{table}" for table in tables)
                    server.sql("files", f"TRUNCATE {listed}")
                    server.sql("postgres", "CHECKPOINT")
                    theirs.append(copied / copy(server, name, files, connections) / 1e6)
    return ratio(f"{name} {scale}", "MB/second of COPY", ours, theirs, load.goal)


def export(server: Server, schema: str, tables: list[str], folder: Path) -> list[tuple[Path, str]]:
    """Writes all tables in pieces, in the driver's own exchange format; the largest come first."""
    files: list[tuple[Path, str]] = []
    for table in tables:
        sql = f"COPY {schema}.{table} TO STDOUT WITH {FORMAT}"
        source = subprocess.Popen(
            server.client("psql", "postgres", "-XAtq", "-c", sql), stdout=subprocess.PIPE
        )
        subprocess.run(
            ["split", "-C", PIECE, "-", str(folder / f"{table}.")], stdin=source.stdout, check=True
        )
        if source.wait() != 0:
            raise SystemExit(f"{table} cannot be exported")
        files += [(path, table) for path in sorted(folder.glob(f"{table}.*"))]
    for path, _ in files:
        path.chmod(0o644)
    return sorted(files, key=lambda entry: -entry[0].stat().st_size)


def create(server: Server, schema: str) -> None:
    """The same tables without keys, in another database."""
    dump = server.client("pg_dump", "postgres", "--schema-only", "--section=pre-data", "-n", schema)
    tables = subprocess.run(dump, check=True, capture_output=True).stdout
    subprocess.run(
        server.client("psql", "files", "-Xq"), input=tables, check=True, stdout=subprocess.DEVNULL
    )


def copy(server: Server, schema: str, files: list[tuple[Path, str]], connections: int) -> float:
    """Seconds that COPY takes for all files; connections take the next one as they become free."""
    work: queue.SimpleQueue[tuple[Path, str]] = queue.SimpleQueue()
    for entry in files:
        work.put(entry)
    sessions = [Session(server) for _ in range(connections)]

    def feed(session: Session) -> None:
        while True:
            try:
                path, table = work.get_nowait()
            except queue.Empty:
                return
            session.perform(f"COPY {schema}.{table} FROM '{path}' WITH {FORMAT};")

    workers = [threading.Thread(target=feed, args=(session,)) for session in sessions]
    began = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    taken = time.monotonic() - began
    if any(session.close() != 0 for session in sessions):
        raise SystemExit("COPY from files failed")
    return taken


class Session:
    """A psql that performs one statement after the other on one connection."""

    def __init__(self, server: Server) -> None:
        command = server.client("psql", "files", "-XAtq", "-v", "ON_ERROR_STOP=1")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.perform("")

    def perform(self, sql: str) -> None:
        """Returns when the statement has ended. An error ends psql, which `close` tells."""
        if self.process.stdin and self.process.stdout and self.process.poll() is None:
            self.process.stdin.write(f"{sql}\n\\echo done\n")
            self.process.stdin.flush()
            self.process.stdout.readline()

    def close(self) -> int:
        """Ends psql; its exit code is not 0 after an error."""
        self.process.communicate()
        return self.process.returncode


if __name__ == "__main__":
    main()
