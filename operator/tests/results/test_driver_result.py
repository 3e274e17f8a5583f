"""The driver's document is checked before anything is computed from it."""

import copy

import pytest

from dbbench.results.driver_result import ResultError, read
from dbbench.stats import Unit

DOCUMENT = {
    "metrics": [{"name": "throughput", "unit": "per_second", "value": 12.5}],
    "operations": [
        {
            "name": "PAYMENT",
            "counts": {"ok": 5, "expectedFailure": 1, "error": 2},
            "errors": {"40001": 2},
            "runtimesSeconds": None,
            "latency": {"histogram": "HIST"},
        },
        {"name": "Q1", "runtimesSeconds": [1, 0.5], "latency": None},
    ],
}


def test_metrics_and_operations_are_read():
    result = read(DOCUMENT)
    assert result.metrics["throughput"].unit is Unit.PER_SECOND
    payment, query = result.operations
    assert (payment.ok, payment.expected_failures, payment.failed) == (5, 1, 2)
    assert payment.errors == {"40001": 2}
    assert payment.histogram == "HIST"
    assert query.runtimes == (1.0, 0.5)
    assert query.histogram is None


def test_ratios_and_bytes_are_not_compared():
    document = copy.deepcopy(DOCUMENT)
    document["metrics"].append({"name": "fairness", "unit": "ratio", "value": 0})
    document["metrics"].append({"name": "copiedBytes", "unit": "bytes", "value": 5})
    assert list(read(document).metrics) == ["throughput"]


def probed(name, seconds):
    cost = (
        {"unavailable": "no huge pages"} if seconds is None else {"cost": {"meanSeconds": seconds}}
    )
    return {"name": name, "kind": "probe", "counts": {}, "errors": {}, "probe": cost}


def test_costs_of_events_are_metrics_after_their_geometric_mean():
    events = [probed("SYSTEM_CALL", 1e-7), probed("FSYNC", 1e-3), probed("TLB_MISS_2M", None)]
    found = read({"metrics": [], "operations": [*events, probed("TLB_MISS_4K", 0.0)]}).metrics
    assert {name: metric.value for name, metric in found.items()} == {
        "unitCost": pytest.approx(1e-5),
        "SYSTEM_CALL": 1e-7,
        "FSYNC": 1e-3,
    }
    assert {metric.unit for metric in found.values()} == {Unit.SECONDS}
    assert read({"metrics": [], "operations": [probed("TLB_MISS_2M", None)]}).metrics == {}


def test_a_workload_without_a_database_has_neither_server_nor_data():
    process = {"name": "READ_RECORD", "kind": "read", "counts": {"ok": 9}, "latency": None}
    result = read({"metrics": DOCUMENT["metrics"], "operations": [process]})
    assert (result.operations[0].name, result.operations[0].ok) == ("READ_RECORD", 9)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("metrics",), None, "metrics is not a list"),
        (("metrics",), [1], "metrics is not a list"),
        (("operations",), {}, "operations is not a list"),
        (("metrics", 0, "name"), "", "has no name"),
        (("metrics", 0, "value"), "12", "not a number"),
        (("metrics", 0, "value"), True, "not a number"),
        (("metrics", 0, "value"), float("nan"), "not a number"),
        (("metrics", 0, "value"), 0, "not greater than 0"),
        (("metrics", 0, "unit"), "parsecs", "unit 'parsecs'"),
        (("operations", 0, "counts"), [], "counts of PAYMENT"),
        (("operations", 0, "counts", "ok"), -1, "count of ok of PAYMENT"),
        (("operations", 0, "errors", "40001"), 1.5, "count of 40001"),
        (("operations", 0, "runtimesSeconds"), "abc", "runtimesSeconds of PAYMENT"),
        (("operations", 1, "runtimesSeconds", 0), None, "runtime of Q1"),
        (("operations", 0, "latency"), "x", "latency of PAYMENT"),
    ],
)
def test_what_is_wrong_is_named(path, value, message):
    document = copy.deepcopy(DOCUMENT)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ResultError, match=message):
        read(document)


def test_no_document_is_said_to_be_none():
    with pytest.raises(ResultError, match="no result document"):
        read(None)
