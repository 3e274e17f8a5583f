"""Three databases side by side on a node with fewer CPUs than they have: in pods, and in guests."""

import json
from datetime import datetime

import pytest
from access.benchmarks import Benchmark
from access.documents import DATABASE_NODE, benchmark
from access.kubectl import Kubectl, Manifest
from access.operator import Helm

INSTANCES = 3
CPUS = 1
RUN_SECONDS = 900
TARGETS = [
    {"name": "pods", "instances": INSTANCES, "pod": {}},
    {
        "name": "vms",
        "instances": INSTANCES,
        "virtualMachine": {"runtime": "QEMU", "rootDiskSize": "2Gi"},
    },
]


@pytest.fixture(scope="module")
def measured(operator: Helm, module_namespace: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    module_namespace.apply(
        benchmark(
            "crowded",
            baseline="pods",
            targets=TARGETS,
            # Shared, so that there may be more of them than the node has.
            resources={"cpu": CPUS, "memory": "512Mi", "dedicatedCPUs": False},
        )
    )
    found = Benchmark(module_namespace, "crowded")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


@pytest.fixture(scope="module")
def trials(measured: Benchmark) -> dict[str, Manifest]:
    """The one trial of each target."""
    return {record["target"]: record for record in measured.records().values()}


def test_the_cpus_of_all_instances_are_set_against_those_of_the_node(measured: Benchmark) -> None:
    (node,) = measured.kubectl.list("nodes", f"kubernetes.io/hostname={DATABASE_NODE}")
    ratio = INSTANCES * CPUS / int(node["status"]["capacity"]["cpu"])
    environment = {target["name"]: target for target in measured.status["environment"]["targets"]}
    for target in TARGETS:
        found = environment[target["name"]]
        assert found["instances"] == INSTANCES
        assert float(found["overcommitment"].removesuffix("%")) == pytest.approx(100 * ratio, 1e-3)


def test_every_instance_was_measured_at_the_same_time(trials: dict[str, Manifest]) -> None:
    for target in TARGETS:
        instances = trials[target["name"]]["instances"]
        assert len(instances) == INSTANCES
        measured = [
            {phase["name"]: phase for phase in one["phases"]}["measure"] for one in instances
        ]
        last_start = max(datetime.fromisoformat(phase["start"]) for phase in measured)
        first_end = min(datetime.fromisoformat(phase["end"]) for phase in measured)
        assert last_start < first_end
        # Each has an agent of its own, which saw its own database work.
        for one in instances:
            used = [one["target"][when]["processes"]["userSeconds"] for when in ("before", "after")]
            assert used[1] > used[0]


def test_the_total_is_the_sum_of_the_instances(
    measured: Benchmark, trials: dict[str, Manifest]
) -> None:
    found = {one["target"]: one for one in measured.status["instances"]}
    assert set(found) == {target["name"] for target in TARGETS}
    for name, instances in found.items():
        values = [_throughput(one) for one in trials[name]["instances"]]
        assert min(values) > 0
        assert [float(value) for value in instances["values"]] == pytest.approx(values, rel=1e-3)
        assert float(instances["total"]) == pytest.approx(sum(values), rel=1e-3)
        assert _throughput(trials[name]["result"]) == pytest.approx(sum(values), rel=1e-6)
    (comparison,) = [c for c in measured.status["comparisons"] if c["metric"] == "throughput"]
    assert float(comparison["baselineValue"]) == pytest.approx(float(found["pods"]["total"]), 1e-3)
    assert float(comparison["targetValue"]) == pytest.approx(float(found["vms"]["total"]), 1e-3)


def test_fairness_among_instances_is_jains_index(measured: Benchmark) -> None:
    for instances in measured.status["instances"]:
        values = [float(value) for value in instances["values"]]
        jain = sum(values) ** 2 / (len(values) * sum(value**2 for value in values))
        assert float(instances["fairnessIndex"]) == pytest.approx(jain, rel=1e-3)
    results = measured.results()
    in_summary = json.loads(results["summary.json"])["instances"]
    assert [len(one["values"]) for one in in_summary] == [INSTANCES] * len(TARGETS)
    assert "## Instances side by side" in results["report.md"]


def _throughput(result: Manifest) -> float:
    (value,) = [m["value"] for m in result["metrics"] if m["name"] == "throughput"]
    return float(value)
