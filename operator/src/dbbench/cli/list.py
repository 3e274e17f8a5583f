"""`dbbench list`: the benchmarks of a namespace or of all, how far they are, what they found."""

import asyncio
import json
from datetime import UTC, datetime

import click
import yaml
from rich import box
from rich.markup import escape
from rich.table import Table

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.console import console
from dbbench.cli.run_state import reason, remaining
from dbbench.cli.session import connect
from dbbench.cli.where import Where, cluster_options
from dbbench.kube.cluster import Manifest

FORMATS = ("table", "wide", "json", "yaml")


@click.command("list")
@cluster_options
@click.option("-A", "--all-namespaces", is_flag=True, help="Benchmarks of all namespaces.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="wide adds what runs now; json and yaml print the objects.",
)
def list_benchmarks(
    where: Where,
    all_namespaces: bool,
    output: str,
) -> None:
    """Print the benchmarks, how far they are and the worst slowdown of each."""
    bodies = asyncio.run(_bodies(where, everywhere=all_namespaces))
    if output == "json":
        click.echo(json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}, indent=2))
    elif output == "yaml":
        found = {"apiVersion": "v1", "kind": "List", "items": bodies}
        click.echo(yaml.safe_dump(found, sort_keys=False, allow_unicode=True), nl=False)
    elif not bodies:
        click.echo("no benchmarks", err=True)
    else:
        console().print(_table(bodies, with_namespace=all_namespaces, wide=output == "wide"))


async def _bodies(where: Where, *, everywhere: bool) -> list[Manifest]:
    async with connect(where) as session:
        found = await session.all_benchmarks(everywhere=everywhere)
    return sorted(found, key=lambda body: (body["metadata"]["namespace"], body["metadata"]["name"]))


def _table(bodies: list[Manifest], *, with_namespace: bool, wide: bool) -> Table:
    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = ["namespace"] if with_namespace else []
    names += ["name", "engine", "trials", "worst slowdown", "state", "time left"]
    for name in names + (["now"] if wide else []):
        view.add_column(name, overflow="fold")
    now = datetime.now(UTC)
    for body in bodies:
        benchmark = DBBenchmark.parse(body)
        status = benchmark.status
        progress = status.progress
        row = [benchmark.metadata.namespace] if with_namespace else []
        row += [
            benchmark.metadata.name,
            benchmark.spec.database.engine.value,
            f"{progress.trials_done}/{progress.trials_planned}" if progress else "-",
            status.worst_slowdown or "-",
            reason(benchmark) or "-",
            remaining(benchmark, now) or "-",
        ]
        row += [progress.current if progress else "-"] if wide else []
        view.add_row(*(escape(text) for text in row))
    return view
