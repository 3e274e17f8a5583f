"""The load is made of what the CRD accepts and the operator reads."""

from scale import kubelet, load
from scale.planning import large

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block
from dbbench.results.driver_log import parse
from dbbench.results.driver_result import read

POD = {
    "metadata": {
        "name": "bench-1-x",
        "labels": {"dbbench.io/job": "trial", "dbbench.io/target": "pod"},
    },
    "spec": {"containers": [{"name": "driver", "image": "d:1"}]},
}


def test_every_benchmark_is_valid_and_has_one_node():
    for number in (0, 49, 50, 999):
        document = load.benchmark(number, nodes=50, namespaces=10)
        spec = DBBenchmarkSpec.model_validate(document["spec"])
        host = spec.placement.database.node_selector["kubernetes.io/hostname"]
        assert host == load.node_name(number % 50)
        assert spec.placement.of_driver == spec.placement.database


def test_the_log_of_a_stand_in_driver_is_a_result_that_counts():
    found = parse(load.log(POD))
    assert found.result is not None
    assert found.result["valid"]
    assert read(found.result).metrics["throughput"].value > 0
    assert load.log(POD) == load.log(POD)
    assert len(load.log(POD)) > 10_000


def test_a_plan_of_any_size_has_a_trial_of_each_cell_on_each_target():
    assert len(block(large(7, 11), 1, 1).trials) == 77


def test_a_pod_that_ended_is_not_ready_and_says_when():
    status = kubelet.succeeded(POD, "a", "b")
    (container,) = status["containerStatuses"]
    assert container["state"]["terminated"] == {
        "exitCode": 0, "reason": "Completed", "startedAt": "a", "finishedAt": "b",
    }  # fmt: skip
    ready = [one for one in status["conditions"] if one["type"] == "Ready"]
    assert [one["status"] for one in ready] == ["False"]
