"""The cluster as a whole: up, import, restart."""

import fcntl
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from localcluster import (
    addons,
    cluster_images,
    gobuild,
    kernel_settings,
    machine,
    network,
    record,
    teardown,
)
from localcluster.addresses import BRIDGE, Addresses, free_network, plan
from localcluster.api import Api
from localcluster.control_plane import ControlPlane
from localcluster.errors import ClusterError
from localcluster.image_import import import_archives
from localcluster.layout import Layout
from localcluster.network import Network
from localcluster.nodes import Node
from localcluster.pki import Pki
from localcluster.processes import Processes
from localcluster.progress import Progress
from localcluster.record import existing, recorded

DEFAULT_NODES = ("bench-db", "bench-driver")


@contextmanager
def exclusive(layout: Layout) -> Iterator[None]:
    """Keeps two commands that change one cluster from running at the same time."""
    folder = layout.state.parent
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ClusterError(
                "another cluster command of this clone is running; wait until it is done"
            ) from error
        yield
    finally:
        os.close(handle)


class Cluster:
    """The cluster of one clone of the project."""

    def __init__(self, layout: Layout, progress: Progress) -> None:
        self._layout = layout
        self._progress = progress
        self._processes = Processes(layout.state, layout.processes, layout.logs)

    def up(self, names: Sequence[str] | None, exclusive_cpus: bool = True) -> None:
        """Makes the cluster run, from nothing or from whatever is left of it.

        ``names`` are the nodes; None keeps those there are, or takes the default. Without
        ``exclusive_cpus``, the nodes that this starts hand out every processor, shared.
        """
        machine.check(self._layout.state, begun=recorded(self._layout) is not None)
        self._check_owner()
        addresses = self._plan(names)
        own_images = self._prepare_machine()
        record.write(self._layout, addresses)
        kernel_settings.save(self._layout.kernel_settings)
        nodes = self.nodes(addresses)
        with self._progress.task("certificates, network"):
            Pki(self._layout.pki).ensure(addresses)
            Network(addresses, self._layout.state).ensure()
            self._write_configuration(addresses, nodes, exclusive_cpus)
        api = Api(addresses, self._layout)
        with ThreadPoolExecutor() as pool:
            # The nodes take the images that the addons need while the control plane starts,
            # and the others while the addons start.
            started = pool.submit(self._start_nodes, nodes, own_images)
            with self._progress.task("control plane"):
                self._control_plane(addresses).start()
            started.result()
            others = [path for path in self._archives() if path not in own_images]
            imported = pool.submit(import_archives, others, nodes, self._progress)
            with self._progress.task("addons"):
                api.apply(addons.render(self._layout.addons, addresses))
            with self._progress.task("nodes and addons ready"):
                addons.wait_until_ready(api, addresses)
            imported.result()

    def _check_owner(self) -> None:
        owner = network.owner()
        if owner is None or owner == str(self._layout.state):
            return
        if not owner:
            raise ClusterError(
                f"the network interface {BRIDGE} belongs to something else; delete it "
                f"(ip link delete {BRIDGE}), or let that use another name"
            )
        other = Path(owner).parent.parent
        left = Layout(other)
        if not Processes(left.state, left.processes, left.logs).all():
            # Nobody's work is lost: the machine was restarted, or the cluster killed.
            self._progress.say(f"removing what is left of a dead cluster ({owner})")
            teardown.down(left, self._progress)
            return
        if other.is_dir():
            way_out = f"stop it first: {other}/e2e/cluster/cluster down"
        else:
            way_out = "its clone is gone; remove what it left: e2e/cluster/cluster down --orphan"
        raise ClusterError(f"another cluster runs on this machine ({owner}); {way_out}")

    def _plan(self, names: Sequence[str] | None) -> Addresses:
        addresses = recorded(self._layout)
        if addresses is None:
            if network.owner() is not None:
                raise ClusterError(
                    "a cluster runs whose state was deleted; remove what is left of it: "
                    "e2e/cluster/cluster down"
                )
            return plan(free_network(network.used_networks()), names or DEFAULT_NODES)
        present = [node.name for node in addresses.nodes]
        if names is not None and list(names) != present:
            raise ClusterError(
                f"the cluster has the nodes {', '.join(present)}; to change them, run "
                "`e2e/cluster/cluster down` first"
            )
        return addresses

    def _prepare_machine(self) -> list[Path]:
        """Installs and builds what is missing; returns the archives of the cluster's images."""
        if packages := machine.missing_packages():
            with self._progress.task(f"install {' '.join(packages)}"):
                machine.install_packages(packages)
        builder = gobuild.Builder(self._layout.go_sources, self._layout.bin, self._progress)
        builder.build(gobuild.select([]))
        return cluster_images.ensure(self._layout)

    def _write_configuration(
        self, addresses: Addresses, nodes: Sequence[Node], exclusive_cpus: bool
    ) -> None:
        self._control_plane(addresses).write()
        offered = replace(machine.describe(self._layout.state), exclusive_cpus=exclusive_cpus)
        for node in nodes:
            if not node.is_running():
                node.write(addresses, offered)

    def _start_nodes(self, nodes: Sequence[Node], archives: Sequence[Path]) -> None:
        with self._progress.task("containerd on every node"), ThreadPoolExecutor() as pool:
            list(pool.map(Node.start, nodes))
        import_archives(archives, nodes, self._progress)

    def _archives(self) -> list[Path]:
        return sorted(self._layout.images.glob("*.tar"))

    def _control_plane(self, addresses: Addresses) -> ControlPlane:
        api = Api(addresses, self._layout)
        return ControlPlane(addresses, self._layout, self._processes, api)

    def nodes(self, addresses: Addresses) -> list[Node]:
        """All nodes."""
        return [Node(address, self._layout, self._processes) for address in addresses.nodes]

    def import_images(self, archives: Sequence[Path]) -> dict[str, int]:
        """Imports archives into all nodes; returns how many images each node took."""
        for archive in archives:
            if not archive.is_file():
                raise ClusterError(f"there is no file {archive}")
        nodes = self.nodes(existing(self._layout))
        return import_archives([archive.resolve() for archive in archives], nodes, self._progress)

    def start_node(self, name: str) -> bool:
        """Starts one node; tells whether it had to."""
        address = existing(self._layout).node(name)
        return Node(address, self._layout, self._processes).start()

    def stop_node(self, name: str) -> bool:
        """Cuts one node's power; tells whether it ran."""
        address = existing(self._layout).node(name)
        return Node(address, self._layout, self._processes).stop()

    def restart(self, component: str) -> None:
        """Kills one part of the control plane and starts it again."""
        self._control_plane(existing(self._layout)).restart(component)
