"""VirtualMachineInstance -> the pod that runs it, as KubeVirt names and labels it. No I/O."""

import json

from standin.kubevirt import (
    ANNOTATION_DOMAIN,
    LABEL_APP,
    LABEL_CREATED_BY,
    LABEL_INSTANCE,
    LAUNCHER,
    Object,
    owner,
)
from standin.translation import Disk, Kernel, Machine, quantity

# User that QEMU runs as in KubeVirt.
QEMU_ID = 107
# KubeVirt's own overhead for a guest of 1 GiB is 370 MiB; a translating QEMU needs more.
OVERHEAD_MIB = 512
# Thousandths of a volume that KubeVirt leaves free beside a disk image that it creates.
FILESYSTEM_OVERHEAD_PER_MILLE = 55

ANNOTATION_LAUNCHER = "standin.dbbench.io/launcher.json"
ANNOTATION_USER_DATA = "standin.dbbench.io/user-data"
ANNOTATION_META_DATA = "standin.dbbench.io/meta-data"

_BIN = "/dbbench/bin"
_KERNEL = "/dbbench/kernel"
_LAUNCHER = "/dbbench/launcher"
_SCRATCH = "/run/dbbench"
_PRIVATE = "/var/run/kubevirt-private"
_SMALL = {"cpu": "100m", "memory": "128Mi"}
# The container's own end, after the guest's.
_EXTRA_GRACE_SECONDS = 15


def launcher_pod(
    instance: Object, machine: Machine, launcher_image: str, claim_sizes: dict[str, str]
) -> Object:
    """The launcher's pod. `claim_sizes` has the requested size of each claim."""
    metadata, spec = instance["metadata"], instance["spec"]
    pod: Object = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "hostname": metadata["name"][:63],
        "terminationGracePeriodSeconds": machine.grace_seconds + _EXTRA_GRACE_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": QEMU_ID,
            "runAsGroup": QEMU_ID,
            "fsGroup": QEMU_ID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [
            _agent(machine, launcher_image),
            *([_kernel_boot(machine, machine.kernel)] if machine.kernel else []),
            *(_container_disk(machine, disk) for disk in machine.disks if disk.container),
        ],
        "containers": [_compute(instance, machine, launcher_image)],
        "volumes": [
            {"name": "bin", "emptyDir": {}},
            {"name": "kernel", "emptyDir": {}},
            {"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
            {"name": "launcher", **_from_annotations({"launcher.json": ANNOTATION_LAUNCHER})},
            *(_volume(disk) for disk in machine.disks),
        ],
    }
    for key in ("nodeSelector", "tolerations"):
        if key in spec:
            pod[key] = spec[key]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{LAUNCHER}-{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": {
                **metadata.get("labels", {}),
                LABEL_APP: LAUNCHER,
                LABEL_CREATED_BY: metadata["uid"],
                LABEL_INSTANCE: metadata["name"],
            },
            "annotations": {
                **metadata.get("annotations", {}),
                ANNOTATION_DOMAIN: metadata["name"],
                **_cloud_init(metadata, machine),
                ANNOTATION_LAUNCHER: json.dumps(launcher_document(machine, claim_sizes)),
                "kubectl.kubernetes.io/default-container": "compute",
            },
            "ownerReferences": owner("VirtualMachineInstance", instance),
        },
        "spec": pod,
    }


