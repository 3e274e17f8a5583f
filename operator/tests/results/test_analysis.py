"""Comparisons, queries and latencies from the records of three blocks."""

import math
import statistics
from dataclasses import replace

import pytest

from dbbench.api.status import Verdict
from dbbench.plan import Cell, Trial, block
from dbbench.results.analysis import analyse
from dbbench.results.answer import answer
from dbbench.results.documents import summary, to_markdown
from dbbench.results.gates import gates, worst_slowdown
from dbbench.results.record import Outcome, TrialRecord
from dbbench.stats import Unit, judged

NOBODY = frozenset()
SEED = 7


def trial_of(record):
    """The trial that a record belongs to."""
    point = (tuple(record.cell.split("=")),) if record.cell else ()
    return Trial(record.block, record.target, Cell(record.workload, point), 0)


@pytest.fixture
def analysis(benchmark, records):
    return analyse(benchmark, records, NOBODY)


def test_every_cell_has_one_primary_comparison_for_each_target(analysis):
    assert [(c.workload, c.cell, c.target, c.metric) for c in analysis.comparisons] == [
        ("analytics", "connection=Shared", "vm", "totalRuntime"),
        ("analytics", "connection=PerQuery", "vm", "totalRuntime"),
        ("orders", "", "vm", "throughput"),
        ("telecom", "", "vm", "throughput"),
    ]


def test_blocks_are_paired_so_that_their_drift_does_not_widen_the_interval(analysis):
    orders = analysis.comparisons[2]
    # 150 / 100 - 1, and a noise of one to three thousandths; the drift was 20 % a block.
    assert float(orders.slowdown) == pytest.approx(0.503, abs=0.001)
    assert float(orders.confidence_interval.high) < 0.51
    assert orders.verdict is Verdict.SLOWER
    assert orders.blocks == 3
    assert orders.unit == "per_second"


def test_numbers_in_status_have_six_significant_digits(analysis):
    for comparison in analysis.comparisons:
        for text in (comparison.baseline_value, comparison.target_value, comparison.slowdown):
            assert text == f"{float(text):.6g}"


def test_a_query_is_the_median_of_its_measured_runs(analysis):
    query = next(q for q in analysis.queries if q.slowdown.cell == "Q2")
    # Runs of 0.1, 0.09 and 3 s: neither the first run nor the outlier decides.
    assert query.slowdown.baseline_value == pytest.approx(0.1)
    assert query.slowdown.relative == pytest.approx(0, abs=1e-12)


def test_queries_are_in_the_order_of_their_numbers(analysis):
    assert [q.slowdown.cell for q in analysis.queries[:3]] == ["Q1", "Q2", "Q10"]


def test_tpch_has_aggregates_of_its_queries_and_others_have_none(analysis):
    shared, _, orders, _ = analysis.comparisons
    assert float(shared.aggregates.mean_of_slowdowns) == pytest.approx(0.503 / 3, abs=0.001)
    assert float(shared.aggregates.geometric_mean) == pytest.approx(1.503 ** (1 / 3) - 1, abs=1e-3)
    assert orders.aggregates is None


def test_contributions_of_queries_add_up_to_the_slowdown_of_the_total(analysis):
    shared = analysis.comparisons[0]
    total = sum(q.contribution for q in analysis.queries if q.cell.name == "connection=Shared")
    assert total == pytest.approx(float(shared.aggregates.slowdown_of_total), rel=1e-5)


def test_secondary_metrics_are_compared_but_not_in_status(analysis):
    found = [m for m in analysis.metrics if not m.primary]
    assert [(m.metric, m.slowdown.unit) for m in found] == [("newOrdersPerMinute", Unit.PER_MINUTE)]
    assert found[0].slowdown.relative == pytest.approx(0.503, abs=0.001)


def test_latencies_are_those_of_all_trials_together(analysis, histograms):
    found = {(o.cell.workload, o.target): o for o in analysis.operations if o.latency}
    pod, vm = found["orders", "pod"], found["orders", "vm"]
    assert pod.latency.count == 3 * histograms["resizing"]["count"]
    assert pod.latency.p99 * 1e6 == pytest.approx(histograms["resizing"]["p99"])
    assert vm.latency.p50 * 1e6 == pytest.approx(histograms["bounded"]["p50"])
    assert (vm.ok, vm.expected_failures, vm.failed, vm.errors) == (2700, 27, 3, {"40001": 3})


