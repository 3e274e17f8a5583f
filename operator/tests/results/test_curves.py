"""Scaling curves: values and speed-ups from point to point, and what the documents show of them."""

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.benchmark import DBBenchmark
from dbbench.plan import Cell, block
from dbbench.results import driver_result
from dbbench.results.analysis import analyse
from dbbench.results.curves import curves
from dbbench.results.documents import results_data, summary
from dbbench.results.gates import gates
from dbbench.results.operations import MeasuredTrial
from dbbench.results.page.assembly import to_html
from dbbench.stats import Unit

SEED = 7


@pytest.fixture
def swept(benchmark):
    """The benchmark with clients 1, 2 and 8 of its workloads with transactions."""

    def make(**sweep):
        spec = benchmark.model_dump(by_alias=True, exclude_none=True)["spec"]
        spec["sweep"] = sweep or {"clients": [8, 1, 2]}
        metadata = benchmark.metadata.model_dump(by_alias=True)
        return DBBenchmark.parse({"metadata": metadata, "spec": spec})

    return make


def rate(trial):
    """The pod gains all of it from its clients, the virtual machine the square root."""
    clients = int(trial.cell.value("clients", "1"))
    gain = math.sqrt(clients) if trial.target == "vm" else clients
    return 100.0 * gain * (1 + 0.3 * trial.block)


def measured(benchmark, make_record, rate_of=rate, blocks=3):
    return [
        make_record(
            trial,
            {
                "kind": "Result",
                "schemaVersion": 1,
                "metrics": [{"name": "throughput", "unit": "per_second", "value": rate_of(trial)}],
                "operations": [],
            },
        )
        for index in range(1, blocks + 1)
        for trial in block(benchmark.spec, SEED, index).trials
        if trial.cell.workload != "analytics"
    ]


@pytest.fixture
def document(swept, make_record):
    benchmark = swept()
    records = measured(benchmark, make_record)
    return summary(benchmark, analyse(benchmark, records, frozenset({"vm"})), records, None)


def test_a_curve_goes_from_the_smallest_point_and_says_what_each_gains(document):
    found = {(one["workload"], one["target"]): one for one in document["curves"]}
    assert set(found) == {(w, t) for w in ("orders", "telecom") for t in ("pod", "vm")}
    for (_, target), curve in found.items():
        assert (curve["axis"], curve["fixed"], curve["metric"]) == ("clients", "", "throughput")
        assert [point["axisValue"] for point in curve["points"]] == [1, 2, 8]
        assert [point["cell"] for point in curve["points"]] == [
            "clients=1",
            "clients=2",
            "clients=8",
        ]
        gains = [1, 2, 8] if target == "pod" else [1, math.sqrt(2), math.sqrt(8)]
        assert [point["speedup"] for point in curve["points"]] == pytest.approx(gains)
        # What blocks share cancels in a speed-up, and is the interval of a value.
        assert curve["points"][2]["speedupInterval"]["low"] == pytest.approx(gains[2])
        value, interval = curve["points"][2]["value"], curve["points"][2]["interval"]
        assert value == pytest.approx(100 * gains[2] * (1.3 * 1.6 * 1.9) ** (1 / 3))
        assert interval["low"] < value < interval["high"]
        assert {point["blocks"] for point in curve["points"]} == {3}


def test_each_point_of_a_curve_has_its_slowdown_against_the_baseline_there(document):
    pod, vm = (
        next(one for one in document["curves"] if one["target"] == name) for name in ("pod", "vm")
    )
    assert {point["slowdown"] for point in pod["points"]} == {None}
    assert [point["slowdown"] for point in vm["points"]] == pytest.approx(
        [0, math.sqrt(2) - 1, math.sqrt(8) - 1], abs=1e-12
    )
    assert vm["emulated"]
    assert not pod["emulated"]


