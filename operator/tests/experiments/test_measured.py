"""Figures are found in a summary under the study's names, and nothing is put in place of others."""

import copy

import pytest

from dbbench.experiments import measured
from dbbench.experiments.figure import Figure
from dbbench.experiments.view import PairedRow, View, pair

ACCOUNT = {
    "terms": [
        {"cause": "user", "baselineSeconds": 1.0, "targetSeconds": 1.2, "seconds": 0.2},
        {"cause": "pageFaults", "baselineSeconds": 0.1, "targetSeconds": 0.3, "seconds": 0.19},
        {"cause": "steal", "baselineSeconds": 0.0, "targetSeconds": 0.0, "seconds": 0.0},
    ],
    "evidence": {
        "baseline": {
            "events": {"pageFaults": {"count": 1000.0, "unitSeconds": 1e-6}},
            "unitCostSeconds": {"PAGE_FAULT_4K": 1e-6, "SYSTEM_CALL": 1e-7},
            "readBytes": {"database": 5e6, "target": 5e6, "host": None},
        },
        "target": {
            "events": {"pageFaults": {"count": 1100.0, "unitSeconds": 3e-6}},
            "unitCostSeconds": {"PAGE_FAULT_4K": 3e-6},
            "readBytes": {"database": 5e6, "target": 5e6, "host": 9e6},
        },
    },
}


def comparison(**fields):
    return {
        "workload": "analytics", "cell": "", "target": "vm", "primary": True, "unit": "seconds",
        "baselineValue": 2.0, "targetValue": 3.0, "absolute": 1.0, "slowdown": 0.5,
        "interval": {"low": 0.4, "high": 0.6}, "verdict": "Slower", "aggregates": None,
        "account": ACCOUNT,
    } | fields  # fmt: skip


@pytest.fixture
def summary():
    return {
        "baseline": "pod",
        "emulatedTargets": ["vm"],
        "spec": {"targets": [{"name": "pod"}, {"name": "vm"}, {"name": "other"}]},
        "comparisons": [comparison(), comparison(primary=False, slowdown=9.0)],
        "queries": [
            comparison(query="Q2", account=None),
            comparison(query="Q1", target="other", account=None),
            comparison(query="Q3", cell="connection=Shared", interval=None, account=None),
        ],
        "latencies": [
            comparison(operation="PAYMENT", quantile=quantile) for quantile in ("p50", "p95", "p99")
        ],
        "instances": [
            {"workload": "analytics", "cell": "", "target": "pod", "fairnessIndex": 1.0},
            {"workload": "analytics", "cell": "", "target": "vm", "fairnessIndex": 0.9},
            {"workload": "memory", "cell": "cpu=1", "target": "pod", "fairnessIndex": 1.0},
            {"workload": "memory", "cell": "cpu=1", "target": "vm", "fairnessIndex": 0.8},
            {"workload": "memory", "cell": "cpu=2", "target": "vm", "fairnessIndex": 0.7},
        ],
    }


def test_queries_are_those_of_the_cell_and_target(summary):
    found = measured.queries("analytics")(summary, "vm")
    assert found == {"Q2": Figure("seconds", 2.0, 3.0, 1.0, 0.5, (0.4, 0.6), "Slower")}
    shared = measured.queries("analytics", "connection=Shared")(summary, "vm")
    assert shared["Q3"].interval is None


def test_the_whole_is_the_primary_metric(summary):
    assert measured.whole("analytics", "TPC-H")(summary, "vm")["TPC-H"].slowdown == 0.5
    assert measured.whole("orders", "TPC-C")(summary, "vm") == {}


def test_latencies_are_the_median_and_the_tail(summary):
    assert list(measured.latencies("analytics")(summary, "vm")) == ["PAYMENT p50", "PAYMENT p99"]


def curve(target, values, slowdowns):
    """A curve of throughput on 1, 2 and 4 CPUs."""
    return {
        "workload": "orders", "axis": "cpu", "fixed": "", "target": target, "unit": "per_second",
        "points": [
            {
                "axisValue": cpus, "value": value, "speedup": value / values[0],
                "slowdown": slowdown, "slowdownInterval": None,
                "verdict": None if slowdown is None else "Slower",
            }
            for cpus, value, slowdown in zip((1, 2, 4), values, slowdowns, strict=True)
        ],
    }  # fmt: skip


def test_points_and_gains_of_a_sweep_are_those_of_both_curves(summary):
    summary["curves"] = [
        curve("pod", [100.0, 190.0, 380.0], [None] * 3),
        curve("vm", [80.0, 160.0, 200.0], [0.25, 0.1875, 0.9]),
        curve("vm", [1.0, 1.0, 1.0], [99.0] * 3) | {"fixed": "clients=8"},
    ]
    found = measured.points("orders", "cpu")(summary, "vm")
    assert list(found) == ["cpu=1", "cpu=2", "cpu=4"]
    assert found["cpu=2"] == Figure("per_second", 190.0, 160.0, slowdown=0.1875, verdict="Slower")
    gained = measured.gains("orders", "cpu")(summary, "vm")
    assert gained == {
        "from cpu=1 to cpu=2": Figure("count", pytest.approx(1.9), pytest.approx(2.0)),
        "from cpu=2 to cpu=4": Figure("count", pytest.approx(2.0), pytest.approx(1.25)),
    }
    assert measured.points("orders", "instances")(summary, "vm") == {}


