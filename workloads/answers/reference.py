"""Reference answers for TPC-H's 22 queries: DuckDB's, over the rows that the driver generates.

`reference.py write --driver PATH SF...` writes the files that the driver carries;
`reference.py compare --driver PATH SF...` asks DuckDB again and fails when those files differ.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
import zlib
from decimal import Decimal
from pathlib import Path

import duckdb

SHIPPED = Path(__file__).resolve().parent.parent / "driver/src/workload/tpch/answers"
SCHEMA = SHIPPED.parent / "schema.sql"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
QUERIES = range(1, 23)

DIGEST_FROM = 2000
"""Rows from which on an answer is kept as a digest: only Q16, all of whose columns are exact."""


def cell(value: object) -> str:
    """A value as the driver reads it: not rounded, no exponent, no blanks at the end."""
    if value is None:
        return "\\N"
    if isinstance(value, float):
        value = Decimal(repr(value))
    return f"{value:f}" if isinstance(value, Decimal) else str(value).rstrip()


def ordering(sql: str, columns: list[str]) -> list[int]:
    """Positions of the columns in the query's own ORDER BY, which is its last one."""
    found = re.search(r"\nORDER BY ([^\n]*)", sql)
    names = [] if found is None else [part.split()[0] for part in found[1].split(",")]
    return [columns.index(name) for name in names]


Rows = list[tuple[object, ...]]


def with_ties(rows: Rows, limit: int, order: list[int]) -> Rows:
    """The first rows, and those after them that the query's order does not tell from the last."""

    def key(row: tuple[object, ...]) -> list[object]:
        return [row[column] for column in order]

    end = limit
    while 0 < end < len(rows) and key(rows[end]) == key(rows[limit - 1]):
        end += 1
    return rows[:end]


def answer(database: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    """The lines of one query's answer, ties across its row limit included."""
    unlimited, limits = re.subn(r"\nLIMIT (\d+)\s*;?\s*$", "", sql)
    result = database.execute(unlimited)
    columns = [column[0] for column in result.description]
    rows = result.fetchall()
    if limits:
        limit = int(re.findall(r"\nLIMIT (\d+)", sql)[-1])
        rows = with_ties(rows, limit, ordering(unlimited, columns))
    return ["|".join(cell(value) for value in row) for row in rows]


def reference(driver: str, scale: str) -> str:
    """The text of the reference for one scale factor."""
    with tempfile.TemporaryDirectory() as folder:
        for command in ("generate", "queries"):
            line = [driver, "tpch", command, "--scale-factor", scale, "--output-dir", folder]
            subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        database = duckdb.connect()
        database.execute(SCHEMA.read_text())
        for table in TABLES:
            path = f"{folder}/{table}.tbl"
            database.execute(
                f"INSERT INTO {table} SELECT * EXCLUDE (closing) FROM read_csv(?, delim='|', "  # noqa: S608
                "header=false, quote='', escape='', auto_detect=false, columns=?)",
                [path, columns_of(database, table)],
            )
            Path(path).unlink()
        text = [f"# DuckDB at scale factor {scale}, with the parameters of the query validation"]
        for query in QUERIES:
            lines = answer(database, Path(f"{folder}/q{query}.sql").read_text())
            if len(lines) >= DIGEST_FROM:
                digest = hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
                text.append(f"Q{query} {len(lines)} {digest}")
            else:
                text += [f"Q{query} {len(lines)}", *lines]
        return "".join(line + "\n" for line in text)


def columns_of(database: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Name to type, and the empty column after the separator that closes dbgen's lines."""
    rows = database.execute(f"DESCRIBE {table}").fetchall()
    return {**{name: kind for name, kind, *_ in rows}, "closing": "VARCHAR"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("write", "compare"))
    parser.add_argument("--driver", required=True, help="path of dbbench-driver")
    parser.add_argument("scales", nargs="+", metavar="SF")
    arguments = parser.parse_args()
    different = []
    for scale in arguments.scales:
        path = SHIPPED / f"sf{scale}.zz"
        text = reference(arguments.driver, scale)
        if arguments.command == "write":
            path.write_bytes(zlib.compress(text.encode(), 9))
        elif zlib.decompress(path.read_bytes()).decode() != text:
            different.append(scale)
    for scale in different:
        print(f"sf{scale}.zz does not hold what DuckDB answers", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
