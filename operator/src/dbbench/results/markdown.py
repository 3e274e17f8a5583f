"""report.md: the answer, the slowdown tables, and what they rest on. No I/O."""

from collections.abc import Mapping
from typing import Any

from dbbench.results.cause_tables import where_the_time_went
from dbbench.results.figures import (
    interval,
    level,
    milliseconds,
    percent,
    quantity,
    share,
    together,
)
from dbbench.results.tables import table
from dbbench.stats.interval import FEWEST_FOR_DRIFT

Document = Mapping[str, Any]

_QUANTILES = ("p50", "p95", "p99", "p99.9")


def to_markdown(document: Document) -> str:
    """The report of a summary, as GitHub-flavoured Markdown."""
    sections = [
        [f"# {document['benchmark']['name']}", "", document["answer"]],
        _emulation(document),
        _slowdowns(document),
        _controls(document),
        _aggregates(document),
        _gates(document),
        where_the_time_went(document),
        _queries(document),
        _latencies(document),
        _errors(document),
        _trials(document),
        _fairness(document),
        _environment(document),
        _method(document),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _emulation(document: Document) -> list[str]:
    if not document["emulatedTargets"]:
        return []
    names = ", ".join(document["emulatedTargets"])
    return [
        f"> **Emulated: not representative.** {names} ran under software emulation (TCG): the node "
        "has no hardware virtualization. The figures show that everything works; they do not show "
        "what a virtual machine costs."
    ]


def _slowdowns(document: Document) -> list[str]:
    rows = [
        [
            _where(found),
            _target(found["target"], found["emulated"]),
            found["metric"],
            quantity(found["baselineValue"], found["unit"]),
            quantity(found["targetValue"], found["unit"]),
            f"**{percent(found['slowdown'])}**",
            interval(_bounds(found)),
            found["verdict"],
            str(found["blocks"]),
        ]
        for found in document["comparisons"]
    ]
    if not rows:
        return []
    header = [
        "workload",
        "target",
        "metric",
        document["baseline"],
        "on target",
        "slowdown",
        f"{level(document['confidence'])} interval",
        "verdict",
        "blocks",
    ]
    lines = ["## Slowdown", "", *table(header, rows, left=3)]
    judged = sum(found["primary"] and found["interval"] is not None for found in
                 document["comparisons"])  # fmt: skip
    if judged > 1:
        lines += ["", together(judged, document["confidence"])]
    return lines


def _controls(document: Document) -> list[str]:
    rows = [
        [
            _where(found),
            found["metric"],
            percent(found["slowdown"]),
            interval(_bounds(found)),
            str(found["blocks"]),
        ]
        for found in document["controls"]
    ]
    if not rows:
        return []
    header = [
        "workload",
        "metric",
        "slowdown",
        f"{level(document['confidence'])} interval",
        "blocks",
    ]
    return [
        "## Noise floor",
        "",
        f"{document['baseline']} compared with itself (A/A), on a second deployment in the same "
        "blocks. There is no verdict on a slowdown no farther from 0 than this interval reaches, "
        "and no equivalence where it reaches beyond the margin.",
        "",
        *table(header, rows, left=2),
    ]


def _aggregates(document: Document) -> list[str]:
    rows = [
        [
            _where(found),
            _target(found["target"], found["emulated"]),
            *(
                _with_bounds(found["aggregates"][name], found["aggregates"]["intervals"][name])
                for name in ("meanOfSlowdowns", "slowdownOfTotal", "geometricMean")
            ),
        ]
        for found in document["comparisons"]
        if found["primary"] and found["aggregates"]
    ]
    if not rows:
        return []
    header = ["workload", "target", "mean of slowdowns", "slowdown of total", "geometric mean"]
    return [
        "## Queries together",
        "",
        "Three aggregates of the slowdowns of single queries. They answer different questions and "
        f"can differ in sign. In brackets: the {level(document['confidence'])} interval over "
        "blocks.",
        "",
        *table(header, rows, left=2),
    ]


def _with_bounds(ratio: float, bounds: Document | None) -> str:
    if bounds is None:
        return percent(ratio)
    return f"{percent(ratio)} ({interval((bounds['low'], bounds['high']))})"


def _gates(document: Document) -> list[str]:
    words = {True: "passed", False: "**missed**", None: "not evaluated"}
    rows = [
        [
            gate["workload"],
            _target(gate["target"], _emulated(document, gate["target"])),
            f"{gate['limit'] * 100:g} %",
            "-" if gate["slowdown"] is None else percent(gate["slowdown"]),
            words[gate["passed"]],
        ]
        for gate in document["gates"]
    ]
    if not rows:
        return []
    header = ["workload", "target", "limit", "slowdown", "gate"]
    return ["## Gates", "", *table(header, rows, left=2)]


def _queries(document: Document) -> list[str]:
    lines: list[str] = []
    groups: dict[tuple[str, str], list[Document]] = {}
    for found in document["queries"]:
        groups.setdefault((_where(found), found["target"]), []).append(found)
    for (workload, target), group in groups.items():
        rows = [
            [
                found["query"],
                quantity(found["baselineValue"], found["unit"]),
                quantity(found["targetValue"], found["unit"]),
                quantity(found["absolute"], found["unit"]),
                percent(found["slowdown"]),
                interval(_bounds(found)),
                found["verdict"],
                share(found["shareOfBaseline"]),
                percent(found["contribution"]),
            ]
            for found in group
        ]
        header = [
            "query",
            document["baseline"],
            target,
            "difference",
            "slowdown",
            f"{level(document['confidence'])} interval",
            "verdict",
            "share of total",
            "contribution",
        ]
        title = _target(target, _emulated(document, target))
        lines += ["", f"### {workload}: {title}", "", *table(header, rows, left=1)]
    if not lines:
        return []
    return [
        "## Query by query",
        "",
        "Share of total: of the baseline's total runtime. Contribution: the query's part of the "
        "slowdown of the total. " + _judged_queries(document),
        *lines,
    ]


def _judged_queries(document: Document) -> str:
    judged = sum(found["interval"] is not None for found in document["queries"])
    return together(judged, document["confidence"]) if judged > 1 else ""


def _latencies(document: Document) -> list[str]:
    rows: dict[tuple[str, str, str], list[str]] = {}
    for found in document["latencies"]:
        target = _target(found["target"], found["emulated"])
        key = (_where(found), target, found["operation"])
        rows.setdefault(key, []).append(
            f"{milliseconds(found['baselineValue'])} -> {milliseconds(found['targetValue'])} "
            f"({percent(found['slowdown'])}, {interval(_bounds(found))})"
        )
    if not rows:
        return []
    return [
        "## Latency",
        "",
        f"Of all measured trials together: {document['baseline']} -> target (slowdown, "
        f"{level(document['confidence'])} interval over blocks).",
        "",
        *table(
            ["workload", "target", "operation", *_QUANTILES],
            [[*key, *cells] for key, cells in rows.items()],
            left=3,
        ),
    ]


def _errors(document: Document) -> list[str]:
    rows = [
        [
            _where(found),
            _target(found["target"], found["target"] in document["emulatedTargets"]),
            found["operation"],
            str(found["counts"]["ok"]),
            str(found["counts"]["expectedFailure"]),
            str(found["counts"]["error"]),
            ", ".join(f"{kind}: {count}" for kind, count in found["errors"].items()) or "-",
        ]
        for found in document["operations"]
        if found["counts"]["expectedFailure"] or found["counts"]["error"]
    ]
    if not rows:
        return []
    header = ["workload", "target", "operation", "ok", "expected failures", "errors", "by class"]
    return ["## Failures of operations", "", *table(header, rows, left=3)]


def _trials(document: Document) -> list[str]:
    trials = document["trials"]
    rows = [
        [counts["target"], *(str(counts[name]) for name in ("measured", "invalid", "failed"))]
        for counts in trials["counts"]
    ]
    lines = ["## Trials", "", *table(["target", "measured", "invalid", "failed"], rows, left=1)]
    listed = [
        f"- {entry['trial']}, attempt {entry['attempt']}: {entry['outcome']} "
        f"({entry['reason']}). {entry['message']}"
        for entry in trials["notMeasured"]
    ] + [
        f"- {entry['trial']}, attempt {entry['attempt']}: measured, but of no use: "
        f"{entry['reason']}."
        for entry in trials["unusable"]
    ]
    if listed:
        lines += ["", "Not used:", "", *listed]
    return lines


def _fairness(document: Document) -> list[str]:
    return ["## Fairness", "", document["fairness"]] if document["fairness"] else []


def _environment(document: Document) -> list[str]:
    environment = document["environment"]
    if not environment:
        return []
    names = {
        "databaseNode": "node of the database",
        "driverNode": "node of the driver",
        "cpuModel": "CPU",
        "nodeKernel": "kernel of the node",
        "containerRuntime": "container runtime",
        "kubernetesVersion": "Kubernetes",
    }
    rows = [[text, environment[key]] for key, text in names.items() if environment.get(key)]
    columns = {
        "runtime": "runtime",
        "kernel": "kernel",
        "hypervisor": "hypervisor",
        "serverVersion": "server",
        "serverDigest": "server's digest",
        "imageDigest": "image",
        "cpusAllowed": "CPUs",
    }
    lines = ["## Environment", "", *table(["what", "value"], rows, left=2)]
    targets = [
        [
            _target(target["name"], target.get("emulated", False)),
            *(target.get(key) or "-" for key in columns),
        ]
        for target in environment.get("targets") or []
    ]
    if targets:
        lines += ["", *table(["target", *columns.values()], targets, left=8)]
    return lines


def _method(document: Document) -> list[str]:
    spec = document["spec"]
    resources = spec["resources"]
    lines = [
        "## How to repeat it",
        "",
        f"- database: {spec['database']['engine']}, image {spec['database']['image']}",
        f"- resources of each target: {resources['cpu']} CPU, {resources['memory']} memory",
        f"- seed of the plan: {document['seed']}",
        f"- dbbench {document['dbbench']}; the whole spec is in summary.json, under `spec`",
        "",
        "Slowdown is target / baseline - 1 for times and baseline / target - 1 for throughput, "
        "from the mean of log ratios over blocks, with Student's t interval; from "
        f"{FEWEST_FOR_DRIFT} blocks on without the drift within blocks. Equivalent: the whole "
        f"interval lies within ±{document['equivalenceMargin'] * 100:g} %.",
    ]
    lines += [
        f"\nNext time: {_where(found)} on {found['target']} would tell most with "
        f"`runs: {found['bestRuns']}` in each trial instead of {found['runs']}, and the time saved "
        "or spent on fewer or more blocks."
        for found in document["repetitions"]
        if found["bestRuns"] != found["runs"]
    ]
    if document["omitted"]:
        lines += ["", f"Left out, for size: {', '.join(document['omitted'])}."]
    return lines


def _where(found: Document) -> str:
    return f"{found['workload']}/{found['cell']}" if found["cell"] else str(found["workload"])


def _target(name: str, emulated: bool) -> str:
    return f"{name} (emulated)" if emulated else name


def _emulated(document: Document, target: str) -> bool:
    """Whether a figure that compares `target` with the baseline rests on emulation."""
    return bool({target, document["baseline"]} & set(document["emulatedTargets"]))


def _bounds(found: Document) -> tuple[float, float] | None:
    bounds = found["interval"]
    return (bounds["low"], bounds["high"]) if bounds else None
