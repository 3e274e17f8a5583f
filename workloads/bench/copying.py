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
FORMATS = {"text": "(FORMAT text, DELIMITER '|')", "binary": "(FORMAT binary)"}
PIECE = 32 << 20
INTEGRAL = "l_quantity"
"""dbgen writes this decimal column without places."""


@dataclass(frozen=True)
class Source:
    """The rows of a schema's tables in files, and a database with empty tables for them."""

    schema: str
    tables: list[str]
    files: list[tuple[Path, str]]
    format: str
    size: int
    """Bytes of the rows as text, whatever the format of the files."""

    @staticmethod
    def export(
        server: Server, schema: str, rows: dict[str, int], folder: Path, format_: str
    ) -> Source:
        """Writes all tables in pieces; the largest come first. `rows` are how many each has."""
        folder.chmod(0o755)
        files: list[tuple[Path, str]] = []
        size = 0
        for table, expected in rows.items():
            pieces = _text(server, schema, table, folder)
            size += sum(path.stat().st_size for path in pieces)
            if sum(_lines(path) for path in pieces) != expected:
                raise SystemExit(f"{table}: the files do not have the rows that the driver sends")
            files += [(path, table) for path in pieces]
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
        source = Source(schema, list(rows), files, format_, size)
        if format_ == "binary":
            source.to_binary(server, folder)
        return source

    def to_binary(self, server: Server, folder: Path) -> None:
        """Replaces each file by one of the same rows in the server's binary format."""
        folder.chmod(0o777)
        for path, table in self.files:
            name = f"{self.schema}.{table}"
            server.sql(DATABASE, f"COPY {name} FROM '{path}' WITH {FORMATS['text']}")
            path.unlink()
            server.sql(DATABASE, f"COPY {name} TO '{path}' WITH {FORMATS['binary']}")
            server.sql(DATABASE, f"TRUNCATE {name}")

    def empty(self, server: Server) -> None:
        listed = ", ".join(f"{self.schema}.{table}" for table in self.tables)
        server.sql(DATABASE, f"TRUNCATE {listed}")


def _text(server: Server, schema: str, table: str, folder: Path) -> list[Path]:
    """Files of a table's rows in the driver's exchange format."""
    query = f"SELECT {_columns(server, schema, table)} FROM {schema}.{table}"  # noqa: S608  names of the driver's own tables
    statement = f"COPY ({query}) TO STDOUT WITH {FORMATS['text']}"
    source = subprocess.Popen(
        server.client("psql", "postgres", "-XAtq", "-c", statement), stdout=subprocess.PIPE
    )
    pieces = ["split", "-C", str(PIECE), "-", str(folder / f"{table}.")]
    subprocess.run(pieces, stdin=source.stdout, check=True)
    if source.wait() != 0:
        raise SystemExit(f"{table} cannot be exported")
    return sorted(folder.glob(f"{table}.*"))


def _lines(path: Path) -> int:
    count = subprocess.run(["wc", "-l", path], check=True, capture_output=True, text=True)
    return int(count.stdout.split()[0])


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
            session.perform(
                f"COPY {source.schema}.{table} FROM '{path}' WITH {FORMATS[source.format]};"
            )

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
