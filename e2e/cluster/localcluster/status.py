"""What runs, what does not: gathered from the machine and from the API server."""

from dataclasses import dataclass

from localcluster import addons
from localcluster.addresses import Addresses
from localcluster.api import Api
from localcluster.control_plane import COMPONENTS
from localcluster.layout import Layout
from localcluster.nodes import Node
from localcluster.processes import Processes


@dataclass(frozen=True)
class Line:
    """One part of the cluster: whether it is well, and what there is to say about it."""

    part: str
    is_well: bool
    detail: str


def gather(addresses: Addresses, layout: Layout) -> list[Line]:
    """The state of every part of the cluster."""
    processes = Processes(layout.state, layout.processes, layout.logs)
    lines = []
    for component in COMPONENTS:
        process = processes.find(component)
        detail = f"pid {process.pid}" if process else f"not running, see {processes.log(component)}"
        lines.append(Line(component, process is not None, detail))
    for address in addresses.nodes:
        node = Node(address, layout, processes)
        pid = node.first_process()
        where = f"{address.address}, pods {address.pods}"
        detail = f"pid {pid}, {where}" if pid else f"not running, {where}"
        lines.append(Line(f"node {address.name}", pid is not None, detail))
    api = Api(addresses, layout)
    if not api.is_ready():
        return [*lines, Line("API server", False, f"{addresses.api_url} is not ready")]
    lines.append(Line("API server", True, addresses.api_url))
    missing = addons.missing_parts(api, len(addresses.nodes))
    lines.extend(Line("workloads", False, text) for text in missing)
    if not missing:
        lines.append(Line("workloads", True, "nodes Ready, DNS and storage available"))
    return lines


def render(lines: list[Line]) -> str:
    """The lines as a table."""
    width = max(len(line.part) for line in lines)
    return "\n".join(
        f"{'ok  ' if line.is_well else 'FAIL'}  {line.part:{width}}  {line.detail}"
        for line in lines
    )
