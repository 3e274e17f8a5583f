"""The part of report.md that says where the time went. No I/O."""

from collections.abc import Mapping

from dbbench.explain import Cause
from dbbench.results import query_causes
from dbbench.results.causes import LABELS
from dbbench.results.figures import level, share, time
from dbbench.results.tables import table
from dbbench.results.wording import ACCOUNT, Document, label, where

_COSTS = {
    "SYSTEM_CALL": "system call",
    "PAGE_FAULT_4K": "page fault, fresh memory",
    "PAGE_FAULT_SHARED": "page fault, shared memory",
    "CONTEXT_SWITCH": "context switch",
}


def where_the_time_went(document: Document) -> list[str]:
    """For every cell and target with counters the account of its slowdown; empty without any."""
    lines: list[str] = []
    for found in document["comparisons"]:
        if found.get("account"):
            lines += ["", *_account(document, found)]
    if not lines:
        return []
    return [
        "## Where the time went",
        "",
        ACCOUNT,
        *lines,
    ]


def _account(document: Document, found: Document) -> list[str]:
    account, baseline, target = found["account"], document["baseline"], found["target"]
    rows = [
        [
            ("- " if term["partOf"] else "") + LABELS[Cause(term["cause"])],
            time(term["baselineSeconds"]),
            time(term["targetSeconds"]),
            time(term["seconds"]),
            _interval(term["interval"]),
            "-" if term["share"] is None else share(term["share"]),
        ]
        for term in account["terms"]
    ]
    rows.append(
        [
            "**together**",
            time(account["baselineSeconds"]),
            time(account["targetSeconds"]),
            f"**{time(account['seconds'])}**",
            "",
            share(1.0),
        ]
    )
    header = [
        "cause",
        baseline,
        target,
        "difference",
        f"{level(document['confidence'])} interval",
        "share",
    ]
    lines = [f"### {where(found)}: {label(target, found['emulated'])}, causes", ""]
    if found["cause"]:
        lines += [f"{found['cause'][0].upper()}{found['cause'][1:]}.", ""]
    lines += table(header, rows, left=1)
    missing = [LABELS[Cause(name)] for name in account["notMeasured"]]
    if missing:
        lines += ["", f"Not measured on both sides: {', '.join(missing)}."]
    return [
        *lines,
        *_evidence(account["evidence"], baseline, target),
        *_of_queries(document, found),
    ]


def _of_queries(document: Document, found: Document) -> list[str]:
    rows = query_causes.rows(document, found)
    header = query_causes.header(document, found)
    return ["", query_causes.QUERIES, "", *table(header, rows, left=1)] if rows else []


def _interval(bounds: Mapping[str, float] | None) -> str:
    return "-" if bounds is None else f"{time(bounds['low'])} to {time(bounds['high'])}"


def _evidence(evidence: Document, baseline: str, target: str) -> list[str]:
    """What one event costs, and what was read, on both sides."""
    sides = evidence["baseline"], evidence["target"]
    rows = [
        [f"cost of one {text}", *(time(side["unitCostSeconds"][name]) for side in sides)]
        for name, text in _COSTS.items()
        if all(name in side["unitCostSeconds"] for side in sides)
    ]
    for name, text in (
        ("database", "read by the database"),
        ("target", "read by its container or guest"),
        ("host", "read by the hypervisor"),
    ):
        read = [side["readBytes"][name] for side in sides]
        if any(read):
            rows.append([text, *("-" if one is None else f"{one / 1e6:.3f} MB" for one in read)])
    if any(side["magnification"] for side in sides):
        rows.append(
            ["magnification", *(f"{x:.2f}" if (x := s["magnification"]) else "-" for s in sides)]
        )
    if any(side["hypervisorCpuSeconds"] for side in sides):
        rows.append(
            [
                "CPU time of the hypervisor",
                *(
                    "-" if (cpu := side["hypervisorCpuSeconds"]) is None else time(cpu)
                    for side in sides
                ),
            ]
        )
    return ["", *table(["evidence", baseline, target], rows, left=1)] if rows else []
