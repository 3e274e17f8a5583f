"""Takes away everything a cluster put on the machine, however far its start had come."""

import json
from pathlib import Path

from localcluster import cgroups, kernel_settings, network
from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.processes import Process, Processes, children, kill, run
from localcluster.progress import Progress
from localcluster.record import recorded

_NODE_PREFIX = "dbbench-node-"


def down(layout: Layout, progress: Progress) -> None:
    """Deletes the cluster of ``layout``; deleting what is not there is fine."""
    owner = network.owner()
    if owner not in {None, str(layout.state)} and not layout.state.exists():
        progress.say(f"no cluster here; the one that runs belongs to {owner or 'something else'}")
        return
    if owner is None and not layout.state.exists():
        progress.say("no cluster here")
        return
    with progress.task("stop processes"):
        _kill_all(Processes(layout.state, layout.processes, layout.logs))
    names = _names(layout)
    if owner in {None, str(layout.state)}:
        with progress.task("remove network"):
            network.remove(*names)
        with progress.task("remove cgroups"):
            for namespace in names[0]:
                # A node's cgroup is called like its network namespace.
                cgroups.remove(namespace)
    with progress.task("remove state"):
        kernel_settings.restore(layout.kernel_settings)
        _detach_loop_devices(layout.state)
        _unmount_below(layout.state)
        run(["rm", "-rf", "--one-file-system", str(layout.state)])
    if remains := leftovers(layout, names[0]):
        raise ClusterError("still there after the removal: " + "; ".join(remains))


def _kill_all(processes: Processes) -> None:
    """Nodes first, each by its inner first process, which takes all the others with it."""
    marked = processes.all()
    pids = {process.pid for process in marked}
    inner: list[Process] = []
    for process in marked:
        if _is_unshare(process.pid):
            inner.extend(child for child in children(process.pid) if child.pid in pids)
    kill(inner)
    kill(processes.all())


def _is_unshare(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == "unshare"
    except OSError:
        return False


def _names(layout: Layout) -> tuple[list[str], list[str]]:
    """The cluster's network namespaces and cables.

    From its record, which is written before anything is made. Where someone deleted the state
    by hand, whatever on the machine is named like a cluster's, and is not in use.
    """
    if (addresses := recorded(layout)) is not None:
        nodes = addresses.nodes
        return [node.namespace for node in nodes], [node.link for node in nodes]
    links = json.loads(run(["ip", "-j", "link", "show", "type", "veth"]).stdout or "[]")
    cables = [link["ifname"] for link in links if link["ifname"].startswith("dbbench-n")]
    namespaces = {*network.namespaces(), *cgroups.abandoned(_NODE_PREFIX)}
    return sorted(namespaces), cables


def _detach_loop_devices(state: Path) -> None:
    """Block volumes are loop devices on files of the nodes; the kernel keeps them."""
    listing = run(["losetup", "--json", "--list", "--output", "NAME,BACK-FILE"]).stdout
    for device in json.loads(listing or '{"loopdevices": []}')["loopdevices"]:
        if str(device.get("back-file", "")).startswith(f"{state}/"):
            run(["losetup", "--detach", device["name"]])


def mounts_below(mountinfo: str, folder: Path) -> list[str]:
    """Mount points below ``folder``, innermost first, from ``/proc/self/mountinfo``."""
    points = [line.split(" ")[4] for line in mountinfo.splitlines()]
    return [point for point in reversed(points) if Path(point).is_relative_to(folder)]


def _unmount_below(folder: Path) -> None:
    for point in mounts_below(Path("/proc/self/mountinfo").read_text(), folder):
        run(["umount", point])


def leftovers(layout: Layout, namespaces: list[str]) -> list[str]:
    """What of a cluster is still on the machine, in words."""
    processes = Processes(layout.state, layout.processes, layout.logs)
    found = [f"process {process.pid}" for process in processes.all()]
    if layout.state.exists():
        found.append(f"folder {layout.state}")
    if network.owner() == str(layout.state):
        found.append("the bridge dbbench0")
    there = set(network.namespaces())
    found.extend(f"network namespace {name}" for name in namespaces if name in there)
    found.extend(f"cgroup {path}" for name in namespaces for path in cgroups.existing(name))
    return found
