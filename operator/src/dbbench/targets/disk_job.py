"""The Job that makes a guest's root disk from the database image. No I/O."""

from dbbench.api.machine import VirtualMachineTarget
from dbbench.api.quantities import duration, quantity
from dbbench.api.target import Target
from dbbench.engines.engine import DATA
from dbbench.targets import names, security, volumes
from dbbench.targets.config import ROOT
from dbbench.targets.context import Context, Manifest
from dbbench.targets.placement import on_node
from dbbench.targets.single_run import job

_TOOLS = "/dbbench/tools"
# In the launcher's image; installed under its last name.
_GUEST_TOOLS = "/opt/guest-tools"
_RESOURCES = {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}


def disk_job(ctx: Context, target: Target, machine: VirtualMachineTarget) -> Manifest:
    """Runs the database image itself, which writes its own files into an ext4 image.

    It runs on the database's node and mounts the data volume too: so both are provisioned where
    the guest will run. It needs root to read every file of the image: Pod Security `baseline`.
    """
    spec, benchmark = ctx.spec, ctx.benchmark
    labels = names.labels(
        benchmark, names.Component.PREPARATION, target=target.name, job=names.JobKind.DISK
    )
    pod: Manifest = {
        **on_node(spec.placement.database),
        "securityContext": {
            "fsGroup": security.QEMU_ID,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [
            {
                "name": "tools",
                "image": ctx.images.launcher,
                "imagePullPolicy": ctx.images.pull_policy,
                "command": ["/usr/local/bin/dbbench-driver"],
                "args": ["agent", "install", "--to", _TOOLS, "--from", _GUEST_TOOLS],
                "resources": _RESOURCES,
                "securityContext": security.container()
                | {
                    "runAsNonRoot": True,
                    "runAsUser": security.QEMU_ID,
                    "runAsGroup": security.QEMU_ID,
                },
                "volumeMounts": [volumes.mount("tools", _TOOLS)],
            }
        ],
        "containers": [
            {
                "name": "disk",
                "image": spec.database.image,
                "imagePullPolicy": spec.database.image_pull_policy.value,
                "command": [f"{_TOOLS}/dbbench-driver"],
                "args": [
                    "agent", "pack-root", "--tools", f"{_TOOLS}/guest-tools",
                    "--output", f"{ROOT}/disk.img", "--size", machine.root_disk_size,
                    *_read_ahead(ctx, target, machine),
                ],
                "resources": _RESOURCES,
                "securityContext": security.image_reader(),
                "volumeMounts": [
                    volumes.mount("tools", _TOOLS, read_only=True),
                    volumes.mount("root", ROOT),
                    *volumes.data_mounts(ctx, target, read_only=True),
                ],
                **volumes.data_devices(ctx, target),
            }
        ],
        "volumes": [
            volumes.scratch("tools"),
            volumes.from_claim("root", names.root_claim_name(benchmark, target.name)),
            *volumes.data(ctx, target),
        ],
    }  # fmt: skip
    return job(
        ctx, names.disk_job_name(benchmark, target.name), labels, duration(spec.timeouts.disk), pod
    )


def _read_ahead(ctx: Context, target: Target, machine: VirtualMachineTarget) -> list[str]:
    """From what the read-ahead of the guest's data disk is known.

    On the node, where the Job runs, it is that of the volume; one that is not mounted here counts
    as the root disk's, which is of the same StorageClass.
    """
    if volumes.in_memory(ctx):
        return []
    found: list[str] = []
    if volumes.has_claim(ctx, target):
        found += ["--data", volumes.DATA_DEVICE if volumes.is_block(ctx, target) else DATA]
    told = machine.data_disk.read_ahead
    if told is not None:
        found += ["--data-read-ahead-kb", str(quantity(told) // 1024)]
    return found
