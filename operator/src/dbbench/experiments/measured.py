"""Figures of one target from the summary of a benchmark, under the names of a study's rows. No I/O.

Each function gives a `Measure`: from summary.json (docs/reference/results.md) and the name of a
target to figures. What a run does not have is absent: nothing is put in its place.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dbbench.experiments.figure import AGGREGATES, Figure, Figures

Document = Mapping[str, Any]
Measure = Callable[[Document, str], Figures]

_QUANTILES = ("p50", "p99")


def queries(workload: str, cell: str = "") -> Measure:
    """The queries of a TPC-H cell: `Q1`, ..."""

    def measure(summary: Document, target: str) -> Figures:
        return {
            found["query"]: _slowdown(found)
            for found in _of(summary["queries"], workload, cell, target)
        }

    return measure


def whole(workload: str, name: str, cell: str = "") -> Measure:
    """The metric that the workload is judged by, under the name given."""

    def measure(summary: Document, target: str) -> Figures:
        found = _primary(summary, workload, cell, target)
        return {name: _slowdown(found[0])} if found else {}

    return measure


def costs(workload: str) -> Measure:
    """What the workload micro measured: the cost of each event, by its name in the results."""

    def measure(summary: Document, target: str) -> Figures:
        return {
            found["metric"]: _slowdown(found)
            for found in _of(summary["comparisons"], workload, "", target)
            if not found["primary"]
        }

    return measure


def aggregates(workload: str, cell: str = "") -> Measure:
    """The three aggregates of per-query slowdowns."""

    def measure(summary: Document, target: str) -> Figures:
        return {
            label: Figure(
                "seconds",
                slowdown=found["aggregates"][key],
                interval=_bounds(found["aggregates"]["intervals"][key]),
            )
            for found in _primary(summary, workload, cell, target)
            if found["aggregates"]
            for key, label in AGGREGATES.items()
        }

    return measure


def latencies(workload: str) -> Measure:
    """Median and 99th percentile of each operation: `NEW_ORDER p99`."""

    def measure(summary: Document, target: str) -> Figures:
        return {
            f"{found['operation']} {found['quantile']}": _slowdown(found)
            for found in _of(summary["latencies"], workload, "", target)
            if found["quantile"] in _QUANTILES
        }

    return measure


def terms(workload: str, cell: str = "") -> Measure:
    """What causes add to one unit of work, in seconds: see CAUSES."""

    def measure(summary: Document, target: str) -> Figures:
        return {
            CAUSES[term["cause"]]: Figure(
                "seconds", term["baselineSeconds"], term["targetSeconds"], term["seconds"]
            )
            for account in _accounts(summary, workload, cell, target)
            for term in account["terms"]
            if term["cause"] in CAUSES
        }

    return measure


CAUSES = {
    "user": "user time",
    "system": "system time",
    "pageFaults": "of that page faults",
    "ioWait": "waiting for I/O",
}
"""Terms of an account that the studies have, and the rows they are shown in."""


def query_terms(workload: str, *causes: str, cell: str = "") -> Measure:
    """What causes add to a run of each query, in seconds: `Q1 user time`; see CAUSES."""

    def measure(summary: Document, target: str) -> Figures:
        return {
            f"{query['query']} {CAUSES[cause].removeprefix('of that ')}": Figure(
                "seconds", term["baselineSeconds"], term["targetSeconds"], term["seconds"]
            )
            for query in _explained_queries(summary, workload, cell, target)
            for cause in causes
            for term in query["account"]["terms"]
            if term["cause"] == cause
        }

    return measure


def query_faults(workload: str, cell: str = "") -> Measure:
    """Minor faults in a run of each query: `Q1`, ..."""

    def measure(summary: Document, target: str) -> Figures:
        found: Figures = {}
        for query in _explained_queries(summary, workload, cell, target):
            counts = [
                events.get("pageFaults", {}).get("count")
                for events in (
                    query["account"]["evidence"][side]["events"] for side in ("baseline", "target")
                )
            ]
            if any(count is not None for count in counts):
                found[query["query"]] = Figure("count", *counts)
        return found

    return measure


def query_bytes(workload: str, cell: str = "") -> Measure:
    """Bytes that a run of each query reads at each level: `Q1 needed by the database`; LEVELS."""

    def measure(summary: Document, target: str) -> Figures:
        found: Figures = {}
        for query in _explained_queries(summary, workload, cell, target):
            base, other = (
                query["account"]["evidence"][side]["readBytes"] for side in ("baseline", "target")
            )
            for level, label in LEVELS.items():
                if base[level] is not None or other[level] is not None:
                    found[f"{query['query']} {label}"] = Figure("bytes", base[level], other[level])
        return found

    return measure


def page_faults(workload: str, cell: str = "") -> Measure:
    """Minor faults in one unit of work."""

    def measure(summary: Document, target: str) -> Figures:
        found: Figures = {}
        for account in _accounts(summary, workload, cell, target):
            sides = [
                account["evidence"][side]["events"].get("pageFaults")
                for side in ("baseline", "target")
            ]
            if any(sides):
                counts = [side and side["count"] for side in sides]
                found["page faults"] = Figure("count", counts[0], counts[1])
        return found

    return measure


def unit_costs(workload: str, cell: str = "") -> Measure:
    """Seconds of single events on both sides, by the names in UNIT_COSTS."""

    def measure(summary: Document, target: str) -> Figures:
        found: Figures = {}
        for account in _accounts(summary, workload, cell, target):
            base, other = (
                account["evidence"][side]["unitCostSeconds"] for side in ("baseline", "target")
            )
            for probe in (*base, *(name for name in other if name not in base)):
                one, two = base.get(probe), other.get(probe)
                ratio = two / one - 1 if one and two is not None else None
                found[UNIT_COSTS.get(probe, probe)] = Figure("seconds", one, two, slowdown=ratio)
        return found

    return measure


UNIT_COSTS = {
    "PAGE_FAULT_4K": "page fault",
    "PAGE_FAULT_SHARED": "page fault, shared memory",
    "CONTEXT_SWITCH": "context switch",
    "SYSTEM_CALL": "system call",
    "CLOCK_READ": "reading the clock",
}
"""The agent's probes, and the rows they are shown in."""


