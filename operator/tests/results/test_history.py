"""Which benchmarks belong to one history, in which order, and what is new in each of them."""

import copy

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.results.history import (
    Run,
    fingerprint,
    history,
    news,
    series_of,
    slowdowns,
    values,
)
from dbbench.stats import Sample, Unit

ENVIRONMENT = {
    "databaseNode": "a",
    "driverNode": "b",
    "cpuModel": "EPYC",
    "nodeCpus": 64,
    "nodeKernel": "6.1",
    "targets": [
        {"name": "pod", "runtime": "Pod", "kernel": "6.1", "properties": {"kernel": "6.1"}},
        {"name": "vm", "runtime": "QEMU", "kernel": "6.6", "properties": {"kernel": "6.6"}},
    ],
}


def comparison(slowdown, **others):
    return {
        "workload": "orders", "cell": "", "target": "vm", "metric": "throughput", "primary": True,
        "unit": "per_second", "baselineValue": 100.0, "targetValue": 100.0 / (1 + slowdown),
        "slowdown": slowdown, "interval": {"low": slowdown - 0.01, "high": slowdown + 0.01},
    } | others  # fmt: skip


@pytest.fixture
def run(benchmark):
    """A run on a day of November; `spec` and `environment` are changed in place by functions."""

    def make(day, slowdown=0.1, name=None, spec=None, environment=None, **summary):
        body = {
            "metadata": {"name": name or f"n-{day}", "namespace": "db", "uid": f"u-{day}"},
            "spec": benchmark.spec.document(),
            "status": {
                "startTime": f"2026-11-{day:02d}T02:00:00Z",
                "environment": copy.deepcopy(ENVIRONMENT),
            },
        }
        if spec:
            spec(body["spec"])
        if environment:
            environment(body["status"]["environment"])
        document = {"dbbench": "0.1.0", "comparisons": [comparison(slowdown)]} | summary
        return Run(DBBenchmark.parse(body), document, f"source-{day}")

    return make


def image(spec):
    spec["database"]["image"] = "postgres:18"


def cpu(spec):
    spec["resources"]["cpu"] = 8


def kernel(environment):
    environment["nodeKernel"] = "6.6"
    for target in environment["targets"]:
        target["kernel"] = target["properties"]["kernel"] = "6.6"


FREE = {
    "name": {"name": "other"},
    "image": {"spec": image},
    "how often": {"spec": lambda spec: spec.update(trials={"min": 9, "seed": 3, "control": True})},
    "what steers": {"spec": lambda spec: spec.update(cleanupPolicy="Never", ttlAfterFinished="1h")},
    "limits": {"spec": lambda spec: spec.pop("gates")},
    "node": {
        "spec": lambda spec: spec["placement"]["database"]["nodeSelector"].update(zone="x"),
        "environment": lambda found: found.update(databaseNode="c"),
    },
    "kernel": {"environment": kernel},
    "order": {"spec": lambda spec: spec["workloads"].reverse()},
}
BOUND = {
    "CPUs": {"spec": cpu},
    "workload": {"spec": lambda spec: spec["workloads"][1]["tpcc"].update(warehouses=6)},
    "config": {"spec": lambda spec: spec["database"].update(config={"work_mem": "1GB"})},
    "machine": {"environment": lambda found: found.update(cpuModel="Xeon")},
    "size of the machine": {"environment": lambda found: found.update(nodeCpus=32)},
    "emulation": {"environment": lambda found: found["targets"][1].update(emulated=True)},
    "runtime": {"environment": lambda found: found["targets"][1].update(runtime="KubeVirt")},
}


@pytest.mark.parametrize("change", FREE.values(), ids=FREE)
def test_what_a_history_is_looked_at_for_may_differ(run, change):
    assert fingerprint(run(1).benchmark) == fingerprint(run(2, **change).benchmark)


def test_a_duet_is_another_experiment(run):
    duet = run(2, spec=lambda spec: spec["trials"].update(mode="Duet"))
    one_by_one = run(3, spec=lambda spec: spec["trials"].update(mode="Sequential"))
    assert fingerprint(run(1).benchmark) == fingerprint(one_by_one.benchmark)
    assert fingerprint(run(1).benchmark) != fingerprint(duet.benchmark)


