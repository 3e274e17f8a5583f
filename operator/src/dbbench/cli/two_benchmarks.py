"""`dbbench compare A B`: what changed from one benchmark to another."""

import asyncio
import json

import click

from dbbench.cli.comparison_view import render, to_document
from dbbench.cli.console import console
from dbbench.cli.exported import fetch, is_archive, load
from dbbench.cli.failure import CommandFailed
from dbbench.cli.where import Where
from dbbench.results.between import Between, between


def print_between(
    where: Where, sources: tuple[str, str], confidence: float, margin: float, *, as_json: bool
) -> None:
    """Names of benchmarks or paths of archives; CommandFailed when they have nothing in common."""
    found = _between(where, sources, confidence, margin)
    if as_json:
        document = to_document(found.table)
        document |= {"differences": found.differences, "emulatedTargets": found.emulated}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        render(found.table, console())
        _notes(found)


def _between(where: Where, sources: tuple[str, str], confidence: float, margin: float) -> Between:
    first, second = (
        load(source) if is_archive(source) else asyncio.run(fetch(where, source))
        for source in sources
    )
    names = (first.benchmark.metadata.name, second.benchmark.metadata.name)
    if names[0] == names[1]:
        # The same benchmark, measured again: as the user calls the two.
        names = sources
    if names[0] == names[1]:
        raise CommandFailed(f"{names[0]} twice: there is nothing to compare")
    found = between(first, second, names, confidence=confidence, margin=margin)
    if not found.table.slowdowns:
        raise CommandFailed(
            f"{names[0]} and {names[1]} have no target and workload of the same names in common"
        )
    return found


def _notes(found: Between) -> None:
    out = console()
    for gap in found.table.gaps:
        out.print(f"Not in {gap.target}: {gap.cell}", style="dim", markup=False)
    if found.emulated:
        emulated = ", ".join(found.emulated)
        out.print(f"Emulated, not representative: {emulated}", style="yellow", markup=False)
    if found.differences:
        out.print("Different between the two, and as likely the cause:")
        for difference in found.differences:
            out.print(f"  {difference}", markup=False)
