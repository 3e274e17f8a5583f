"""The database in a guest under QEMU in a pod, without KubeVirt. No I/O."""

from dbbench.api.machine import Accelerator, Network, VirtualMachineTarget
from dbbench.api.target import Target
from dbbench.engines.engine import CONFIG, SECRET
from dbbench.targets import config, names, placement, security, volumes
from dbbench.targets.context import Context, Manifest
from dbbench.targets.service import HOST_AGENT_PORT, HOST_AGENT_PORT_NAME
from dbbench.targets.stateful_set import ports, readiness_probe, stateful_set

_LAUNCHER = "/usr/local/bin/dbbench-driver"
# Holds the ISO 9660 disks, QEMU's sockets and the file of a tap device.
_SCRATCH_SIZE = "16Mi"
KERNEL_PATH = "/boot/vmlinuz"
INITRD_PATH = "/boot/initrd"


def qemu_instance(
    ctx: Context, target: Target, machine: VirtualMachineTarget, running: bool
) -> Manifest:
    """A StatefulSet whose container is the launcher.

    It passes Pod Security `restricted`; with the network Tap, one container before the launcher's
    needs `privileged`. KVM and vhost-net are used where the launcher can open /dev/kvm and
    /dev/vhost-net, which a device plugin, by the operator's `devices`, or the runtime must give it;
    else the guest is emulated, or its frames pass through QEMU, and the facts say so.
    """
    spec = ctx.spec
    template: Manifest = {
        "securityContext": security.pod(security.QEMU_ID),
        "initContainers": [
            {
                "name": "kernel",
                **ctx.program(ctx.images.guest_kernel, machine.guest_kernel),
                "command": ["/dbbench-driver"],
                "args": [
                    "agent", "install", "--to", config.KERNEL,
                    "--from", KERNEL_PATH, "--from", INITRD_PATH,
                ],
                "resources": placement.init(placement.has_exclusive_cpus(spec.resources, target)),
                "securityContext": security.container(),
                "volumeMounts": [volumes.mount("kernel", config.KERNEL)],
            },
            *([_tap_maker(ctx, target)] if machine.network is Network.TAP else []),
        ],
        "containers": [
            {
                "name": "launcher",
                **ctx.program(ctx.images.launcher, machine.launcher),
                "command": [_LAUNCHER],
                "args": ["agent", "launch", "--config", config.LAUNCHER_CONFIG],
                "ports": [
                    *ports(ctx),
                    {
                        "name": HOST_AGENT_PORT_NAME,
                        "containerPort": HOST_AGENT_PORT,
                        "protocol": "TCP",
                    },
                ],
                "resources": _resources(ctx, target, machine),
                "readinessProbe": readiness_probe(),
                "securityContext": security.container(),
                "volumeMounts": [
                    volumes.mount("kernel", config.KERNEL, read_only=True),
                    volumes.mount("launcher", config.LAUNCHER, read_only=True),
                    volumes.mount("config", CONFIG, read_only=True),
                    volumes.mount("secret", SECRET, read_only=True),
                    volumes.mount("root", config.ROOT),
                    *volumes.data_mounts(ctx, target),
                    volumes.mount("scratch", config.SCRATCH),
                ],
                **volumes.data_devices(ctx, target),
            }
        ],
        "volumes": [
            volumes.scratch("kernel"),
            volumes.from_config_map(
                "launcher", names.launcher_config_name(ctx.benchmark, target.name)
            ),
            volumes.from_config_map("config", names.config_name(ctx.benchmark, target.name)),
            volumes.from_secret("secret", names.credentials_name(ctx.benchmark)),
            volumes.from_claim("root", names.root_claim_name(ctx.benchmark, target.name)),
            *volumes.data(ctx, target),
            volumes.memory("scratch", _SCRATCH_SIZE),
        ],
    }  # fmt: skip
    return stateful_set(ctx, target, running, template)


def _tap_maker(ctx: Context, target: Target) -> Manifest:
    """The init container that puts the guest in the pod's place; then its capabilities are gone."""
    return {
        "name": "network",
        "image": ctx.images.launcher,
        "imagePullPolicy": ctx.images.pull_policy,
        "command": [_LAUNCHER],
        "args": ["agent", "tap", "--config", config.LAUNCHER_CONFIG],
        "resources": placement.init(placement.has_exclusive_cpus(ctx.spec.resources, target)),
        "securityContext": security.tap_maker(),
        "volumeMounts": [
            volumes.mount("launcher", config.LAUNCHER, read_only=True),
            volumes.mount("scratch", config.SCRATCH),
        ],
    }


def devices(ctx: Context, machine: VirtualMachineTarget) -> dict[str, str]:
    """Devices that the launcher is to be given, as resources; none for a guest that is emulated."""
    if machine.accelerator is Accelerator.TCG:
        return {}
    wanted = [ctx.devices.kvm, ctx.devices.vhost_net if machine.network is Network.TAP else ""]
    return {resource: "1" for resource in wanted if resource}


def _resources(ctx: Context, target: Target, machine: VirtualMachineTarget) -> Manifest:
    """QEMU's own memory, the guest's in ordinary pages or in huge ones alone, and its devices."""
    resources = ctx.spec.resources
    guest, own = placement.memory_mib(resources), placement.QEMU_OVERHEAD_MIB
    ordinary = own if resources.hugepages else guest + own
    huge = placement.of_hugepages(resources, guest)
    others = {**huge, **devices(ctx, machine)}
    return placement.database(resources, target, f"{ordinary}Mi", others)
