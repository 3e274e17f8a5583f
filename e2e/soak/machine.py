"""The local cluster's nodes from the host: processes of pods, daemons, images, and what is left."""

import os
import signal
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from access.paths import PROJECT
from localcluster.layout import Layout
from localcluster.nodes import Node
from localcluster.processes import Processes, children
from localcluster.record import existing

_LAYOUT = Layout(PROJECT)


@dataclass(frozen=True)
class Process:
    """A process of a pod."""

    pid: int
    name: str

    def send(self, number: signal.Signals) -> bool:
        """False when it has ended already."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return False
        return True


def nodes() -> dict[str, Node]:
    """All nodes by name."""
    addresses = existing(_LAYOUT)
    processes = Processes(_LAYOUT.state, _LAYOUT.processes, _LAYOUT.logs)
    return {address.name: Node(address, _LAYOUT, processes) for address in addresses.nodes}


def processes_of(pods: Collection[str]) -> Iterator[Process]:
    """Processes in the cgroups of pods with these uids, the oldest first."""
    for entry in sorted(Path("/proc").iterdir(), key=lambda path: (len(path.name), path.name)):
        if not entry.name.isdigit():
            continue
        try:
            cgroups = (entry / "cgroup").read_text()
            name = (entry / "comm").read_text().strip()
            dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            continue
        if not dead and any(f"pod{uid}" in cgroups for uid in pods):
            yield Process(int(entry.name), name)


def daemon(node: str, name: str) -> Process | None:
    """A daemon of a node, such as its kubelet."""
    first = nodes()[node].first_process()
    for child in children(first) if first else ():
        try:
            command = Path(f"/proc/{child.pid}/cmdline").read_bytes().split(b"\0")[0].decode()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if Path(command).name == name:
            return Process(child.pid, name)
    return None


def left_on_nodes(pods: Collection[str], volumes: Collection[str]) -> set[str]:
    """Processes, mounts, folders and volumes of pods that are gone; `volumes` by name."""
    found = {f"process {one.name} ({one.pid})" for one in processes_of(pods)}
    for name, node in nodes().items():
        first = node.first_process()
        mounts = Path(f"/proc/{first}/mounts").read_text().splitlines() if first else []
        for uid in pods:
            found |= {f"{name}: mount {line.split()[1]}" for line in mounts if uid in line}
            if (node.folder / "var/lib/kubelet/pods" / uid).exists():
                found.add(f"{name}: folder of pod {uid}")
        for volume in volumes:
            found |= {f"{name}: {path}" for path in (node.folder / "var").glob(f"lib/*/{volume}*")}
    return found