def test_only_measured_records_count_and_the_others_are_counted(
    benchmark, records, analysis, make_record
):
    bad = [
        make_record(trial_of(records[0]), records[0].result, attempt=2, outcome=Outcome.INVALID),
        make_record(trial_of(records[0]), None, attempt=3, outcome=Outcome.FAILED),
    ]
    again = analyse(benchmark, [*bad, *records], NOBODY)
    assert again.comparisons == analysis.comparisons
    counts = {c.target: (c.measured, c.invalid, c.failed) for c in again.counts}
    assert counts[records[0].target] == (12, 1, 1)


def test_the_order_of_records_changes_nothing(benchmark, records, analysis):
    assert analyse(benchmark, records[::-1], NOBODY) == analysis


def test_of_two_measured_attempts_the_last_counts(benchmark, records, analysis, make_record):
    first = records[0]
    again = make_record(trial_of(first), first.result, attempt=2)
    broken = make_record(trial_of(first), None, attempt=1)
    found = analyse(benchmark, [again, broken, *records[1:]], NOBODY)
    assert found.comparisons == analysis.comparisons


def test_a_measured_record_without_its_metric_is_reported(benchmark, records, make_record):
    broken = [
        make_record(trial_of(record), {"metrics": [], "operations": []})
        if record.trial.startswith("b002.vm.orders")
        else record
        for record in records
    ]
    found = analyse(benchmark, broken, NOBODY)
    assert [(u.trial, u.reason) for u in found.unusable] == [
        ("b002.vm.orders", "there is no metric throughput")
    ]
    orders = next(c for c in found.comparisons if c.workload == "orders")
    assert orders.blocks == 2


def test_a_damaged_histogram_leaves_the_other_figures(benchmark, records, make_record):
    record = next(r for r in records if r.workload == "telecom" and r.target == "vm")
    result = dict(record.result)
    result["operations"] = [dict(result["operations"][0], latency={"histogram": "damaged"})]
    others = [r for r in records if r is not record]
    found = analyse(benchmark, [*others, make_record(trial_of(record), result)], NOBODY)
    telecom = [o for o in found.operations if o.cell.workload == "telecom"]
    assert {(o.target, o.latency is None) for o in telecom} == {("pod", False), ("vm", True)}
    assert any(c.workload == "telecom" and c.blocks == 3 for c in found.comparisons)


def test_nothing_measured_is_nothing_compared(benchmark):
    found = analyse(benchmark, [], NOBODY)
    assert found.comparisons == ()
    assert worst_slowdown(found) == ""
    assert [gate.passed for gate in gates(benchmark.spec, found)] == [None, None]
    assert "not been compared" in gates(benchmark.spec, found)[0].message


def test_one_target_alone_is_not_compared(benchmark, records):
    found = analyse(benchmark, [r for r in records if r.target == "vm"], NOBODY)
    assert found.comparisons == ()


def test_one_block_has_an_estimate_but_no_interval(benchmark, records):
    found = analyse(benchmark, [r for r in records if r.block == 1], NOBODY)
    assert all(c.confidence_interval is None for c in found.comparisons)
    assert all(c.verdict is Verdict.INCONCLUSIVE for c in found.comparisons)


def test_emulation_of_either_side_marks_the_comparison(benchmark, records):
    for emulated in ("vm", "pod"):
        found = analyse(benchmark, records, frozenset({emulated}))
        assert all(c.emulated for c in found.comparisons)
        assert worst_slowdown(found).endswith(" (emulated)")


def test_the_worst_slowdown_names_target_and_workload(analysis):
    assert worst_slowdown(analysis) == "vm/orders +50.3%"


def test_gates(benchmark, analysis):
    orders, analytics = gates(benchmark.spec, analysis)
    assert (orders.passed, analytics.passed) == (False, True)
    assert orders.message == "orders on vm has a slowdown of +50.3 %, beyond the limit of 10 %."
    assert "within the limit of 60 %" in analytics.message


def test_a_gate_is_decided_by_the_worst_cell(benchmark, records, make_record):
    def slower(record):
        if record.cell == "connection=PerQuery" and record.target == "vm":
            result = dict(record.result)
            metric = result["metrics"][0]
            result["metrics"] = [metric | {"value": metric["value"] * 2}]
            return make_record(trial_of(record), result)
        return record

    found = analyse(benchmark, [slower(record) for record in records], NOBODY)
    assert gates(benchmark.spec, found)[1].passed is False


def controlled(benchmark, records, noise):
    """The same benchmark with a control, that differs from the baseline by `noise(block)`."""
    trials = benchmark.spec.trials.model_copy(update={"control": True})
    spec = benchmark.spec.model_copy(update={"trials": trials})
    twins = []
    for record in records:
        if record.target != "pod":
            continue
        metrics = [
            metric | {"value": metric["value"] * noise(record.block)}
            for metric in record.result["metrics"]
        ]
        twins.append(
            replace(
                record,
                target="control",
                trial=record.trial.replace(".pod.", ".control."),
                result=record.result | {"metrics": metrics},
            )
        )
    return benchmark.model_copy(update={"spec": spec}), [*records, *twins]


