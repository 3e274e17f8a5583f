"""etcd, the API server, the controller manager and the scheduler alone, on loopback.

The local cluster's own code starts them, with an address plan inside 127.0.0.0/8, all of which
the loopback interface answers: no bridge, no namespaces, no root.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from access.kubectl import Kubectl, Manifest
from access.paths import PROJECT, STATE, program
from localcluster.addresses import Addresses, plan
from localcluster.api import Api
from localcluster.control_plane import ControlPlane
from localcluster.layout import Layout
from localcluster.pki import Pki
from localcluster.processes import Processes, kill

NODE = "stand-in"
"""All nodes have this one's address and certificate."""
_NETWORK = IPv4Network("127.213.0.0/16")


class ScaleLayout(Layout):
    """The project's programs, and a state folder beside the local cluster's."""

    @property
    def state(self) -> Path:
        return STATE / "scale"


@dataclass(frozen=True)
class Server:
    """A running control plane. `folder`: for whatever belongs to it and goes with it."""

    addresses: Addresses
    layout: ScaleLayout
    kubectl: Kubectl

    @property
    def pki(self) -> Pki:
        return Pki(self.layout.pki)


@contextmanager
def control_plane(audit_policy: Manifest) -> Iterator[Server]:
    """Starts it from nothing; afterwards it is killed, and its state removed.

    Its logs and the audit log are below `.state/scale` until the next start.
    """
    layout = ScaleLayout(PROJECT)
    processes = Processes(layout.state, layout.processes, layout.logs)
    kill(processes.all())
    shutil.rmtree(layout.state, ignore_errors=True)
    layout.state.mkdir(parents=True)
    addresses = plan(_NETWORK, [NODE])
    Pki(layout.pki).ensure(addresses)
    layout.audit_policy.write_text(json.dumps(audit_policy))
    control = ControlPlane(addresses, layout, processes, Api(addresses, layout))
    control.write()
    try:
        control.start()
        yield Server(addresses, layout, Kubectl(layout.kubeconfig, program("kubectl")))
    finally:
        kill(processes.all())
        shutil.rmtree(layout.state / "etcd", ignore_errors=True)
