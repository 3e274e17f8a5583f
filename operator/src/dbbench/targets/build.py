"""Everything that a target consists of, whichever way it runs. No I/O."""

from dbbench.api.cloud_native_pg import CloudNativePGTarget
from dbbench.api.machine import VirtualMachineTarget
from dbbench.api.target import PodTarget, Target
from dbbench.targets import config, container_disk, volumes
from dbbench.targets.cloud_native_pg import cluster
from dbbench.targets.config import secret
from dbbench.targets.context import Context, Manifest, TargetRuntime, runtime_of
from dbbench.targets.disk_job import disk_job
from dbbench.targets.host import host_instance
from dbbench.targets.kubevirt import kubevirt_instance
from dbbench.targets.pod import pod_instance
from dbbench.targets.qemu import qemu_instance
from dbbench.targets.service import service

__all__ = ["foundation", "instance", "preparation", "runtime_of", "secret"]


def foundation(ctx: Context, target: Target) -> list[Manifest]:
    """What stays while the target is started and stopped: Service, ConfigMaps, claims.

    CloudNativePG makes its own.
    """
    if target.cloud_native_pg is not None:
        return []
    found = [
        service(ctx, target),
        config.config_map(ctx, target, container_disk.files(ctx, target)),
        *volumes.data_claim(ctx, target),
    ]
    machine = target.virtual_machine
    if machine is not None and target.boots_image:
        found.append(volumes.root_claim(ctx, target, machine))
        if runtime_of(ctx, target) is TargetRuntime.QEMU:
            found.append(config.launcher_config_map(ctx, target, machine))
    return found


def preparation(ctx: Context, target: Target) -> Manifest | None:
    """The Job that must have finished before the first start; None where there is none."""
    if target.virtual_machine is None or not target.boots_image:
        return None
    return disk_job(ctx, target, target.virtual_machine)


def instance(ctx: Context, target: Target, running: bool) -> Manifest:
    """The object that runs the database, or holds it stopped; of deployed targets only."""
    machine = target.virtual_machine or VirtualMachineTarget()
    match runtime_of(ctx, target):
        case TargetRuntime.POD:
            return pod_instance(ctx, target, target.pod or PodTarget(), running)
        case TargetRuntime.HOST:
            return host_instance(ctx, target, running)
        case TargetRuntime.QEMU:
            return qemu_instance(ctx, target, machine, running)
        case TargetRuntime.KUBEVIRT:
            return kubevirt_instance(ctx, target, machine, running)
        case TargetRuntime.CLOUD_NATIVE_PG:
            return cluster(ctx, target, target.cloud_native_pg or CloudNativePGTarget(), running)
        case TargetRuntime.EXTERNAL:
            raise ValueError(f"target {target.name!r} exists already, nothing runs it here")
