"""What of KubeVirt's settings is found missing before anything is deployed."""

import json
import re
import shlex

from dbbench.evaluate.preflight import problems
from dbbench.targets.context import NO_DEVICES, Devices

from .model_cluster import ModelCluster, node, spec

BASE = {"metadata": {"name": "kubevirt", "namespace": "kv"}}


def kubevirt(configuration=None, **developer):
    found = {"developerConfiguration": developer, **(configuration or {})}
    return BASE | {"spec": {"configuration": found}}


def database_node(*, kvm="1k", pinning=None):
    found = node("a")
    if kvm:
        found["status"]["allocatable"]["devices.kubevirt.io/kvm"] = kvm
    if pinning:
        found["metadata"]["labels"]["cpumanager"] = pinning
    return found


def reasons(setting, machine=None, database=None, data_volumes=True, **changes):
    target = {"name": "vm", "virtualMachine": {"runtime": "KubeVirt", **(machine or {})}}
    cluster = ModelCluster(
        spec(targets=[{"name": "pod", "pod": {}}, target], **changes),
        kubevirt=True,
        kubevirts=None if setting is None else (setting,),
        data_volumes=data_volumes,
        nodes=(database or database_node(), node("b")),
    )
    state = cluster.state()
    return {problem.reason: problem.message for problem in problems(state)}


def of_devices(devices, database, **machine):
    target = {"name": "vm", "virtualMachine": {"runtime": "QEMU", **machine}}
    cluster = ModelCluster(
        spec(targets=[{"name": "pod", "pod": {}}, target]),
        devices=devices,
        nodes=(database, node("b")),
    )
    return {problem.reason: problem.message for problem in problems(cluster.state())}


def test_devices_that_are_asked_for_must_be_offered_by_the_node():
    kvm = Devices(kvm="devices.kubevirt.io/kvm")
    assert of_devices(kvm, database_node()) == {}
    assert of_devices(NO_DEVICES, database_node(kvm=None)) == {}
    for none in (None, "0"):
        found = of_devices(kvm, database_node(kvm=none))
        assert found.keys() == {"DeviceNotOffered"}
        message = found["DeviceNotOffered"]
        assert "target 'vm': node a has no devices.kubevirt.io/kvm" in message
        assert "virtualMachine.accelerator: TCG" in message
    assert of_devices(kvm, database_node(kvm=None), accelerator="TCG") == {}


def patch_of(message):
    command = shlex.split(re.search(r"`(kubectl patch .*?)`", message)[1])
    assert command[:4] == ["kubectl", "patch", "kubevirt", "kubevirt"]
    assert command[4:7] == ["-n", "kv", "--type=merge"]
    return json.loads(command[-1])["spec"]["configuration"]


def test_a_kubevirt_with_every_setting_has_no_problems():
    assert reasons(kubevirt(featureGates=["CPUManager"])) == {}
    assert reasons(kubevirt(), resources={"dedicatedCPUs": False}) == {}


def test_exclusive_cpus_need_a_gate_and_the_command_keeps_the_others():
    found = reasons(kubevirt(featureGates=["Snapshot"]))
    assert found.keys() == {"KubeVirtFeatureGateOff"}
    message = found["KubeVirtFeatureGateOff"]
    assert "CPUManager (for exclusive CPUs of target 'vm')" in message
    developer = patch_of(message)["developerConfiguration"]
    assert developer == {"featureGates": ["Snapshot", "CPUManager"]}


def test_a_gate_that_is_refused_is_taken_from_the_refused_ones():
    message = reasons(kubevirt(disabledFeatureGates=["CPUManager", "Sidecar"]))[
        "KubeVirtFeatureGateOff"
    ]
    developer = patch_of(message)["developerConfiguration"]
    assert developer == {"featureGates": ["CPUManager"], "disabledFeatureGates": ["Sidecar"]}


def test_host_disks_need_a_gate():
    machine = {"cpu": {"dedicatedCpuPlacement": False}, "dataDisk": {"volume": "HostDisk"}}
    message = reasons(kubevirt(), machine)["KubeVirtFeatureGateOff"]
    assert patch_of(message)["developerConfiguration"] == {"featureGates": ["HostDisk"]}
    assert "KubeVirtFeatureGateOff" not in reasons(kubevirt(featureGates=["HostDisk"]), machine)


def test_a_node_on_which_kubevirt_pins_needs_no_gate():
    assert reasons(kubevirt(), database=database_node(pinning="true")) == {}


def test_the_static_cpu_manager_must_be_on():
    off = database_node(pinning="false")
    found = reasons(kubevirt(featureGates=["CPUManager"]), database=off)
    assert found.keys() == {"StaticCPUManagerOff"}
    assert "cpuManagerPolicy: static" in found["StaticCPUManagerOff"]
    # Where the gate is off, the label says nothing about the kubelet.
    assert reasons(kubevirt(), database=off).keys() == {"KubeVirtFeatureGateOff"}


def test_bridge_must_be_permitted():
    forbidden = kubevirt(
        {"network": {"permitBridgeInterfaceOnPodNetwork": False}}, featureGates=["CPUManager"]
    )
    found = reasons(forbidden, {"network": "Bridge"})
    assert found.keys() == {"BridgeNotPermitted"}
    permitted = patch_of(found["BridgeNotPermitted"])
    assert permitted == {"network": {"permitBridgeInterfaceOnPodNetwork": True}}
    assert reasons(forbidden, {"network": "Masquerade"}) == {}
    assert reasons(kubevirt(featureGates=["CPUManager"]), {"network": "Bridge"}) == {}


def test_without_kvm_on_the_node_kubevirt_must_be_allowed_to_emulate():
    gates = {"featureGates": ["CPUManager"]}
    for kvm in (None, "0"):
        found = reasons(kubevirt(**gates), database=database_node(kvm=kvm))
        assert found.keys() == {"NoHardwareVirtualization"}
        assert "node a offers KubeVirt no /dev/kvm" in found["NoHardwareVirtualization"]
        emulated = patch_of(found["NoHardwareVirtualization"])
        assert emulated == {"developerConfiguration": {"useEmulation": True}}
        allowed = kubevirt(**gates, useEmulation=True)
        assert reasons(allowed, database=database_node(kvm=kvm)) == {}


def test_data_volumes_need_cdi():
    machine = {"dataDisk": {"volume": "DataVolume"}}
    ready = kubevirt(featureGates=["CPUManager"])
    found = reasons(ready, machine, data_volumes=False)
    assert found.keys() == {"CDINotInstalled"}
    assert "target 'vm'" in found["CDINotInstalled"]
    assert reasons(ready, machine) == {}
    assert reasons(ready, data_volumes=False) == {}


def test_settings_that_may_not_be_read_are_not_judged():
    assert reasons(None) == {}


def test_guests_of_qemu_in_a_pod_need_nothing_of_kubevirt():
    assert reasons(kubevirt(), {"runtime": "QEMU"}, database=database_node(kvm=None)) == {}
    assert reasons(kubevirt(), {"runtime": "Auto"}).keys() == {"KubeVirtFeatureGateOff"}