def test_a_slowdown_beyond_the_noise_floor_keeps_its_verdict(benchmark, records):
    found = analyse(*controlled(benchmark, records, lambda block: 1 + 0.001 * block), NOBODY)
    assert {one.slowdown.target for one in found.controls} == {"control"}
    assert {one.slowdown.target for one in (*found.metrics, *found.queries)} == {"vm"}
    for one in found.primary:
        assert 0 < one.slowdown.noise_floor < 0.01
        assert one.slowdown.verdict is Verdict.SLOWER


def test_there_is_no_verdict_below_the_noise_floor(benchmark, records):
    with_control = controlled(benchmark, records, lambda block: 1 + block)
    found = analyse(*with_control, NOBODY)
    for one in found.primary:
        assert one.slowdown.noise_floor > abs(one.slowdown.relative)
        assert one.slowdown.verdict is Verdict.INCONCLUSIVE
    assert "within the noise floor of" in answer(with_control[0].spec, found)


def test_a_control_that_is_asked_for_but_not_measured_permits_no_verdict(benchmark, records):
    asked, _ = controlled(benchmark, records, lambda block: 1)
    for one in analyse(asked, records, NOBODY).primary:
        assert one.slowdown.noise_floor is None
        assert one.slowdown.verdict is Verdict.INCONCLUSIVE


def test_verdicts_of_all_cells_are_one_family(analysis):
    primary = [one.slowdown for one in analysis.primary]
    alone = [judged([slowdown])[0] for slowdown in primary]
    assert len(primary) == 4
    assert max(one.adjusted_p for one in primary) == pytest.approx(
        max(one.adjusted_p for one in judged(primary))
    )
    assert all(
        family.adjusted_p >= single.adjusted_p
        for family, single in zip(primary, alone, strict=True)
    )


def test_quantiles_of_latency_are_compared_over_blocks(analysis, histograms):
    found = {one.quantile: one for one in analysis.latencies if one.cell.workload == "orders"}
    assert list(found) == ["p50", "p95", "p99", "p999"]
    for quantile, one in found.items():
        before, after = (histograms[name][quantile] for name in ("resizing", "bounded"))
        assert one.slowdown.baseline_value * 1e6 == pytest.approx(before)
        assert one.slowdown.target_value * 1e6 == pytest.approx(after)
        assert one.slowdown.relative == pytest.approx(after / before - 1)
        # The same histogram in every block: nothing varies.
        assert one.slowdown.interval == pytest.approx([one.slowdown.relative] * 2)
        assert one.slowdown.trials == 3


def test_latencies_take_time_and_are_left_out_on_request(benchmark, records):
    found = analyse(benchmark, records, NOBODY, latencies=False)
    assert (found.operations, found.latencies) == ((), ())


def test_the_runs_of_a_trial_are_weighed_against_blocks(benchmark, records):
    varied = []
    for record in records:
        if record.workload == "analytics":
            # Runs vary by 1 %, blocks do not.
            runs = [1.0, 1.01, 0.99] if record.target == "vm" else [1.0, 1.0, 1.0]
            operations = [
                operation | {"runtimesSeconds": [0.1 * run for run in runs]}
                for operation in record.result["operations"]
            ]
            record = replace(record, result=record.result | {"operations": operations})
        varied.append(record)
    found = analyse(benchmark, varied, NOBODY).repetitions
    assert [(one.cell.name, one.target, one.runs) for one in found] == [
        ("connection=Shared", "vm", 3),
        ("connection=PerQuery", "vm", 3),
    ]
    for one in found:
        assert one.variances.within == pytest.approx(1e-4, rel=0.01)
        assert one.variances.between == 0
        assert one.best == 100


