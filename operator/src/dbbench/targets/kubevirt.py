"""The database in a guest under KubeVirt. No I/O."""

from dbbench.api.spec import Target
from dbbench.targets import names, placement
from dbbench.targets.config import KERNEL_ARGUMENTS
from dbbench.targets.context import Context, Manifest
from dbbench.targets.qemu import INITRD_PATH, KERNEL_PATH
from dbbench.targets.service import AGENT_PORT
from dbbench.targets.stateful_set import readiness_probe

API_VERSION = "kubevirt.io/v1"


def kubevirt_instance(ctx: Context, target: Target, running: bool) -> Manifest:
    """A VirtualMachine that boots dbbench's kernel with the root disk made from the image."""
    spec, benchmark = ctx.spec, ctx.benchmark
    labels = names.labels(benchmark, names.Component.TARGET, target=target.name)
    # The serial is how the guest finds a disk, whatever order they come in.
    volumes: dict[str, Manifest] = {
        "root": {
            "persistentVolumeClaim": {"claimName": names.root_claim_name(benchmark, target.name)}
        },
        "config": {"configMap": {"name": names.config_name(benchmark, target.name)}},
        "secret": {"secret": {"secretName": names.credentials_name(benchmark)}},
        "data": {
            "persistentVolumeClaim": {"claimName": names.data_claim_name(benchmark, target.name)}
        },
    }
    domain: Manifest = {
        **_size(ctx),
        "machine": {"type": "q35"},
        "firmware": {
            "kernelBoot": {
                "container": {
                    "image": ctx.images.guest_kernel,
                    "imagePullPolicy": ctx.images.pull_policy,
                    "kernelPath": KERNEL_PATH,
                    "initrdPath": INITRD_PATH,
                },
                "kernelArgs": KERNEL_ARGUMENTS,
            }
        },
        "devices": {
            "autoattachGraphicsDevice": False,
            "autoattachMemBalloon": False,
            # The guest's console, in the log of the container guest-console-log.
            "autoattachSerialConsole": True,
            "logSerialConsole": True,
            "rng": {},
            "disks": [
                {"name": name, "serial": name, "disk": {"bus": "virtio"}} for name in volumes
            ],
            "interfaces": [
                {
                    "name": "default",
                    "model": "virtio",
                    "masquerade": {},
                    "ports": [
                        {"name": "database", "port": ctx.engine.port, "protocol": "TCP"},
                        {"name": "agent", "port": AGENT_PORT, "protocol": "TCP"},
                    ],
                }
            ],
        },
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "VirtualMachine",
        "metadata": names.metadata(benchmark, names.instance_name(benchmark, target.name), labels),
        "spec": {
            # Not Always: that would hide a guest whose start fails, by starting it again for ever.
            "runStrategy": "RerunOnFailure" if running else "Halted",
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


def _size(ctx: Context) -> Manifest:
    """CPUs and memory of the guest, and what its pod asks for."""
    resources = ctx.spec.resources
    memory = f"{placement.memory_mib(resources)}Mi"
    cpu: Manifest = {"cores": resources.cpu, "sockets": 1, "threads": 1}
    if resources.dedicated_cpus:
        # KubeVirt itself asks for as many whole CPUs as there are vCPUs.
        cpu["dedicatedCpuPlacement"] = True
        pod: Manifest = {"requests": {"memory": memory}, "limits": {"memory": memory}}
    else:
        amount = str(resources.cpu)
        pod = {"requests": {"cpu": amount, "memory": memory}, "limits": {"cpu": amount}}
    return {"cpu": cpu, "memory": {"guest": memory}, "resources": pod}
