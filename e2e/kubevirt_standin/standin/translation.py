"""VirtualMachineInstance -> the machine for the launcher. Refuses what it does not do. No I/O."""

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from standin.kubevirt import Object, UntranslatableError

# What the stand-in reads; any other field is refused by name. `...` is any value.
_KNOWN: dict[str, Any] = {
    "domain": {
        "cpu": {
            "cores": ...,
            "sockets": ...,
            "threads": ...,
            "model": ...,
            "dedicatedCpuPlacement": ...,
        },
        "memory": {"guest": ..., "hugepages": {"pageSize": ...}},
        "resources": {"requests": ..., "limits": ...},
        "machine": {"type": ...},
        "firmware": {
            "kernelBoot": {
                "container": {
                    "image": ...,
                    "imagePullPolicy": ...,
                    "kernelPath": ...,
                    "initrdPath": ...,
                },
                "kernelArgs": ...,
            }
        },
        "devices": {
            "autoattachGraphicsDevice": ...,
            "autoattachMemBalloon": ...,
            "autoattachSerialConsole": ...,
            "logSerialConsole": ...,
            "rng": {},
            "disks": [
                {
                    "name": ...,
                    "serial": ...,
                    "cache": ...,
                    "io": ...,
                    "dedicatedIOThread": ...,
                    "bootOrder": ...,
                    "disk": {"bus": ...},
                }
            ],
            "interfaces": [
                {
                    "name": ...,
                    "model": ...,
                    "masquerade": {},
                    "ports": [{"name": ..., "port": ..., "protocol": ...}],
                }
            ],
        },
    },
    "evictionStrategy": ...,
    "terminationGracePeriodSeconds": ...,
    "readinessProbe": {
        "httpGet": ...,
        "tcpSocket": ...,
        "initialDelaySeconds": ...,
        "periodSeconds": ...,
        "timeoutSeconds": ...,
        "successThreshold": ...,
        "failureThreshold": ...,
    },
    "networks": [{"name": ..., "pod": {}}],
    "volumes": [
        {
            "name": ...,
            "persistentVolumeClaim": {"claimName": ...},
            "configMap": {"name": ...},
            "secret": {"secretName": ...},
            "containerDisk": {"image": ..., "imagePullPolicy": ..., "path": ...},
            "cloudInitNoCloud": {"userData": ...},
        }
    ],
    "nodeSelector": ...,
    "tolerations": ...,
}

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12} | {
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
}  # fmt: skip


_CACHE = {"none": "None", "writethrough": "WriteThrough", "writeback": "WriteBack"}
_IO = {"native": "Native", "threads": "Threads"}


@dataclass(frozen=True)
class ContainerDisk:
    """A disk in an image: the file `path`, or the only one in /disk."""

    image: str
    pull_policy: str
    path: PurePosixPath


@dataclass(frozen=True)
class Kernel:
    """A kernel in an image, which is booted instead of a disk's."""

    image: str
    pull_policy: str
    path: PurePosixPath
    initrd: PurePosixPath
    arguments: str


@dataclass(frozen=True)
class Disk:
    """A volume of the machine.

    From a claim or an image (a disk), a ConfigMap, a Secret or user data of cloud-init (ISO 9660).
    """

    name: str
    serial: str
    claim: str | None = None
    config_map: str | None = None
    secret: str | None = None
    container: ContainerDisk | None = None
    user_data: str | None = None
    # The launcher's words for cache and io, where the machine has chosen one.
    options: Object = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """What the launcher has to run."""

    cpus: int
    topology: dict[str, int]
    cpu_model: str | None
    memory_mib: int
    page_size: str | None
    dedicated_cpus: bool
    requests: dict[str, str]
    limits: dict[str, str]
    kernel: Kernel | None
    """None: it boots its first disk."""
    ports: tuple[int, ...]
    grace_seconds: int
    disks: tuple[Disk, ...] = field(default=())


def translate(spec: Object) -> Machine:
    """The machine of a VirtualMachineInstance's spec."""
    _refuse_unknown(spec, _KNOWN, "spec")
    domain = spec["domain"]
    cpu = domain.get("cpu", {})
    resources = domain.get("resources", {})
    requests = {key: str(value) for key, value in resources.get("requests", {}).items()}
    limits = {key: str(value) for key, value in resources.get("limits", {}).items()}
    guest = domain.get("memory", {}).get("guest") or requests.get("memory")
    if guest is None:
        raise UntranslatableError("spec.domain.memory.guest is missing")
    dedicated = bool(cpu.get("dedicatedCpuPlacement"))
    if dedicated and requests.get("memory") != limits.get("memory"):
        raise UntranslatableError(
            "spec.domain.cpu.dedicatedCpuPlacement needs the memory limit equal to the request"
        )
    topology = {part: cpu.get(part, 1) for part in ("sockets", "cores", "threads")}
    if cpu.get("model") == "host-model":
        raise UntranslatableError("spec.domain.cpu.model: host-model is libvirt's own")
    return Machine(
        cpus=math.prod(topology.values()),
        topology=topology,
        cpu_model=cpu.get("model"),
        memory_mib=quantity(guest) // 2**20,
        page_size=domain.get("memory", {}).get("hugepages", {}).get("pageSize"),
        dedicated_cpus=dedicated,
        requests=requests,
        limits=limits,
        kernel=_kernel(spec),
        ports=_ports(spec),
        # KubeVirt's own default.
        grace_seconds=spec.get("terminationGracePeriodSeconds", 30),
        disks=_disks(spec),
    )