def bytes_read(workload: str, cell: str = "") -> Measure:
    """Bytes that one pass reads at each level: see LEVELS."""

    def measure(summary: Document, target: str) -> Figures:
        found: Figures = {}
        for account in _accounts(summary, workload, cell, target):
            base, other = (
                account["evidence"][side]["readBytes"] for side in ("baseline", "target")
            )
            for level, label in LEVELS.items():
                if base[level] is not None or other[level] is not None:
                    found[label] = Figure("bytes", base[level], other[level])
        return found

    return measure


LEVELS = {
    "database": "needed by the database",
    "target": "read by the container or guest",
    "host": "read by the guest's host",
}
"""Levels of reading, and the rows they are shown in."""


def instances(workload: str) -> Measure:
    """Jain's fairness index of instances side by side: 1 where all got the same."""

    def measure(summary: Document, target: str) -> Figures:
        cells: dict[str, dict[str, float]] = {}
        for found in summary["instances"]:
            if found["workload"] == workload:
                sides = cells.setdefault(found["cell"], {})
                sides[found["target"]] = found["fairnessIndex"]
        return {
            f"Jain's index, {cell}" if cell else "Jain's index": Figure(
                "count", sides.get(summary["baseline"]), sides[target]
            )
            for cell, sides in cells.items()
            if target in sides
        }

    return measure


def points(workload: str, axis: str, fixed: str = "") -> Measure:
    """The metric at each point of a sweep's axis: `cpu=2`. `fixed` is the rest of the point."""

    def measure(summary: Document, target: str) -> Figures:
        base, other = (
            _curve(summary, workload, axis, of, fixed) for of in (summary["baseline"], target)
        )
        return {
            f"{axis}={value}": Figure(
                point["unit"],
                base[value]["value"] if value in base else None,
                point["value"],
                slowdown=point["slowdown"],
                interval=_bounds(point["slowdownInterval"]),
                verdict=point["verdict"] or "",
            )
            for value, point in other.items()
        }

    return measure


def per_process(workload: str) -> Measure:
    """What one work process has of the rate, at each number of them: `workProcesses=3`."""
    together = points(workload, "workProcesses")

    def measure(summary: Document, target: str) -> Figures:
        return {
            name: replace(
                found,
                baseline=found.baseline and found.baseline / int(name.partition("=")[2]),
                target=found.target and found.target / int(name.partition("=")[2]),
            )
            for name, found in together(summary, target).items()
        }

    return measure


def gains(workload: str, axis: str, fixed: str = "") -> Measure:
    """How many times faster each side is than at the point before: `from cpu=2 to cpu=4`."""

    def measure(summary: Document, target: str) -> Figures:
        base, other = (
            _curve(summary, workload, axis, of, fixed) for of in (summary["baseline"], target)
        )
        places = sorted(base.keys() & other.keys())
        return {
            f"from {axis}={one} to {axis}={two}": Figure(
                "count", *(side[two]["speedup"] / side[one]["speedup"] for side in (base, other))
            )
            for one, two in itertools.pairwise(places)
        }

    return measure


def _curve(
    summary: Document, workload: str, axis: str, target: str, fixed: str
) -> dict[int, Mapping[str, Any]]:
    """Points of a curve by the axis's value, each with the curve's unit; empty without one."""
    return {
        point["axisValue"]: point | {"unit": curve["unit"]}
        for curve in summary["curves"]
        if (curve["workload"], curve["axis"], curve["fixed"], curve["target"])
        == (workload, axis, fixed, target)
        for point in curve["points"]
    }


def _primary(summary: Document, workload: str, cell: str, target: str) -> list[Mapping[str, Any]]:
    return [
        found for found in _of(summary["comparisons"], workload, cell, target) if found["primary"]
    ]


def _accounts(summary: Document, workload: str, cell: str, target: str) -> list[Mapping[str, Any]]:
    """One, or none where a side has no counters."""
    found = _primary(summary, workload, cell, target)
    return [one["account"] for one in found if one.get("account")]


def _explained_queries(
    summary: Document, workload: str, cell: str, target: str
) -> list[Mapping[str, Any]]:
    """Those with an account: none where counters were not read around each query."""
    return [one for one in _of(summary["queries"], workload, cell, target) if one.get("account")]


def _of(
    entries: list[Mapping[str, Any]], workload: str, cell: str, target: str
) -> list[Mapping[str, Any]]:
    return [
        found
        for found in entries
        if (found["workload"], found["cell"], found["target"]) == (workload, cell, target)
    ]


def _slowdown(found: Mapping[str, Any]) -> Figure:
    return Figure(
        unit=found["unit"],
        baseline=found["baselineValue"],
        target=found["targetValue"],
        difference=found["absolute"],
        slowdown=found["slowdown"],
        interval=_bounds(found["interval"]),
        verdict=found["verdict"],
    )


def _bounds(interval: Mapping[str, float] | None) -> tuple[float, float] | None:
    return (interval["low"], interval["high"]) if interval else None
