"""`dbbench history`: changes in a series of results, without a cluster."""

import json
from dataclasses import dataclass
from typing import Any

import click
from rich import box
from rich.markup import escape
from rich.table import Table

from dbbench import stats
from dbbench.api.status import Verdict
from dbbench.cli.comparison_view import STYLES
from dbbench.cli.console import console
from dbbench.cli.measurements import rows_of
from dbbench.results.figures import bounds, interval, level, percent
from dbbench.stats import LogEstimate, Sample
from dbbench.stats.history import PERMUTATIONS, SIGNIFICANCE, change_points
from dbbench.stats.interval import slowdown_bounds, slowdown_of

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class _Found:
    """A change of one target and cell: the first trial after it, and the slowdown that it is."""

    sample: Sample
    p: float
    estimate: LogEstimate
    verdict: Verdict


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document instead of a table.")
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
def history(file: str, as_json: bool, seed: int, significance: float) -> None:
    """Print where the results in FILE changed, and by how much.

    FILE has the columns of `dbbench compare`. The values of one target and cell are a series, in
    the order of the lines; trial names the run or the version. Changes are found by E-divisive
    with a permutation test, and need three values on each side.
    """
    fewest = 1 / (PERMUTATIONS + 1)
    if significance < fewest:
        raise click.BadParameter(f"must be at least {fewest:g}", param_hint="--significance")
    series: dict[tuple[str, str], list[Sample]] = {}
    for row in rows_of(file):
        series.setdefault((row.sample.target, row.sample.cell), []).append(row.sample)
    found = _changes(series, seed, significance)
    if as_json:
        click.echo(json.dumps(_document(len(series), found, seed, significance), indent=2))
    elif found:
        _render(found)
    else:
        click.echo(f"No change in {len(series)} series.")


def _changes(
    series: dict[tuple[str, str], list[Sample]], seed: int, significance: float
) -> list[_Found]:
    """All changes, judged as one family."""
    places, estimates = [], []
    for samples in series.values():
        values = [sample.value for sample in samples]
        for change in change_points(values, seed, significance=significance):
            sample = samples[change.index]
            sign = -1 if sample.unit.is_rate else 1
            places.append((sample, change.p))
            estimates.append(
                LogEstimate(sign * change.change.mean, change.change.error, change.change.degrees)
            )
    judgements = stats.judge(estimates, confidence=stats.CONFIDENCE, margin=stats.MARGIN)
    return [
        _Found(sample, p, estimate, judgement.verdict)
        for (sample, p), estimate, judgement in zip(places, estimates, judgements, strict=True)
    ]


def _document(series: int, found: list[_Found], seed: int, significance: float) -> dict[str, Any]:
    return {
        "kind": "History",
        "schemaVersion": SCHEMA_VERSION,
        "seed": seed,
        "significance": significance,
        "permutations": PERMUTATIONS,
        "series": series,
        "changes": [
            {
                "target": one.sample.target,
                "cell": one.sample.cell,
                "trial": one.sample.trial,
                "p": one.p,
                "slowdown": slowdown_of(one.estimate.mean),
                "interval": bounds(slowdown_bounds(one.estimate.bounds(stats.CONFIDENCE))),
                "verdict": one.verdict.value,
            }
            for one in found
        ],
    }


def _render(found: list[_Found]) -> None:
    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("target", "cell", "from trial"):
        view.add_column(name, overflow="fold")
    view.add_column("slowdown", justify="right")
    view.add_column(f"{level(stats.CONFIDENCE)} interval", justify="right")
    view.add_column("verdict")
    view.add_column("p", justify="right")
    for one in found:
        view.add_row(
            escape(one.sample.target),
            escape(one.sample.cell),
            escape(one.sample.trial),
            percent(slowdown_of(one.estimate.mean)),
            interval(slowdown_bounds(one.estimate.bounds(stats.CONFIDENCE))),
            f"[{STYLES[one.verdict]}]{one.verdict.value}[/]",
            f"{one.p:.3g}",
        )
    console().print(view)
    console().print(
        "Slowdown: what came after, up to the next change, against what was before.", style="dim"
    )