def launcher_document(machine: Machine, claim_sizes: dict[str, str]) -> Object:
    """launcher.json."""
    return {
        "version": 1,
        "cpus": machine.cpus,
        "topology": machine.topology,
        **({"cpuModel": machine.cpu_model} if machine.cpu_model else {}),
        "memoryMiB": machine.memory_mib,
        **({"hugepageMiB": quantity(machine.page_size) // 2**20} if machine.page_size else {}),
        "machine": "q35",
        "accelerator": "Auto",
        **(_kernel_files(machine.kernel) if machine.kernel else {}),
        "disks": [
            {"serial": disk.serial, **_file(disk, claim_sizes), **disk.options}
            for disk in machine.disks
            if disk.claim or disk.container
        ],
        "isos": [
            {"serial": disk.serial, "directory": _path(disk)}
            | ({"label": "cidata"} if disk.user_data else {})
            for disk in machine.disks
            if not (disk.claim or disk.container)
        ],
        "network": {"user": {"forward": list(machine.ports)}},
        "scratch": _SCRATCH,
        "powerdownGraceSeconds": machine.grace_seconds,
    }


def image_bytes(claim_size: str) -> int:
    """Size of a disk image that is created on a volume of that size, in whole MiB."""
    usable = quantity(claim_size) * (1000 - FILESYSTEM_OVERHEAD_PER_MILLE) // 1000
    return usable // 2**20 * 2**20


def _kernel_files(kernel: Kernel) -> Object:
    return {
        "kernel": f"{_KERNEL}/{kernel.path.name}",
        "initrd": f"{_KERNEL}/{kernel.initrd.name}",
        "cmdline": kernel.arguments,
    }


def _file(disk: Disk, claim_sizes: dict[str, str]) -> Object:
    if disk.container:
        return {"file": f"{_path(disk)}/{disk.container.path.name}", "containerDisk": True}
    claim = str(disk.claim)
    return {"file": f"{_path(disk)}/disk.img", "sizeBytes": image_bytes(claim_sizes[claim])}


def _cloud_init(metadata: Object, machine: Machine) -> dict[str, str]:
    """Annotations with what cloud-init reads. The meta-data are KubeVirt's."""
    found = [disk.user_data for disk in machine.disks if disk.user_data]
    if not found:
        return {}
    about = {
        "instance-id": f"{metadata['name']}.{metadata['namespace']}",
        "local-hostname": metadata["name"],
    }
    return {ANNOTATION_USER_DATA: found[0], ANNOTATION_META_DATA: json.dumps(about)}


def _from_annotations(files: dict[str, str]) -> Object:
    items = [
        {"path": path, "fieldRef": {"fieldPath": f"metadata.annotations['{name}']"}}
        for path, name in files.items()
    ]
    return {"downwardAPI": {"items": items}}


def _agent(machine: Machine, launcher_image: str) -> Object:
    """As in KubeVirt, a program of the launcher's runs inside the images of kernel and disks."""
    return {
        "name": "container-disk-binary",
        "image": launcher_image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["agent", "install", "--to", _BIN],
        "resources": _init_resources(machine),
        "securityContext": _restricted(),
        "volumeMounts": [{"name": "bin", "mountPath": _BIN}],
    }


def _kernel_boot(machine: Machine, kernel: Kernel) -> Object:
    mount = {"name": "kernel", "mountPath": _KERNEL}
    sources = [str(kernel.path), str(kernel.initrd)]
    return _copier("kernel-boot", machine, kernel.image, kernel.pull_policy, sources, mount)


def _container_disk(machine: Machine, disk: Disk) -> Object:
    """Copies the disk, so that what a guest writes is gone with its pod; named as in KubeVirt."""
    if disk.container is None:
        raise ValueError(f"disk {disk.name} is in no image")
    mount = {"name": _name(disk), "mountPath": _path(disk)}
    image, sources = disk.container, [str(disk.container.path)]
    return _copier(
        f"volume{disk.name}-init", machine, image.image, image.pull_policy, sources, mount
    )


def _copier(
    name: str, machine: Machine, image: str, pull_policy: str, sources: list[str], mount: Object
) -> Object:
    """A container in that image which copies files of it into a volume."""
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": pull_policy,
        "command": [f"{_BIN}/dbbench-driver"],
        "args": [
            "agent", "install", "--to", mount["mountPath"],
            *(argument for source in sources for argument in ("--from", source)),
        ],
        "resources": _init_resources(machine),
        "securityContext": _restricted(),
        "volumeMounts": [{"name": "bin", "mountPath": _BIN, "readOnly": True}, mount],
    }  # fmt: skip


def _compute(instance: Object, machine: Machine, launcher_image: str) -> Object:
    container: Object = {
        "name": "compute",
        "image": launcher_image,
        "imagePullPolicy": "IfNotPresent",
        "args": ["agent", "launch", "--config", f"{_LAUNCHER}/launcher.json"],
        "ports": [{"containerPort": port, "protocol": "TCP"} for port in machine.ports],
        "resources": _resources(machine),
        "securityContext": _restricted(),
        "volumeMounts": [
            {"name": "kernel", "mountPath": _KERNEL, "readOnly": True},
            {"name": "launcher", "mountPath": _LAUNCHER, "readOnly": True},
            {"name": "scratch", "mountPath": _SCRATCH},
            *({"name": _name(disk), "mountPath": _path(disk)} for disk in machine.disks),
        ],
    }
    if "readinessProbe" in instance["spec"]:
        container["readinessProbe"] = instance["spec"]["readinessProbe"]
    return container


def _resources(machine: Machine) -> Object:
    """The guest's resources and the overhead, with whole exclusive CPUs where it has them.

    A guest of huge pages takes its memory from them alone.
    """
    amounts: dict[str, dict[str, str]] = {}
    of_pages = machine.memory_mib if machine.page_size else 0
    for kind, given in (("requests", machine.requests), ("limits", machine.limits)):
        amounts[kind] = dict(given)
        if "memory" in given:
            mib = quantity(given["memory"]) // 2**20
            amounts[kind]["memory"] = f"{mib - of_pages + OVERHEAD_MIB}Mi"
        if machine.page_size:
            amounts[kind][f"hugepages-{machine.page_size}"] = f"{of_pages}Mi"
        if machine.dedicated_cpus:
            amounts[kind]["cpu"] = str(machine.cpus)
    ordinary = machine.memory_mib - of_pages + OVERHEAD_MIB
    amounts["requests"].setdefault("memory", f"{ordinary}Mi")
    # KubeVirt's default ratio of CPUs asked for to virtual ones is 1 to 10.
    amounts["requests"].setdefault("cpu", f"{machine.cpus * 100}m")
    return amounts


def _init_resources(machine: Machine) -> Object:
    if machine.dedicated_cpus:
        return {"requests": dict(_SMALL), "limits": dict(_SMALL)}
    return {"requests": dict(_SMALL)}


def _restricted() -> Object:
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def _path(disk: Disk) -> str:
    kind = "vmi-disks" if disk.claim or disk.container else "config"
    return f"{_PRIVATE}/{kind}/{disk.name}"


def _name(disk: Disk) -> str:
    """Name of the pod's volume, apart from those of the launcher itself."""
    return f"vmi-{disk.name}"


def _volume(disk: Disk) -> Object:
    name = _name(disk)
    if disk.container is not None:
        return {"name": name, "emptyDir": {}}
    if disk.user_data is not None:
        files = {"user-data": ANNOTATION_USER_DATA, "meta-data": ANNOTATION_META_DATA}
        return {"name": name, **_from_annotations(files)}
    if disk.claim is not None:
        return {"name": name, "persistentVolumeClaim": {"claimName": disk.claim}}
    if disk.config_map is not None:
        return {"name": name, "configMap": {"name": disk.config_map}}
    return {"name": name, "secret": {"secretName": disk.secret, "defaultMode": 0o440}}
