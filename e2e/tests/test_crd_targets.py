"""The rules of targets on a real API server: what it accepts, what it refuses, in which words.

The rules of KubeVirt's own admission are among them, so that a user learns of them here.
"""

from typing import Any

import pytest
from access.documents import changed, check, refusal
from access.kubectl import Kubectl, Manifest

HUGEPAGES = {"pageSize": "2Mi", "size": "256Mi"}
NUMA = {"numa": {"guestMappingPassthrough": {}}}
POOL = {"ioThreadsPolicy": "supplementalPool", "ioThreads": {"supplementalPoolThreadCount": 4}}

DISK_DIRECT = {"cache": "none", "io": "native", "dedicatedIOThread": True}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def with_machine(
    machine: dict[str, Any], runtime: str = "KubeVirt", **resources: object
) -> Manifest:
    """A benchmark with 4 CPUs whose second target is this virtual machine."""
    document = changed("targets.1.virtualMachine", {"runtime": runtime, **machine})
    document["spec"]["resources"] = {"cpu": 4, "memory": "768Mi", **resources}
    return document


OWN_DISK = {
    "image": "debian-postgres:17@sha256:" + "0" * 64,
    "imagePullPolicy": "Always",
    "user": "postgres",
    "binaries": "/usr/lib/postgresql/17/bin",
}
ACCEPTED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    # runtime, options of the virtual machine, resources
    ("KubeVirt", {"cpu": {"sockets": 2, "cores": 2, "threads": 1, "maxSockets": 8}}, {}),
    ("KubeVirt", {"cpu": {"sockets": 4}}, {}),
    ("KubeVirt", {"cpu": {"cores": 2, "threads": 2, "model": "host-model"}}, {}),
    ("KubeVirt", {"cpu": {"isolateEmulatorThread": True}}, {}),
    (
        "KubeVirt",
        {"cpu": {"dedicatedCpuPlacement": True, "isolateEmulatorThread": True}},
        {"dedicatedCPUs": False},
    ),
    ("KubeVirt", {"cpu": NUMA}, {"hugepages": HUGEPAGES}),
    ("KubeVirt", {**POOL, "blockMultiQueue": True, "networkInterfaceMultiqueue": True}, {}),
    ("KubeVirt", {"ioThreadsPolicy": "auto"}, {}),
    ("KubeVirt", {"network": "Bridge"}, {}),
    ("KubeVirt", {"dataDisk": {"cache": "none", "io": "native", "dedicatedIOThread": True}}, {}),
    ("Auto", {"dataDisk": {"cache": "writethrough", "io": "threads"}}, {}),
    ("Auto", {"cpu": {"threads": 2, "cores": 2, "model": "host-passthrough"}}, {}),
    ("QEMU", {"network": "User", "dataDisk": {"cache": "none", "io": "native"}}, {}),
    ("QEMU", {"cpu": {"model": "Skylake-Server", "dedicatedCpuPlacement": False}}, {}),
    ("QEMU", {"machine": "microvm"}, {}),
    ("QEMU", {"machine": "microvm", "accelerator": "KVM"}, {}),
    ("QEMU", {"accelerator": "TCG"}, {}),
    ("KubeVirt", {"accelerator": "Auto"}, {}),
    ("KubeVirt", {"guestKernel": {"image": "registry.example/kernel:6.12"}}, {}),
    ("QEMU", {"launcher": {"image": "launcher:7", "imagePullPolicy": "Always"}}, {}),
    ("KubeVirt", {"machine": "q35", "dataDisk": {"bus": "scsi", "cache": "writeback"}}, {}),
    ("KubeVirt", {"dataDisk": {"volume": "DataVolume", "bus": "scsi"}}, {}),
    ("KubeVirt", {"dataDisk": {"volume": "HostDisk", **DISK_DIRECT}}, {}),
    ("KubeVirt", {"dataDisk": {"volume": "EmptyDisk", "cache": "writeback"}}, {}),
    ("Auto", {"dataDisk": {"volume": "PersistentVolumeClaim"}}, {}),
    ("KubeVirt", {"containerDisk": {"image": "registry.example/debian-postgres:17"}}, {}),
    ("KubeVirt", {"containerDisk": OWN_DISK, "dataDisk": {"volume": "EmptyDisk"}}, {}),
    ("QEMU", {"dataDisk": {"readAhead": "0"}}, {}),
    ("KubeVirt", {"dataDisk": {"volume": "EmptyDisk", "readAhead": "128Ki"}}, {}),
    ("Auto", {"dataDisk": {"readAhead": "1Gi"}}, {}),
    ("QEMU", {}, {"hugepages": HUGEPAGES}),
    ("QEMU", {}, {"memory": "4Gi", "hugepages": {"pageSize": "1Gi", "size": "1Gi"}}),
    ("QEMU", {}, {"memory": "1536Mi", "hugepages": {"pageSize": "2Mi", "size": "1Gi"}}),
]


