"""`dbbench plan`: what a benchmark will do and how long it will take, before it runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click
from rich import box
from rich.markup import escape
from rich.table import Table

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.cli.console import console
from dbbench.cli.documents import documents
from dbbench.cli.failure import CommandFailed
from dbbench.plan import block_limits, cells
from dbbench.plan.duration import (
    Assumptions,
    Expected,
    expected,
    expected_of_tests,
    load_seconds,
    trial_seconds,
)
from dbbench.plan.intervention import CHANGES, confirming_places
from dbbench.results.figures import seconds
from dbbench.stats.stopping import looks

SCHEMA_VERSION = 1


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document instead of text.")
@click.option(
    "--assume",
    "changes",
    multiple=True,
    metavar="NAME=SECONDS",
    help="Another value of an assumption, as you measured it; can be given several times.",
)
def plan(file: str, as_json: bool, changes: Sequence[str]) -> None:
    """Print blocks, trials, cells and the expected duration of the benchmarks in FILE.

    FILE is YAML with one DBBenchmark or several; - reads standard input. No cluster is asked: its
    rules across fields are checked by kubectl apply --dry-run=server. The duration rests on
    assumptions that are printed with it, and leaves out repeated trials. A
    guest under software emulation takes several times as long.
    """
    try:
        assumed = Assumptions().changed(dict(_change(text) for text in changes))
    except ValueError as error:
        raise CommandFailed(f"--assume: {error}") from error
    found = [(one.title, one.spec, expected(one.spec, assumed)) for one in documents(file)]
    if as_json:
        plans = [_document(title, spec, run, assumed) for title, spec, run in found]
        document = {
            "kind": "Plans",
            "schemaVersion": SCHEMA_VERSION,
            "assumptions": asdict(assumed),
            "plans": plans,
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    for title, spec, run in found:
        _render(title, spec, run, assumed)
    named = ", ".join(f"{key}={value:g}" for key, value in asdict(assumed).items())
    console().print(f"Assumed seconds (change them with --assume): {named}", style="dim")


def _change(text: str) -> tuple[str, float]:
    name, separator, value = text.partition("=")
    try:
        if separator:
            return name, float(value)
    except ValueError:
        pass
    raise ValueError(f"{text!r} is not NAME=SECONDS; write for example query=0.5")


def _soonest(spec: DBBenchmarkSpec) -> int:
    """The fewest blocks that the run can end with."""
    fewest, most = block_limits(spec)
    if spec.trials.target_half_width is None:
        return fewest
    per_value = spec.trials.blocks_per_deployment
    return next((count for count in range(fewest, most) if looks(count, per_value)), most)


def _document(
    title: str, spec: DBBenchmarkSpec, run: Expected, assumed: Assumptions
) -> dict[str, Any]:
    _, most = block_limits(spec)
    if spec.trials.target_half_width is None:
        most = _soonest(spec)
    counts = dict.fromkeys((_soonest(spec), most))
    return {
        "benchmark": title,
        "mode": spec.trials.mode.value,
        "targets": [target.name for target in spec.measured_targets],
        "deployments": run.deployments,
        "cells": [cell.key for cell in cells(spec)],
        "trialsPerBlock": run.trials_per_block,
        "preparationSeconds": run.preparation,
        "blockSeconds": run.block,
        "ends": [
            {
                "blocks": blocks,
                "trials": blocks * run.trials_per_block,
                "expectedSeconds": run.seconds(blocks),
            }
            for blocks in counts
        ],
        "tests": _tests(spec, assumed),
    }


def _tests(spec: DBBenchmarkSpec, assumed: Assumptions) -> dict[str, Any] | None:
    """What may follow to test causes, at most; None where nothing does."""
    run = expected_of_tests(spec, assumed)
    if run is None:
        return None
    return {
        "blocks": spec.trials.min,
        "trials": spec.trials.min * run.trials_per_block,
        "expectedSeconds": run.seconds(spec.trials.min),
        "changes": list(
            dict.fromkeys(
                CHANGES[cell.intervention] for cell in confirming_places(spec) if cell.intervention
            )
        ),
    }


def _render(title: str, spec: DBBenchmarkSpec, run: Expected, assumed: Assumptions) -> None:
    out = console()
    document = _document(title, spec, run, assumed)
    out.print(f"[bold]{escape(title)}[/]: {run.cells} cells on {run.targets} targets "
              f"({escape(', '.join(document['targets']))})")  # fmt: skip
    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    view.add_column("cell", overflow="fold")
    view.add_column("one trial", justify="right")
    loaded = f"loading, once for each of {run.deployments} deployments"
    if spec.trials.redeploy:
        loaded += " of a block" if spec.trials.blocks_per_deployment == 1 else " of these blocks"
    view.add_column(loaded, justify="right")
    for cell in cells(spec):
        workload = spec.workload(cell.workload)
        view.add_row(
            escape(cell.key),
            seconds(trial_seconds(workload, cell, assumed)),
            seconds(load_seconds(workload, assumed)),
        )
    out.print(view)
    anew = [target.name for target in spec.measured_targets if not spec.keeps_data(target)]
    if spec.trials.redeploy:
        count = spec.trials.blocks_per_deployment
        blocks = "block" if count == 1 else f"{count} blocks"
        out.print(f"Deployed and loaded anew for every {blocks}: every target (trials.redeploy)")
    elif anew:
        out.print(f"Loaded in every block, for the data end with the target: {', '.join(anew)}")
    if spec.duet:
        out.print("Measured on both targets at the same time, on CPUs of their own (a duet)")
    out.print(
        f"Preparation {seconds(run.preparation)}, then {seconds(run.block)} for each block of "
        f"{run.trials_per_block} trials."
    )
    words = ["Expected" if len(document["ends"]) == 1 else "At the soonest", "At the latest"]
    for word, end in zip(words, document["ends"], strict=False):
        out.print(
            f"{word}: {end['blocks']} blocks, {end['trials']} trials, "
            f"{seconds(end['expectedSeconds'])}"
        )
    if tests := document["tests"]:
        out.print(
            f"Then, to test the causes of slowdowns: at most {tests['blocks']} blocks more, "
            f"{tests['trials']} trials, {seconds(tests['expectedSeconds'])} "
            f"({escape(' or '.join(tests['changes']))})"
        )
