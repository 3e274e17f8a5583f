"""ConfigMaps of a target, and the Secret that all targets share. No I/O."""

import json
from collections.abc import Mapping
from typing import Any

from dbbench.api.machine import (
    DataDisk,
    DiskBus,
    DiskCache,
    DiskIO,
    MachineCPU,
    Network,
    VirtualMachineTarget,
    topology,
)
from dbbench.api.quantities import quantity
from dbbench.api.resources import Resources
from dbbench.api.target import Target
from dbbench.engines.engine import CONFIG, DATA, DATABASE_USER, PASSWORD_FILE, SECRET
from dbbench.targets import names
from dbbench.targets.context import Context, Manifest
from dbbench.targets.placement import memory_mib
from dbbench.targets.service import AGENT_PORT, HOST_AGENT_PORT
from dbbench.targets.volumes import DATA_DEVICE, guest_disk_bytes, in_memory, is_block

AGENT_FILE = "agent.json"
LAUNCHER_FILE = "launcher.json"
PASSWORD_KEY = "password"  # noqa: S105 (a key)

# Arguments of the guest's kernel: its console in the log, no renaming of the network interface,
# and no reboot after a panic, so that the guest ends and the failure is seen.
KERNEL_ARGUMENTS = "console=ttyS0 quiet net.ifnames=0 panic=-1"

# Paths inside the launcher's container.
KERNEL = "/dbbench/kernel"
LAUNCHER = "/dbbench/launcher"
LAUNCHER_CONFIG = f"{LAUNCHER}/{LAUNCHER_FILE}"
ROOT = "/dbbench/root"
SCRATCH = "/run/dbbench"

POWERDOWN_SECONDS = 90

# The launcher's words.
_CACHE = {
    DiskCache.NONE: "None",
    DiskCache.WRITETHROUGH: "WriteThrough",
    DiskCache.WRITEBACK: "WriteBack",
}
_IO = {DiskIO.NATIVE: "Native", DiskIO.THREADS: "Threads"}


def agent_document(ctx: Context) -> dict[str, Any]:
    """agent.json: how the database is started, watched and stopped; the same in every target."""
    engine, database = ctx.engine, ctx.spec.database
    return {
        "version": 1,
        "listen": f"0.0.0.0:{AGENT_PORT}",
        "command": list(engine.command(database)),
        "env": dict(engine.environment(database)),
        "user": {"uid": database.run_as_user, "gid": database.run_as_user},
        "dataDirectory": DATA,
        **({"dataInMemoryBytes": quantity(database.storage.size)} if in_memory(ctx) else {}),
        "readiness": {"protocol": engine.readiness.protocol, "port": engine.readiness.port},
        "server": {"executables": list(engine.executables)},
        "stopSignal": engine.stop_signal,
        "stopGraceSeconds": engine.stop_grace_seconds,
        **_cold_starts(ctx),
        **_local_workloads(ctx),
    }


def _cold_starts(ctx: Context) -> dict[str, Any]:
    """Allowed only where they are needed: whoever reaches an agent could ask for one."""
    return {"coldStarts": True} if ctx.spec.has_cold_cells else {}


def _local_workloads(ctx: Context) -> dict[str, Any]:
    """What the agent may be asked to run beside the database, for the same reason."""
    spec = ctx.spec
    beside = spec.placement.inside_targets
    found = list(dict.fromkeys(one.kind for one in spec.workloads if one.local or beside))
    if not found:
        return {}
    access = {"url": ctx.engine.driver_url("127.0.0.1"), "passwordFile": PASSWORD_FILE}
    return {"workloads": found} | ({"database": access} if beside else {})


def kernel_arguments(resources: Resources) -> str:
    """Arguments of the guest's kernel, which sets the database's huge pages aside at its start."""
    if resources.hugepages is None:
        return KERNEL_ARGUMENTS
    page, size = resources.hugepages.page_size.value, resources.hugepages.size
    count = quantity(size) // quantity(page)
    return f"{KERNEL_ARGUMENTS} hugepagesz={page.removesuffix('i')} hugepages={count}"


