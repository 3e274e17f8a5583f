"""Worker nodes: written to disk, started, stopped, and reached from the host."""

import json
import sys
import time
from pathlib import Path

from localcluster import cgroups, node_config
from localcluster.addresses import API_PORT, Addresses, NodeAddress
from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.node_config import CONTAINERD_SOCKET, Machine
from localcluster.pki import CLUSTER_CA, Pki
from localcluster.processes import Processes, children, kill

_CONTAINERD_SECONDS = 60.0


class Node:
    """One worker node of the cluster."""

    def __init__(self, address: NodeAddress, layout: Layout, processes: Processes) -> None:
        self.address = address
        self._layout = layout
        self._processes = processes

    @property
    def folder(self) -> Path:
        """The node's folder in the cluster's state."""
        return self._layout.node(self.address.name)

    @property
    def _process_name(self) -> str:
        return f"node-{self.address.name}"

    def write(self, addresses: Addresses, machine: Machine) -> None:
        """Writes everything the node's programs read."""
        pki = Pki(self._layout.pki)
        certificate = f"node-{self.address.name}"
        config = self.folder / "config"
        for folder in (config, self.folder / "logs", self.folder / "var/lib/cni/net.d"):
            folder.mkdir(parents=True, exist_ok=True)
        kubelet_kubeconfig = config / "kubelet.kubeconfig"
        pki.write_kubeconfig(kubelet_kubeconfig, addresses.api_url, certificate)
        proxy_kubeconfig = config / "kube-proxy.kubeconfig"
        pki.write_kubeconfig(proxy_kubeconfig, addresses.api_url, "proxy")
        (config / "containerd.toml").write_text(node_config.containerd_config(machine))
        documents = {
            self.folder / "var/lib/cni/net.d/dbbench.conflist": node_config.cni_config(
                self.address
            ),
            config / "kubelet.json": node_config.kubelet_config(
                addresses,
                self.address,
                machine,
                authority=str(pki.certificate(CLUSTER_CA).with_suffix("")),
                certificate=str(pki.certificate(certificate).with_suffix("")),
            ),
            config / "kube-proxy.json": node_config.kube_proxy_config(
                addresses, self.address, str(proxy_kubeconfig)
            ),
            config / "init.json": self._description(addresses, config),
        }
        for path, document in documents.items():
            path.write_text(json.dumps(document, indent=1) + "\n")

    def _description(self, addresses: Addresses, config: Path) -> dict[str, object]:
        """What the node's first process is told; see ``node_init``."""
        programs = self._layout.bin
        containerd = ["containerd", "--config", str(config / "containerd.toml")]
        kubelet = [
            str(programs / "kubelet"),
            f"--config={config / 'kubelet.json'}",
            f"--kubeconfig={config / 'kubelet.kubeconfig'}",
            f"--hostname-override={self.address.name}",
            f"--node-ip={self.address.address}",
            "--v=1",
        ]
        proxy = [str(programs / "kube-proxy"), f"--config={config / 'kube-proxy.json'}", "--v=1"]
        return {
            "name": self.address.name,
            "folder": str(self.folder),
            "project": str(self._layout.project),
            "cgroup": self.address.cgroup,
            "api": {"host": str(addresses.gateway), "port": API_PORT},
            "daemons": [
                {"name": "containerd", "command": containerd},
                {"name": "kubelet", "command": kubelet, "needs_api": True},
                {"name": "kube-proxy", "command": proxy, "needs_api": True},
            ],
        }

    def is_running(self) -> bool:
        """Whether the node's first process runs."""
        return self._processes.find(self._process_name) is not None

    def start(self) -> bool:
        """Starts the node unless it runs, and waits for its containerd; tells if it had to."""
        if self.is_running():
            return False
        cgroups.ensure(self.address.cgroup)
        init = [
            sys.executable,
            "-m",
            "localcluster.node_init",
            str(self.folder / "config/init.json"),
        ]
        self._processes.start(
            self._process_name,
            [
                *("nsenter", f"--net=/run/netns/{self.address.namespace}"),
                *("unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc"),
                "--kill-child",
                *("env", f"PYTHONPATH={self._layout.sources}", "PYTHONDONTWRITEBYTECODE=1", *init),
            ],
        )
        self._wait_for_containerd()
        return True

    def _wait_for_containerd(self) -> None:
        deadline = time.monotonic() + _CONTAINERD_SECONDS
        while self.ctr("version", check=False) is None:
            if not self.is_running():
                tail = self._processes.log_tail(self._process_name)
                raise ClusterError(f"node {self.address.name} ended while starting{tail}")
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"containerd of node {self.address.name} does not answer after "
                    f"{_CONTAINERD_SECONDS:.0f} s; see {self.folder / 'logs/containerd.log'}"
                )
            time.sleep(0.1)

    def first_process(self) -> int | None:
        """The host's pid of the node's pid 1."""
        process = self._processes.find(self._process_name)
        if process is None:
            return None
        inside = children(process.pid)
        return inside[0].pid if inside else None

    def stop(self) -> bool:
        """Cuts the node's power: kills everything on it at once; tells whether it ran."""
        process = self._processes.find(self._process_name)
        if process is None:
            return False
        # The inner one first: `unshare` waits for it, and the kernel reports it dead only
        # when every process of its PID namespace is gone.
        kill(children(process.pid))
        kill([process])
        return True

    def ctr(self, *arguments: str, check: bool = True) -> str | None:
        """Runs containerd's client against this node; None when it fails and ``check`` is off."""
        pid = self.first_process()
        if pid is None:
            if check:
                raise ClusterError(f"node {self.address.name} is not running")
            return None
        # The socket lies in the node's own /run; /proc/PID/root leads into its mounts.
        socket = f"/proc/{pid}/root{CONTAINERD_SOCKET}"
        completed = self._processes.run(
            ["ctr", "--address", socket, "--namespace", "k8s.io", *arguments], check=check
        )
        return completed.stdout if completed.returncode == 0 else None
