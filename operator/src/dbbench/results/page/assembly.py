"""The page: the answer first, then what it rests on. No I/O."""

from collections.abc import Collection, Sequence

from dbbench.api.spec import CONTROL
from dbbench.results import confirmation_tables, curve_tables, variant_tables, wording
from dbbench.results.figures import interval, level, milliseconds, percent, quantity, share
from dbbench.results.page import causes, conditions, counters, distributions, scaling, timeline
from dbbench.results.page.forest import Row, forest, row
from dbbench.results.page.frame import framed
from dbbench.results.page.markup import Child, Safe, element, joined
from dbbench.results.page.series import Targets
from dbbench.results.page.tables import table
from dbbench.results.record import TrialRecord
from dbbench.results.wording import (
    AGGREGATES,
    GATES,
    Document,
    bounds_of,
    is_emulated,
    label,
    where,
)


def to_html(document: Document, records: Sequence[TrialRecord]) -> str:
    """The page of a summary with everything in it, and of the raw trials that it comes from."""
    name = document["benchmark"]["name"]
    targets = Targets(_names(document))
    sections = (
        _slowdowns(document),
        _scaling(document, targets),
        _variants(document),
        _queries(document),
        _latencies(document, records, targets),
        _counters(document, records, targets),
        _causes_tested(document),
        _trials(document, records, targets),
        _noise_floor(document),
        _fairness(document),
        _repeat(document),
    )
    found = [(title, content) for title, content in sections if content]
    main = [
        _top(document, [title for title, _ in found]),
        (
            element("section", element("h2", title), content, id=_anchor(title))
            for title, content in found
        ),
    ]
    return framed(f"{name}: {document['answer']}", main, _footer(document))


def _names(document: Document) -> list[str]:
    """Everything that was measured, in the order of the spec."""
    spec = document["spec"]
    control = [CONTROL] if spec["trials"].get("control") else []
    return [*(target["name"] for target in spec["targets"]), *control]


def _top(document: Document, titles: Sequence[str]) -> Safe:
    """The answer, what is wrong with it, and what was compared."""
    benchmark, spec = document["benchmark"], document["spec"]
    emulation = wording.emulation(document)
    counts = document["trials"]["counts"]
    facts = {
        "database": f"{spec['database']['engine']}, {spec['database']['image']}",
        "each target": wording.resources(spec),
        "CPU model": (document["environment"] or {}).get("cpuModel") or "-",
        "trials": ", ".join(
            f"{sum(one[kind] for one in counts)} {kind}"
            for kind in ("measured", "invalid", "failed")
        ),
    }
    return element(
        "header",
        element("p", f"{benchmark['namespace']} / {benchmark['name']}", class_="where"),
        element("h1", document["answer"]),
        element(
            "div",
            element("strong", emulation[0]),
            f" {emulation[1]}",
            class_="warning",
            role="note",
        )
        if emulation
        else None,
        element("dl", (
            element("div", element("dt", name), element("dd", text)) for name, text in facts.items()
        )),
        element("nav", (element("a", title, href=f"#{_anchor(title)}") for title in titles),
                aria_label="Sections"),
    )  # fmt: skip


def _slowdowns(document: Document) -> tuple[str, list[Child]]:
    rows = [
        row(
            [f"{where(found)}: ", element("b", label(found["target"], found["emulated"]))],
            found,
            found["metric"],
            quantity(found["baselineValue"], found["unit"]),
            quantity(found["targetValue"], found["unit"]),
            str(found["blocks"]),
        )
        for found in document["comparisons"]
    ]
    if not rows:
        return "Slowdown", []
    primary = [found for found in document["comparisons"] if found["primary"]]
    judged = wording.judged(primary, document["confidence"])
    return "Slowdown", [
        _forest(
            document, f"Compared with {document['baseline']}", "workload: target",
            ["metric", document["baseline"], "on target", "blocks"], rows, texts={1},
        ),
        element("p", judged) if judged else None,
        _legend(document),
        _gates(document),
    ]  # fmt: skip


def _legend(document: Document) -> Safe:
    margin = f"{document['equivalenceMargin'] * 100:g}"
    return element(
        "p",
        f"Mark: the slowdown. Line: its {level(document['confidence'])} interval; an arrow: it "
        "goes on beyond the axis. Equal distances are equal ratios. Shaded around 0: "
        f"±{margin} %, what counts as equivalent. Dashed, where there is a control: the noise "
        "floor.",
        class_="note",
    )


