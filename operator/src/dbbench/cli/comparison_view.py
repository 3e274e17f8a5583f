"""A table of comparisons for people, and as JSON."""

from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbbench.api.status import Verdict
from dbbench.results.figures import bounds, interval, level, percent, quantity, share, together
from dbbench.stats import AggregateSlowdowns, ComparisonTable, Slowdown

SCHEMA_VERSION = 1

STYLES = {
    Verdict.SLOWER: "red",
    Verdict.FASTER: "green",
    Verdict.EQUIVALENT: "cyan",
    Verdict.INCONCLUSIVE: "yellow",
}


def render(table: ComparisonTable, console: Console) -> None:
    """Prints a table for each target, with its aggregates below it."""
    targets = dict.fromkeys(slowdown.target for slowdown in table.slowdowns)
    for target in targets:
        slowdowns = [found for found in table.slowdowns if found.target == target]
        aggregates = [found for found in table.aggregates if found.target == target]
        console.print(_target_table(table, target, slowdowns, aggregates))
        for aggregate in aggregates:
            if aggregate.cells > 1:
                console.print(_aggregate_line(aggregate, several_units=len(aggregates) > 1))
        for note in _notes(table, slowdowns):
            console.print(note, style="dim")
    judged = sum(found.interval is not None for found in table.slowdowns)
    if judged > 1:
        console.print(together(judged, table.confidence), style="dim")


def to_document(table: ComparisonTable) -> dict[str, Any]:
    """JSON-compatible; the layout is in docs/reference/cli.md."""
    return {
        "kind": "Comparison",
        "schemaVersion": SCHEMA_VERSION,
        "baseline": table.baseline,
        "confidence": table.confidence,
        "margin": table.margin,
        "slowdowns": [
            {
                "cell": found.cell,
                "target": found.target,
                "unit": found.unit.value,
                "baselineValue": found.baseline_value,
                "targetValue": found.target_value,
                "absolute": found.absolute,
                "slowdown": found.relative,
                "interval": bounds(found.interval),
                "verdict": found.verdict.value,
                "adjustedP": found.adjusted_p,
                "trials": found.trials,
                "paired": found.paired,
                "unpaired": found.unpaired,
                "deployments": found.deployments,
            }
            for found in table.slowdowns
        ],
        "aggregates": [
            {
                "target": found.target,
                "unit": found.unit.value,
                "cells": found.cells,
                "meanOfSlowdowns": found.mean_of_slowdowns,
                "slowdownOfTotal": found.slowdown_of_total,
                "geometricMean": found.geometric_mean,
                "intervals": {
                    "meanOfSlowdowns": bounds(found.mean_interval),
                    "slowdownOfTotal": bounds(found.total_interval),
                    "geometricMean": bounds(found.geometric_interval),
                },
                "shares": [
                    {
                        "cell": part.cell,
                        "ofBaseline": part.of_baseline,
                        "contribution": part.contribution,
                    }
                    for part in found.shares
                ],
            }
            for found in table.aggregates
        ],
    }


def _target_table(
    table: ComparisonTable,
    target: str,
    slowdowns: list[Slowdown],
    aggregates: list[AggregateSlowdowns],
) -> Table:
    shares = {
        (aggregate.unit, part.cell): part.of_baseline
        for aggregate in aggregates
        for part in aggregate.shares
    }
    with_shares = len(slowdowns) > 1
    view = Table(
        title=escape(f"{target} compared with {table.baseline}"),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    view.add_column("cell", overflow="fold")
    for name in (table.baseline, target, "difference", "slowdown"):
        view.add_column(escape(name), justify="right", overflow="fold")
    view.add_column(f"{level(table.confidence)} interval", justify="right")
    view.add_column("verdict")
    view.add_column("trials", justify="right")
    if with_shares:
        view.add_column("share of total", justify="right")
    for found in slowdowns:
        cells = [
            escape(found.cell),
            quantity(found.baseline_value, found.unit.value),
            quantity(found.target_value, found.unit.value),
            quantity(found.absolute, found.unit.value),
            percent(found.relative),
            interval(found.interval),
            f"[{STYLES[found.verdict]}]{found.verdict.value}[/]",
            str(found.trials),
        ]
        if with_shares:
            cells.append(share(shares[found.unit, found.cell]))
        view.add_row(*cells)
    return view


def _aggregate_line(aggregate: AggregateSlowdowns, *, several_units: bool) -> str:
    of = f" (in {aggregate.unit.value})" if several_units else ""
    parts = [
        f"{name} {percent(ratio)}" + (f" ({interval(sure)})" if sure else "")
        for name, ratio, sure in (
            ("mean of slowdowns", aggregate.mean_of_slowdowns, aggregate.mean_interval),
            ("slowdown of total", aggregate.slowdown_of_total, aggregate.total_interval),
            ("geometric mean", aggregate.geometric_mean, aggregate.geometric_interval),
        )
    ]
    return f"{aggregate.cells} cells{of}: {', '.join(parts)}"


def _notes(table: ComparisonTable, slowdowns: list[Slowdown]) -> list[str]:
    notes = []
    if any(found.interval is None for found in slowdowns):
        notes.append(
            "No interval, and therefore no verdict, where there are fewer than two trials."
        )
    if any(not found.paired for found in slowdowns):
        notes.append(
            "Trials that bear different names on the two sides are compared as independent samples."
        )
    unpaired = sum(found.unpaired for found in slowdowns)
    if unpaired:
        notes.append(
            f"{unpaired} values are left out: their trial is not there for the other target."
        )
    if any(found.verdict is Verdict.EQUIVALENT for found in slowdowns):
        notes.append(f"Equivalent: the whole interval is within ±{table.margin * 100:g} %.")
    return notes
