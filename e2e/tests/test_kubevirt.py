"""The path through KubeVirt's API, from spec to slowdown, with a real guest.

KubeVirt itself cannot be installed here: the API server serves KubeVirt's own schema, and the
stand-in of e2e/kubevirt_standin runs the guests.
"""

import re
import shlex
from collections.abc import Iterator

import pytest
from access import kubevirt as standin
from access.benchmarks import Benchmark, leftovers
from access.documents import benchmark
from access.kubectl import Kubectl, wait
from access.operator import Helm

RUN_SECONDS = 900


@pytest.fixture(scope="module")
def kubevirt(kubectl: Kubectl) -> Iterator[None]:
    """KubeVirt's API and the stand-in; gone again afterwards."""
    standin.install(kubectl)
    yield
    standin.remove(kubectl)


def test_a_kubevirt_machine_is_compared_with_a_pod(
    operator: Helm, kubevirt: None, namespace: Kubectl
) -> None:
    document = benchmark(
        "kubevirt",
        targets=[
            {"name": "pod", "pod": {}},
            # Auto is KubeVirt where its API is served.
            {"name": "vm", "virtualMachine": {"runtime": "Auto", "rootDiskSize": "2Gi"}},
        ],
    )
    namespace.apply(document)
    run = Benchmark(namespace, "kubevirt")
    run.wait_for_step("trial:b001.vm.", limit=RUN_SECONDS)
    (machine,) = namespace.list("virtualmachines.kubevirt.io")
    assert machine["status"]["printableStatus"] == "Running"
    assert machine["spec"]["template"]["spec"]["domain"]["firmware"]["kernelBoot"]
    (instance,) = namespace.list("virtualmachineinstances.kubevirt.io")
    assert instance["status"]["nodeName"] == "bench-db"
    run.wait_until_succeeded(limit=RUN_SECONDS)

    (comparison,) = [c for c in run.status["comparisons"] if c["metric"] == "throughput"]
    assert float(comparison["baselineValue"]) > 0
    assert float(comparison["targetValue"]) > 0
    (target,) = [t for t in run.status["environment"]["targets"] if t["name"] == "vm"]
    assert target["runtime"] == "KubeVirt"
    facts = {r["target"]: r["result"]["target"]["facts"] for r in run.records().values()}
    assert facts["vm"]["kernel"] != facts["pod"]["kernel"]
    assert facts["vm"]["serverExecutable"] == facts["pod"]["serverExecutable"]

    run.delete()
    wait("nothing is left", lambda: not leftovers(namespace), limit=180)


def test_a_machine_that_cannot_be_placed_stalls_with_its_status(
    operator: Helm, kubevirt: None, namespace: Kubectl
) -> None:
    """CPUs that the node has, but that another pod holds: KubeVirt reports no error by itself."""
    hog = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "hog"},
        "spec": {
            "nodeName": "bench-db",
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "hog",
                    "image": "localhost/dbbench/busybox:0.1.0",
                    "command": ["sleep", "3600"],
                    "resources": {"requests": {"cpu": "800m"}},
                }
            ],
        },
    }
    namespace.apply(hog)
    machines = [
        {"name": name, "virtualMachine": {"runtime": "KubeVirt", "rootDiskSize": "2Gi"}}
        for name in ("one", "two")
    ]
    namespace.apply(
        benchmark(
            "crowded",
            targets=machines,
            baseline="one",
            timeouts={"ready": "30s", "disk": "2m"},
            cleanupPolicy="Always",
        )
    )
    run = Benchmark(namespace, "crowded")
    condition = run.wait_until_stalled(limit=240)
    assert condition["reason"] in ("Unschedulable", "VirtualMachineFailed")
    assert "spec.resources" in condition["message"] or "kubectl describe" in condition["message"]


def test_settings_of_kubevirt_that_are_off_are_named_with_commands_that_switch_them_on(
    operator: Helm, kubevirt: None, namespace: Kubectl
) -> None:
    """Before anything is deployed, by the rights that the chart gives."""
    settings = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt"},
        "spec": {"configuration": {"developerConfiguration": {"featureGates": ["Snapshot"]}}},
    }
    namespace.apply(settings)
    try:
        machine = {"runtime": "KubeVirt", "rootDiskSize": "2Gi"}
        targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
        namespace.apply(benchmark("gates", targets=targets, suspend=True))
        run = Benchmark(namespace, "gates")
        condition = run.wait_until_stalled(limit=60)
        message = condition["message"]
        assert condition["reason"] == "KubeVirtFeatureGateOff", message
        assert "CPUManager" in message
        assert "bench-db offers KubeVirt no /dev/kvm" in message
        commands = re.findall(r"`kubectl (patch kubevirt .*?)`", message)
        assert len(commands) == 2
        for command in commands:
            namespace(*shlex.split(command))
        wait(
            "nothing is in the way",
            lambda: run.condition("Reconciling").get("reason") == "Suspended",
            limit=90,
        )
        found = namespace.get("kubevirts.kubevirt.io", "kubevirt")
        assert found is not None
        developer = found["spec"]["configuration"]["developerConfiguration"]
        assert developer == {"featureGates": ["Snapshot", "CPUManager"], "useEmulation": True}
        run.delete()
    finally:
        # It would hold up every other benchmark with a KubeVirt machine.
        namespace.delete("kubevirts.kubevirt.io", "kubevirt")