def _gates(document: Document) -> Safe | None:
    rows = [
        [
            f"{gate['workload']}: {label(gate['target'], is_emulated(document, gate['target']))}",
            f"{gate['limit'] * 100:g} %",
            "-" if gate["slowdown"] is None else percent(gate["slowdown"]),
            element("strong", GATES[gate["passed"]]),
        ]
        for gate in document["gates"]
    ]
    header = ("gate", "limit", "slowdown", "result")
    return table("Gates", header, rows) if rows else None


def _scaling(document: Document, targets: Targets) -> tuple[str, list[Child]]:
    found = document["curves"]
    if not found:
        return "Scaling", []
    names = list(dict.fromkeys(curve["target"] for curve in found))
    header = curve_tables.header(document)
    return "Scaling", [
        element("p", curve_tables.SCALING, " Dotted: as many times faster as the axis grows."),
        targets.legend(names, document["emulatedTargets"]),
        element("div", scaling.charts(found, targets), class_="grid two"),
        _details("Points as a table", [
            table("Scaling", header, curve_tables.rows(document), texts=range(curve_tables.TEXTS))
        ]),
    ]  # fmt: skip


def _variants(document: Document) -> tuple[str, list[Child]]:
    rows = variant_tables.rows(document)
    header = variant_tables.header(document)
    return "Variants", [
        element("p", variant_tables.VARIANTS),
        table("Variants", header, rows, texts=range(variant_tables.TEXTS)),
    ] if rows else []


def _queries(document: Document) -> tuple[str, list[Child]]:
    plots: list[Child] = []
    for found in document["comparisons"]:
        queries = [
            one
            for one in document["queries"]
            if (where(one), one["target"]) == (where(found), found["target"])
        ]
        if not found["primary"] or not queries:
            continue
        rows = [
            row(
                one["query"],
                one,
                quantity(one["baselineValue"], one["unit"]),
                quantity(one["targetValue"], one["unit"]),
                share(one["shareOfBaseline"]),
                percent(one["contribution"]),
            )
            for one in queries
        ] + _aggregates(found)
        title = f"{where(found)}: {label(found['target'], found['emulated'])}"
        header = [document["baseline"], found["target"], "share of total", "contribution"]
        plots.append(_forest(document, title, "query", header, rows))
    note = f"{wording.shares(document)} Diamonds: {wording.aggregates(document)}"
    return "Query by query", [*plots, element("p", note, class_="note")] if plots else []


def _aggregates(found: Document) -> list[Row]:
    if not found["aggregates"]:
        return []
    intervals = found["aggregates"]["intervals"]
    return [
        Row(
            element("em", words),
            found["aggregates"][name],
            bounds_of({"interval": intervals[name]}),
            None,
        )
        for name, words in AGGREGATES.items()
    ]


def _forest(
    document: Document,
    caption: str,
    first: str,
    header: Sequence[str],
    rows: Sequence[Row],
    texts: Collection[int] = (),
) -> Safe:
    return forest(
        caption, first, header, rows, texts=texts,
        confidence=document["confidence"], margin=document["equivalenceMargin"],
    )  # fmt: skip


def _latencies(
    document: Document, records: Sequence[TrialRecord], targets: Targets
) -> tuple[str, list[Child]]:
    found = distributions.distributions(records)
    names = _names(document)
    rows: dict[tuple[str, str], dict[str, Child]] = {}
    for one in document["latencies"]:
        key = (f"{where(one)} {one['operation']}", label(one["target"], one["emulated"]))
        rows.setdefault(key, {})[one["quantile"]] = [
            f"{milliseconds(one['baselineValue'])} → {milliseconds(one['targetValue'])}",
            element("br"),
            element("strong", percent(one["slowdown"])),
            f" ({interval(bounds_of(one))})",
        ]
    quantiles = list(dict.fromkeys(one["quantile"] for one in document["latencies"]))
    lines: list[Sequence[Child]] = [
        (operation, target, *(cells.get(quantile, "-") for quantile in quantiles))
        for (operation, target), cells in rows.items()
    ]
    if not found and not lines:
        return "Latency", []
    return "Latency", [
        element("p", "How long the operations took, by the share of them that took no longer. ",
                "Marks: p50, p95, p99, p99.9."),
        targets.legend(names, document["emulatedTargets"]),
        element("div", (distributions.plot(one, targets) for one in found), class_="grid"),
        _details("Quantiles as a table", [
            element("p", wording.latencies(document)),
            table("Latency", ("operation", "target", *quantiles), lines, texts={0, 1}),
        ]) if lines else None,
        _failures(document),
    ]  # fmt: skip