def quantity(text: str) -> int:
    """A Kubernetes quantity in its base unit."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", str(text))
    if match is None or match[2] not in _UNITS:
        raise UntranslatableError(f"{text!r} is not a quantity that the stand-in reads")
    return int(Decimal(match[1]) * _UNITS[match[2]])


def _kernel(spec: Object) -> Kernel | None:
    boot = spec["domain"].get("firmware", {}).get("kernelBoot", {})
    container = boot.get("container")
    if container is not None:
        return Kernel(
            image=container["image"],
            pull_policy=container.get("imagePullPolicy", "IfNotPresent"),
            path=PurePosixPath(container["kernelPath"]),
            initrd=PurePosixPath(container["initrdPath"]),
            arguments=boot.get("kernelArgs", ""),
        )
    disks = spec["domain"]["devices"].get("disks", [])
    if [disk.get("bootOrder") for disk in disks] != [1, *(None for _ in disks[1:])]:
        raise UntranslatableError(
            "spec.domain.firmware.kernelBoot.container is missing, and bootOrder: 1 is not that of "
            "the first disk alone"
        )
    return None


def _container(volume: Object) -> ContainerDisk | None:
    given = volume.get("containerDisk")
    if given is None:
        return None
    return ContainerDisk(
        image=given["image"],
        pull_policy=given.get("imagePullPolicy", "IfNotPresent"),
        path=PurePosixPath(given.get("path", "/disk")),
    )


def _ports(spec: Object) -> tuple[int, ...]:
    interfaces = spec["domain"]["devices"].get("interfaces", [])
    networks = spec.get("networks", [])
    if [entry["name"] for entry in interfaces] != [entry["name"] for entry in networks]:
        raise UntranslatableError("spec.domain.devices.interfaces and spec.networks do not match")
    if len(interfaces) != 1 or "masquerade" not in interfaces[0] or "pod" not in networks[0]:
        raise UntranslatableError(
            "spec.domain.devices.interfaces: exactly one with masquerade on the pod's network"
        )
    interface = interfaces[0]
    if interface.get("model", "virtio") != "virtio":
        raise UntranslatableError("spec.domain.devices.interfaces[0].model: only virtio")
    ports = interface.get("ports", [])
    if not ports or any(port.get("protocol", "TCP") != "TCP" for port in ports):
        raise UntranslatableError(
            "spec.domain.devices.interfaces[0].ports: a list of TCP ports is needed, because the "
            "stand-in forwards single ports"
        )
    return tuple(port["port"] for port in ports)


def _disks(spec: Object) -> tuple[Disk, ...]:
    volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
    found = []
    for index, disk in enumerate(spec["domain"]["devices"].get("disks", [])):
        where = f"spec.domain.devices.disks[{index}]"
        if disk.get("disk", {}).get("bus") not in ("virtio", "scsi"):
            raise UntranslatableError(f"{where}.disk.bus: only virtio, scsi")
        if "serial" not in disk:
            raise UntranslatableError(f"{where}.serial is missing: the guest finds disks by it")
        volume = volumes.pop(disk["name"], None)
        if volume is None:
            raise UntranslatableError(f"{where}.name: there is no volume {disk['name']!r}")
        found.append(
            Disk(
                name=disk["name"],
                serial=disk["serial"],
                claim=volume.get("persistentVolumeClaim", {}).get("claimName"),
                config_map=volume.get("configMap", {}).get("name"),
                secret=volume.get("secret", {}).get("secretName"),
                container=_container(volume),
                user_data=volume.get("cloudInitNoCloud", {}).get("userData"),
                options=_disk_options(disk, where),
            )
        )
    if volumes:
        raise UntranslatableError(f"spec.volumes: no disk for {', '.join(sorted(volumes))}")
    return tuple(found)


def _disk_options(disk: Object, where: str) -> Object:
    found: Object = {"bus": "Scsi"} if disk["disk"]["bus"] == "scsi" else {}
    for key, words in (("cache", _CACHE), ("io", _IO)):
        if key in disk:
            if disk[key] not in words:
                raise UntranslatableError(f"{where}.{key}: only {', '.join(words)}")
            found[key] = words[disk[key]]
    if disk.get("dedicatedIOThread"):
        found["dedicatedIoThread"] = True
    return found


def _refuse_unknown(value: Any, known: Any, where: str) -> None:  # noqa: ANN401 (JSON)
    if known is ...:
        return
    if isinstance(known, list):
        for index, item in enumerate(value):
            _refuse_unknown(item, known[0], f"{where}[{index}]")
    elif isinstance(known, dict):
        for key, item in value.items():
            if key not in known:
                raise UntranslatableError(f"{where}.{key} is not translated by the stand-in")
            _refuse_unknown(item, known[key], f"{where}.{key}")
