"""The rules of a sweep's variants on a real API server: what it accepts, refuses, and says."""

from typing import Any

import pytest
from access.documents import benchmark, check, refusal
from access.kubectl import Kubectl, Manifest


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def axis(*values: Any, name: str = "axis", **sweep: Any) -> dict[str, Any]:
    """A sweep of one axis with these variants; a plain one is added where there is but one."""
    named = [{"name": f"v{number}", **value} for number, value in enumerate(values)]
    plain = [{"name": "plain"}] if len(named) == 1 else []
    return {"variants": [{"name": name, "values": [*plain, *named]}], **sweep}


def axes(*values: Any) -> dict[str, Any]:
    """A sweep of several axes, each with a plain variant and this one."""
    return {
        "variants": [
            {"name": f"axis{number}", "values": [{"name": "plain"}, {"name": "other", **value}]}
            for number, value in enumerate(values)
        ]
    }


def disk(**options: Any) -> dict[str, Any]:
    return {"virtualMachine": {"dataDisk": options}}


def cpu(**options: Any) -> dict[str, Any]:
    return {"virtualMachine": {"cpu": options}}


def machine(**options: Any) -> dict[str, Any]:
    return {"virtualMachine": options}


def storage(**options: Any) -> dict[str, Any]:
    return {"storage": options}


def vm(runtime: str = "QEMU", **options: Any) -> dict[str, Any]:
    """Fields of the spec with a pod and a virtual machine as the targets."""
    return {"targets": [POD, {"name": "vm", "virtualMachine": {"runtime": runtime, **options}}]}


POD: dict[str, Any] = {"name": "pod", "pod": {}}
KUBEVIRT = vm("KubeVirt")
PODS = {"targets": [POD, {"name": "other", "pod": {"runtimeClassName": "kata"}}]}
SHARED = {"resources": {"cpu": 4, "memory": "2Gi", "dedicatedCPUs": False}}
COLD = {"workloads": [{"name": "q", "tpch": {"scaleFactor": "1", "cache": ["Cold"]}}]}
LARGE_PAGES = {"resources": {"hugepages": {"pageSize": "2Mi", "size": "256Mi"}}}
HUGE_PAGES = {"resources": {"hugepages": {"pageSize": "1Gi", "size": "1Gi"}}}
IN_MEMORY = storage(medium="Memory")
IMAGE = {"database": {"engine": "PostgreSQL", "image": "postgres:17"}}
OTHER = {"image": "registry.example/program:7"}
OWN_DISK = {"image": "registry.example/debian-postgres:17"}
TATPS = {"workloads": [{"name": f"t{n}", "tatp": {"subscribers": 100}} for n in range(4)]}


def swept(sweep: Any, spec: dict[str, Any]) -> Manifest:
    return benchmark("checked", **{"resources": {"cpu": 4, "memory": "2Gi"}, **spec}, sweep=sweep)


ACCEPTED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (axis(storage(storageClassName="fast"), storage(storageClassName="slow")), PODS),
    (axis(storage(volumeMode="Block")), {}),
    (axis(IN_MEMORY), {}),
    (axis(LARGE_PAGES), {}),
    (axis(disk(cache="none"), disk(cache="writethrough"), disk(cache="writeback")), {}),
    (axis(disk(cache="none", io="native"), disk(cache="none", io="threads")), {}),
    (axis(disk(io="native"), disk(io="threads")), vm(dataDisk={"cache": "none"})),
    (axis(disk(cache="none"), disk(bus="scsi", readAhead="0")), KUBEVIRT),
    (axis(*({"virtualMachine": {"network": name}} for name in ("User", "Tap"))), {}),
    (axis(machine(network="Masquerade"), machine(network="Bridge")), KUBEVIRT),
    (axis(machine(machine="q35"), machine(machine="microvm")), {}),
    (axis(machine(accelerator="KVM"), machine(accelerator="TCG")), {}),
    (axis(machine(guestKernel=OTHER)), KUBEVIRT),
    (axes(machine(launcher=OTHER), machine(guestKernel=OTHER)), {}),
    (axis(machine(ioThreadsPolicy="shared"), machine(blockMultiQueue=True)), KUBEVIRT),
    (
        axis(
            machine(
                ioThreadsPolicy="supplementalPool", ioThreads={"supplementalPoolThreadCount": 2}
            )
        ),
        KUBEVIRT,
    ),
    # What one runtime alone has, but switched off.
    (axis(machine(blockMultiQueue=False), cpu(isolateEmulatorThread=False)), {}),
    (axis(cpu(sockets=2, cores=2), cpu(cores=2, threads=2)), {}),
    (axis(cpu(model="host-passthrough"), cpu(model="host-model")), KUBEVIRT),
    (axis(cpu(isolateEmulatorThread=True)), KUBEVIRT),
    (axis(cpu(isolateEmulatorThread=True, dedicatedCpuPlacement=True)), KUBEVIRT | SHARED),
    (axis(LARGE_PAGES | cpu(numa={"guestMappingPassthrough": {}})), KUBEVIRT),
    (axis(disk(volume="EmptyDisk"), disk(volume="HostDisk")), KUBEVIRT),
    (axes(disk(cache="none"), disk(readAhead="0"), storage(storageClassName="fast")), {}),
    (
        axis(disk(cache="none"), cpu=[1, 2], clients=[1, 8], design="OneAtATime", name="diskCache"),
        {},
    ),
    # 2 targets x 4 workloads x 62 points is 496.
    (axis(disk(cache="none"), clients=list(range(1, 32))), TATPS),
    # 3 axes of 8 variants, one at a time: 2 x 22 trials.
    (
        {
            "design": "OneAtATime",
            "variants": [
                {"name": f"axis{a}", "values": [{"name": f"v{v}"} for v in range(8)]}
                for a in range(3)
            ],
        },
        {},
    ),
]


