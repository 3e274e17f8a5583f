"""`dbbench compare`: slowdowns from a file of measurements, or between two benchmarks."""

import json
from collections.abc import Sequence
from importlib import import_module

import click

from dbbench import stats
from dbbench.cli import long_form
from dbbench.cli.comparison_view import render, to_document
from dbbench.cli.console import console
from dbbench.cli.failure import CommandFailed
from dbbench.cli.measurements import listed, name_of, rows_of
from dbbench.cli.where import Where, cluster_options
from dbbench.stats import ComparisonTable


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="FILE | A B")
@cluster_options
@click.option("--baseline", help="With FILE: the target that the others are compared with.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document instead of tables.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=stats.CONFIDENCE,
    show_default=True,
    help="Level of the confidence intervals.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0),
    default=stats.MARGIN,
    show_default=True,
    help="Slowdowns up to this size count as equivalent; 0.01 is 1 %.",
)
def compare(
    sources: Sequence[str],
    where: Where,
    baseline: str | None,
    as_json: bool,
    confidence: float,
    margin: float,
) -> None:
    """Print how much slower each target in FILE is than the baseline, or benchmark B than A.

    A and B are names of benchmarks, or files that `dbbench export` wrote. Each of their targets is
    compared with itself; the two were not measured together, so all else that differs is listed.

    FILE is CSV with the header target,cell,trial,value or target,cell,trial,value,unit; - reads
    standard input. The unit is seconds (the default), per_second or per_minute. Trials of the same
    name belong together: they are compared pair by pair, and give the confidence interval. Two
    columns may be added: position (when in its trial a target was measured, 1, 2, ... or seconds:
    then drift within trials is taken out) and deployment (of several, each counts as one value).
    """
    if len(sources) > 2:
        raise click.UsageError("give one FILE, or two benchmarks A and B")
    if len(sources) == 2:
        if baseline is not None:
            raise click.UsageError("--baseline is for a FILE; of A and B, A is the baseline")
        # A file needs no cluster, and should not wait until its client is loaded.
        two = import_module("dbbench.cli.two_benchmarks")
        two.print_between(where, (sources[0], sources[1]), confidence, margin, as_json=as_json)
        return
    if baseline is None:
        raise click.UsageError("a FILE needs --baseline; to compare benchmarks, give two")
    table = _of_file(sources[0], baseline, confidence, margin)
    if as_json:
        click.echo(json.dumps(to_document(table), indent=2, ensure_ascii=False))
    else:
        render(table, console())


def _of_file(file: str, baseline: str, confidence: float, margin: float) -> ComparisonTable:
    name = name_of(file)
    rows = rows_of(file)
    targets = list(dict.fromkeys(row.sample.target for row in rows))
    if baseline not in targets:
        raise CommandFailed(
            f"{name}: no target is called {baseline!r}; --baseline must be one of: "
            f"{', '.join(targets)}"
        )
    if len(targets) == 1:
        raise CommandFailed(f"{name}: {baseline} is the only target; add one to compare with it")
    table = stats.compare(
        [row.sample for row in rows], baseline, confidence=confidence, margin=margin
    )
    if table.gaps:
        raise CommandFailed(listed(name, _gaps(table, rows)))
    return table


def _gaps(table: ComparisonTable, rows: Sequence[long_form.Row]) -> list[long_form.Problem]:
    return [
        long_form.Problem(
            next(row.line for row in rows if row.sample.cell == gap.cell),
            "cell",
            f"cell {gap.cell!r} has no value for target {gap.target!r}; add one, or remove the "
            "cell's other values",
        )
        for gap in table.gaps
    ]
