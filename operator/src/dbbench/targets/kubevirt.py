"""The database in a guest under KubeVirt. No I/O."""

from dbbench.api.machine import (
    DataDisk,
    DiskCache,
    MachineCPU,
    Network,
    VirtualMachineTarget,
    topology,
)
from dbbench.api.target import Target
from dbbench.targets import container_disk, machine_disk, names, placement
from dbbench.targets.config import kernel_arguments
from dbbench.targets.context import Context, Manifest
from dbbench.targets.qemu import INITRD_PATH, KERNEL_PATH
from dbbench.targets.service import AGENT_PORT
from dbbench.targets.stateful_set import readiness_probe
from dbbench.targets.volumes import in_memory

API_VERSION = "kubevirt.io/v1"


def kubevirt_instance(
    ctx: Context, target: Target, machine: VirtualMachineTarget, running: bool
) -> Manifest:
    """A VirtualMachine that boots dbbench's kernel with the root disk made from the image.

    With a containerDisk it boots that.
    """
    spec, benchmark = ctx.spec, ctx.benchmark
    labels = names.labels(benchmark, names.Component.TARGET, target=target.name)
    # The serial is how the guest finds a disk, whatever order they come in.
    volumes: dict[str, Manifest] = {
        **_root(ctx, target, machine),
        "config": {"configMap": {"name": names.config_name(benchmark, target.name)}},
        "secret": {"secret": {"secretName": names.credentials_name(benchmark)}},
    }
    if not in_memory(ctx):
        volumes["data"] = machine_disk.volume(ctx, target)
    domain: Manifest = {
        **_size(ctx, target, machine),
        **_io_threads(machine),
        "machine": {"type": machine.machine.value},
        **_firmware(ctx, machine),
        "devices": {
            "autoattachGraphicsDevice": False,
            "autoattachMemBalloon": False,
            # The guest's console, in the log of the container guest-console-log.
            "autoattachSerialConsole": True,
            "logSerialConsole": True,
            "rng": {},
            **_queues(machine),
            "disks": [
                {"name": name, "serial": name, "disk": {"bus": "virtio"}}
                | (_data_disk(ctx, machine.data_disk) if name == "data" else {})
                | ({"bootOrder": 1} if name == "root" and machine.container_disk else {})
                for name in volumes
            ],
            "interfaces": [_interface(ctx, machine)],
        },
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "VirtualMachine",
        "metadata": names.metadata(benchmark, names.instance_name(benchmark, target.name), labels),
        "spec": {
            # Not Always: that would hide a guest whose start fails, by starting it again for ever.
            "runStrategy": "RerunOnFailure" if running else "Halted",
            **machine_disk.templates(ctx, target),
            "template": {
                # They reach the launcher's pod, so that the Service selects it.
                "metadata": {"labels": labels},
                "spec": {
                    "domain": domain,
                    "evictionStrategy": "None",
                    "terminationGracePeriodSeconds": placement.STOP_SECONDS,
                    "readinessProbe": readiness_probe(),
                    "networks": [{"name": "default", "pod": {}}],
                    "volumes": [{"name": name, **volume} for name, volume in volumes.items()],
                    **placement.on_node(spec.placement.database),
                },
            },
        },
    }


def _root(ctx: Context, target: Target, machine: VirtualMachineTarget) -> dict[str, Manifest]:
    """Volumes with what the guest runs."""
    if machine.container_disk is not None:
        return container_disk.volumes(ctx, machine.container_disk)
    claim = names.root_claim_name(ctx.benchmark, target.name)
    return {"root": {"persistentVolumeClaim": {"claimName": claim}}}


def _firmware(ctx: Context, machine: VirtualMachineTarget) -> Manifest:
    """The kernel; a containerDisk has its own."""
    if machine.container_disk is not None:
        return {}
    kernel = {
        **ctx.program(ctx.images.guest_kernel, machine.guest_kernel),
        "kernelPath": KERNEL_PATH,
        "initrdPath": INITRD_PATH,
    }
    arguments = kernel_arguments(ctx.spec.resources)
    return {"firmware": {"kernelBoot": {"container": kernel, "kernelArgs": arguments}}}


def _size(ctx: Context, target: Target, machine: VirtualMachineTarget) -> Manifest:
    """CPUs and memory of the guest, and what its pod asks for."""
    resources = ctx.spec.resources
    amount = f"{placement.memory_mib(resources)}Mi"
    cpu = _cpu(resources.cpu, machine.cpu)
    if placement.has_exclusive_cpus(resources, target):
        # KubeVirt itself asks for as many whole CPUs as there are vCPUs.
        cpu["dedicatedCpuPlacement"] = True
        pod: Manifest = {"requests": {"memory": amount}, "limits": {"memory": amount}}
    else:
        cpus = placement.requested_cpus(resources, target)
        pod = {
            "requests": {"cpu": cpus, "memory": amount},
            "limits": {"cpu": str(resources.cpu)},
        }
    memory: Manifest = {"guest": amount}
    if resources.hugepages is not None:
        # All memory of the guest, which KubeVirt then asks for as huge pages.
        memory["hugepages"] = {"pageSize": resources.hugepages.page_size.value}
    return {"cpu": cpu, "memory": memory, "resources": pod}


def _cpu(cpus: int, options: MachineCPU | None) -> Manifest:
    sockets, cores, threads = topology(cpus, options)
    found: Manifest = {"cores": cores, "sockets": sockets, "threads": threads}
    if options is None:
        return found
    if options.max_sockets is not None:
        found["maxSockets"] = options.max_sockets
    if options.model is not None:
        found["model"] = options.model
    if options.isolate_emulator_thread:
        found["isolateEmulatorThread"] = True
    if options.numa is not None:
        found["numa"] = options.numa.document()
    return found


def _io_threads(machine: VirtualMachineTarget) -> Manifest:
    found: Manifest = {}
    if machine.io_threads_policy is not None:
        found["ioThreadsPolicy"] = machine.io_threads_policy.value
    if machine.io_threads is not None:
        found["ioThreads"] = machine.io_threads.document()
    return found


def _queues(machine: VirtualMachineTarget) -> Manifest:
    found: Manifest = {}
    if machine.block_multi_queue:
        found["blockMultiQueue"] = True
    if machine.network_interface_multiqueue:
        found["networkInterfaceMultiqueue"] = True
    return found


def _data_disk(ctx: Context, disk: DataDisk) -> Manifest:
    found: Manifest = {"disk": {"bus": disk.bus.value}}
    # Nothing of ours is beside KubeVirt's QEMU to take the disk out of the node's page cache.
    cache = DiskCache.NONE if ctx.spec.has_cold_cells else disk.cache
    if cache is not None:
        found["cache"] = cache.value
    if disk.io is not None:
        found["io"] = disk.io.value
    if disk.dedicated_io_thread:
        found["dedicatedIOThread"] = True
    return found


def _interface(ctx: Context, machine: VirtualMachineTarget) -> Manifest:
    found: Manifest = {"name": "default", "model": "virtio"}
    if machine.network is Network.BRIDGE:
        # The guest has the pod's own address, and with it every port.
        return found | {"bridge": {}}
    ports = (("database", ctx.engine.port), ("agent", AGENT_PORT))
    return found | {
        "masquerade": {},
        "ports": [{"name": name, "port": port, "protocol": "TCP"} for name, port in ports],
    }
