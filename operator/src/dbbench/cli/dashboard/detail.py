"""The page of one benchmark: how far it is, what it found, what its conditions say. No I/O."""

from collections.abc import Sequence
from datetime import datetime

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.status import Comparison
from dbbench.cli.dashboard.frame import home, live, page
from dbbench.cli.dashboard.parts import bar, clock, emulated, href, marked, stand, waited, when
from dbbench.cli.run_state import (
    bounds,
    cell_name,
    count,
    ending,
    line,
    news,
    state,
    tested,
    warnings,
)
from dbbench.results.figures import quantity
from dbbench.results.page.conditions import environment
from dbbench.results.page.forest import Row, forest
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.tables import table
from dbbench.results.wording import label, resources
from dbbench.stats import CONFIDENCE, MARGIN

_DOCUMENTS = {
    "report.html": "Full report",
    "report.md": "Markdown",
    "report.csv": "CSV",
    "report.json": "JSON",
}


def detail(benchmark: DBBenchmark, now: datetime) -> str:
    """The page."""
    metadata, passed = benchmark.metadata, waited(benchmark, now)
    main = [
        element(
            "header",
            element("p", home(), f" / {metadata.namespace}", class_="where"),
            live("title", element("h1", metadata.name, " ", emulated(benchmark))),
            live("state", _state(benchmark, now, passed)),
            # Read out as it changes; the time that is left would be read out all the time.
            live("news", news(benchmark, passed), class_="unseen", role="status"),
            live("warnings", [
                element("div", text, class_="warning", role="note") for text in warnings(benchmark)
            ]),
            live("facts", _facts(benchmark, now)),
            live("documents", _documents(benchmark)),
        ),
        live("results", _results(benchmark)),
        live("conditions", _conditions(benchmark, now)),
        live("environment", _environment(benchmark)),
    ]  # fmt: skip
    return page(f"{metadata.name}: {line(benchmark, now, passed)}", main, now)


def _state(benchmark: DBBenchmark, now: datetime, passed: float) -> list[Child]:
    return [
        element("p", marked(stand(benchmark), state(benchmark, now, passed)), class_="now"),
        element("p", bar(benchmark), count(benchmark)),
    ]


def _facts(benchmark: DBBenchmark, now: datetime) -> Safe:
    spec, status = benchmark.spec, benchmark.status
    expected = status.progress.estimated_completion_time if status.progress else None
    facts: dict[str, Child] = {
        "database": f"{spec.database.engine.value}, {spec.database.image}",
        "each target": resources(spec.document()),
        "baseline": spec.baseline,
        "started": when(status.start_time, now),
    }
    if status.completion_time is not None:
        facts["ended"] = when(status.completion_time, now)
    elif expected is not None:
        facts["expected end"] = clock(expected, now)
    if status.queue is not None:
        place = f"{status.queue.position}, for {status.queue.node}: {status.queue.benchmark}"
        facts["place in the queue"] = place
    return element(
        "dl",
        (element("div", element("dt", name), element("dd", text)) for name, text in facts.items()),
    )


def _documents(benchmark: DBBenchmark) -> Safe:
    if benchmark.status.results_ref is None:
        return element("p", "The report is there when the run has ended.", class_="note")
    links = (
        element("a", title, href=href(benchmark, document), id=f"to-{document}")
        for document, title in _DOCUMENTS.items()
    )
    return element("nav", links, aria_label="Results")


def _results(benchmark: DBBenchmark) -> Safe | None:
    found = benchmark.status.comparisons
    if not found:
        return None
    causes = [
        element("li", element("b", f"{cell_name(one)}: {label(one.target, one.emulated)}: "),
                one.cause)
        for one in found if one.cause
    ] + [element("li", tested(one)) for one in benchmark.status.confirmations]  # fmt: skip
    return element(
        "section",
        element("h2", "Results" if ending(benchmark) else "Results so far"),
        forest(
            f"Compared with {benchmark.spec.baseline}",
            "workload: target",
            ["metric", benchmark.spec.baseline, "on target", "blocks"],
            [_row(one) for one in found],
            texts={1},
            confidence=_confidence(found),
            margin=MARGIN,
        ),
        element("ul", causes) if causes else None,
    )


def _row(found: Comparison) -> Row:
    return Row(
        name=[f"{cell_name(found)}: ", element("b", label(found.target, found.emulated))],
        slowdown=float(found.slowdown),
        bounds=bounds(found),
        verdict=found.verdict.value,
        cells=[
            found.metric,
            quantity(float(found.baseline_value), found.unit),
            quantity(float(found.target_value), found.unit),
            str(found.blocks),
        ],
        noise_floor=None if found.noise_floor is None else float(found.noise_floor),
    )


def _confidence(found: Sequence[Comparison]) -> float:
    levels = [float(one.confidence_interval.level) for one in found if one.confidence_interval]
    return levels[0] if levels else CONFIDENCE


def _conditions(benchmark: DBBenchmark, now: datetime) -> Safe | None:
    rows: list[list[Child]] = [
        [
            one.type,
            one.status.value,
            one.reason,
            one.message or "-",
            when(one.last_transition_time, now),
        ]
        for one in benchmark.status.conditions
    ]
    if not rows:
        return None
    header = ("condition", "status", "reason", "message", "since")
    return element(
        "section",
        element("h2", "Conditions"),
        table("What the operator says, and what tools wait for", header, rows,
              texts=range(len(header)), kind="runs"),
    )  # fmt: skip


def _environment(benchmark: DBBenchmark) -> Safe | None:
    found = benchmark.status.environment
    if found is None:
        return None
    return element(
        "section",
        element("h2", "Environment"),
        environment({"environment": found.document()}),
    )
