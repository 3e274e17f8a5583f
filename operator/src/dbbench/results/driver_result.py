"""The part of the driver's result document that comparisons are made from, checked. No I/O."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench.stats import Unit

# Units of metrics that describe a trial and are neither a time nor a rate: they are not compared.
_DESCRIPTIVE_UNITS = frozenset({"ratio", "bytes"})


UNIT_COST = "unitCost"
"""Metric of the workload micro: the geometric mean of all costs that were measured, in seconds."""


class ResultError(ValueError):
    """A result document that has not the shape of workloads/schema/result.schema.json."""


@dataclass(frozen=True)
class Metric:
    """One figure of a whole trial; greater than 0."""

    name: str
    unit: Unit
    value: float


@dataclass(frozen=True)
class Operation:
    """One query or transaction type of a trial. Runtimes in seconds, of the measured runs."""

    name: str
    ok: int
    expected_failures: int
    failed: int
    errors: Mapping[str, int]
    runtimes: tuple[float, ...]
    histogram: str | None


@dataclass(frozen=True)
class DriverResult:
    """Metrics by name, and operations in the driver's order."""

    metrics: Mapping[str, Metric]
    operations: tuple[Operation, ...]


def read(document: Mapping[str, Any] | None) -> DriverResult:
    """Raises ResultError naming what is missing or wrong."""
    if document is None:
        raise ResultError("there is no result document")
    metrics = [
        _metric(entry)
        for entry in _objects(document, "metrics")
        if entry.get("unit") not in _DESCRIPTIVE_UNITS
    ]
    metrics += _unit_costs(_objects(document, "operations"))
    operations = [_operation(entry) for entry in _objects(document, "operations")]
    return DriverResult({metric.name: metric for metric in metrics}, tuple(operations))


def server_name(server: Mapping[str, Any]) -> str:
    """Engine and version as the server gives them: under one engine of the spec several answer.

    Empty when it told no version.
    """
    engine, version = str(server.get("engine", "")), str(server.get("version", ""))
    if not version or engine in version:
        return version
    return f"{engine} {version}".strip()


def _metric(entry: Mapping[str, Any]) -> Metric:
    name = _name(entry, "a metric")
    value = _number(entry.get("value"), f"the value of metric {name}")
    if value <= 0:
        raise ResultError(f"metric {name} is {value:g}, not greater than 0")
    try:
        return Metric(name, Unit(str(entry.get("unit"))), value)
    except ValueError:
        raise ResultError(
            f"metric {name} has unit {entry.get('unit')!r}, not one of {', '.join(Unit)}"
        ) from None


def _unit_costs(operations: Sequence[Mapping[str, Any]]) -> list[Metric]:
    """The cost of each event that a probe measured, after their geometric mean; none without.

    A cost that is not above 0 cannot be told from the probe's own and is left out, as one that the
    machine does not have.
    """
    costs = [
        Metric(_name(entry, "an operation"), Unit.SECONDS, mean)
        for entry in operations
        if (cost := _object(_object(entry, "probe", "an operation"), "cost", "a probe"))
        and (mean := _number(cost.get("meanSeconds"), "the mean of a probe")) > 0
    ]
    if not costs:
        return []
    mean = math.exp(math.fsum(math.log(cost.value) for cost in costs) / len(costs))
    return [Metric(UNIT_COST, Unit.SECONDS, mean), *costs]


def _operation(entry: Mapping[str, Any]) -> Operation:
    name = _name(entry, "an operation")
    counts = _object(entry, "counts", name)
    errors = _object(entry, "errors", name)
    runtimes = entry.get("runtimesSeconds") or []
    if not isinstance(runtimes, Sequence) or isinstance(runtimes, str):
        raise ResultError(f"runtimesSeconds of {name} is no list")
    histogram = _object(entry, "latency", name).get("histogram")
    return Operation(
        name=name,
        ok=_count(counts, "ok", name),
        expected_failures=_count(counts, "expectedFailure", name),
        failed=_count(counts, "error", name),
        errors={str(kind): _count(errors, kind, name) for kind in errors},
        runtimes=tuple(_number(seconds, f"a runtime of {name}") for seconds in runtimes),
        histogram=histogram if isinstance(histogram, str) and histogram else None,
    )


def _objects(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    entries = document.get(name)
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ResultError(f"{name} is not a list of objects")
    return entries


def _object(entry: Mapping[str, Any], field: str, owner: str) -> Mapping[str, Any]:
    value = entry.get(field)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ResultError(f"{field} of {owner} is no object")
    return value


def _name(entry: Mapping[str, Any], what: str) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ResultError(f"{what} has no name")
    return name


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ResultError(f"{what} is {value!r}, not a number")
    return float(value)


def _count(counts: Mapping[str, Any], field: str, owner: str) -> int:
    value = counts.get(field, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ResultError(f"the count of {field} of {owner} is {value!r}, not a whole number")
    return value
