"""Where everything is: the folders and files of one cluster, all below ``.state``."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """Paths of the cluster that belongs to the project in ``project``."""

    project: Path

    @classmethod
    def of_project(cls) -> "Layout":
        """The layout of the project that this file is part of."""
        return cls(Path(__file__).resolve().parents[3])

    @property
    def sources(self) -> Path:
        """The folder of the cluster's own sources."""
        return self.project / "e2e/cluster"

    @property
    def go_sources(self) -> Path:
        """The Go sources."""
        return self.sources / "go"

    @property
    def addons(self) -> Path:
        """Templates of what is applied to every new cluster."""
        return self.sources / "addons"

    @property
    def bin(self) -> Path:
        """Built programs."""
        return self.project / ".state/bin"

    @property
    def images(self) -> Path:
        """OCI archives; ``up`` imports all of them."""
        return self.project / ".state/images"

    @property
    def cache(self) -> Path:
        """What can be fetched or made again."""
        return self.project / ".state/cache"

    @property
    def state(self) -> Path:
        """All state of the running cluster; ``down`` deletes it."""
        return self.project / ".state/cluster"

    @property
    def record(self) -> Path:
        """The cluster's addresses and nodes, written before anything is made from them."""
        return self.state / "cluster.json"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.state / "kubeconfig"

    @property
    def kubeconfigs(self) -> Path:
        """Kubeconfigs of the cluster's own components."""
        return self.state / "kubeconfigs"

    @property
    def pki(self) -> Path:
        """Certificate authorities, certificates and keys."""
        return self.state / "pki"

    @property
    def logs(self) -> Path:
        """A log file for each process on the host."""
        return self.state / "logs"

    @property
    def processes(self) -> Path:
        """A record of each process that was started."""
        return self.state / "processes"

    @property
    def audit_policy(self) -> Path:
        """What the API server writes into its audit log; one that is there already is kept."""
        return self.state / "audit-policy.json"

    @property
    def audit_log(self) -> Path:
        """The API server's audit log."""
        return self.state / "audit.log"

    @property
    def kernel_settings(self) -> Path:
        """Kernel settings as they were before the cluster started."""
        return self.state / "kernel-settings.json"

    def node(self, name: str) -> Path:
        """The folder that holds a node's configuration, ``/var/lib`` and ``/var/log``."""
        return self.state / "nodes" / name