def launcher_document(
    ctx: Context, target: Target, machine: VirtualMachineTarget
) -> dict[str, Any]:
    """launcher.json: the virtual machine that QEMU in a pod makes."""
    spec = ctx.spec
    return {
        "version": 1,
        "cpus": spec.resources.cpu,
        **_launcher_cpu(spec.resources.cpu, machine.cpu),
        "memoryMiB": memory_mib(spec.resources),
        **_launcher_pages(spec.resources),
        "machine": machine.machine.value,
        "accelerator": machine.accelerator.value,
        "kernel": f"{KERNEL}/vmlinuz",
        "initrd": f"{KERNEL}/initrd",
        "cmdline": kernel_arguments(spec.resources),
        "disks": [
            {"serial": "root", "file": f"{ROOT}/disk.img"},
            *_launcher_disks(ctx, target, machine.data_disk),
        ],
        "isos": [
            {"serial": "config", "directory": CONFIG},
            {"serial": "secret", "directory": SECRET},
        ],
        "network": _launcher_network(ctx, machine),
        "listen": f"0.0.0.0:{HOST_AGENT_PORT}",
        **_cold_starts(ctx),
        "scratch": SCRATCH,
        "powerdownGraceSeconds": POWERDOWN_SECONDS,
    }


def _launcher_cpu(cpus: int, cpu: MachineCPU | None) -> dict[str, Any]:
    if cpu is None:
        return {}
    sockets, cores, threads = topology(cpus, cpu)
    found: dict[str, Any] = {"topology": {"sockets": sockets, "cores": cores, "threads": threads}}
    if cpu.model is not None:
        found["cpuModel"] = cpu.model
    return found


def _launcher_network(ctx: Context, machine: VirtualMachineTarget) -> dict[str, Any]:
    if machine.network is Network.TAP:
        return {"tap": {}}
    return {"user": {"forward": [ctx.engine.port, AGENT_PORT]}}


def _launcher_pages(resources: Resources) -> dict[str, int]:
    if resources.hugepages is None:
        return {}
    return {"hugepageMiB": quantity(resources.hugepages.page_size.value) // quantity("1Mi")}


def _launcher_disks(ctx: Context, target: Target, disk: DataDisk) -> list[dict[str, Any]]:
    """The data disk: a file that is made when missing, or a block device; none in memory."""
    if in_memory(ctx):
        return []
    found: dict[str, Any] = {"serial": "data"}
    if is_block(ctx, target):
        found |= {"file": DATA_DEVICE, "device": True}
    else:
        size = guest_disk_bytes(ctx.spec.database.storage.size)
        found |= {"file": f"{DATA}/disk.img", "sizeBytes": size}
    if disk.bus is DiskBus.SCSI:
        found["bus"] = "Scsi"
    if disk.cache is not None:
        found["cache"] = _CACHE[disk.cache]
    if disk.io is not None:
        found["io"] = _IO[disk.io]
    if disk.dedicated_io_thread:
        found["dedicatedIoThread"] = True
    return [found]


def config_map(ctx: Context, target: Target, more: Mapping[str, str]) -> Manifest:
    """What the agent and the server read, in the pod's container and in the guest alike.

    `more` files, by name, are those of a guest that boots a disk of its own.
    """
    file, text = ctx.engine.config_file(ctx.spec.database, ctx.spec.resources)
    return _config_map(
        ctx,
        target,
        names.config_name(ctx.benchmark, target.name),
        {AGENT_FILE: _json(agent_document(ctx)), file: text, **more},
    )


def launcher_config_map(ctx: Context, target: Target, machine: VirtualMachineTarget) -> Manifest:
    """What the launcher reads; apart from the guest's own, which stays the same as the pod's."""
    return _config_map(
        ctx,
        target,
        names.launcher_config_name(ctx.benchmark, target.name),
        {LAUNCHER_FILE: _json(launcher_document(ctx, target, machine))},
    )


def secret(ctx: Context, password: str) -> Manifest:
    """The Secret with the database's password. Immutable: databases are made with it once.

    Of this type and with a user, as CloudNativePG wants it.
    """
    labels = names.labels(ctx.benchmark, names.Component.CREDENTIALS)
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": names.metadata(ctx.benchmark, names.credentials_name(ctx.benchmark), labels),
        "type": "kubernetes.io/basic-auth",
        "immutable": True,
        "stringData": {"username": DATABASE_USER, PASSWORD_KEY: password},
    }


def _config_map(ctx: Context, target: Target, name: str, data: dict[str, str]) -> Manifest:
    labels = names.labels(ctx.benchmark, names.Component.TARGET, target=target.name)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": names.metadata(ctx.benchmark, name, labels),
        "data": data,
    }


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2) + "\n"
