"""Prometheus families made from objects of the API server."""

import json

from dbbench.api.status import Confirmation
from dbbench.metrics import (
    benchmark_families,
    confirmation_families,
    own_families,
    render,
    result_families,
)
from dbbench.reconciler import Statistics

BENCHMARK = {
    "metadata": {"name": "quickstart", "namespace": "ns", "uid": "u-1"},
    "status": {
        "progress": {"trialsPlanned": 12, "trialsDone": 5, "trialsInvalid": 1},
        "conditions": [{"type": "Succeeded", "status": "Unknown"}],
        "environment": {
            "targets": [{"name": "vm", "overcommitment": "150%"}, {"name": "pod"}],
        },
        "comparisons": [
            {
                "workload": "orders",
                "cell": "",
                "target": "vm",
                "metric": "throughput",
                "slowdown": "0.078",
                "emulated": True,
                "confidenceInterval": {"low": "0.05", "high": "0.1"},
            }
        ],
    },
}

SUMMARY = {
    "baseline": "pod",
    "spec": {
        "workloads": [
            {"name": "orders", "tpcc": {}},
            {"name": "memory", "zachmann": {}},
            {"name": "costs", "micro": {}},
        ]
    },
    "comparisons": [
        {
            "workload": workload,
            "cell": "",
            "target": "vm",
            "metric": metric,
            "primary": metric in ("throughput", "unitCost"),
            "unit": "seconds" if workload == "costs" else "per_second",
            "baselineValue": 2 * value,
            "targetValue": value,
        }
        for workload, metric, value in (
            ("orders", "throughput", 50.0),
            ("memory", "throughput", 7e6),
            ("memory", "throughputPerCpu", 9e5),
            ("costs", "unitCost", 1e-5),
            ("costs", "FSYNC", 1e-3),
        )
    ],
    "instances": [
        {
            "workload": "memory",
            "cell": "",
            "target": "vm",
            "unit": "per_second",
            "values": [3e6, 4e6],
            "fairnessIndex": 0.98,
        },
        {
            "workload": "orders",
            "cell": "",
            "target": "vm",
            "unit": "per_second",
            "values": [20.0, 30.0],
            "fairnessIndex": 0.96,
        },
    ],
    "queries": [
        {
            "workload": "analytics",
            "cell": "",
            "target": name,
            "query": "Q1",
            "baselineValue": 1.5,
            "targetValue": 3.0,
        }
        for name in ("vm", "kata")
    ],
    "operations": [
        {
            "workload": "orders",
            "cell": "",
            "target": "vm",
            "operation": "PAYMENT",
            "latencySeconds": {"p50": 0.01, "p95": 0.02, "p99": 0.03, "p999": 0.04},
        }
    ],
}


def config_map(uid):
    return {
        "metadata": {"name": "quickstart-results", "ownerReferences": [{"uid": uid}]},
        "data": {"summary.json": json.dumps(SUMMARY)},
    }


def test_status_becomes_series():
    text = render(benchmark_families([BENCHMARK])).decode()
    identity = 'benchmark="quickstart"'
    assert f'dbbench_benchmark_info{{{identity},mode="Sequential",namespace="ns"}} 1.0' in text
    assert f'dbbench_trials{{{identity},namespace="ns",state="done"}} 5.0' in text
    assert 'type="Succeeded"} 1.0' in text
    assert "dbbench_slowdown_ratio{" in text
    assert 'emulated="true"' in text
    assert 'bound="low"' in text
    assert f'dbbench_overcommitment_ratio{{{identity},namespace="ns",target="vm"}} 1.5' in text
    assert 'target="pod"' not in text


def test_a_duet_is_told_from_targets_that_ran_one_after_the_other():
    text = render(benchmark_families([BENCHMARK | {"spec": {"trials": {"mode": "Duet"}}}])).decode()
    assert 'dbbench_benchmark_info{benchmark="quickstart",mode="Duet",namespace="ns"} 1.0' in text
    for unreadable in ({"trials": "none"}, {"trials": {"mode": {}}}, {}):
        text = render(benchmark_families([BENCHMARK | {"spec": unreadable}])).decode()
        assert 'mode="Sequential"' in text


def confirmations(**tested):
    """The benchmark after the test of its cause, and of a target whose cause none tests."""
    place = {"workload": "orders", "cell": "", "slowdownBefore": "0.078"}
    found = [
        place | {"target": "vm", "cause": "system"} | tested,
        place | {"target": "kata", "cause": "user", "verdict": "NotTested"},
    ]
    status = BENCHMARK["status"] | {"confirmations": found}
    for one in found:
        Confirmation.model_validate(one)
    return render(confirmation_families([BENCHMARK | {"status": status}])).decode().splitlines()