@pytest.mark.parametrize(("sweep", "spec"), ACCEPTED, ids=lambda value: str(value)[:70])
def test_accepted(server: Kubectl, sweep: Any, spec: dict[str, Any]) -> None:
    check(server, swept(sweep, spec))


VARIANTS = "spec.sweep.variants"
REFUSED: list[tuple[Any, dict[str, Any], str, str]] = [
    # the sweep, other fields, the field that the message names, and what the message says
    ({"variants": []}, {}, VARIANTS, "at least 1 items"),
    ({"variants": [{"name": "a", "values": [{"name": "b"}]}]}, {}, VARIANTS, "at least 2 items"),
    ({"variants": [{"name": "a"}]}, {}, f"{VARIANTS}[0].values", "Required value"),
    (axes({}, {}, {}, {}), {}, VARIANTS, "at most 3 items"),
    (axis(*({} for _ in range(9))), {}, f"{VARIANTS}[0].values", "at most 8 items"),
    (axis({"name": "same"}, {"name": "same"}), {}, f"{VARIANTS}[0].values[1]", "Duplicate value"),
    (axis({"name": "a-b"}), {}, f"{VARIANTS}[0].values[1].name", "should match"),
    (axis({}, name="Disk"), {}, f"{VARIANTS}[0].name", "should match"),
    (axis({}, name="cache"), {}, f"{VARIANTS}[0].name", "for example diskCache"),
    (axis({}, name="cpu"), {}, f"{VARIANTS}[0].name", "write another name"),
    (axis({}, name="block1"), {}, f"{VARIANTS}[0].name", "what begins with block"),
    (axis(machine(rootDiskSize="4Gi")), {}, "rootDiskSize", "unknown field"),
    (axis(machine(runtime="KubeVirt")), {}, "runtime", "unknown field"),
    (axis(storage(size="1Gi")), {}, "size", "unknown field"),
    (axis(machine(containerDisk=OWN_DISK)), {}, "containerDisk", "unknown field"),
    (
        axis(LARGE_PAGES),
        vm(runtime="KubeVirt", containerDisk=OWN_DISK) | IMAGE,
        VARIANTS,
        "goes with no target of virtualMachine.containerDisk",
    ),
    (axis(disk(cache="unsafe")), {}, "dataDisk.cache", "Unsupported value"),
    (axis(disk(readAhead="1k")), {}, "dataDisk.readAhead", "a multiple of 4Ki"),
    (axis(disk(cache="none")), PODS, VARIANTS, "there is no target virtualMachine"),
    (axis(disk(io="native")), {}, VARIANTS, "dataDisk.io: native needs cache: none"),
    (
        axis(disk(cache="writeback")),
        vm(dataDisk={"cache": "none", "io": "native"}),
        VARIANTS,
        "dataDisk.io: native needs cache: none",
    ),
    (
        axis(disk(bus="scsi", dedicatedIOThread=True)),
        {},
        VARIANTS,
        "dedicatedIOThread needs bus: virtio",
    ),
    (axis(disk(bus="scsi")), vm(dataDisk={"dedicatedIOThread": True}), VARIANTS, "needs bus"),
    (axis(disk(volume="EmptyDisk")), {}, VARIANTS, "EmptyDisk need runtime: KubeVirt"),
    (
        axis(disk(volume="HostDisk")),
        KUBEVIRT | {"trials": {"redeploy": True}},
        VARIANTS,
        "HostDisk leaves its image on the node",
    ),
    (axis(disk(cache="writeback")), KUBEVIRT | COLD, VARIANTS, "need cache: none with KubeVirt"),
    (axis(cpu(sockets=3)), {}, VARIANTS, "sockets x cores x threads"),
    (axis(cpu(sockets=4), cpu=[2, 4]), {}, VARIANTS, "no axis sweep.cpu"),
    (axis(cpu(sockets=4, maxSockets=2)), KUBEVIRT, VARIANTS, "maxSockets must not be less"),
    (axis(cpu(maxSockets=8)), {}, VARIANTS, "cpu.maxSockets needs runtime: KubeVirt"),
    (axis(cpu(isolateEmulatorThread=True)), KUBEVIRT | SHARED, VARIANTS, "needs exclusive CPUs"),
    (axis(cpu(isolateEmulatorThread=True)), {}, VARIANTS, "needs runtime: KubeVirt"),
    (
        axis(cpu(dedicatedCpuPlacement=False)),
        vm("KubeVirt", cpu={"isolateEmulatorThread": True}),
        VARIANTS,
        "needs exclusive CPUs",
    ),
    (
        axis(cpu(numa={"guestMappingPassthrough": {}})),
        KUBEVIRT,
        VARIANTS,
        "needs exclusive CPUs and huge pages",
    ),
    (axis(cpu(model="host-model")), {}, VARIANTS, "host-model needs runtime: KubeVirt"),
    (axis(machine(machine="microvm")), KUBEVIRT, VARIANTS, "microvm needs runtime: QEMU"),
    (axis(machine(accelerator="TCG")), KUBEVIRT, VARIANTS, "need runtime: QEMU"),
    (axis(machine(launcher=OTHER)), KUBEVIRT, VARIANTS, "launcher needs runtime: QEMU"),
    (
        axis(machine(machine="microvm", accelerator="TCG")),
        {},
        VARIANTS,
        "a microvm is not emulated",
    ),
    (axis(machine(network="Bridge")), {}, VARIANTS, "Bridge need runtime: KubeVirt"),
    (axis(machine(network="Tap")), KUBEVIRT, VARIANTS, "User and Tap need runtime: QEMU"),
    (axis(machine(ioThreadsPolicy="shared")), {}, VARIANTS, "needs runtime: KubeVirt"),
    (axis(machine(blockMultiQueue=True)), {}, VARIANTS, "blockMultiQueue needs runtime"),
    (
        axis(machine(networkInterfaceMultiqueue=True)),
        {},
        VARIANTS,
        "networkInterfaceMultiqueue needs runtime",
    ),
    (
        axis(machine(ioThreadsPolicy="supplementalPool")),
        KUBEVIRT,
        VARIANTS,
        "supplementalPool need each other",
    ),
    (axis(storage(volumeMode="Block")), PODS, VARIANTS, "Block is how virtual machines"),
    (axis(storage(volumeMode="Block", medium="Memory")), {}, VARIANTS, "needs medium: Disk"),
    (
        axis(IN_MEMORY),
        {"resources": {"cpu": 1, "memory": "1Gi"}},
        VARIANTS,
        "less than spec.resources.memory",
    ),
    (axis(IN_MEMORY), COLD, VARIANTS, "neither with workloads of cache: [Cold]"),
    (
        axis(IN_MEMORY),
        {"targets": [POD, {"name": "cnpg", "cloudNativePG": {}}]} | IMAGE,
        VARIANTS,
        "nor with targets cloudNativePG",
    ),
    (axis(IN_MEMORY), vm(dataDisk={"cache": "none"}), VARIANTS, "there is no data disk"),
    (axis(IN_MEMORY | disk(bus="scsi")), {}, VARIANTS, "there is no data disk"),
    (axes(IN_MEMORY, disk(cache="none")), {}, VARIANTS, "data in memory have no disk"),
    (axis(HUGE_PAGES), {"resources": {"memory": "1536Mi"}}, VARIANTS, "must be a multiple of"),
    (axis(HUGE_PAGES), {"resources": {"memory": "1Gi"}}, VARIANTS, "must be less than"),
    (
        axes(disk(cache="none"), disk(cache="none", io="native")),
        {},
        VARIANTS,
        "dataDisk.cache, virtualMachine.dataDisk.io depend on each other: vary them by one axis",
    ),
    (
        axes(machine(machine="q35"), machine(machine="q35")),
        {},
        VARIANTS,
        "virtualMachine.machine, virtualMachine.accelerator depend on each other",
    ),
    (
        axes(storage(storageClassName="fast"), storage(volumeMode="Block")),
        {},
        VARIANTS,
        "vary them by one axis",
    ),
    (
        axis({}),
        {
            "targets": [
                POD,
                {"name": "prod", "external": {"connection": {"secretRef": {"name": "prod"}}}},
            ]
        },
        "spec.sweep",
        "cpu, instances and variants are swept by deploying",
    ),
    (
        axis(disk(cache="none"), clients=list(range(1, 33))),
        TATPS,
        "spec.workloads",
        "more than 500 trials in each block",
    ),
]


@pytest.mark.parametrize(
    ("sweep", "spec", "field", "says"), REFUSED, ids=lambda value: str(value)[:70]
)
def test_refused(server: Kubectl, sweep: Any, spec: dict[str, Any], field: str, says: str) -> None:
    said = refusal(server, swept(sweep, spec))
    assert says in said
    assert field in said
