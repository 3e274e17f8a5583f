"""report.md: the answer, the slowdown tables, and what they rest on. No I/O."""

from dbbench.results import wording
from dbbench.results.cause_tables import where_the_time_went
from dbbench.results.confirmation_tables import causes_tested
from dbbench.results.curve_tables import scaling
from dbbench.results.figures import (
    interval,
    level,
    milliseconds,
    percent,
    quantity,
    share,
)
from dbbench.results.instance_tables import side_by_side
from dbbench.results.tables import table
from dbbench.results.variant_tables import variants
from dbbench.results.wording import (
    AGGREGATES,
    ENVIRONMENT,
    GATES,
    TARGET_ENVIRONMENT,
    Document,
    bounds_of,
    is_emulated,
    label,
    where,
)

_QUANTILES = ("p50", "p95", "p99", "p99.9")


def to_markdown(document: Document) -> str:
    """The report of a summary, as GitHub-flavoured Markdown."""
    sections = [
        [f"# {document['benchmark']['name']}", "", document["answer"]],
        _emulation(document),
        _slowdowns(document),
        _controls(document),
        scaling(document),
        variants(document),
        side_by_side(document),
        _aggregates(document),
        _gates(document),
        where_the_time_went(document),
        causes_tested(document),
        _queries(document),
        _latencies(document),
        _errors(document),
        _trials(document),
        _caches(document),
        _fairness(document),
        _environment(document),
        _method(document),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _emulation(document: Document) -> list[str]:
    found = wording.emulation(document)
    return [f"> **{found[0]}** {found[1]}"] if found else []


def _slowdowns(document: Document) -> list[str]:
    rows = [
        [
            where(found),
            label(found["target"], found["emulated"]),
            found["metric"],
            quantity(found["baselineValue"], found["unit"]),
            quantity(found["targetValue"], found["unit"]),
            f"**{percent(found['slowdown'])}**",
            interval(bounds_of(found)),
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
    primary = [found for found in document["comparisons"] if found["primary"]]
    judged = wording.judged(primary, document["confidence"])
    return [*lines, "", judged] if judged else lines


def _controls(document: Document) -> list[str]:
    rows = [
        [
            where(found),
            found["metric"],
            percent(found["slowdown"]),
            interval(bounds_of(found)),
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
        wording.noise_floor(document),
        "",
        *table(header, rows, left=2),
    ]


def _aggregates(document: Document) -> list[str]:
    rows = [
        [
            where(found),
            label(found["target"], found["emulated"]),
            *(
                _with_bounds(found["aggregates"][name], found["aggregates"]["intervals"][name])
                for name in AGGREGATES
            ),
        ]
        for found in document["comparisons"]
        if found["primary"] and found["aggregates"]
    ]
    if not rows:
        return []
    header = ["workload", "target", *AGGREGATES.values()]
    return [
        "## Queries together",
        "",
        wording.aggregates(document),
        "",
        *table(header, rows, left=2),
    ]


def _with_bounds(ratio: float, bounds: Document | None) -> str:
    if bounds is None:
        return percent(ratio)
    return f"{percent(ratio)} ({interval((bounds['low'], bounds['high']))})"


def _gates(document: Document) -> list[str]:
    rows = [
        [
            gate["workload"],
            label(gate["target"], is_emulated(document, gate["target"])),
            f"{gate['limit'] * 100:g} %",
            "-" if gate["slowdown"] is None else percent(gate["slowdown"]),
            "**missed**" if gate["passed"] is False else GATES[gate["passed"]],
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
        groups.setdefault((where(found), found["target"]), []).append(found)
    for (workload, target), group in groups.items():
        rows = [
            [
                found["query"],
                quantity(found["baselineValue"], found["unit"]),
                quantity(found["targetValue"], found["unit"]),
                quantity(found["absolute"], found["unit"]),
                percent(found["slowdown"]),
                interval(bounds_of(found)),
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
        title = label(target, is_emulated(document, target))
        lines += ["", f"### {workload}: {title}", "", *table(header, rows, left=1)]
    if not lines:
        return []
    return [
        "## Query by query",
        "",
        wording.shares(document),
        *lines,
    ]


def _latencies(document: Document) -> list[str]:
    rows: dict[tuple[str, str, str], list[str]] = {}
    for found in document["latencies"]:
        target = label(found["target"], found["emulated"])
        key = (where(found), target, found["operation"])
        rows.setdefault(key, []).append(
            f"{milliseconds(found['baselineValue'])} -> {milliseconds(found['targetValue'])} "
            f"({percent(found['slowdown'])}, {interval(bounds_of(found))})"
        )
    if not rows:
        return []
    return [
        "## Latency",
        "",
        wording.latencies(document),
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
            where(found),
            label(found["target"], found["target"] in document["emulatedTargets"]),
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
    disturbed = [
        f"- {entry['trial']}, attempt {entry['attempt']}: {entry['message']}."
        for entry in trials["contaminated"]
    ]
    if disturbed:
        lines += ["", wording.CONTAMINATED, "", *disturbed]
    return lines


def _caches(document: Document) -> list[str]:
    rows = wording.cache_rows(document)
    if not rows:
        return []
    return ["## Caches", "", wording.CACHES, "", *table(wording.CACHE_HEADER, rows, left=3)]


def _fairness(document: Document) -> list[str]:
    return ["## Fairness", "", document["fairness"]] if document["fairness"] else []


def _environment(document: Document) -> list[str]:
    environment = document["environment"]
    if not environment:
        return []
    rows = [[text, environment[key]] for key, text in ENVIRONMENT.items() if environment.get(key)]
    lines = ["## Environment", "", *table(["what", "value"], rows, left=2)]
    targets = [
        [
            label(target["name"], target.get("emulated", False)),
            *(target.get(key) or "-" for key in TARGET_ENVIRONMENT),
        ]
        for target in environment.get("targets") or []
    ]
    if targets:
        lines += ["", *table(["target", *TARGET_ENVIRONMENT.values()], targets, left=8)]
    return lines


def _method(document: Document) -> list[str]:
    spec = document["spec"]
    lines = [
        "## How to repeat it",
        "",
        f"- database: {spec['database']['engine']}, image {spec['database']['image']}",
        f"- resources of each target: {wording.resources(spec)}",
        f"- seed of the plan: {document['seed']}",
        f"- dbbench {document['dbbench']}; the whole spec is in summary.json, under `spec`",
        "",
        wording.method(document),
    ]
    lines += [f"\n{text}" for text in wording.repetitions(document)]
    if document["omitted"]:
        lines += ["", f"Left out, for size: {', '.join(document['omitted'])}."]
    return lines
