"""The command lines of ``build`` and ``cluster``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from localcluster import gobuild, network, status, teardown
from localcluster.addresses import parse_node_names
from localcluster.cluster import Cluster, exclusive
from localcluster.control_plane import COMPONENTS
from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.progress import Progress
from localcluster.record import existing


def build_main(arguments: Sequence[str] | None = None) -> int:
    """``build [PROGRAM...]``; returns the exit code."""
    parser = argparse.ArgumentParser(prog="build", description="Builds into .state/bin.")
    parser.add_argument(
        "programs", nargs="*", metavar="PROGRAM", help="default: those of the cluster"
    )
    options = parser.parse_args(arguments)

    def build() -> int:
        layout = Layout.of_project()
        programs = gobuild.select(options.programs)
        built = gobuild.Builder(layout.go_sources, layout.bin, Progress()).build(programs)
        print(f"built {', '.join(built)}" if built else "nothing to build", file=sys.stderr)
        return 0

    return _reporting(build, "build")


def parser() -> argparse.ArgumentParser:
    """The command line of ``cluster``."""
    root = argparse.ArgumentParser(
        prog="cluster", description="A real Kubernetes on this machine; state in .state/cluster."
    )
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    up = commands.add_parser("up", help="start the cluster, or what of it does not run")
    up.add_argument("--nodes", metavar="NAME,NAME...", help="default: bench-db,bench-driver")
    up.add_argument(
        "--shared-cpus",
        action="store_true",
        help="nodes that are started now hand out every processor, none of them exclusively",
    )
    down = commands.add_parser("down", help="remove the cluster and all it left on the machine")
    down.add_argument(
        "--orphan", action="store_true", help="remove the cluster of a clone that was deleted"
    )
    commands.add_parser("status", help="show every part; exit code 1 when one is not well")
    imports = commands.add_parser("import", help="import OCI archives into all nodes")
    imports.add_argument("archives", nargs="+", type=Path, metavar="TAR")
    commands.add_parser("kubeconfig", help="print the path of the administrator's kubeconfig")
    node = commands.add_parser("node", help="cut a node's power, or give it back")
    node.add_argument("action", choices=("stop", "start"))
    node.add_argument("name", metavar="NAME")
    restart = commands.add_parser("restart", help="kill a part of the control plane and start it")
    restart.add_argument("component", choices=[*COMPONENTS, "apiserver"], metavar="COMPONENT")
    return root


def cluster_main(arguments: Sequence[str] | None = None) -> int:
    """``cluster COMMAND``; returns the exit code."""
    options = parser().parse_args(arguments)
    commands = {
        "up": _up,
        "down": _down,
        "status": _status,
        "import": _import,
        "kubeconfig": _kubeconfig,
        "node": _node,
        "restart": _restart,
    }
    return _reporting(lambda: commands[options.command](options), "cluster")


def _reporting(command: Callable[[], int], program: str) -> int:
    try:
        return command()
    except ClusterError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{program}: interrupted; run it again, or `cluster down`", file=sys.stderr)
        return 130


def _up(options: argparse.Namespace) -> int:
    names = parse_node_names(options.nodes) if options.nodes is not None else None
    layout = Layout.of_project()
    with exclusive(layout):
        Cluster(layout, Progress()).up(names, exclusive_cpus=not options.shared_cpus)
    print(f"export KUBECONFIG={layout.kubeconfig} PATH={layout.bin}:$PATH")
    return 0


def _down(options: argparse.Namespace) -> int:
    layout = Layout.of_project()
    if options.orphan:
        owner = network.owner()
        if not owner or Path(owner).parent.parent.is_dir():
            raise ClusterError("no orphan: the cluster that runs belongs to a clone that exists")
        layout = Layout(Path(owner).parent.parent)
        teardown.down(layout, Progress())
        return 0
    with exclusive(layout):
        teardown.down(layout, Progress())
    return 0


def _status(_options: argparse.Namespace) -> int:
    layout = Layout.of_project()
    lines = status.gather(existing(layout), layout)
    print(status.render(lines))
    return 0 if all(line.is_well for line in lines) else 1


def _import(options: argparse.Namespace) -> int:
    layout = Layout.of_project()
    with exclusive(layout):
        counts = Cluster(layout, Progress()).import_images(options.archives)
    for node, count in counts.items():
        print(f"{node}: {count} imported, {len(options.archives) - count} already there")
    return 0


def _kubeconfig(_options: argparse.Namespace) -> int:
    layout = Layout.of_project()
    existing(layout)
    print(layout.kubeconfig)
    return 0


def _node(options: argparse.Namespace) -> int:
    layout = Layout.of_project()
    with exclusive(layout):
        cluster = Cluster(layout, Progress())
        act = cluster.start_node if options.action == "start" else cluster.stop_node
        changed = act(options.name)
    already = "running" if options.action == "start" else "stopped"
    print(f"{options.name}: {options.action}" if changed else f"{options.name}: already {already}")
    return 0


def _restart(options: argparse.Namespace) -> int:
    layout = Layout.of_project()
    component = "kube-apiserver" if options.component == "apiserver" else options.component
    with exclusive(layout):
        Cluster(layout, Progress()).restart(component)
    return 0
