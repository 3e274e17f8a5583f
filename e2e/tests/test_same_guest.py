"""The driver inside the pod's container and inside the guest, beside the database."""

import pytest
from access.benchmarks import Benchmark
from access.documents import benchmark, on_node
from access.kubectl import Kubectl, Manifest
from access.operator import Helm

RUN_SECONDS = 600


@pytest.fixture(scope="module")
def measured(operator: Helm, module_namespace: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    placement = {"database": on_node("bench-db"), "driver": {"colocation": "SameGuest"}}
    module_namespace.apply(benchmark("beside", placement=placement))
    found = Benchmark(module_namespace, "beside")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


@pytest.fixture(scope="module")
def results(measured: Benchmark) -> dict[str, Manifest]:
    """The driver's document of each target's one trial."""
    return {record["target"]: record["result"] for record in measured.records().values()}


def test_the_driver_talked_to_the_database_beside_it(results: dict[str, Manifest]) -> None:
    assert set(results) == {"pod", "vm"}
    for result in results.values():
        assert result["parameters"]["atTarget"] is True
        assert "127.0.0.1" in result["parameters"]["url"]
        assert {m["name"]: m["value"] for m in result["metrics"]}["throughput"] > 0


def test_the_hypervisor_was_looked_at_from_inside_the_guest(results: dict[str, Manifest]) -> None:
    assert "host" not in results["pod"]["target"]
    seen = results["vm"]["target"]
    assert seen["host"]["facts"]["kernel"] != seen["facts"]["kernel"]
    used = [seen["host"][when]["processes"]["userSeconds"] for when in ("before", "after")]
    assert used[1] > used[0]


def test_no_network_is_compared_and_the_driver_is_a_part_of_the_target(measured: Benchmark) -> None:
    for target in measured.status["environment"]["targets"]:
        assert target["properties"]["network path"] == "loopback"
    assert "network path" not in measured.condition("FairnessVerified")["message"]
    (comparison,) = [c for c in measured.status["comparisons"] if c["metric"] == "throughput"]
    assert float(comparison["slowdown"]) > -1
