"""What KubeVirt and the database's node must have for a benchmark's virtual machines. No I/O.

Feature gates and other settings are in the one KubeVirt object of a cluster. An operator that may
not read it judges nothing.
"""

import json
import shlex
from collections.abc import Iterator

from dbbench.api.machine import DiskVolume, Network
from dbbench.api.quantities import quantity
from dbbench.api.target import Target
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import Manifest, State, labels_of
from dbbench.targets.context import TargetRuntime, runtime_of
from dbbench.targets.placement import has_exclusive_cpus
from dbbench.targets.qemu import devices

# Set by KubeVirt on nodes whose kubelet has the static CPU manager, where its own gate is on.
CPU_MANAGER_LABEL = "cpumanager"
KVM_DEVICE = "devices.kubevirt.io/kvm"


def machine_problems(state: State, node: Manifest | None) -> Iterator[Problem]:
    """What keeps a virtual machine from starting. `node`: the database's, if known."""
    if node is not None:
        yield from _devices(state, node)
    yield from _settings(state, node)


def _devices(state: State, node: Manifest) -> Iterator[Problem]:
    """A pod that asks for a device which its node does not offer waits for ever."""
    allocatable = node["status"]["allocatable"]
    for target in state.benchmark.spec.targets:
        machine = target.virtual_machine
        if machine is None or runtime_of(state.context, target) is not TargetRuntime.QEMU:
            continue
        for resource in devices(state.context, machine):
            if quantity(allocatable.get(resource, "0")) <= 0:
                yield Problem(
                    "DeviceNotOffered",
                    f"target {target.name!r}: node {node['metadata']['name']} has no {resource}, "
                    "which the operator is set to ask for (devices of its chart). Run the device "
                    "plugin there, select a node with VMX or SVM that has it, or write "
                    "virtualMachine.accelerator: TCG: every result then says that the guest was "
                    "emulated.",
                )


def _settings(state: State, node: Manifest | None) -> Iterator[Problem]:
    """Settings of KubeVirt."""
    spec = state.benchmark.spec
    machines = [
        target
        for target in spec.targets
        if runtime_of(state.context, target) is TargetRuntime.KUBEVIRT
    ]
    if not machines or not state.kubevirt:
        return
    if not state.data_volumes:
        yield from _data_volumes(machines)
    if not state.kubevirts:
        return
    kubevirt = state.kubevirts[0]
    exclusive = [target for target in machines if has_exclusive_cpus(spec.resources, target)]
    yield from _feature_gates(kubevirt, machines, exclusive, node)
    yield from _bridge(kubevirt, machines)
    if node is not None:
        yield from _hardware(kubevirt, machines[0], node)


def _data_volumes(machines: list[Target]) -> Iterator[Problem]:
    wanted = _named(t for t in machines if t.data_volume is DiskVolume.DATA_VOLUME)
    if wanted:
        yield Problem(
            "CDINotInstalled",
            f"virtualMachine.dataDisk.volume of {wanted}: DataVolume is made by CDI, but the "
            "cluster does not serve cdi.kubevirt.io/v1beta1. Install it with `kubectl apply -f "
            "cdi-operator.yaml -f cdi-cr.yaml`, the files of a release of "
            "kubevirt/containerized-data-importer, or write PersistentVolumeClaim.",
        )


def _feature_gates(
    kubevirt: Manifest, machines: list[Target], exclusive: list[Target], node: Manifest | None
) -> Iterator[Problem]:
    """Both gates are off unless they are listed, in every version of KubeVirt so far (1.8)."""
    on = _developer(kubevirt).get("featureGates") or []
    off: dict[str, str] = {}
    pinning = labels_of(node).get(CPU_MANAGER_LABEL) if node else None
    if exclusive and "CPUManager" not in on and pinning != "true":
        off["CPUManager"] = f"exclusive CPUs of {_named(exclusive)}"
    on_hosts = _named(t for t in machines if t.data_volume is DiskVolume.HOST_DISK)
    if on_hosts and "HostDisk" not in on:
        off["HostDisk"] = f"dataDisk.volume: HostDisk of {on_hosts}"
    if off:
        gates: Manifest = {"featureGates": [*on, *off]}
        refused = _developer(kubevirt).get("disabledFeatureGates") or []
        if any(gate in off for gate in refused):
            gates["disabledFeatureGates"] = [gate for gate in refused if gate not in off]
        listed = " and ".join(f"{gate} (for {what})" for gate, what in off.items())
        yield Problem(
            "KubeVirtFeatureGateOff",
            f"KubeVirt's feature gate {listed} is off. Switch it on with "
            f"`{_patch(kubevirt, {'developerConfiguration': gates})}`, or do without.",
        )
    elif node and exclusive and pinning == "false":
        name = node["metadata"]["name"]
        yield Problem(
            "StaticCPUManagerOff",
            f"exclusive CPUs of {_named(exclusive)}: the kubelet of node {name} has no static CPU "
            "manager. Write `cpuManagerPolicy: static` and `reservedSystemCPUs` into its "
            "configuration, remove /var/lib/kubelet/cpu_manager_state and restart it; or write "
            "spec.resources.dedicatedCPUs: false.",
        )


def _bridge(kubevirt: Manifest, machines: list[Target]) -> Iterator[Problem]:
    network = _configuration(kubevirt).get("network") or {}
    bridged = _named(
        t for t in machines if t.virtual_machine and t.virtual_machine.network is Network.BRIDGE
    )
    if bridged and network.get("permitBridgeInterfaceOnPodNetwork") is False:
        permit = {"network": {"permitBridgeInterfaceOnPodNetwork": True}}
        yield Problem(
            "BridgeNotPermitted",
            f"virtualMachine.network of {bridged}: KubeVirt does not permit Bridge on the pod's "
            f"network. Permit it with `{_patch(kubevirt, permit)}`, or write Masquerade.",
        )


def _hardware(kubevirt: Manifest, machine: Target, node: Manifest) -> Iterator[Problem]:
    """KubeVirt's pods ask for /dev/kvm, and wait for ever where a node has none."""
    there = node["status"]["allocatable"].get(KVM_DEVICE, "0")
    if _developer(kubevirt).get("useEmulation") or quantity(there) > 0:
        return
    emulate = {"developerConfiguration": {"useEmulation": True}}
    yield Problem(
        "NoHardwareVirtualization",
        f"target {machine.name!r}: node {node['metadata']['name']} offers KubeVirt no /dev/kvm. "
        "Select a node with VMX or SVM on which KubeVirt's virt-handler runs; or write runtime: "
        f"QEMU, or let KubeVirt emulate with `{_patch(kubevirt, emulate)}`: every result then says "
        "that the guest was emulated.",
    )


def _configuration(kubevirt: Manifest) -> Manifest:
    found: Manifest = kubevirt.get("spec", {}).get("configuration") or {}
    return found


def _developer(kubevirt: Manifest) -> Manifest:
    found: Manifest = _configuration(kubevirt).get("developerConfiguration") or {}
    return found


def _patch(kubevirt: Manifest, configuration: Manifest) -> str:
    """The command that changes these settings. A merge replaces lists, so they are whole."""
    metadata = kubevirt["metadata"]
    patch = json.dumps({"spec": {"configuration": configuration}}, separators=(",", ":"))
    return (
        f"kubectl patch kubevirt {metadata['name']} -n {metadata['namespace']} --type=merge "
        f"-p {shlex.quote(patch)}"
    )


def _named(targets: Iterator[Target] | list[Target]) -> str:
    names = [repr(target.name) for target in targets]
    return f"target{'s' if len(names) > 1 else ''} {', '.join(names)}" if names else ""
