"""Results of several instances as one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.plan import Cell
from dbbench.results import driver_result
from dbbench.results.consolidation import instance_figures
from dbbench.results.instances import combined, each, jain_index
from dbbench.results.record import Outcome, TrialRecord
from dbbench.stats import Unit

RATES = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=16)


@given(RATES, st.floats(0.01, 100))
def test_jain_s_index_lies_between_1_over_n_and_1_and_has_no_scale(rates, factor):
    index = jain_index(rates)
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9
    assert jain_index([rate * factor for rate in rates]) == pytest.approx(index)


def test_jain_s_index_of_known_allocations():
    assert jain_index([5, 5, 5]) == 1
    assert jain_index([1, 0, 0, 0]) == 0.25
    # k of n have all: k/n (section 2 of the report).
    assert jain_index([3, 3, 0, 0, 0]) == pytest.approx(2 / 5)
    with pytest.raises(ValueError, match="no allocation"):
        jain_index([0, 0])


def queries(*seconds, valid=True):
    operations = [
        {
            "name": f"Q{number}",
            "kind": "query",
            "counts": {"ok": 2, "expectedFailure": 0, "error": 0},
            "errors": {},
            "runtimesSeconds": [value, value + 1],
            "firstRuntimeSeconds": value,
            "planFingerprint": "sha256:1",
            "latency": {"histogram": "x"},
        }
        for number, value in enumerate(seconds, start=1)
    ]
    return {
        "valid": valid,
        "invalidReasons": [] if valid else ["Q1 failed"],
        "metrics": [{"name": "totalRuntime", "unit": "seconds", "value": sum(seconds)}],
        "operations": operations,
        "target": {"facts": {"kernel": "6.1"}},
    }


def transactions(rate, *, parts=()):
    found = {
        "valid": True,
        "invalidReasons": [],
        "metrics": [
            {"name": "throughput", "unit": "per_second", "value": sum(parts) or rate},
            {"name": "newOrdersPerMinute", "unit": "per_minute", "value": 20 * rate},
        ],
        "operations": [{"name": "PAYMENT", "counts": {"ok": 9}, "latency": {"histogram": "x"}}],
        "driverUsage": {"userSeconds": 9},
        "target": {"facts": {"kernel": "6.1"}},
    }
    if parts:
        found["processes"] = [
            {"index": n, "clients": 1, "throughputPerSecond": part, "driverUsage": {"n": n}}
            for n, part in enumerate(parts)
        ]
    return found


def test_work_processes_of_all_instances_are_together_and_their_rates_add_up():
    documents = [
        {
            "valid": True,
            "metrics": [
                {"name": "throughput", "unit": "per_second", "value": rate},
                {"name": "throughputPerCpu", "unit": "per_second", "value": rate / 4},
                {"name": "fairness", "unit": "ratio", "value": 1.0},
            ],
            "operations": [{"name": "READ_RECORD", "counts": {"ok": 10 * rate}, "errors": {}}],
            "workProcesses": [{"number": 1, "readsPerSecond": rate}],
        }
        for rate in (100, 300)
    ]
    result = combined(documents)
    read = driver_result.read(result)
    assert {name: metric.value for name, metric in read.metrics.items()} == {
        "throughput": 400,
        "throughputPerCpu": 100,
    }
    assert [process["readsPerSecond"] for process in result["workProcesses"]] == [100, 300]
    assert read.operations[0].ok == 4000
    shares = [driver_result.read(one).metrics["throughput"].value for one in each(documents)]
    assert shares == [100, 300]


def test_the_time_of_instances_is_the_mean_of_theirs():
    result = combined([queries(1, 4), queries(3, 8)])
    read = driver_result.read(result)
    assert read.metrics["totalRuntime"].value == 8
    assert [operation.runtimes for operation in read.operations] == [(2.0, 3.0), (6.0, 7.0)]
    assert [operation.ok for operation in read.operations] == [4, 4]
    assert result["operations"][0]["firstRuntimeSeconds"] == 2
    assert "target" not in result


def test_one_instance_that_is_not_valid_makes_the_result_invalid():
    result = combined([queries(1), queries(1, valid=False)])
    assert result["valid"] is False
    assert result["invalidReasons"] == ["instance 1: Q1 failed"]


def test_what_the_first_driver_merged_is_the_result_of_all():
    documents = [transactions(4, parts=(4.0, 6.0)), transactions(6.0)]
    result = combined(documents)
    assert driver_result.read(result).metrics["throughput"].value == 10
    assert result["operations"] == documents[0]["operations"]


def test_each_instance_has_its_own_figures_and_what_its_agent_said():
    found = each([transactions(4, parts=(4.0, 6.0)), transactions(6.0)])
    rates = [driver_result.read(one).metrics["throughput"].value for one in found]
    assert rates == [4, 6]
    assert [one["driverUsage"] for one in found] == [{"n": 0}, {"n": 1}]
    assert all(one["target"]["facts"] and not one["operations"] for one in found)
    first, second = each([queries(1), queries(3)])
    assert first["operations"][0]["planFingerprint"] == "sha256:1"
    assert "latency" not in first["operations"][0]
    assert driver_result.read(second).metrics["totalRuntime"].value == 3


def record_of(result, instances=()):
    return TrialRecord(
        "b001.pod.w", 1, "pod", "w", "", 1, Outcome.MEASURED, "", "", "", "", result, instances
    )


def several(documents):
    return record_of(combined(documents), each(documents))


def test_figures_of_instances_are_means_over_trials():
    records = [
        several([transactions(parts[0], parts=parts), transactions(parts[1])])
        for parts in ((10.0, 30.0), (20.0, 20.0))
    ]
    found = instance_figures(Cell("orders"), "pod", "throughput", records)
    assert found is not None
    assert (found.values, found.total, found.unit) == ((15.0, 25.0), 40.0, Unit.PER_SECOND)
    assert found.least_fairness == 40**2 / (2 * 1000)
    assert math.isclose(found.fairness, (0.8 + 1) / 2)
    assert instance_figures(Cell("orders"), "vm", "throughput", records) is None


def test_times_are_fair_as_their_reciprocals():
    records = [several([queries(1), queries(2)])]
    found = instance_figures(Cell("analytics"), "pod", "totalRuntime", records)
    assert found is not None
    assert (found.values, found.total) == ((1.0, 2.0), 1.5)
    assert found.fairness == jain_index([2, 1])


def test_a_target_that_is_one_database_has_no_figures_of_instances():
    record = record_of(transactions(5))
    assert instance_figures(Cell("orders"), "pod", "throughput", [record]) is None
    assert record.documents == (record.result,)
