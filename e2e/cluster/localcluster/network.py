"""The cluster's network: a bridge on the host, a network namespace and a cable for each node.

Everything hangs on the bridge and the namespaces; deleting those deletes the rest (cables,
addresses, routes, and the packet filter rules that kube-proxy writes inside the namespaces).
"""

import json
from ipaddress import IPv4Network
from pathlib import Path

from localcluster import firewall
from localcluster.addresses import BRIDGE, Addresses, NodeAddress, parse_routes
from localcluster.errors import ClusterError
from localcluster.processes import run

_NAMESPACES = Path("/run/netns")
_UNFINISHED = "dbbench-new"
# Pods cross the node from one interface to another, so a node is a router.
_NODE_SETTINGS = {"net/ipv4/ip_forward": "1", "net/ipv4/conf/all/rp_filter": "0"}


def used_networks() -> list[IPv4Network]:
    """Every destination that the host has a route to, less the default."""
    return parse_routes(json.loads(run(["ip", "-j", "-4", "route", "show", "table", "all"]).stdout))


def owner() -> str | None:
    """The state folder of the cluster that owns the bridge; None when there is no bridge."""
    shown = run(["ip", "-j", "link", "show", "dev", BRIDGE], check=False)
    if shown.returncode:
        return None
    return str(json.loads(shown.stdout)[0].get("ifalias", ""))


class Network:
    """The network of the cluster whose state folder is ``state``."""

    def __init__(self, addresses: Addresses, state: Path) -> None:
        self._addresses = addresses
        self._state = state

    def ensure(self) -> None:
        """Makes what is missing; leaves what is right as it is."""
        plan = self._addresses
        if owner() is None:
            self._make_bridge()
        _host(
            [
                f"address replace {plan.gateway}/{plan.node_network.prefixlen} dev {BRIDGE}",
                f"link set {BRIDGE} up",
            ]
        )
        for node in plan.nodes:
            self._ensure_node(node)
        routes = [f"route replace {node.pods} via {node.address}" for node in plan.nodes]
        # Any node's kube-proxy can take the host's connections to Services.
        routes.append(f"route replace {plan.services} via {plan.nodes[0].address}")
        _host(routes)
        firewall.open_for(BRIDGE)

    def _make_bridge(self) -> None:
        """The bridge gets its name last: under that name it always says whose it is."""
        _delete_link(_UNFINISHED)
        _host(
            [
                f"link add {_UNFINISHED} type bridge",
                f"link set {_UNFINISHED} alias {self._state}",
                f"link set {_UNFINISHED} name {BRIDGE}",
            ]
        )

    def _ensure_node(self, node: NodeAddress) -> None:
        if not (_NAMESPACES / node.namespace).exists():
            run(["ip", "netns", "add", node.namespace])
        if run(["ip", "link", "show", "dev", node.link], check=False).returncode:
            cable = f"link add {node.link} type veth peer name eth0 netns {node.namespace}"
            _host([cable])
        _host([f"link set {node.link} master {BRIDGE}", f"link set {node.link} up"])
        plan = self._addresses
        commands = [
            "link set lo up",
            f"address replace {node.address}/{plan.node_network.prefixlen} dev eth0",
            "link set eth0 up",
            f"route replace default via {plan.gateway}",
        ]
        commands.extend(
            f"route replace {other.pods} via {other.address}"
            for other in plan.nodes
            if other != node
        )
        run(["ip", "-n", node.namespace, "-batch", "-"], stdin="\n".join(commands))
        settings = " && ".join(
            f"echo {value} > /proc/sys/{name}" for name, value in _NODE_SETTINGS.items()
        )
        run(["nsenter", f"--net={_NAMESPACES / node.namespace}", "sh", "-c", settings])


def remove(namespaces: list[str], links: list[str]) -> None:
    """Deletes namespaces, cables and the bridge, whichever of them exist."""
    firewall.close_for(BRIDGE)
    for namespace in namespaces:
        if (_NAMESPACES / namespace).exists():
            run(["ip", "netns", "delete", namespace])
    for link in (*links, _UNFINISHED, BRIDGE):
        _delete_link(link)


def _delete_link(link: str) -> None:
    # It may be on its way out already: a cable goes a little after the namespace it leads to.
    run(["ip", "link", "delete", "dev", link], check=False)
    if run(["ip", "link", "show", "dev", link], check=False).returncode == 0:
        raise ClusterError(f"the network interface {link} cannot be deleted")


def namespaces() -> list[str]:
    """Network namespaces on this machine that have a node's name."""
    if not _NAMESPACES.is_dir():
        return []
    return sorted(entry.name for entry in _NAMESPACES.glob("dbbench-node-*"))


def _host(commands: list[str]) -> None:
    run(["ip", "-batch", "-"], stdin="\n".join(commands))
