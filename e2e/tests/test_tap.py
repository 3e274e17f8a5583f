"""A guest in its pod's place on the network, beside the pod."""

from collections.abc import Iterator

import pytest
from access.benchmarks import Benchmark
from access.documents import benchmark
from access.kubectl import Kubectl, Manifest
from access.operator import SETTINGS, Helm

RUN_SECONDS = 600
MACHINE = {"runtime": "QEMU", "rootDiskSize": "2Gi", "network": "Tap"}


@pytest.fixture(scope="module")
def privileged(operator: Helm, module_namespace: Kubectl) -> Iterator[Kubectl]:
    """A namespace that admits such pods, served by an operator that makes them."""
    level = "pod-security.kubernetes.io/enforce=privileged"
    module_namespace("label", "namespace", module_namespace.namespace, level, "--overwrite")
    operator.install(*SETTINGS, "privilegedTargets.enabled=true")
    yield module_namespace
    operator.install(*SETTINGS)


@pytest.fixture(scope="module")
def measured(privileged: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": MACHINE}]
    privileged.apply(benchmark("tap", targets=targets))
    found = Benchmark(privileged, "tap")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


@pytest.fixture(scope="module")
def seen(measured: Benchmark) -> dict[str, Manifest]:
    """What the agents of each target said in its one trial."""
    return {record["target"]: record["result"]["target"] for record in measured.records().values()}


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
    throughput = [c for c in measured.status["comparisons"] if c["metric"] == "throughput"]
    assert [c["target"] for c in throughput] == ["vm"]