def test_points_are_in_the_csv_the_report_and_the_page(document):
    data = results_data(document)
    assert json.loads(data["summary.json"])["curves"] == document["curves"]
    rows = [
        row for row in csv.DictReader(io.StringIO(data["summary.csv"])) if row["level"] == "point"
    ]
    assert len(rows) == 2 * 2 * 3
    last = next(row for row in rows if (row["target"], row["name"]) == ("pod", "clients=8"))
    assert float(last["speedup"]) == pytest.approx(8)
    assert float(last["target_value"]) == pytest.approx(8 * float(last["baseline_value"]))
    assert "## Scaling" in data["report.md"]
    assert "| orders | vm (emulated) | clients=8 |" in data["report.md"]
    page = to_html(document, [])
    assert "throughput by clients of orders" in page
    assert "speed-up by clients of telecom" in page


def test_without_a_sweep_there_is_no_curve(benchmark, records):
    document = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)
    assert document["curves"] == []
    assert "Scaling" not in results_data(document)["report.md"]
    assert "Scaling" not in to_html(document, records)


def test_one_block_has_speed_ups_without_intervals(swept, make_record):
    benchmark = swept()
    records = measured(benchmark, make_record, blocks=1)
    document = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)
    points = [point for curve in document["curves"] for point in curve["points"]]
    assert {point["speedupInterval"] for point in points} == {None}
    assert points[-1]["speedup"] > 1
    assert to_html(document, records)


def test_verdicts_count_the_comparisons_of_all_points(swept, make_record):
    """The same figures at one point alone, and among eight: the correction makes them weaker."""

    def noisy(trial):
        slower = 1 + 0.05 * (trial.target == "vm")
        return 100 / slower * (1 + 0.01 * trial.block * (trial.target == "vm"))

    few, many = swept(clients=[1, 2]), swept(clients=[1, 2, 3, 4, 5, 6, 7, 8])
    found = [
        analyse(benchmark, measured(benchmark, make_record, noisy), frozenset()).primary
        for benchmark in (few, many)
    ]
    assert [len(one) for one in found] == [2 * 2, 2 * 8]
    assert found[0][0].slowdown.interval == pytest.approx(found[1][0].slowdown.interval)
    assert found[0][0].slowdown.adjusted_p < found[1][0].slowdown.adjusted_p


def test_a_gate_counts_the_worst_point_of_its_workload_and_target(swept, make_record):
    benchmark = swept()
    analysis = analyse(benchmark, measured(benchmark, make_record), frozenset())
    (gate, _) = gates(benchmark.spec, analysis)
    assert gate.slowdown == pytest.approx(math.sqrt(8) - 1)
    assert gate.passed is False
    assert "orders (clients=8) on vm has a slowdown of +183 %, beyond" in gate.message


@given(st.lists(st.floats(1e-300, 1e300), min_size=4, max_size=4))
def test_no_spread_of_figures_breaks_a_curve(values):
    places = [(clients, number) for clients in ("1", "2") for number in ("1", "2")]
    measured = {Cell("orders", (("clients", clients),)): [] for clients in ("1", "2")}
    for (clients, number), value in zip(places, values, strict=True):
        metric = {"name": "throughput", "unit": "per_second", "value": value}
        result = driver_result.read(
            {"kind": "Result", "schemaVersion": 1, "metrics": [metric], "operations": []}
        )
        measured[Cell("orders", (("clients", clients),))].append(
            MeasuredTrial("pod", number, 0.0, 60.0, result)
        )
    primary = {"orders": ("throughput", Unit.PER_SECOND)}
    (curve,) = curves(measured, ["pod", "vm"], primary, frozenset())
    for point in curve.points:
        assert 0 < point.speedup < math.inf
        assert point.interval[0] <= point.value <= point.interval[1]
        if point.speedup_interval:
            assert point.speedup_interval[0] <= point.speedup <= point.speedup_interval[1]


def test_the_answer_names_the_worst_and_the_best_of_many_points(swept, make_record):
    benchmark = swept(clients=[1, 2, 4, 8, 16])
    records = measured(benchmark, make_record)
    text = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)["answer"]
    for workload in ("orders", "telecom"):
        assert f"300.00 % slower for {workload}/clients=16 (" in text
        assert f"the most of its 5 cells (the least: 0.00 % for {workload}/clients=1)" in text
        assert f"{workload}/clients=4" not in text
