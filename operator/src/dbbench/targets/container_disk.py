"""A guest that boots a disk of the user's: what starts the database in there. No I/O.

Nothing of a benchmark is in the user data, which the API server shows to everybody who may read
virtual machines: it starts the agent from a disk, and the agent reads its configuration and the
password from others, as it does in every guest.
"""

import json
from typing import Any

import yaml

from dbbench.api.container_disk import ContainerDisk
from dbbench.api.quantities import quantity
from dbbench.api.target import Target
from dbbench.targets.config import POWERDOWN_SECONDS
from dbbench.targets.context import Context, Manifest

GUEST_FILE = "guest.json"
# In the guest-kernel image: the agent, and the entrypoint that an image of a disk has not.
_AGENT_DISK = "/disk/agent.iso"
# Disk with the user data. KubeVirt gives its file system the name by which cloud-init finds it.
_CLOUD_INIT = "cloudinit"
_AGENT = "agent"
_MOUNTED = "/run/dbbench"
_SERVICE = "dbbench.service"

# The guest ends with its database, as one does that has nothing else.
_UNIT = f"""\
[Unit]
Description=The database that dbbench measures, and dbbench's agent
RequiresMountsFor=/dbbench/data
FailureAction=poweroff
SuccessAction=poweroff

[Service]
ExecStart={_MOUNTED}/dbbench-driver agent guest
KillMode=mixed
TimeoutStopSec={POWERDOWN_SECONDS}
TasksMax=infinity
StandardOutput=journal+console
StandardError=journal+console
"""
_CLOUD_CONFIG = {
    "write_files": [{"path": f"/run/systemd/system/{_SERVICE}", "content": _UNIT}],
    "runcmd": [
        ["mkdir", "-p", _MOUNTED],
        ["mount", "-o", "ro", f"/dev/disk/by-id/virtio-{_AGENT}", _MOUNTED],
        ["systemctl", "daemon-reload"],
        ["systemctl", "start", "--no-block", _SERVICE],
    ],
}


def user_data() -> str:
    """What cloud-init does at the guest's start; the same for every benchmark."""
    return "#cloud-config\n" + yaml.safe_dump(_CLOUD_CONFIG, default_style='"', sort_keys=False)


def volumes(ctx: Context, disk: ContainerDisk) -> dict[str, Manifest]:
    """Volumes of KubeVirt by name: the disk that is booted, the agent's, and the user data."""
    return {
        "root": {
            "containerDisk": {
                "image": disk.image,
                "imagePullPolicy": disk.image_pull_policy.value,
            }
        },
        _AGENT: {
            "containerDisk": {
                "image": ctx.images.guest_kernel,
                "imagePullPolicy": ctx.images.pull_policy,
                "path": _AGENT_DISK,
            }
        },
        _CLOUD_INIT: {"cloudInitNoCloud": {"userData": user_data()}},
    }


def files(ctx: Context, target: Target) -> dict[str, str]:
    """Files beside agent.json: in a guest without the database's image, what that would say."""
    machine = target.virtual_machine
    disk = machine.container_disk if machine else None
    if machine is None or disk is None:
        return {}
    found: dict[str, Any] = {
        "user": disk.user,
        "directories": list(ctx.engine.writable_directories),
    }
    if disk.binaries is not None:
        found["binaries"] = disk.binaries
    if machine.data_disk.read_ahead is not None:
        found["readAheadKb"] = quantity(machine.data_disk.read_ahead) // 1024
    return {GUEST_FILE: json.dumps(found, indent=2) + "\n"}