def test_points_on_two_axes_are_those_where_the_other_one_is_fixed(summary):
    summary["curves"] = [
        curve(target, values, [None] * 3) | {"axis": "workProcesses", "fixed": fixed}
        for target in ("pod", "vm")
        for fixed, values in (("cpu=1", [1.0, 1.0, 1.0]), ("cpu=4", [10.0, 20.0, 40.0]))
    ]
    found = measured.gains("orders", "workProcesses", "cpu=4")(summary, "vm")
    assert [figure.target for figure in found.values()] == [2, 2]
    assert measured.points("orders", "workProcesses")(summary, "vm") == {}


def test_a_work_process_has_its_part_of_the_rate_and_the_slowdown_of_all(summary):
    summary["curves"] = [
        curve("pod", [100.0, 200.0, 400.0], [None] * 3) | {"axis": "workProcesses"},
        curve("vm", [80.0, 100.0, 100.0], [0.25, 1.0, 3.0]) | {"axis": "workProcesses"},
    ]
    found = measured.per_process("orders")(summary, "vm")
    assert [(one.baseline, one.target, one.slowdown) for one in found.values()] == [
        (100, 80, 0.25),
        (100, 50, 1.0),
        (100, 25, 3.0),
    ]
    assert list(found)[1] == "workProcesses=2"


def test_terms_are_those_that_the_studies_have(summary):
    found = measured.terms("analytics")(summary, "vm")
    assert found == {
        "user time": Figure("seconds", 1.0, 1.2, 0.2),
        "of that page faults": Figure("seconds", 0.1, 0.3, 0.19),
    }


def test_counts_costs_and_bytes_are_those_of_both_sides(summary):
    assert measured.page_faults("analytics")(summary, "vm") == {
        "page faults": Figure("count", 1000.0, 1100.0)
    }
    costs = measured.unit_costs("analytics")(summary, "vm")
    assert costs["page fault"].slowdown == pytest.approx(2.0)
    assert costs["system call"] == Figure("seconds", 1e-7, None)
    levels = measured.bytes_read("analytics")(summary, "vm")
    assert levels["read by the guest's host"] == Figure("bytes", None, 9e6)


def test_queries_that_were_counted_have_terms_faults_and_bytes_of_their_own(summary):
    summary["queries"][0]["account"] = ACCOUNT
    terms = measured.query_terms("analytics", "user", "pageFaults")(summary, "vm")
    assert terms == {
        "Q2 user time": Figure("seconds", 1.0, 1.2, 0.2),
        "Q2 page faults": Figure("seconds", 0.1, 0.3, 0.19),
    }
    faults = measured.query_faults("analytics")(summary, "vm")
    assert faults == {"Q2": Figure("count", 1000.0, 1100.0)}
    levels = measured.query_bytes("analytics")(summary, "vm")
    assert levels["Q2 read by the guest's host"] == Figure("bytes", None, 9e6)
    assert measured.query_terms("analytics", "user")(summary, "other") == {}


def test_without_counters_there_are_no_terms(summary):
    bare = copy.deepcopy(summary)
    bare["comparisons"][0]["account"] = None
    for measure in (
        measured.terms, measured.page_faults, measured.unit_costs, measured.bytes_read
    ):  # fmt: skip
        assert measure("analytics")(bare, "vm") == {}


def test_the_index_of_instances_has_both_sides(summary):
    index = measured.instances("analytics")
    assert index(summary, "vm")["Jain's index"] == Figure("count", 1.0, 0.9)
    assert index(summary, "other") == {}
    assert measured.instances("memory")(summary, "vm") == {
        "Jain's index, cpu=1": Figure("count", 1.0, 0.8),
        "Jain's index, cpu=2": Figure("count", None, 0.7),
    }


def test_rows_are_paired_by_name_in_the_paper_s_order(summary):
    study = {"Q9": Figure("seconds", 1.0, 2.0), "Q2": Figure("seconds", 3.0, 4.0)}
    view = View("file", "Queries", measured.queries("analytics"), "somewhere", paper=lambda: study)
    of_vm, of_other = pair(view, summary)
    assert [row.name for row in of_vm.rows] == ["Q9", "Q2"]
    assert of_vm.rows[0] == PairedRow("Q9", study["Q9"], None)
    assert of_vm.rows[1].measured.target == 3.0
    assert of_vm.emulated
    assert [row.name for row in of_other.rows] == ["Q9", "Q2", "Q1"]
    assert not of_other.emulated


def test_with_an_emulated_baseline_everything_is_emulated(summary):
    view = View("file", "Queries", measured.queries("analytics"), "somewhere")
    tables = pair(view, summary | {"emulatedTargets": ["pod"]})
    assert [table.emulated for table in tables] == [True, True]