@pytest.mark.parametrize(("runtime", "machine", "resources"), ACCEPTED, ids=str)
def test_accepted(
    server: Kubectl, runtime: str, machine: dict[str, Any], resources: dict[str, Any]
) -> None:
    check(server, with_machine(machine, runtime, **resources))


def with_storage(storage: dict[str, Any], targets: list[dict[str, Any]] | None = None) -> Manifest:
    """A benchmark with 768 MiB of memory and this storage."""
    document = changed("database.storage", storage)
    if targets is not None:
        document["spec"]["targets"] = targets
    return document


PODS = [{"name": "pod", "pod": {}}, {"name": "kata", "pod": {"runtimeClassName": "kata"}}]


def on_volume(volume: str) -> list[dict[str, Any]]:
    """A pod, and a virtual machine with this data volume."""
    machine = {"runtime": "KubeVirt", "dataDisk": {"volume": volume}}
    return [PODS[0], {"name": "vm", "virtualMachine": machine}]


@pytest.mark.parametrize(
    ("storage", "targets"),
    [
        ({"volumeMode": "Block"}, on_volume("DataVolume")),
        ({"volumeMode": "Block"}, None),
        ({"volumeMode": "Filesystem", "medium": "Disk"}, PODS),
        ({"size": "512Mi", "medium": "Memory"}, None),
        ({"size": "512Mi", "medium": "Memory"}, PODS),
    ],
)
def test_accepted_storage(
    server: Kubectl, storage: dict[str, Any], targets: list[dict[str, Any]] | None
) -> None:
    check(server, with_storage(storage, targets))


DIRECT = [PODS[0], {"name": "vm", "virtualMachine": {"dataDisk": {"cache": "none"}}}]


@pytest.mark.parametrize(
    ("storage", "targets", "field", "says"),
    [
        ({"volumeMode": "Block"}, PODS, "spec.database.storage.volumeMode", "need Filesystem"),
        *(
            (
                {"volumeMode": "Block"},
                on_volume(volume),
                "spec.database.storage.volumeMode",
                f"{volume}",
            )
            for volume in ("HostDisk", "EmptyDisk")
        ),
        (
            {"size": "512Mi", "medium": "Memory"},
            on_volume("EmptyDisk"),
            "spec.targets",
            "there is no data disk with spec.database.storage.medium: Memory",
        ),
        (
            {"size": "1Mi", "volumeMode": "Block", "medium": "Memory"},
            None,
            "spec.database.storage.volumeMode",
            "Block needs medium: Disk",
        ),
        (
            {"size": "768Mi", "medium": "Memory"},
            None,
            "spec.database.storage.size",
            "must be less than spec.resources.memory",
        ),
        (
            {"size": "512Mi", "medium": "Memory"},
            DIRECT,
            "spec.targets",
            "there is no data disk with spec.database.storage.medium: Memory",
        ),
        (
            {"size": "512Mi", "medium": "Memory"},
            [PODS[0], {"name": "vm", "virtualMachine": {"dataDisk": {"readAhead": "0"}}}],
            "spec.targets",
            "there is no data disk with spec.database.storage.medium: Memory",
        ),
        ({"medium": "Tape"}, None, "spec.database.storage.medium", 'values: "Disk", "Memory"'),
        ({"volumeMode": "Raw"}, None, "spec.database.storage.volumeMode", "supported values"),
    ],
    ids=str,
)
def test_refused_storage(
    server: Kubectl,
    storage: dict[str, Any],
    targets: list[dict[str, Any]] | None,
    field: str,
    says: str,
) -> None:
    said = refusal(server, with_storage(storage, targets))
    assert field in said
    assert says in said


