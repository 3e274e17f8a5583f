"""`dbbench report`: the results of a benchmark, published or computed again from an archive."""

import asyncio
import json
from enum import StrEnum

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from dbbench.cli.completion import benchmark_names
from dbbench.cli.console import console
from dbbench.cli.exported import archive_of, is_archive, load, published_results, recomputed
from dbbench.cli.session import Session, connect
from dbbench.cli.where import Where, cluster_options
from dbbench.results.archive import Archive
from dbbench.results.documents import (
    REPORT,
    SUMMARY_CSV,
    SUMMARY_JSON,
    to_csv,
    to_json,
    to_markdown,
)
from dbbench.results.page import to_html


class Output(StrEnum):
    MD = "md"
    CSV = "csv"
    JSON = "json"
    HTML = "html"


_KEYS = {Output.MD: REPORT, Output.CSV: SUMMARY_CSV, Output.JSON: SUMMARY_JSON}
_RENDER = {Output.MD: to_markdown, Output.CSV: to_csv, Output.JSON: to_json}


class _FoldingTable(TableElement):
    """Folds what does not fit, where rich would cut it: the ends of names tell them apart."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for part in super().__rich_console__(console, options):
            if isinstance(part, Table):
                for column in part.columns:
                    column.overflow = "fold"
            yield part


class _Report(Markdown):
    elements = Markdown.elements | {"table_open": _FoldingTable}


output_option = click.option(
    "-o",
    "--output",
    type=click.Choice([output.value for output in Output]),
    default=Output.MD.value,
    show_default=True,
    help="Format of the report.",
)


@click.command()
@click.argument("source", metavar="NAME|ARCHIVE", shell_complete=benchmark_names)
@cluster_options
@output_option
def report(
    source: str,
    where: Where,
    output: str,
) -> None:
    """Print the results of benchmark NAME, or of a file that `dbbench export` wrote.

    html is one page with plots that needs nothing beside it; redirect it into a file.

    ARCHIVE is a path with a slash, a name that ends in .tar.gz or .tgz, or - for standard input.
    Its figures are computed again from the raw trials, without a cluster, and compared with what
    was published.
    """
    wanted = Output(output)
    if is_archive(source):
        show(_rendered(load(source), wanted), wanted)
    else:
        show(asyncio.run(rendering(where, source, wanted)), wanted)


async def rendering(where: Where, name: str, wanted: Output) -> str:
    """The report of a benchmark in the cluster; BenchmarkFailed when it has no results."""
    async with connect(where) as session:
        return await rendering_of(session, name, wanted)


async def rendering_of(session: Session, name: str, wanted: Output) -> str:
    """As `rendering`, in a session that is open; others go on while figures are computed."""
    if wanted is Output.HTML:
        return await asyncio.to_thread(_rendered, await archive_of(session, name), wanted)
    return await _published(session, name, wanted)


def show(text: str, wanted: Output) -> None:
    """Prints a report, laid out where the output is a terminal."""
    out = console()
    if wanted is Output.MD and out.is_terminal:
        out.print(_Report(text))
    elif wanted is Output.JSON and out.is_terminal:
        out.print_json(json.dumps(json.loads(text)), indent=2)
    else:
        click.echo(text, nl=not text.endswith("\n"))


async def _published(session: Session, name: str, wanted: Output) -> str:
    """As the operator wrote it."""
    key = _KEYS[wanted]
    data = await published_results(session, await session.benchmark(name), key)
    return data[key]


def _rendered(archive: Archive, wanted: Output) -> str:
    """Recomputed, and all of it: a file has no limit of a ConfigMap's size."""
    document = recomputed(archive)
    if wanted is Output.HTML:
        return to_html(document, archive.trials)
    return _RENDER[wanted](document)