def _failures(document: Document) -> Safe | None:
    rows = [
        [
            f"{where(found)} {found['operation']}",
            label(found["target"], found["target"] in document["emulatedTargets"]),
            *(str(found["counts"][kind]) for kind in ("ok", "expectedFailure", "error")),
            ", ".join(f"{kind}: {count}" for kind, count in found["errors"].items()) or "-",
        ]
        for found in document["operations"]
        if found["counts"]["expectedFailure"] or found["counts"]["error"]
    ]
    header = ("operation", "target", "ok", "expected failures", "errors", "by class")
    return _details("Failures of operations", [
        table("Failures", header, rows, texts={0, 1, 5})
    ]) if rows else None  # fmt: skip


def _counters(
    document: Document, records: Sequence[TrialRecord], targets: Targets
) -> tuple[str, list[Child]]:
    names = _names(document)
    found = counters.tables(records, names, document["emulatedTargets"], targets)
    text = (
        "What the agent beside the database counted while the trials were measured: growth for "
        "each second, mean over the measured trials. Inside a guest these are the guest's own "
        "counters; what its hypervisor used is in lines of its own."
    )
    content = [element("p", text, class_="note"), *found]
    explained = causes.accounts(document)
    if not explained:
        return "Where the time went", content if found else []
    return "Where the time went", [
        element("p", wording.ACCOUNT),
        *explained,
        _details("Counters for each second of the measurement", content) if found else None,
    ]


def _causes_tested(document: Document) -> tuple[str, list[Child]]:
    rows = confirmation_tables.rows(document)
    if not rows:
        return "Causes tested", []
    header, texts = confirmation_tables.header(document), range(confirmation_tables.TEXTS)
    sentences = confirmation_tables.sentences(document)
    return "Causes tested", [
        element("p", confirmation_tables.TESTS),
        table("Causes tested", header, rows, texts=texts),
        element("ul", (element("li", sentence) for sentence in sentences)),
    ]


def _trials(
    document: Document, records: Sequence[TrialRecord], targets: Targets
) -> tuple[str, list[Child]]:
    if not records:
        return "Trials in the order of time", []
    names = _names(document)
    emulated = document["emulatedTargets"]
    first = min(timeline.moment(record.started) for record in records)
    unusable = [
        element("li", f"{one['trial']}, attempt {one['attempt']}: measured, but of no use: "
                      f"{one['reason']}.")
        for one in document["trials"]["unusable"]
    ]  # fmt: skip
    disturbed = [
        element("li", f"{one['trial']}, attempt {one['attempt']}: {one['message']}.")
        for one in document["trials"]["contaminated"]
    ]
    return "Trials in the order of time", [
        element("p", f"From {first:%Y-%m-%d %H:%M} UTC on. Stripes are blocks. A crossed mark was "
                "not used: it failed, or was measured under bad conditions; it was repeated and is "
                "counted."),
        targets.legend(names, document["emulatedTargets"]),
        element(
            "div", timeline.charts(document["comparisons"], records, targets), class_="grid two"
        ),
        element("ul", unusable) if unusable else None,
        *([element("p", wording.CONTAMINATED), element("ul", disturbed)] if disturbed else []),
        _details("Every attempt as a table", [timeline.attempts(records, first, emulated)]),
    ]  # fmt: skip


def _noise_floor(document: Document) -> tuple[str, list[Child]]:
    rows = [row(where(one), one, one["metric"], str(one["blocks"])) for one in document["controls"]]
    if not rows:
        return "Noise floor", []
    return "Noise floor", [
        element("p", wording.noise_floor(document)),
        _forest(
            document, "The baseline against itself", "workload", ["metric", "blocks"], rows, {1}
        ),
    ]


def _fairness(document: Document) -> tuple[str, list[Child]]:
    text = document["fairness"]
    return "Fairness and environment", [
        element("p", text) if text else None,
        conditions.caches(document),
        *conditions.environment(document),
    ]


def _repeat(document: Document) -> tuple[str, list[Child]]:
    return "How to repeat it", [
        element("p", wording.method(document)),
        [element("p", text) for text in wording.repetitions(document)],
        element("p", "Save this as a file and give it to kubectl apply -f. The seed gives the same "
                "order of trials and the same random choices."),
        conditions.manifest(document),
    ]  # fmt: skip


def _footer(document: Document) -> Safe:
    return joined([
        f"dbbench {document['dbbench']}, benchmark {document['benchmark']['uid']}. Words and "
        "figures as in docs/reference/results.md."
    ])  # fmt: skip


def _details(summary: str, content: list[Child]) -> Safe:
    return element("details", element("summary", summary), content)


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")
