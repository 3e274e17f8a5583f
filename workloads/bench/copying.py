"""COPY from files on disk, on several connections: what a load is measured by."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from server import Server

DATABASE = "files"
FORMAT = "(FORMAT text, DELIMITER '|')"
PIECE = "32M"
INTEGRAL = "l_quantity"
"""dbgen writes this decimal column without places."""


@dataclass(frozen=True)
class Source:
    """The rows of a schema's tables in files, and a database with empty tables for them."""

    schema: str
    tables: list[str]
    files: list[tuple[Path, str]]
    size: int

    @staticmethod
    def export(server: Server, schema: str, tables: list[str], folder: Path) -> Source:
        """Writes all tables in pieces, in the driver's exchange format; the largest come first."""
        folder.chmod(0o755)
        files: list[tuple[Path, str]] = []
        for table in tables:
            columns = _columns(server, schema, table)
            rows = f"SELECT {columns} FROM {schema}.{table}"  # noqa: S608  names of the driver's own tables
            source = subprocess.Popen(
                server.client(
                    "psql", "postgres", "-XAtq", "-c", f"COPY ({rows}) TO STDOUT WITH {FORMAT}"
                ),
                stdout=subprocess.PIPE,
            )
            pieces = ["split", "-C", PIECE, "-", str(folder / f"{table}.")]
            subprocess.run(pieces, stdin=source.stdout, check=True)
            if source.wait() != 0:
                raise SystemExit(f"{table} cannot be exported")
            files += [(path, table) for path in sorted(folder.glob(f"{table}.*"))]
        for path, _ in files:
            path.chmod(0o644)
        files.sort(key=lambda entry: -entry[0].stat().st_size)
        server.sql("postgres", f"CREATE DATABASE {DATABASE}")
        keyless = ["--schema-only", "--section=pre-data", "-n", schema]
        dump = subprocess.run(
            server.client("pg_dump", "postgres", *keyless), check=True, capture_output=True
        )
        create = server.client("psql", DATABASE, "-Xq")
        subprocess.run(create, input=dump.stdout, check=True, stdout=subprocess.DEVNULL)
        return Source(schema, tables, files, sum(path.stat().st_size for path, _ in files))

    def empty(self, server: Server) -> None:
        listed = ", ".join(f"{self.schema}.{table}" for table in self.tables)
        server.sql(DATABASE, f"TRUNCATE {listed}")


def _columns(server: Server, schema: str, table: str) -> str:
    """All columns as they were sent: as text, char(n) has no blanks at its end."""
    kind = f"CASE attname WHEN '{INTEGRAL}' THEN '::integer' ELSE '::text' END"
    attributes = f"attrelid = '{schema}.{table}'::regclass AND attnum > 0"
    listed = f"string_agg(quote_ident(attname) || {kind}, ', ' ORDER BY attnum)"
    return server.sql("postgres", f"SELECT {listed} FROM pg_attribute WHERE {attributes}")  # noqa: S608


def copy(server: Server, source: Source, connections: int) -> float:
    """Seconds that COPY takes for all files; connections take the next one as they become free."""
    work: queue.SimpleQueue[tuple[Path, str]] = queue.SimpleQueue()
    for entry in source.files:
        work.put(entry)
    sessions = [Session(server) for _ in range(connections)]

    def feed(session: Session) -> None:
        while True:
            try:
                path, table = work.get_nowait()
            except queue.Empty:
                return
            session.perform(f"COPY {source.schema}.{table} FROM '{path}' WITH {FORMAT};")

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
        command = server.client("psql", DATABASE, "-XAtq", "-v", "ON_ERROR_STOP=1")
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
