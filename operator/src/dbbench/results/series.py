"""Prometheus series of a finished run, read from its summary. No I/O."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Series:
    """One value with its labels. `name` is in base units: seconds, transactions per second."""

    name: str
    help: str
    labels: Mapping[str, str]
    value: float


def series_of(data: Mapping[str, str]) -> Iterator[Series]:
    """Series of one results ConfigMap; none where it holds no summary.

    The baseline's own values are series too: each target is shown once.
    """
    document = json.loads(data.get("summary.json", "{}"))
    seen: set[tuple[str, ...]] = set()
    for entry in document.get("queries", []):
        text = "Runtime of a query, mean over blocks."
        name = "dbbench_query_runtime_seconds"
        yield from _both(seen, document, entry, name, text, query=entry["query"])
    reads, events = _measuring(document, "zachmann"), _measuring(document, "micro")
    for entry in document.get("comparisons", []):
        if entry["unit"] == "per_second" and entry["metric"] == "throughput":
            name, text = _THROUGHPUT[entry["workload"] in reads]
            yield from _both(seen, document, entry, name, text)
        elif entry["workload"] in events and not entry["primary"]:
            text = "Cost of one event, as the workload micro measured it, mean over blocks."
            name = "dbbench_unit_cost_seconds"
            yield from _both(seen, document, entry, name, text, event=entry["metric"])
    for entry in document.get("instances", []):
        labels = _labels(entry, entry["target"])
        yield Series(
            "dbbench_fairness_index_ratio",
            "Jain's index of the rates of a target's instances: 1 when all are equal.",
            labels,
            entry["fairnessIndex"],
        )
        unit = "reads" if entry["workload"] in reads else entry["unit"]
        name, text = _OF_INSTANCE[unit]
        for number, value in enumerate(entry["values"]):
            yield Series(name, text, labels | {"instance": str(number)}, value)
    for entry in document.get("operations", []):
        for name, quantile in _QUANTILES.items() if entry["latencySeconds"] else ():
            yield Series(
                "dbbench_latency_seconds",
                "Quantiles of the latency of an operation, over all trials.",
                _labels(entry, entry["target"])
                | {"operation": entry["operation"], "quantile": quantile},
                entry["latencySeconds"][name],
            )


_THROUGHPUT = {
    False: (
        "dbbench_throughput_transactions_per_second",
        "Throughput of a workload, mean over blocks.",
    ),
    True: (
        "dbbench_throughput_reads_per_second",
        "Records that zachmann's work processes read together, mean over blocks.",
    ),
}
_OF_INSTANCE = {
    "reads": (
        "dbbench_instance_throughput_reads_per_second",
        "Records that zachmann read on one of several instances, mean over trials.",
    ),
    "seconds": (
        "dbbench_instance_runtime_seconds",
        "Total runtime of the queries on one of several instances, mean over trials.",
    ),
    "per_second": (
        "dbbench_instance_throughput_transactions_per_second",
        "Throughput of one of several instances, mean over trials.",
    ),
}
_QUANTILES = {"p50": "0.5", "p95": "0.95", "p99": "0.99", "p999": "0.999"}


def _measuring(document: Mapping[str, Any], kind: str) -> frozenset[str]:
    """Names of the workloads of a kind."""
    workloads = document.get("spec", {}).get("workloads", [])
    return frozenset(found["name"] for found in workloads if kind in found)


def _sides(document: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    return (
        (document["baseline"], entry["baselineValue"]),
        (entry["target"], entry["targetValue"]),
    )


def _labels(entry: Mapping[str, Any], target: str) -> dict[str, str]:
    return {"workload": entry["workload"], "cell": entry["cell"], "target": target}


def _both(
    seen: set[tuple[str, ...]],
    document: Mapping[str, Any],
    entry: Mapping[str, Any],
    name: str,
    text: str,
    **more: str,
) -> Iterator[Series]:
    """A series of each side of a comparison that has not been seen yet."""
    for target, value in _sides(document, entry):
        series = Series(name, text, _labels(entry, target) | more, value)
        key = (series.name, *series.labels.values())
        if key not in seen:
            seen.add(key)
            yield series