VM = "spec.targets[1].virtualMachine"
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    # runtime, options, resources; the field that the message names, and what the message says
    ("QEMU", {"cpu": {"maxSockets": 4}}, {}, f"{VM}.cpu.maxSockets", "needs runtime: KubeVirt"),
    ("Auto", {"cpu": {"isolateEmulatorThread": True}}, {}, f"{VM}.cpu.isolate", "needs runtime"),
    ("Auto", {"cpu": NUMA}, {"hugepages": HUGEPAGES}, f"{VM}.cpu.numa", "needs runtime: KubeVirt"),
    ("QEMU", {"ioThreadsPolicy": "shared"}, {}, f"{VM}.ioThreadsPolicy", "needs runtime: KubeVirt"),
    ("QEMU", {"blockMultiQueue": True}, {}, f"{VM}.blockMultiQueue", "QEMU in a pod does not have"),
    (
        "Auto",
        {"networkInterfaceMultiqueue": True},
        {},
        f"{VM}.networkInterfaceMultiqueue",
        "needs runtime: KubeVirt",
    ),
    ("QEMU", {"containerDisk": OWN_DISK}, {}, f"{VM}.containerDisk", "needs runtime: KubeVirt"),
    ("Auto", {"containerDisk": OWN_DISK}, {}, f"{VM}.containerDisk", "needs runtime: KubeVirt"),
    ("KubeVirt", {"containerDisk": {}}, {}, f"{VM}.containerDisk.image", "Required value"),
    (
        "KubeVirt",
        {"containerDisk": {**OWN_DISK, "user": "root"}},
        {},
        f"{VM}.containerDisk.user",
        "no database runs as root",
    ),
    *(
        ("KubeVirt", {"containerDisk": {**OWN_DISK, field: text}}, {}, field, "should match")
        for field, text in (
            ("image", "a b"),
            ("user", "pg;id"),
            ("binaries", "bin"),
            ("binaries", "/opt/$(id)"),
            ("binaries", "/a:/b"),
            ("binaries", "/opt/pg/"),
        )
    ),
    (
        "KubeVirt",
        {"containerDisk": OWN_DISK, "rootDiskSize": "8Gi"},
        {},
        f"{VM}.rootDiskSize",
        "remove rootDiskSize",
    ),
    (
        "KubeVirt",
        {"containerDisk": OWN_DISK},
        {"hugepages": HUGEPAGES},
        "spec.targets",
        "its kernel is not told to set huge pages aside",
    ),
    ("QEMU", {"cpu": {"model": "host-model"}}, {}, f"{VM}.cpu.model", "needs runtime: KubeVirt"),
    ("QEMU", {"cpu": {"model": "a,b"}}, {}, f"{VM}.cpu.model", "should match"),
    ("QEMU", {"network": "Bridge"}, {}, f"{VM}.network", "need runtime: KubeVirt"),
    ("Auto", {"network": "Masquerade"}, {}, f"{VM}.network", "need runtime: KubeVirt"),
    ("KubeVirt", {"network": "User"}, {}, f"{VM}.network", "User and Tap need runtime: QEMU"),
    ("KubeVirt", {"network": "Tap"}, {}, f"{VM}.network", "User and Tap need runtime: QEMU"),
    ("Auto", {"network": "Tap"}, {}, f"{VM}.network", "User and Tap need runtime: QEMU"),
    ("KubeVirt", {"network": "Slirp"}, {}, f"{VM}.network", "supported values"),
    ("KubeVirt", {"ioThreadsPolicy": "supplementalPool"}, {}, f"{VM}.ioThreads", "need each other"),
    (
        "KubeVirt",
        {"ioThreadsPolicy": "auto", "ioThreads": {"supplementalPoolThreadCount": 1}},
        {},
        f"{VM}.ioThreads",
        "need each other",
    ),
    ("KubeVirt", {"ioThreadsPolicy": "supplementalPool", "ioThreads": {}}, {}, VM, "Required"),
    ("KubeVirt", {"dataDisk": {"io": "native"}}, {}, f"{VM}.dataDisk.io", "needs cache: none"),
    (
        "KubeVirt",
        {"dataDisk": {"io": "native", "cache": "writeback"}},
        {},
        f"{VM}.dataDisk.io",
        "needs cache: none",
    ),
    ("KubeVirt", {"machine": "microvm"}, {}, f"{VM}.machine", "microvm needs runtime: QEMU"),
    ("Auto", {"machine": "microvm"}, {}, f"{VM}.machine", "microvm needs runtime: QEMU"),
    ("QEMU", {"machine": "pc"}, {}, f"{VM}.machine", "supported values"),
    ("KubeVirt", {"accelerator": "TCG"}, {}, f"{VM}.accelerator", "need runtime: QEMU"),
    ("Auto", {"accelerator": "KVM"}, {}, f"{VM}.accelerator", "need runtime: QEMU"),
    ("QEMU", {"accelerator": "kvm"}, {}, f"{VM}.accelerator", "supported values"),
    ("KubeVirt", {"launcher": {"image": "launcher:7"}}, {}, f"{VM}.launcher", "runtime: QEMU"),
    ("QEMU", {"launcher": {"image": ""}}, {}, f"{VM}.launcher.image", "at least 1 char"),
    ("QEMU", {"guestKernel": {}}, {}, f"{VM}.guestKernel.image", "Required value"),
    (
        "KubeVirt",
        {"guestKernel": {"image": "kernel:6.12"}, "containerDisk": {"image": "disk:1"}},
        {},
        f"{VM}.guestKernel",
        "has a kernel of its own",
    ),
    (
        "QEMU",
        {"machine": "microvm", "accelerator": "TCG"},
        {},
        f"{VM}.accelerator",
        "a microvm is not emulated",
    ),
    *(
        (
            runtime,
            {"dataDisk": {"volume": volume}},
            {},
            f"{VM}.dataDisk.volume",
            "need runtime: KubeVirt",
        )
        for runtime in ("QEMU", "Auto")
        for volume in ("DataVolume", "HostDisk", "EmptyDisk")
    ),
    ("KubeVirt", {"dataDisk": {"volume": "ContainerDisk"}}, {}, f"{VM}.dataDisk.volume", "values"),
    ("QEMU", {"dataDisk": {"bus": "sata"}}, {}, f"{VM}.dataDisk.bus", "supported values"),
    *(
        ("QEMU", {"dataDisk": {"readAhead": size}}, {}, f"{VM}.dataDisk.readAhead", says)
        for size, says in (
            ("6Ki", "must be 0 (none) or a multiple of 4Ki"),
            ("2Gi", "at most 1Gi"),
            ("0.5Ki", "must be 0 (none) or a multiple of 4Ki"),
            ("off", "should match"),
        )
    ),
    (
        "Auto",
        {"dataDisk": {"bus": "scsi", "dedicatedIOThread": True}},
        {},
        f"{VM}.dataDisk.dedicatedIOThread",
        "needs bus: virtio",
    ),
    ("KubeVirt", {"dataDisk": {"cache": "None"}}, {}, f"{VM}.dataDisk.cache", "supported values"),
    (
        "KubeVirt",
        {"cpu": {"sockets": 4, "maxSockets": 2}},
        {},
        f"{VM}.cpu.maxSockets",
        "must not be less than sockets",
    ),
    (
        "KubeVirt",
        {"cpu": {"sockets": 2}},
        {},
        "spec.targets",
        "must be equal to spec.resources.cpu",
    ),
    ("QEMU", {"cpu": {"cores": 4, "threads": 2}}, {}, "spec.targets", "sockets x cores x threads"),
    ("QEMU", {"cpu": {"cores": 0}}, {}, f"{VM}.cpu.cores", "greater than or equal to 1"),
    (
        "KubeVirt",
        {"cpu": {"isolateEmulatorThread": True}},
        {"dedicatedCPUs": False},
        "spec.targets",
        "isolateEmulatorThread needs exclusive CPUs",
    ),
    (
        "KubeVirt",
        {"cpu": {"isolateEmulatorThread": True, "dedicatedCpuPlacement": False}},
        {},
        "spec.targets",
        "isolateEmulatorThread needs exclusive CPUs",
    ),
    (
        "KubeVirt",
        {"cpu": NUMA},
        {},
        "spec.targets",
        "numa.guestMappingPassthrough needs exclusive CPUs and spec.resources.hugepages",
    ),
    (
        "KubeVirt",
        {"cpu": NUMA},
        {"hugepages": HUGEPAGES, "dedicatedCPUs": False},
        "spec.targets",
        "numa.guestMappingPassthrough needs exclusive CPUs",
    ),
    ("KubeVirt", {"cpu": {"numa": {}}}, {}, f"{VM}.cpu.numa", "Required value"),
    (
        "QEMU",
        {},
        {"hugepages": {"pageSize": "4Ki", "size": "2Mi"}},
        "spec.resources.hugepages.pageSize",
        'supported values: "2Mi", "1Gi"',
    ),
    (
        "QEMU",
        {},
        {"hugepages": {"pageSize": "2Mi", "size": "768Mi"}},
        "spec.resources.hugepages.size",
        "must be less than memory",
    ),
    (
        "QEMU",
        {},
        {"hugepages": {"pageSize": "2Mi", "size": "3Mi"}},
        "spec.resources.hugepages.size",
        "must be a multiple of hugepages.pageSize",
    ),
    (
        "QEMU",
        {},
        {"memory": "1500Mi", "hugepages": {"pageSize": "1Gi", "size": "1Gi"}},
        "spec.resources.memory",
        "must be a multiple of hugepages.pageSize",
    ),
    (
        "QEMU",
        {},
        {"memory": "1.5Gi", "hugepages": {"pageSize": "2Mi", "size": "1Gi"}},
        "spec.resources.memory",
        "without a fraction: 1536Mi, not 1.5Gi",
    ),
]


