"""`dbbench history`: what changed over time, in a file of results or among benchmarks."""

import json
from collections.abc import Sequence
from importlib import import_module

import click

from dbbench.cli.completion import benchmark_names
from dbbench.cli.console import console
from dbbench.cli.failure import CommandFailed
from dbbench.cli.history_document import Findings, to_document
from dbbench.cli.history_view import render
from dbbench.cli.measurements import rows_of
from dbbench.cli.where import Where, cluster_options
from dbbench.results.archive import SUFFIXES
from dbbench.results.history import History, Series, series_of, slowdowns, values
from dbbench.results.page import history_to_html
from dbbench.stats.history import PERMUTATIONS, SIGNIFICANCE
from dbbench.stats.trend import TrendVerdict, trends

REGRESSED = 1
"""Exit code where a series is slower than it was."""


@click.command()
@click.argument(
    "sources", nargs=-1, metavar="[NAME|ARCHIVE... | FILE]", shell_complete=benchmark_names
)
@cluster_options
@click.option("-l", "--selector", default="", help="Benchmarks with these labels, as kubectl -l.")
@click.option(
    "--of",
    "what",
    type=click.Choice(("slowdowns", "values")),
    help="Of benchmarks: how the targets compare (the default), or what each measured.",
)
@click.option(
    "--since",
    metavar="RUN",
    help="Compare with how it stood at RUN, not with how it stood before the latest change.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(("table", "json", "html")),
    default="table",
    show_default=True,
    help="Tables, a JSON document, or one page with plots.",
)
@click.option("--json", "output", flag_value="json", help="The same as -o json.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Seed of the permutations; the same seed finds the same.",
)
@click.option(
    "--significance",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=SIGNIFICANCE,
    show_default=True,
    help="Chance of a false alarm for each stretch that is looked at.",
)
@click.pass_context
def history(
    context: click.Context,
    sources: Sequence[str],
    where: Where,
    selector: str,
    what: str | None,
    since: str | None,
    output: str,
    seed: int,
    significance: float,
) -> None:
    """Print how results changed over time, and whether they are worse than they were.

    NAME stands for all benchmarks of its namespace that have ended and are the same experiment on
    the same hardware, whatever the versions of their software. Several NAMEs, files that `dbbench
    export` wrote, and -l name the runs themselves. Each comparison is a series with one value for
    each run, in the order of time.

    FILE (.csv, a path, or - for standard input) has the columns of `dbbench compare`. The values
    of one target and cell are a series, in the order of the lines; trial names the run or the
    version.

    Changes are found by E-divisive with a permutation test, and need three values on each side.
    The verdict compares the time since the latest change with that before it. Exit code 1: some
    series has Regressed.
    """
    fewest = 1 / (PERMUTATIONS + 1)
    if significance < fewest:
        raise click.BadParameter(f"must be at least {fewest:g}", param_hint="--significance")
    series, runs = _series(sources, where, selector, what)
    found = Findings(
        series,
        trends(
            [one.times for one in series],
            seed,
            since=_since(series, since),
            significance=significance,
        ),
        seed,
        significance,
        runs,
    )
    if output == "json":
        click.echo(json.dumps(to_document(found), indent=2, ensure_ascii=False))
    elif output == "html":
        click.echo(history_to_html(to_document(found)), nl=False)
    else:
        render(found, console())
    if any(trend.verdict is TrendVerdict.REGRESSED for trend in found.trends):
        context.exit(REGRESSED)


def _series(
    sources: Sequence[str], where: Where, selector: str, what: str | None
) -> tuple[list[Series], History | None]:
    """What is to be looked at, and of benchmarks where it comes from."""
    if not sources and not selector:
        raise click.UsageError("name a benchmark, a FILE, files of dbbench export, or give -l")
    files = [source for source in sources if _is_measurements(source)]
    if files:
        if len(sources) > 1 or selector or what:
            raise click.UsageError(
                f"{files[0]} is a file of measurements: give it alone, without -l and --of"
            )
        return series_of(row.sample for row in rows_of(files[0])), None
    # A file needs no cluster, and should not wait until its client is loaded.
    runs: History = import_module("dbbench.cli.benchmark_history").collected(
        where, sources, selector
    )
    series = values(runs) if what == "values" else slowdowns(runs)
    if not series:
        names = ", ".join(runs.runs)
        raise CommandFailed(f"there is no comparison in the results of {names}")
    return series, runs


def _is_measurements(source: str) -> bool:
    if source.endswith(SUFFIXES):
        return False
    return source == "-" or source.endswith(".csv") or "/" in source


def _since(series: Sequence[Series], since: str | None) -> list[int | None]:
    """The index of that run in each series; None where it has none."""
    if since is None:
        return [None] * len(series)
    trials = [[point.trial for point in one.points] for one in series]
    found = [own.index(since) if since in own else None for own in trials]
    if all(index is None for index in found):
        known = ", ".join(dict.fromkeys(trial for own in trials for trial in own))
        raise CommandFailed(f"--since {since}: there is no such run; there are: {known}")
    return found
