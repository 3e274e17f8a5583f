"""A cgroup for each node, in every hierarchy (v1), or in the one there is (v2)."""

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from localcluster.errors import ClusterError

# A node's containers run in NODE/kubepods, its own daemons in NODE/system.
SYSTEM = "system"
_NEEDED = ("cpu", "cpuacct", "cpuset", "memory", "pids")
_NEEDED_V2 = ("cpu", "cpuset", "memory", "pids")
# A node stands for a machine. Without more weight its whole tree would count as one process.
_CPU_SHARES, _CPU_WEIGHT = "8192", "800"
_REMOVAL_SECONDS = 10.0


@dataclass(frozen=True)
class Hierarchy:
    """One mounted cgroup tree: where, with which controllers, and of which version."""

    mount: Path
    controllers: tuple[str, ...]
    version: int


def parse_mounts(mountinfo: str) -> list[Hierarchy]:
    """The cgroup trees in the text of ``/proc/self/mountinfo``."""
    found: dict[Path, Hierarchy] = {}
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind not in {"cgroup", "cgroup2"}:
            continue
        mount = Path(left.split(" ")[4])
        names = tuple(
            option
            for option in options.split(",")
            if option in _NEEDED or option.startswith("name=")
        )
        version = 1 if kind == "cgroup" else 2
        found[mount] = Hierarchy(mount, names if version == 1 else (), version)
    return list(found.values())


def hierarchies() -> list[Hierarchy]:
    """The cgroup trees of this machine."""
    return parse_mounts(Path("/proc/self/mountinfo").read_text())


def missing_controllers(trees: Iterable[Hierarchy]) -> list[str]:
    """Controllers that Kubernetes needs and this machine does not offer."""
    trees = list(trees)
    if any(tree.version == 1 for tree in trees):
        offered = {name for tree in trees for name in tree.controllers}
        return [name for name in _NEEDED if name not in offered]
    for tree in trees:
        offered = set((tree.mount / "cgroup.controllers").read_text().split())
        return [name for name in _NEEDED_V2 if name not in offered]
    return list(_NEEDED_V2)


def ensure(name: str) -> None:
    """Makes the cgroup ``name`` and its ``system`` child in every tree."""
    try:
        _make(name, hierarchies())
    except OSError as error:
        raise ClusterError(
            f"cannot make the cgroup {name}: {error}; inside a container, start that container "
            "with the host's cgroups (--cgroupns=host and a writable /sys/fs/cgroup)"
        ) from error


def _make(name: str, trees: list[Hierarchy]) -> None:
    unified = all(tree.version == 2 for tree in trees)
    for tree in trees:
        group = tree.mount / name
        if tree.version == 2 and unified:
            _delegate(tree.mount)
        for folder in (group, group / SYSTEM):
            folder.mkdir(exist_ok=True)
            if "cpuset" in tree.controllers:
                # A v1 cpuset starts empty, and takes no process until it is filled.
                _fill_cpuset(folder)
        if tree.version == 2 and unified:
            _delegate(group)
            (group / "cpu.weight").write_text(_CPU_WEIGHT)
        if "cpu" in tree.controllers:
            (group / "cpu.shares").write_text(_CPU_SHARES)


def _fill_cpuset(folder: Path) -> None:
    for name in ("cpuset.cpus", "cpuset.mems"):
        if not (folder / name).read_text().strip():
            (folder / name).write_text((folder.parent / name).read_text())


def _delegate(folder: Path) -> None:
    """Hands every controller of ``folder`` on to its children (v2)."""
    offered = (folder / "cgroup.controllers").read_text().split()
    enabled = (folder / "cgroup.subtree_control").read_text().split()
    for controller in offered:
        if controller in {*_NEEDED_V2, "io", "hugetlb"} and controller not in enabled:
            (folder / "cgroup.subtree_control").write_text(f"+{controller}")


def enter(name: str) -> None:
    """Moves the calling process into ``NAME/system`` of every tree."""
    for tree in hierarchies():
        (tree.mount / name / SYSTEM / "cgroup.procs").write_text("0")


def remove(name: str) -> None:
    """Deletes the cgroup ``name`` and all below it, once its processes are gone."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    for tree in hierarchies():
        while (tree.mount / name).is_dir():
            try:
                _remove_tree(tree.mount / name)
            except OSError as error:
                # The kernel lets go of a killed process's cgroup a moment after its death.
                if time.monotonic() > deadline:
                    raise ClusterError(f"cgroup {tree.mount / name} stays: {error}") from error
                time.sleep(0.05)


def existing(prefix: str) -> list[Path]:
    """Cgroups on this machine whose name begins with ``prefix``."""
    return [path for tree in hierarchies() for path in sorted(tree.mount.glob(f"{prefix}*"))]


def abandoned(prefix: str) -> list[str]:
    """Names that begin with ``prefix`` of cgroups in which, at any depth, no process runs."""
    groups = existing(prefix)
    used = {group.name for group in groups if any(_members(group))}
    return sorted({group.name for group in groups} - used)


def _members(group: Path) -> Iterator[str]:
    for current, _, _ in os.walk(group):
        yield from (Path(current) / "cgroup.procs").read_text().split()


def _remove_tree(folder: Path) -> None:
    for current, _, _ in os.walk(folder, topdown=False):
        Path(current).rmdir()