@pytest.mark.parametrize(("runtime", "machine", "resources", "field", "says"), REFUSED, ids=str)
def test_refused_with_a_message_that_names_the_field(
    server: Kubectl,
    runtime: str,
    machine: dict[str, Any],
    resources: dict[str, Any],
    field: str,
    says: str,
) -> None:
    said = refusal(server, with_machine(machine, runtime, **resources))
    assert field in said
    assert says in said


def test_a_disk_of_its_own_runs_postgresql_alone(server: Kubectl) -> None:
    document = with_machine({"containerDisk": OWN_DISK})
    document["spec"]["database"] |= {"engine": "MySQL", "image": "mariadb:11.4", "config": {}}
    said = refusal(server, document)
    assert "spec.targets" in said
    assert "containerDisk of a target: runs PostgreSQL alone" in said


def test_twenty_machines_with_every_option_are_within_the_cost_limits(server: Kubectl) -> None:
    machine = {
        "runtime": "KubeVirt",
        "cpu": {
            "sockets": 1, "cores": 2, "threads": 2, "maxSockets": 512, "model": "m" * 64,
            "dedicatedCpuPlacement": True, "isolateEmulatorThread": True, **NUMA,
        },
        **POOL,
        "blockMultiQueue": True,
        "networkInterfaceMultiqueue": True,
        "dataDisk": {"bus": "virtio", "cache": "none", "io": "native", "dedicatedIOThread": True},
        "network": "Masquerade",
    }  # fmt: skip
    document = with_machine(machine, hugepages=HUGEPAGES)
    targets = [{"name": f"t{number:02d}", "virtualMachine": machine} for number in range(20)]
    document["spec"] |= {"targets": targets, "baseline": "t00"}
    check(server, document)


@pytest.mark.parametrize("volume", ["PersistentVolumeClaim", "DataVolume", "EmptyDisk"])
def test_disks_that_go_with_their_machine_are_deployed_anew_for_each_block(
    server: Kubectl, volume: str
) -> None:
    document = with_machine({"dataDisk": {"volume": volume}})
    document["spec"]["trials"] = {"redeploy": True}
    check(server, document)


def test_a_disk_that_stays_on_the_node_is_not_deployed_anew_for_each_block(server: Kubectl) -> None:
    document = with_machine({"dataDisk": {"volume": "HostDisk"}})
    document["spec"]["trials"] = {"redeploy": True}
    said = refusal(server, document)
    assert "spec.trials.redeploy" in said
    assert "remove trials.redeploy or write another volume" in said