@pytest.mark.parametrize("change", BOUND.values(), ids=BOUND)
def test_another_experiment_or_machine_has_another_fingerprint(run, change):
    assert fingerprint(run(1).benchmark) != fingerprint(run(2, **change).benchmark)


def test_runs_are_in_the_order_of_time_and_like_the_latest(run):
    found = history([run(9), run(3, spec=cpu), run(1), run(5)])
    assert list(found.runs) == ["n-1", "n-5", "n-9"]
    ((source, reason),) = found.left_out
    assert source == "source-3"
    assert reason == "has another fingerprint: spec.resources.cpu: 1 -> 8"
    assert found.fingerprint == fingerprint(run(1).benchmark)


def test_the_one_that_is_asked_for_decides_what_is_like_it(run):
    other = run(3, spec=cpu)
    assert list(history([run(9), other, run(1)], other).runs) == ["n-3"]


def test_what_is_measured_again_under_one_name_goes_by_its_time(run):
    found = history([run(1, name="nightly"), run(2, name="nightly"), run(3)])
    assert list(found.runs) == [
        "nightly@2026-11-01T02:00:00Z", "nightly@2026-11-02T02:00:00Z", "n-3@2026-11-03T02:00:00Z",
    ]  # fmt: skip


def test_one_benchmark_from_two_sources_counts_once(run):
    found = history([run(1, name="nightly"), run(1, name="nightly"), run(2)])
    assert list(found.runs) == ["nightly", "n-2"]
    assert found.left_out == (("source-1", "is nightly once more"),)


def test_no_run_is_no_history():
    with pytest.raises(ValueError, match="needs a run"):
        history([])


def test_a_series_for_each_comparison_with_its_intervals(run):
    secondary = comparison(9.0, metric="newOrdersPerMinute", primary=False)
    point = comparison(0.3, cell="clients=8", interval=None)
    runs = [run(2, 0.2), run(1, comparisons=[comparison(0.1), secondary, point])]
    one, other = slowdowns(history(runs))
    assert (one.target, one.cell, one.unit) == ("vm", "orders", None)
    assert [(p.trial, p.value) for p in one.points] == [("n-1", 0.1), ("n-2", 0.2)]
    assert one.points[0].interval == pytest.approx((0.09, 0.11))
    assert one.times == [1.1, 1.2]
    assert (other.cell, len(other.points)) == ("orders/clients=8", 1)
    assert other.points[0].interval is None


def test_values_are_those_of_each_target_and_the_baseline_once(run):
    both = [comparison(0.25), comparison(1.0, target="bare")]
    found = {one.target: one for one in values(history([run(1, comparisons=both), run(2, 0.25)]))}
    assert list(found) == ["pod", "vm", "bare"]
    assert [p.value for p in found["pod"].points] == [100.0, 100.0]
    assert [p.value for p in found["vm"].points] == [80.0, 80.0]
    assert found["vm"].unit is Unit.PER_SECOND
    assert found["vm"].times == [1 / 80, 1 / 80]


def test_what_is_new_in_a_run_is_named_once(run):
    found = history([run(1), run(2, spec=image, environment=kernel, dbbench="0.2.0"), run(3)])
    assert news(found, "n-1") == []
    assert news(found, "n-2") == [
        "spec.database.image: postgres:17 -> postgres:18",
        "environment.nodeKernel: 6.1 -> 6.6",
        "environment.targets.pod.kernel: 6.1 -> 6.6",
        "dbbench: 0.1.0 -> 0.2.0",
    ]


def test_times_and_values_of_samples_are_told_apart_by_target_and_cell():
    samples = [
        Sample("vm", cell, f"v{number}", 2.0 + number, Unit.SECONDS)
        for number in range(2)
        for cell in ("a", "b")
    ]
    found = series_of(samples)
    assert [(one.cell, one.times) for one in found] == [("a", [2.0, 3.0]), ("b", [2.0, 3.0])]
