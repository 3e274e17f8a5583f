"""VirtualMachineInstance -> launcher pod."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from standin.kubevirt import UntranslatableError
from standin.launcher_pod import (
    ANNOTATION_LAUNCHER,
    ANNOTATION_META_DATA,
    ANNOTATION_USER_DATA,
    image_bytes,
    launcher_pod,
)
from standin.translation import translate

GOLDEN = Path(__file__).parents[3] / "operator" / "tests" / "targets" / "golden"
SIZES = {"quickstart-vm-root": "4358Mi", "quickstart-vm-data": "2Gi"}


def instance(case: str = "kubevirt") -> dict[str, Any]:
    """An instance of the very machine that dbbench builds."""
    text = (GOLDEN / case / "virtualmachine-quickstart-vm.yaml").read_text()
    template = yaml.safe_load(text)["spec"]["template"]
    return {
        "metadata": {
            "name": "quickstart-vm",
            "namespace": "bench",
            "uid": "u-1",
            "labels": template["metadata"]["labels"],
        },
        "spec": template["spec"],
    }


def pod_of(case: str = "kubevirt") -> dict[str, Any]:
    found = instance(case)
    return launcher_pod(found, translate(found["spec"]), "launcher:1", SIZES)


def changed(path: list[Any], value: Any) -> dict[str, Any]:
    spec = copy.deepcopy(instance()["spec"])
    at: Any = spec
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return spec


def test_the_pod_has_the_names_and_labels_that_kubevirt_gives() -> None:
    metadata = pod_of()["metadata"]
    assert metadata["generateName"] == "virt-launcher-quickstart-vm-"
    assert metadata["labels"]["kubevirt.io"] == "virt-launcher"
    assert metadata["labels"]["kubevirt.io/created-by"] == "u-1"
    assert metadata["labels"]["vmi.kubevirt.io/id"] == "quickstart-vm"
    assert metadata["labels"]["dbbench.io/target"] == "vm"
    assert metadata["ownerReferences"][0]["kind"] == "VirtualMachineInstance"


def test_the_launcher_gets_the_machine() -> None:
    document = json.loads(pod_of()["metadata"]["annotations"][ANNOTATION_LAUNCHER])
    assert (document["cpus"], document["memoryMiB"]) == (1, 1024)
    assert document["kernel"].endswith("/vmlinuz")
    assert document["initrd"].endswith("/initrd")
    assert document["cmdline"] == "console=ttyS0 quiet net.ifnames=0 panic=-1"
    assert [disk["serial"] for disk in document["disks"]] == ["root", "data"]
    assert [iso["serial"] for iso in document["isos"]] == ["config", "secret"]
    assert document["network"] == {"user": {"forward": [5432, 9590]}}
    assert document["powerdownGraceSeconds"] == 120


def test_the_pod_is_stopped_after_the_guest() -> None:
    pod = pod_of()
    document = json.loads(pod["metadata"]["annotations"][ANNOTATION_LAUNCHER])
    grace = pod["spec"]["terminationGracePeriodSeconds"]
    assert grace > document["powerdownGraceSeconds"]


def test_dedicated_cpus_make_a_guaranteed_pod() -> None:
    spec = pod_of()["spec"]
    for container in [*spec["initContainers"], *spec["containers"]]:
        assert container["resources"]["requests"] == container["resources"]["limits"]
    assert spec["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1536Mi"}


def test_shared_cpus_make_a_burstable_pod_with_a_limit() -> None:
    resources = pod_of("kubevirt-shared-cpus")["spec"]["containers"][0]["resources"]
    assert resources["limits"] == {"cpu": "1"}
    assert resources["requests"] == {"cpu": "1", "memory": "1536Mi"}


def test_every_mount_has_its_volume() -> None:
    spec = pod_of()["spec"]
    volumes = {volume["name"] for volume in spec["volumes"]}
    containers = [*spec["initContainers"], *spec["containers"]]
    assert {m["name"] for c in containers for m in c["volumeMounts"]} == volumes


def test_the_probe_and_the_node_are_passed_on() -> None:
    spec = pod_of()["spec"]
    assert spec["containers"][0]["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": 9590}
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "bench-db"}


def test_topology_pages_and_disk_options_reach_the_launcher() -> None:
    found = instance()
    domain = found["spec"]["domain"]
    domain["cpu"] |= {"sockets": 2, "cores": 1, "threads": 2, "model": "Skylake-Server"}
    domain["memory"]["hugepages"] = {"pageSize": "2Mi"}
    domain["devices"]["disks"][3] |= {"cache": "none", "io": "native", "dedicatedIOThread": True}
    pod = launcher_pod(found, translate(found["spec"]), "launcher:1", SIZES)
    document = json.loads(pod["metadata"]["annotations"][ANNOTATION_LAUNCHER])
    assert document["cpus"] == 4
    assert document["topology"] == {"sockets": 2, "cores": 1, "threads": 2}
    assert document["cpuModel"] == "Skylake-Server"
    assert document["hugepageMiB"] == 2
    root, data = document["disks"]
    assert root.keys() == {"serial", "file", "sizeBytes"}
    assert data.items() >= {"cache": "None", "io": "Native", "dedicatedIoThread": True}.items()
    resources = pod["spec"]["containers"][0]["resources"]
    amounts = {"cpu": "4", "memory": "512Mi", "hugepages-2Mi": "1024Mi"}
    assert resources == {"requests": amounts, "limits": amounts}


def test_the_bus_of_a_disk_reaches_the_launcher() -> None:
    pod = pod_of("kubevirt-scsi")
    document = json.loads(pod["metadata"]["annotations"][ANNOTATION_LAUNCHER])
    assert [disk.get("bus", "Virtio") for disk in document["disks"]] == ["Virtio", "Scsi"]


def test_a_created_image_leaves_room_on_its_volume() -> None:
    assert image_bytes("2Gi") == 1935 * 2**20


DEVICES = ["domain", "devices"]


def test_a_container_disk_is_copied_and_booted_with_what_cloud_init_reads() -> None:
    pod = pod_of("kubevirt-containerdisk")
    annotations = pod["metadata"]["annotations"]
    document = json.loads(annotations[ANNOTATION_LAUNCHER])
    assert not {"kernel", "initrd", "cmdline"} & set(document)
    private = "/var/run/kubevirt-private"
    root, agent, data = document["disks"]
    assert root == {
        "serial": "root", "file": f"{private}/vmi-disks/root/disk", "containerDisk": True,
    }  # fmt: skip
    assert agent["file"] == f"{private}/vmi-disks/agent/agent.iso"
    assert data["sizeBytes"] > 0
    assert [(iso["serial"], iso.get("label")) for iso in document["isos"]] == [
        ("cloudinit", "cidata"),
        ("config", None),
        ("secret", None),
    ]
    binary, copy, *_ = pod["spec"]["initContainers"]
    assert (binary["name"], copy["name"]) == ("container-disk-binary", "volumeroot-init")
    assert (copy["image"], copy["args"][-1]) == ("registry.example/debian-postgres:17", "/disk")
    assert annotations[ANNOTATION_USER_DATA].startswith("#cloud-config\n")
    about = json.loads(annotations[ANNOTATION_META_DATA])
    assert about == {"instance-id": "quickstart-vm.bench", "local-hostname": "quickstart-vm"}
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    items = volumes["vmi-cloudinit"]["downwardAPI"]["items"]
    assert [item["path"] for item in items] == ["user-data", "meta-data"]
    assert volumes["vmi-root"] == {"name": "vmi-root", "emptyDir": {}}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["volumes", 0], {"name": "root", "hostDisk": {}}, r"volumes\[0\].hostDisk is"),
        (["volumes", 3], {"name": "other", "secret": {"secretName": "s"}}, "no volume 'data'"),
        ([*DEVICES, "disks", 0, "disk", "bus"], "sata", r"disks\[0\].disk.bus: only virtio, scsi"),
        ([*DEVICES, "disks", 0], {"name": "root", "disk": {"bus": "virtio"}}, "serial is missing"),
        ([*DEVICES, "interfaces", 0, "ports"], [], "a list of TCP ports is needed"),
        ([*DEVICES, "interfaces"], [], "do not match"),
        ([*DEVICES, "interfaces", 0, "bridge"], {}, r"interfaces\[0\].bridge is not translated"),
        ([*DEVICES, "blockMultiQueue"], True, "blockMultiQueue is not translated"),
        (["domain", "cpu", "isolateEmulatorThread"], True, "isolateEmulatorThread is not"),
        (["domain", "cpu", "numa"], {"guestMappingPassthrough": {}}, "numa is not translated"),
        (["domain", "cpu", "maxSockets"], 4, "maxSockets is not translated"),
        (["domain", "cpu", "model"], "host-model", "host-model is libvirt's own"),
        (["domain", "ioThreadsPolicy"], "auto", "ioThreadsPolicy is not translated"),
        ([*DEVICES, "disks", 3, "io"], "default", r"disks\[3\].io: only native, threads"),
        (["domain", "firmware"], {}, "kernelBoot.container is missing"),
        (["domain", "resources", "limits"], {}, "memory limit equal to the request"),
        (["readinessProbe", "guestAgentPing"], {}, "guestAgentPing is not translated"),
        (["accessCredentials"], [], "spec.accessCredentials is not translated"),
    ],
)
def test_what_is_not_translated_is_named(path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(UntranslatableError, match=message):
        translate(changed(path, value))
