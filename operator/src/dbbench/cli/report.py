"""`dbbench report`: the results of a benchmark, as the operator wrote them."""

import asyncio
import json
from enum import StrEnum

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.console import console
from dbbench.cli.failure import BenchmarkFailed
from dbbench.cli.session import Where, cluster_options, connect


class Output(StrEnum):
    MD = "md"
    CSV = "csv"
    JSON = "json"


_KEYS = {Output.MD: "report.md", Output.CSV: "summary.csv", Output.JSON: "summary.json"}


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


@click.command()
@click.argument("name")
@cluster_options
@click.option(
    "-o",
    "--output",
    type=click.Choice([output.value for output in Output]),
    default=Output.MD.value,
    show_default=True,
    help="Format of the report.",
)
def report(
    name: str,
    namespace: str | None,
    context: str | None,
    kubeconfig: str | None,
    output: str,
) -> None:
    """Print the results of benchmark NAME."""
    where = Where(namespace, kubeconfig, context)
    text = asyncio.run(_read(where, name, _KEYS[Output(output)]))
    out = console()
    if output == Output.MD and out.is_terminal:
        out.print(_Report(text))
    elif output == Output.JSON and out.is_terminal:
        out.print_json(json.dumps(json.loads(text)), indent=2)
    else:
        click.echo(text, nl=not text.endswith("\n"))


async def _read(where: Where, name: str, key: str) -> str:
    async with connect(where) as session:
        benchmark = await session.benchmark(name)
        reference = benchmark.status.results_ref
        if reference is None:
            raise BenchmarkFailed(_no_results(benchmark))
        data = await session.config_map(reference.config_map)
        if data is None or key not in data:
            raise BenchmarkFailed(
                f"ConfigMap {reference.config_map} with the results of {name} is gone, or has no "
                f"{key}; somebody deleted it"
            )
        return data[key]


def _no_results(benchmark: DBBenchmark) -> str:
    name = benchmark.metadata.name
    progress = benchmark.status.progress
    if progress is None:
        return f"benchmark {name} has not begun; follow it with: dbbench watch {name}"
    return (
        f"benchmark {name} has no results yet: {progress.trials_done} of "
        f"{progress.trials_planned} trials are done; follow it with: dbbench watch {name}"
    )
