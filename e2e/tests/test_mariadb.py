"""MariaDB in a pod against the same image in a guest that has its pod's place on the network."""

from collections.abc import Iterator

import pytest
from access.benchmarks import Benchmark
from access.documents import benchmark
from access.kubectl import Kubectl, Manifest
from access.operator import SETTINGS, Helm

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
MACHINE = {"runtime": "QEMU", "rootDiskSize": "2Gi", "network": "Tap"}
TARGETS = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": MACHINE}]
RUN_SECONDS = 600


@pytest.fixture(scope="module")
def privileged(operator: Helm, module_namespace: Kubectl) -> Iterator[Kubectl]:
    """A namespace that admits pods with a TAP device, served by an operator that makes them."""
    level = "pod-security.kubernetes.io/enforce=privileged"
    module_namespace("label", "namespace", module_namespace.namespace, level, "--overwrite")
    operator.install(*SETTINGS, "privilegedTargets.enabled=true")
    yield module_namespace
    operator.install(*SETTINGS)


@pytest.fixture(scope="module")
def measured(privileged: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    privileged.apply(benchmark("mariadb", database=MARIADB, targets=TARGETS, workloads=[TELECOM]))
    found = Benchmark(privileged, "mariadb")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


@pytest.fixture(scope="module")
def seen(measured: Benchmark) -> dict[str, Manifest]:
    """What the agents of each target said in its one trial."""
    return {record["target"]: record["result"]["target"] for record in measured.records().values()}


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


def test_the_guest_has_the_pod_s_network_and_says_so(seen: dict[str, Manifest]) -> None:
    assert seen["vm"]["facts"]["hypervisor"] == "TCG"
    mtu = {name: one["facts"]["networkInterface"]["mtu"] for name, one in seen.items()}
    assert mtu["vm"] == mtu["pod"]


def test_the_launcher_s_agent_is_reached_at_the_same_address(seen: dict[str, Manifest]) -> None:
    host = seen["vm"]["host"]
    assert host["facts"]["kernel"] != seen["vm"]["facts"]["kernel"]
    assert host["facts"]["guestNetwork"] in ("Tap", "Tap with vhost-net")


def test_the_record_says_which_path_was_measured(measured: Benchmark) -> None:
    paths = {
        target["name"]: target["properties"]["network path"]
        for target in measured.status["environment"]["targets"]
    }
    assert paths["pod"] == "pod"
    assert paths["vm"].startswith("Tap")
