"""Variants of a sweep: each target against its own first one, and what the documents show."""

import csv
import io
import json

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.plan import block
from dbbench.results.analysis import analyse
from dbbench.results.documents import results_data, summary
from dbbench.results.page.assembly import to_html

RATES = {"none": 100.0, "writeback": 50.0, "writethrough": 25.0}
"""Transactions per second of the virtual machine; the pod has 200 everywhere."""


@pytest.fixture
def varied(benchmark):
    """The benchmark with three ways to attach the guest's disk."""

    def make(**sweep):
        spec = benchmark.model_dump(by_alias=True, exclude_none=True)["spec"]
        values = [
            {"name": name, "virtualMachine": {"dataDisk": {"cache": name}}}
            for name in ("none", "writethrough", "writeback")
        ]
        spec["sweep"] = {"variants": [{"name": "diskCache", "values": values}], **sweep}
        metadata = benchmark.metadata.model_dump(by_alias=True)
        return DBBenchmark.parse({"metadata": metadata, "spec": spec})

    return make


def rate(trial):
    found = RATES[trial.cell.value("diskCache", "none")] if trial.target == "vm" else 200.0
    return found * (1 + 0.3 * trial.block) * int(trial.cell.value("clients", "1"))


def measured(benchmark, make_record):
    return [
        make_record(
            trial,
            {
                "kind": "Result",
                "schemaVersion": 1,
                "metrics": [{"name": "throughput", "unit": "per_second", "value": rate(trial)}],
                "operations": [],
            },
        )
        for index in (1, 2, 3)
        for trial in block(benchmark.spec, 7, index).trials
        if trial.cell.workload != "analytics"
    ]


def documented(benchmark, make_record):
    records = measured(benchmark, make_record)
    return summary(benchmark, analyse(benchmark, records, frozenset({"vm"})), records, None)


def of(document, workload, target, fixed=""):
    (found,) = [
        one
        for one in document["variants"]
        if (one["workload"], one["target"], one["fixed"]) == (workload, target, fixed)
    ]
    return found


def test_variants_keep_the_order_of_the_spec_and_are_compared_with_the_first(varied, make_record):
    document = documented(varied(), make_record)
    assert document["curves"] == []
    assert len(document["variants"]) == 2 * 2
    vm, pod = (of(document, "orders", target) for target in ("vm", "pod"))
    assert (vm["axis"], vm["metric"], vm["unit"]) == ("diskCache", "throughput", "per_second")
    assert (vm["emulated"], pod["emulated"]) == (True, False)
    for found, slower in ((vm, [None, 3, 1]), (pod, [None, 0, 0])):
        points = found["points"]
        assert [one["variant"] for one in points] == ["none", "writethrough", "writeback"]
        assert [one["cell"] for one in points] == [f"diskCache={one['variant']}" for one in points]
        assert points[0]["slowdownToFirst"] is None
        assert points[0]["slowdownToFirstInterval"] is None
        # A rate: half of it is a slowdown of 100 %.
        assert [one["slowdownToFirst"] for one in points[1:]] == pytest.approx(slower[1:])
        # What blocks share cancels against the first, and is the interval of a value.
        assert points[1]["slowdownToFirstInterval"]["high"] == pytest.approx(slower[1])
        assert points[1]["interval"]["low"] < points[1]["value"] < points[1]["interval"]["high"]
        assert {one["blocks"] for one in points} == {3}


def test_each_variant_has_its_slowdown_against_the_baseline_there(varied, make_record):
    document = documented(varied(), make_record)
    vm, pod = (of(document, "telecom", target) for target in ("vm", "pod"))
    assert [one["slowdown"] for one in vm["points"]] == pytest.approx([1, 7, 3])
    assert {one["slowdown"] for one in pod["points"]} == {None}


def test_variants_are_in_the_csv_the_report_and_the_page(varied, make_record):
    document = documented(varied(), make_record)
    data = results_data(document)
    assert json.loads(data["summary.json"])["variants"] == document["variants"]
    rows = list(csv.DictReader(io.StringIO(data["summary.csv"])))
    rows = [row for row in rows if row["level"] == "variant"]
    assert len(rows) == 2 * 2 * 3
    last = next(
        row for row in rows if (row["target"], row["name"]) == ("vm", "diskCache=writeback")
    )
    assert float(last["slowdown"]) == pytest.approx(1)
    assert float(last["target_value"]) == pytest.approx(float(last["baseline_value"]) / 2)
    assert (last["speedup"], last["verdict"]) == ("", "")
    report = data["report.md"]
    assert "## Variants" in report
    assert "## Scaling" not in report
    (line,) = [one for one in report.splitlines() if "| diskCache=writeback |" in one][1:2]
    assert "+100" in line
    page = to_html(document, [])
    assert "diskCache=writethrough" in page
    assert "<h2>Variants</h2>" in page


def test_variants_and_numbers_stand_beside_each_other(varied, make_record):
    document = documented(varied(clients=[1, 2]), make_record)
    fixed = {one["fixed"] for one in document["variants"]}
    assert fixed == {"clients=1", "clients=2"}
    assert {one["fixed"] for one in document["curves"]} == {f"diskCache={name}" for name in RATES}
    assert {one["axis"] for one in document["curves"]} == {"clients"}
    vm = of(document, "orders", "vm", "clients=2")
    assert [one["slowdownToFirst"] for one in vm["points"][1:]] == pytest.approx([3, 1])


def test_without_the_first_variant_there_is_nothing_to_compare_with(varied, make_record):
    benchmark = varied()
    records = [
        record
        for record in measured(benchmark, make_record)
        if (record.target, record.cell) != ("vm", "diskCache=none")
    ]
    document = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)
    assert {one["target"] for one in document["variants"]} == {"pod"}


def test_without_variants_the_documents_say_nothing_of_them(benchmark, records):
    document = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)
    assert document["variants"] == []
    assert "Variants" not in results_data(document)["report.md"]
    assert "<h2>Variants</h2>" not in to_html(document, records)