def test_blocks_that_share_a_deployment_are_one_value(benchmark, result_of, make_record):
    document = benchmark.spec.document()
    document["trials"] |= {"min": 6, "redeploy": True, "blocksPerDeployment": 2}
    shared = benchmark.model_copy(update={"spec": benchmark.spec.model_validate(document)})
    # How much faster the target is: luck of the deployments of blocks 1, 3 and 5, noise within.
    faster = {1: 1.0, 2: 1.002, 3: 1.1, 4: 1.102, 5: 0.95, 6: 0.952}
    # A block takes 60 s, a new deployment 240 s more.
    began = {1: 0, 2: 60, 3: 360, 4: 420, 5: 720, 6: 780}
    records = []
    for index, factor in faster.items():
        for trial in block(shared.spec, SEED, index).trials:
            result = result_of(trial)
            value = 100 * (factor if trial.target == "vm" else 1.0)
            metrics = [
                one | {"value": value if one["unit"] == "per_second" else 1e4 / value}
                for one in result["metrics"]
            ]
            record = make_record(trial, result | {"metrics": metrics})
            started = f"2026-11-21T08:{began[index] // 60:02d}:00Z"
            records.append(replace(record, started=started))
    found = analyse(shared, records, NOBODY)
    means = [
        (math.log(faster[first]) + math.log(faster[first + 1])) / 2 for first in (1, 3, 5)
    ]  # fmt: skip
    for one in found.primary:
        assert (one.slowdown.trials, one.slowdown.deployments) == (6, 3)
        assert one.slowdown.estimate.degrees == 2
        assert one.slowdown.estimate.mean == pytest.approx(-statistics.fmean(means))
        assert one.slowdown.estimate.error == pytest.approx(statistics.stdev(means) / 3**0.5)
    for one in found.latencies:
        assert (one.slowdown.trials, one.slowdown.estimate.degrees) == (6, 2)
    orders = next(one for one in found.deployments if one.cell.workload == "orders")
    assert (orders.deployments, orders.blocks, orders.target) == (3, 2, "vm")
    assert orders.variances.within == pytest.approx(math.log(1.002) ** 2 / 2, rel=0.1)
    assert orders.best == 1
    text = to_markdown(summary(shared, found, records, None))
    assert "Every 2 blocks in a row share deployments" in text
    assert "`blocksPerDeployment: 1` instead of 2" in text


def test_an_extreme_value_stays_unless_its_trial_is_invalid(benchmark, records, make_record):
    def with_outlier(outcome):
        changed = list(records)
        index = next(i for i, one in enumerate(records) if one.workload == "orders")
        result = records[index].result
        metrics = [metric | {"value": metric["value"] / 50} for metric in result["metrics"]]
        changed[index] = replace(
            records[index], outcome=outcome, reason="Invalid", message="steal of 30 %",
            result=result | {"metrics": metrics},
        )  # fmt: skip
        return analyse(benchmark, changed, NOBODY), changed

    def orders(found):
        return next(one.slowdown for one in found.primary if one.cell.workload == "orders")

    usual = orders(analyse(benchmark, records, NOBODY))
    kept, _ = with_outlier(Outcome.MEASURED)
    assert abs(orders(kept).estimate.mean - usual.estimate.mean) > 1
    left_out, changed = with_outlier(Outcome.INVALID)
    assert orders(left_out).relative == pytest.approx(usual.relative, abs=0.002)
    assert orders(left_out).trials == 2
    assert sum(counts.invalid for counts in left_out.counts) == 1
    document = summary(benchmark, left_out, changed, None)
    (listed,) = document["trials"]["notMeasured"]
    assert (listed["outcome"], listed["message"]) == ("Invalid", "steal of 30 %")
    assert "steal of 30 %" in to_markdown(document)


def test_costs_of_events_are_compared_each_and_together_and_have_no_cause(benchmark):
    costs = {"name": "costs", "micro": {"probes": ["SystemCall", "Fsync"]}}
    spec = benchmark.spec.model_validate(
        benchmark.spec.document() | {"workloads": [costs], "gates": None}
    )
    records = [
        TrialRecord(
            f"b00{block}.{target}.costs", block, target, "costs", "", 1, Outcome.MEASURED, "", "",
            "2026-11-21T08:00:00Z", "2026-11-21T08:00:10Z",
            {
                "metrics": [],
                "operations": [
                    {"name": name, "probe": {"cost": {"meanSeconds": seconds * factor}}}
                    for name, seconds, factor in (
                        ("SYSTEM_CALL", 1e-7, 1 + 0.01 * block),
                        ("FSYNC", 1e-3, 4 if target == "vm" else 1),
                    )
                ],
            },
        )
        for block in (1, 2, 3)
        for target in ("pod", "vm")
    ]  # fmt: skip
    found = analyse(benchmark.model_copy(update={"spec": spec}), records, NOBODY)
    assert {one.metric: round(one.slowdown.relative, 6) for one in found.metrics} == {
        "unitCost": 1.0,
        "SYSTEM_CALL": 0.0,
        "FSYNC": 3.0,
    }
    (primary,) = found.comparisons
    assert (primary.metric, primary.unit, primary.cause) == ("unitCost", "seconds", "")
    assert found.unusable == ()
