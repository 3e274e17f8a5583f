"""Prometheus series of a finished run, read from its summary. No I/O."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Family:
    """What series of one name have in common; `labels` beside those that name the benchmark."""

    name: str
    help: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Series:
    """One value with its labels, in the unit that the family's name ends with."""

    family: Family
    labels: Mapping[str, str]
    value: float


_SIDE = ("workload", "cell", "target")
QUERY = Family(
    "dbbench_query_runtime_seconds", "Runtime of a query, mean over blocks.", (*_SIDE, "query")
)
TRANSACTIONS = Family(
    "dbbench_throughput_transactions_per_second",
    "Throughput of a workload, mean over blocks.",
    _SIDE,
)
READS = Family(
    "dbbench_throughput_reads_per_second",
    "Records that zachmann's work processes read together, mean over blocks.",
    _SIDE,
)
UNIT_COST = Family(
    "dbbench_unit_cost_seconds",
    "Cost of one event, as the workload micro measured it, mean over blocks.",
    (*_SIDE, "event"),
)
FAIRNESS_INDEX = Family(
    "dbbench_fairness_index_ratio",
    "Jain's index of the rates of a target's instances: 1 when all are equal.",
    _SIDE,
)
OF_INSTANCE = {
    "per_second": Family(
        "dbbench_instance_throughput_transactions_per_second",
        "Throughput of one of several instances, mean over trials.",
        (*_SIDE, "instance"),
    ),
    "reads": Family(
        "dbbench_instance_throughput_reads_per_second",
        "Records that zachmann read on one of several instances, mean over trials.",
        (*_SIDE, "instance"),
    ),
    "seconds": Family(
        "dbbench_instance_runtime_seconds",
        "Total runtime of the queries on one of several instances, mean over trials.",
        (*_SIDE, "instance"),
    ),
}
LATENCY = Family(
    "dbbench_latency_seconds",
    "Quantiles of the latency of an operation, over all trials.",
    (*_SIDE, "operation", "quantile"),
)
FAMILIES = (
    QUERY, TRANSACTIONS, READS, UNIT_COST, FAIRNESS_INDEX, *OF_INSTANCE.values(), LATENCY
)  # fmt: skip
"""All that results can have."""


def series_of(data: Mapping[str, str]) -> Iterator[Series]:
    """Series of one results ConfigMap; none where it holds no summary.

    The baseline's own values are series too: each target is shown once.
    """
    document = json.loads(data.get("summary.json", "{}"))
    seen: set[tuple[str, ...]] = set()
    for entry in document.get("queries", []):
        yield from _both(seen, document, entry, QUERY, query=entry["query"])
    reads, events = _measuring(document, "zachmann"), _measuring(document, "micro")
    for entry in document.get("comparisons", []):
        if entry["unit"] == "per_second" and entry["metric"] == "throughput":
            family = READS if entry["workload"] in reads else TRANSACTIONS
            yield from _both(seen, document, entry, family)
        elif entry["workload"] in events and not entry["primary"]:
            yield from _both(seen, document, entry, UNIT_COST, event=entry["metric"])
    for entry in document.get("instances", []):
        labels = _labels(entry, entry["target"])
        yield Series(FAIRNESS_INDEX, labels, entry["fairnessIndex"])
        family = OF_INSTANCE["reads" if entry["workload"] in reads else entry["unit"]]
        for number, value in enumerate(entry["values"]):
            yield Series(family, labels | {"instance": str(number)}, value)
    for entry in document.get("operations", []):
        for name, quantile in _QUANTILES.items() if entry["latencySeconds"] else ():
            yield Series(
                LATENCY,
                _labels(entry, entry["target"])
                | {"operation": entry["operation"], "quantile": quantile},
                entry["latencySeconds"][name],
            )


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
    family: Family,
    **more: str,
) -> Iterator[Series]:
    """A series of each side of a comparison that has not been seen yet."""
    for target, value in _sides(document, entry):
        series = Series(family, _labels(entry, target) | more, value)
        key = (family.name, *series.labels.values())
        if key not in seen:
            seen.add(key)
            yield series