def test_tests_of_causes_become_series_with_interval_and_verdict():
    lines = confirmations(
        intervention="SharedConnection",
        slowdownAfter="0.02",
        reduction="0.057",
        confidenceInterval={"low": "0.03", "high": "0.09"},
        verdict="Confirmed",
    )
    labels = (
        'benchmark="quickstart",{}cause="system",cell="",emulated="true",'
        'intervention="SharedConnection",namespace="ns",target="vm"'
    )
    plain = labels.format("") + ',workload="orders"'
    assert f"dbbench_confirmation_reduction_ratio{{{plain}}} 0.057" in lines
    for bound, value in (("low", "0.03"), ("high", "0.09")):
        bounded = labels.format(f'bound="{bound}",') + ',workload="orders"'
        assert f"dbbench_confirmation_reduction_bound_ratio{{{bounded}}} {value}" in lines
    verdicts = {
        line.rsplit('verdict="', 1)[1].split('"')[0]: line.rsplit(" ", 1)[1]
        for line in lines
        if line.startswith("dbbench_confirmation{") and 'target="vm"' in line
    }
    assert verdicts == {
        "Confirmed": "1.0",
        "NotConfirmed": "0.0",
        "Inconclusive": "0.0",
        "NotTested": "0.0",
    }


def test_what_is_not_tested_or_not_measured_yet_has_a_verdict_alone():
    lines = confirmations(intervention="SharedConnection", verdict="Inconclusive")
    told = [line for line in lines if not line.startswith("#")]
    assert {line.partition("{")[0] for line in told} == {"dbbench_confirmation"}
    (untested,) = [line for line in told if 'target="kata"' in line and line.endswith(" 1.0")]
    assert 'intervention="",' in untested
    assert 'verdict="NotTested"' in untested


def test_time_spent_looking_is_told_once_by_the_histogram_of_looks():
    statistics = Statistics()
    statistics.durations.add(0.5)
    lines = render(own_families(statistics, 0)).decode().splitlines()
    assert "dbbench_operator_reconcile_duration_seconds_sum 0.5" in lines
    assert not [line for line in lines if line.startswith("dbbench_operator_reconcile_seconds")]


def test_results_become_series_and_each_target_is_shown_once():
    text = render(result_families([BENCHMARK], [config_map("u-1")])).decode()
    runtimes = [line for line in text.splitlines() if line.startswith("dbbench_query_runtime")]
    assert len(runtimes) == 3
    assert 'quantile="0.99"' in text
    assert any(line.endswith(" 50.0") for line in text.splitlines())


def test_reads_of_memory_are_no_transactions():
    text = render(result_families([BENCHMARK], [config_map("u-1")])).decode()
    values = {
        name: [
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.startswith(f"{name}{{")
        ]
        for name in (
            "dbbench_throughput_transactions_per_second",
            "dbbench_throughput_reads_per_second",
            "dbbench_instance_throughput_reads_per_second",
        )
    }
    assert list(values.values()) == [[100.0, 50.0], [14e6, 7e6], [3e6, 4e6]]


def test_costs_of_events_become_series():
    text = render(result_families([BENCHMARK], [config_map("u-1")])).decode()
    costs = [line for line in text.splitlines() if line.startswith("dbbench_unit_cost_seconds{")]
    assert [line.rsplit(" ", 1)[1] for line in costs] == ["0.002", "0.001"]
    assert all('event="FSYNC"' in line for line in costs)


def test_instances_become_series_with_their_fairness():
    text = render(result_families([BENCHMARK], [config_map("u-1")])).decode()
    rates = [
        line.rsplit(" ", 1)[1]
        for line in text.splitlines()
        if line.startswith("dbbench_instance_throughput_transactions_per_second{")
    ]
    assert rates == ["20.0", "30.0"]
    assert 'instance="1"' in text
    assert "dbbench_fairness_index_ratio{" in text


def test_results_of_a_deleted_benchmark_are_not_shown():
    assert result_families([BENCHMARK], [config_map("u-gone")]) == []


def test_new_benchmark_without_status_is_no_problem():
    fresh = {"metadata": {"name": "new", "namespace": "ns", "uid": "u-2"}}
    assert b'dbbench_trials{benchmark="new"' in render(benchmark_families([fresh]))


def test_a_place_in_the_queue_is_told_while_there_is_one():
    place = {"position": 2, "node": "node a", "benchmark": "ns/other"}
    waiting = BENCHMARK | {"status": {"queue": place}}
    text = render(benchmark_families([waiting])).decode()
    assert 'dbbench_queue_position{benchmark="quickstart",namespace="ns"} 2.0' in text
    assert "dbbench_queue_position{" not in render(benchmark_families([BENCHMARK])).decode()
