"""`dbbench export`: a benchmark with its raw records, as one file."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import click

from dbbench.cli.completion import benchmark_names
from dbbench.cli.exported import fetch, is_archive
from dbbench.cli.failure import BenchmarkFailed, CommandFailed
from dbbench.cli.where import Where, cluster_options
from dbbench.results.archive import ArchiveError, pack


@click.command()
@click.argument("name", shell_complete=benchmark_names)
@cluster_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="File to write, - for standard output; NAME.tar.gz by default.",
)
def export(
    name: str,
    where: Where,
    output: str | None,
) -> None:
    """Write benchmark NAME with all its raw trials into one file.

    `dbbench report FILE` computes every figure again from it, without a cluster. Secrets are not
    read, and a file that holds a password is not written.
    """
    archive = asyncio.run(fetch(where, name))
    try:
        content = pack(archive)
    except ArchiveError as error:
        raise BenchmarkFailed(f"{name} cannot be exported: {error}") from error
    path = output or f"{name}.tar.gz"
    if path == "-":
        sys.stdout.buffer.write(content)
        return
    try:
        _replace(Path(path), content)
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error
    trials = len(archive.trials)
    click.echo(f"{path}: {trials} attempts at trials, {len(content)} bytes", err=True)
    click.echo(f"Its report: dbbench report {_argument(path)} -o html > report.html", err=True)


def _replace(path: Path, content: bytes) -> None:
    """The whole file or none: a reader never finds half an archive."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _argument(path: str) -> str:
    """As `dbbench report` takes it for a file."""
    return path if is_archive(path) else f"./{path}"
