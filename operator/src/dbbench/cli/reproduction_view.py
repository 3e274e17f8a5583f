"""A study's tables beside the measured ones, for people and as JSON. No cluster access."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.experiments.catalogue import Experiment
from dbbench.experiments.figure import Figure
from dbbench.experiments.reduced import Manifest, changes
from dbbench.experiments.view import PairedTable, pair
from dbbench.results import wording
from dbbench.results.figures import bounds, interval, percent, quantity, three_digits, time, value
from dbbench.results.summary import Document

SCHEMA_VERSION = 1
_DASH = "-"


def listing(experiments: Sequence[Experiment], console: Console) -> None:
    """All rows, with what can be repeated of each."""
    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("row", "study", "experiment", "repeated", "files; what is missing"):
        view.add_column(name, overflow="fold", no_wrap=name == "row")
    for experiment in experiments:
        parts = (", ".join(experiment.manifests), experiment.missing)
        view.add_row(
            experiment.row,
            experiment.study,
            escape(experiment.title),
            experiment.state.value,
            escape("; ".join(part for part in parts if part)),
        )
    console.print(view)


def render(
    experiment: Experiment,
    full: Mapping[str, Manifest],
    summaries: Mapping[str, Document],
    console: Console,
) -> None:
    """Prints every table of the row, then what it was measured on and what differs."""
    console.print(f"[bold]{experiment.row}: {escape(experiment.title)}[/]")
    for table in _tables(experiment, summaries):
        if table.rows:
            console.print(_table(table))
            console.print(_source(table), style="dim")
        else:
            console.print(
                f"{table.view.title}: nothing was measured, and {table.view.source}", style="yellow"
            )
    for name, summary in summaries.items():
        console.print(f"\n[bold]{escape(summary['benchmark']['name'])}[/]")
        for line in _conditions(summary):
            console.print(escape(line))
        found = _changes(full[name], summary)
        if found:
            console.print(f"Otherwise than in {name}.yaml:")
        for line in found:
            console.print(escape(f"  {line}"))
    if experiment.missing:
        console.print(escape(f"Not repeated: {experiment.missing}."), style="yellow")


def to_document(
    experiment: Experiment, full: Mapping[str, Manifest], summaries: Mapping[str, Document]
) -> dict[str, Any]:
    """JSON-compatible; the layout is in docs/reference/cli.md."""
    return {
        "kind": "Reproduction",
        "schemaVersion": SCHEMA_VERSION,
        "row": experiment.row,
        "title": experiment.title,
        "state": experiment.state.value,
        "missing": experiment.missing,
        "benchmarks": [
            {
                "manifest": name,
                "name": summary["benchmark"]["name"],
                "environment": summary["environment"],
                "emulatedTargets": summary["emulatedTargets"],
                "fairness": summary["fairness"],
                "changes": _changes(full[name], summary),
            }
            for name, summary in summaries.items()
        ],
        "tables": [
            {
                "manifest": table.view.manifest,
                "title": table.view.title,
                "source": table.view.source,
                "baseline": table.baseline,
                "target": table.target,
                "emulated": table.emulated,
                "rows": [
                    {
                        "name": row.name,
                        "paper": _figure(row.paper),
                        "measured": _figure(row.measured),
                    }
                    for row in table.rows
                ],
            }
            for table in _tables(experiment, summaries)
        ],
    }


def _tables(experiment: Experiment, summaries: Mapping[str, Document]) -> list[PairedTable]:
    return [
        table
        for view in experiment.views
        if view.manifest in summaries
        for table in pair(view, summaries[view.manifest])
    ]


def _figure(found: Figure | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "unit": found.unit,
        "baseline": found.baseline,
        "target": found.target,
        "difference": found.difference,
        "slowdown": found.slowdown,
        "interval": bounds(found.interval),
        "verdict": found.verdict or None,
    }


def _table(table: PairedTable) -> Table:
    """The paper's columns first, and only where the study printed something."""
    target = wording.label(table.target, table.emulated)
    view = Table(
        title=escape(f"{table.view.title}: {target} compared with {table.baseline}"),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    papers = [row.paper for row in table.rows]
    ours = [row.measured for row in table.rows]
    one, two = table.view.sides
    columns = [
        *_columns(
            [f"study: {one}", f"study: {two}", "study: difference", "study: slowdown"], papers
        ),
        *_columns([f"here: {table.baseline}", f"here: {target}", "difference", "slowdown"], ours),
    ]
    if any(found and found.interval for found in ours):
        columns.append(("95 % interval", [interval(one.interval if one else None) for one in ours]))
    if any(found and found.verdict for found in ours):
        columns.append(("verdict", [(one.verdict if one else "") or _DASH for one in ours]))
    view.add_column("", overflow="fold")
    for name, _ in columns:
        view.add_column(escape(name), justify="left" if name == "verdict" else "right")
    for index, row in enumerate(table.rows):
        view.add_row(escape(row.name), *(texts[index] for _, texts in columns))
    return view


def _columns(names: Sequence[str], figures: Sequence[Figure | None]) -> list[tuple[str, list[str]]]:
    """Titles and texts of the columns in which at least one figure has something."""
    cells = [_texts(found) for found in figures]
    columns = [(name, [texts[index] for texts in cells]) for index, name in enumerate(names)]
    return [(name, texts) for name, texts in columns if any(text != _DASH for text in texts)]


def _texts(found: Figure | None) -> tuple[str, str, str, str]:
    """Baseline, target, difference, slowdown."""
    if found is None:
        return _DASH, _DASH, _DASH, _DASH
    return (
        _number(found.baseline, found.unit),
        _number(found.target, found.unit),
        _number(found.difference, found.unit) if found.slowdown is None else _DASH,
        _DASH if found.slowdown is None else percent(found.slowdown),
    )


def _number(number: float | None, unit: str) -> str:
    if number is None:
        return _DASH
    if unit == "count":
        return three_digits(number)
    if unit == "bytes":
        return f"{value(round(number / 1e6, 3))} MB"
    if unit == "seconds" and abs(number) < 0.1:
        return time(number)
    return quantity(float(f"{number:.5g}"), unit)


def _source(table: PairedTable) -> str:
    return f"Study: {table.view.source}."


def _conditions(summary: Document) -> list[str]:
    """Whether anything was emulated, hardware, fairness, and trials that do not count."""
    lines = []
    emulation = wording.emulation(summary)
    if emulation:
        lines.append(" ".join(emulation))
    environment = summary["environment"] or {}
    lines += [
        f"{label}: {environment[key]}"
        for key, label in wording.ENVIRONMENT.items()
        if environment.get(key)
    ]
    for target in environment.get("targets", ()):
        parts = [f"{target['name']}: {target['runtime']}", target["hypervisor"], target["kernel"]]
        lines.append(", ".join(part for part in parts if part))
    if summary["fairness"]:
        lines.append(f"Conditions: {summary['fairness']}")
    lines += [
        f"{counts['target']}: {counts['invalid'] + counts['failed']} attempts at trials were not "
        "usable, and repeated"
        for counts in summary["trials"]["counts"]
        if counts["invalid"] + counts["failed"]
    ]
    return lines


def _changes(full: Manifest, summary: Document) -> list[str]:
    """What is otherwise than in the file; defaults are filled in on both sides."""
    spec = DBBenchmarkSpec.model_validate(full["spec"])
    return changes({"spec": spec.document()}, {"spec": summary["spec"]})
