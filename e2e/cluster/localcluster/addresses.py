"""Names and addresses of a cluster. Pure: no I/O here."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from localcluster.errors import ClusterError

BRIDGE = "dbbench0"
API_PORT = 6443
# Second octets of the 10.x.0.0/16 that a cluster takes whole, unlikely ones first.
_CANDIDATES = (213, 187, 149, 231, 173, 119, 243, 91)
_MAXIMUM_NODES = 30
_NODE_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True)
class NodeAddress:
    """What makes one node: its name, its place in the list, its address and its pods' range."""

    name: str
    index: int
    address: IPv4Address
    pods: IPv4Network

    @property
    def namespace(self) -> str:
        """The node's network namespace, as ``ip netns`` calls it."""
        return f"dbbench-node-{self.name}"

    @property
    def link(self) -> str:
        """The host's end of the node's cable (at most 15 characters)."""
        return f"dbbench-n{self.index}"

    @property
    def cgroup(self) -> str:
        """The node's cgroup, below the root of each hierarchy."""
        return f"dbbench-node-{self.name}"


@dataclass(frozen=True)
class Addresses:
    """The address plan of a cluster inside one /16: nodes, then pods, then services."""

    network: IPv4Network
    nodes: tuple[NodeAddress, ...]

    @property
    def node_network(self) -> IPv4Network:
        """The bridge's network, x.x.0.0/24."""
        return IPv4Network((self.network.network_address, 24))

    @property
    def gateway(self) -> IPv4Address:
        """The host's address on the bridge, where the control plane listens."""
        return self.node_network.network_address + 1

    @property
    def pods(self) -> IPv4Network:
        """The range that holds every node's pod range."""
        return IPv4Network((self.network.network_address + 64 * 256, 18))

    @property
    def services(self) -> IPv4Network:
        """Cluster addresses of Services."""
        return IPv4Network((self.network.network_address + 128 * 256, 20))

    @property
    def api_service(self) -> IPv4Address:
        """The Service ``kubernetes``: always the first of the range."""
        return self.services.network_address + 1

    @property
    def dns_service(self) -> IPv4Address:
        """The cluster's DNS Service."""
        return self.services.network_address + 10

    @property
    def api_url(self) -> str:
        """The API server as the host and the nodes reach it."""
        return f"https://{self.gateway}:{API_PORT}"

    def node(self, name: str) -> NodeAddress:
        """The node called ``name``."""
        for node in self.nodes:
            if node.name == name:
                return node
        names = ", ".join(node.name for node in self.nodes)
        raise ClusterError(f"there is no node called {name!r}; the nodes are {names}")

    def to_record(self) -> dict[str, object]:
        """What has to be kept to know the plan again."""
        return {"network": str(self.network), "nodes": [node.name for node in self.nodes]}

    @classmethod
    def from_record(cls, record: dict[str, object]) -> "Addresses":
        """The inverse of ``to_record``."""
        names = record["nodes"]
        if not isinstance(names, list):
            raise ClusterError("the record of the cluster is damaged: `nodes` is not a list")
        return plan(IPv4Network(str(record["network"])), [str(name) for name in names])


def parse_node_names(text: str) -> list[str]:
    """Node names from ``bench-db,bench-driver``; they must be DNS labels and differ."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ClusterError("at least one node is needed, for example --nodes bench-db")
    for name in names:
        if not _NODE_NAME.fullmatch(name):
            raise ClusterError(
                f"{name!r} cannot be a node's name: lower-case letters, digits and hyphens, "
                "at most 40 characters, no hyphen at either end"
            )
    if len(set(names)) != len(names):
        raise ClusterError(f"a node is named twice in {text!r}")
    if len(names) > _MAXIMUM_NODES:
        raise ClusterError(f"{len(names)} nodes are too many: at most {_MAXIMUM_NODES}")
    return names


def plan(network: IPv4Network, names: Sequence[str]) -> Addresses:
    """The address plan for nodes ``names`` inside ``network`` (a /16)."""
    base = network.network_address
    nodes = tuple(
        NodeAddress(
            name=name,
            index=index,
            address=base + 11 + index,
            pods=IPv4Network((base + (64 + index) * 256, 24)),
        )
        for index, name in enumerate(names)
    )
    return Addresses(network=network, nodes=nodes)


def free_network(used: Iterable[IPv4Network]) -> IPv4Network:
    """A private /16 that overlaps none of ``used`` (the machine's routes, less the default)."""
    taken = list(used)
    for octet in _CANDIDATES:
        candidate = ipaddress.IPv4Network(f"10.{octet}.0.0/16")
        if not any(candidate.overlaps(network) for network in taken):
            return candidate
    raise ClusterError(
        "no free private address range: the machine has routes into all of "
        + ", ".join(f"10.{octet}.0.0/16" for octet in _CANDIDATES)
    )


def parse_routes(routes: Iterable[dict[str, object]]) -> list[IPv4Network]:
    """Destinations in the output of ``ip -j -4 route show table all``, less the default."""
    networks = []
    for route in routes:
        destination = str(route.get("dst", ""))
        if destination and destination != "default":
            networks.append(IPv4Network(destination, strict=False))
    return networks
