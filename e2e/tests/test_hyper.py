"""Hyper in a pod against the same image in a QEMU VM, from `kubectl apply` to a comparison."""

import pytest
from access.benchmarks import Benchmark
from access.documents import benchmark
from access.kubectl import Kubectl
from access.operator import Helm

HYPER = {
    "engine": "Hyper",
    "image": "localhost/dbbench/hyper:0.0.26963",
    "storage": {"size": "1Gi"},
}
QUERIES = [1, 6, 14]
ANALYTICS = {
    "name": "analytics",
    "tpch": {"scaleFactor": "0.01", "queries": QUERIES, "warmupRuns": 1, "runs": 1},
}
RUN_SECONDS = 600


@pytest.fixture(scope="module")
def measured(operator: Helm, module_namespace: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    resources = {"cpu": 1, "memory": "1Gi"}
    module_namespace.apply(
        benchmark("hyper", database=HYPER, resources=resources, workloads=[ANALYTICS])
    )
    found = Benchmark(module_namespace, "hyper")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


def test_results_name_the_server_that_it_really_is(measured: Benchmark) -> None:
    for trial in measured.records().values():
        assert trial["result"]["server"]["engine"] == "Hyper"
    versions = {t["serverVersion"] for t in measured.status["environment"]["targets"]}
    assert len(versions) == 1
    assert "0.0.26963" in versions.pop()


def test_pod_and_guest_ran_the_same_server_with_the_same_settings_data_and_plans(
    measured: Benchmark,
) -> None:
    message = measured.condition("FairnessVerified")["message"]
    for unequal in ("server version:", "setting ", "sha256", "data of ", "plan of "):
        assert unequal not in message
    loads = measured.records("loads").values()
    digests = {load["result"]["data"]["digest"] for load in loads if load["outcome"] == "Measured"}
    assert len(digests) == 1


def test_the_queries_of_the_guest_were_compared_with_those_of_the_pod(measured: Benchmark) -> None:
    for trial in measured.records().values():
        ran = {operation["name"] for operation in trial["result"]["operations"]}
        assert ran == {f"Q{number}" for number in QUERIES}
    (comparison,) = [c for c in measured.status["comparisons"] if c["metric"] == "totalRuntime"]
    assert (comparison["target"], comparison["workload"]) == ("vm", "analytics")
    assert float(comparison["slowdown"]) > -1
