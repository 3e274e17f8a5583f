"""Hyper in a pod against the same image in a QEMU VM, with the driver beside it in both."""

import pytest
from access.benchmarks import Benchmark
from access.documents import DATABASE_NODE, benchmark, on_node
from access.kubectl import Kubectl, Manifest
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
PLACEMENT = {"database": on_node(DATABASE_NODE), "driver": {"colocation": "SameGuest"}}
RUN_SECONDS = 600


@pytest.fixture(scope="module")
def measured(operator: Helm, module_namespace: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    resources = {"cpu": 1, "memory": "1Gi"}
    module_namespace.apply(
        benchmark(
            "hyper",
            database=HYPER,
            resources=resources,
            placement=PLACEMENT,
            workloads=[ANALYTICS],
        )
    )
    found = Benchmark(module_namespace, "hyper")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


@pytest.fixture(scope="module")
def results(measured: Benchmark) -> dict[str, Manifest]:
    """The driver's document of each target's one trial."""
    return {record["target"]: record["result"] for record in measured.records().values()}


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


def test_the_driver_talked_to_the_database_beside_it(results: dict[str, Manifest]) -> None:
    assert set(results) == {"pod", "vm"}
    for result in results.values():
        assert result["parameters"]["atTarget"] is True
        assert "127.0.0.1" in result["parameters"]["url"]


def test_the_hypervisor_was_looked_at_from_inside_the_guest(results: dict[str, Manifest]) -> None:
    assert "host" not in results["pod"]["target"]
    seen = results["vm"]["target"]
    assert seen["host"]["facts"]["kernel"] != seen["facts"]["kernel"]
    used = [seen["host"][when]["processes"]["userSeconds"] for when in ("before", "after")]
    assert used[1] > used[0]


def test_no_network_is_compared(measured: Benchmark) -> None:
    for target in measured.status["environment"]["targets"]:
        assert target["properties"]["network path"] == "loopback"
    assert "network path" not in measured.condition("FairnessVerified")["message"]
