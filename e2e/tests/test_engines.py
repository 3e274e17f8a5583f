"""MariaDB in a pod against the same image in a QEMU VM, from `kubectl apply` to a comparison."""

import pytest
from access.benchmarks import Benchmark
from access.documents import benchmark
from access.kubectl import Kubectl
from access.operator import Helm

MARIADB = {
    "engine": "MySQL",
    "image": "localhost/dbbench/mariadb:10.11",
    "config": {
        "innodb_buffer_pool_size": "64M",
        # Else the server adapts them to what is below it, which differs.
        "innodb_log_write_ahead_size": "4096",
        "innodb_use_native_aio": "OFF",
    },
    "storage": {"size": "1Gi"},
}
TELECOM = {"name": "telecom", "tatp": {"subscribers": 100, "warmup": "1s", "duration": "2s"}}
RUN_SECONDS = 600


@pytest.fixture(scope="module")
def measured(operator: Helm, module_namespace: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    module_namespace.apply(benchmark("mariadb", database=MARIADB, workloads=[TELECOM]))
    found = Benchmark(module_namespace, "mariadb")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


def test_results_name_the_server_that_it_really_is(measured: Benchmark) -> None:
    for trial in measured.records().values():
        assert trial["result"]["server"]["engine"] == "MariaDB"
    for target in measured.status["environment"]["targets"]:
        assert "MariaDB" in target["serverVersion"]


def test_pod_and_guest_ran_the_same_server_with_the_same_settings_and_data(
    measured: Benchmark,
) -> None:
    message = measured.condition("FairnessVerified")["message"]
    for unequal in ("server version:", "setting ", "sha256", "data of ", "operating system"):
        assert unequal not in message
    digests = {
        load["result"]["data"]["digest"]
        for load in measured.records("loads").values()
        if load["outcome"] == "Measured"
    }
    assert len(digests) == 1
    settings = [t["result"]["server"]["settings"] for t in measured.records().values()]
    assert {found["innodb_buffer_pool_size"] for found in settings} == {str(64 << 20)}


def test_the_guest_was_compared_with_the_pod(measured: Benchmark) -> None:
    compared = {(c["workload"], c["target"]) for c in measured.status["comparisons"]}
    assert compared == {("telecom", "vm")}
