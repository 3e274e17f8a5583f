"""etcd, the API server, the controller manager and the scheduler, on the host."""

import json
import time

from localcluster.addresses import API_PORT, Addresses
from localcluster.api import Api
from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.node_config import DOMAIN
from localcluster.pki import CLUSTER_CA, ETCD_CA, FRONT_PROXY_CA, Pki
from localcluster.processes import Processes, kill

ETCD = "etcd"
API_SERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"
COMPONENTS = (ETCD, API_SERVER, CONTROLLER_MANAGER, SCHEDULER)
_READY_SECONDS = 120.0
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"]},
        {"level": "Metadata", "userGroups": ["system:serviceaccounts"]},
        {"level": "None"},
    ],
}
"""What programs in pods ask for, and what of it is refused; nothing of Kubernetes' own."""


class ControlPlane:
    """The control plane's processes.

    They listen on the bridge's address, which exists only for this cluster, so that they meet
    no port that the host already uses.
    """

    def __init__(
        self, addresses: Addresses, layout: Layout, processes: Processes, api: Api
    ) -> None:
        self._addresses = addresses
        self._layout = layout
        self._processes = processes
        self._api = api
        self._pki = Pki(layout.pki)

    def write(self) -> None:
        """Writes the audit policy, and the kubeconfigs of the administrator and the components."""
        if not self._layout.audit_policy.exists():
            self._layout.audit_policy.write_text(json.dumps(AUDIT_POLICY))
        url = self._addresses.api_url
        self._pki.write_kubeconfig(self._layout.kubeconfig, url, "admin")
        for name in ("controller-manager", "scheduler"):
            self._pki.write_kubeconfig(self._layout.kubeconfigs / name, url, name)

    def start(self) -> None:
        """Starts what does not run and waits until the API server is ready."""
        self._processes.ensure(ETCD, self.etcd_command())
        self._processes.ensure(API_SERVER, self.api_server_command())
        self._wait_until_ready()
        # Earlier, they would end at once.
        self._processes.ensure(CONTROLLER_MANAGER, self.controller_manager_command())
        self._processes.ensure(SCHEDULER, self.scheduler_command())

    def restart(self, component: str) -> None:
        """Kills one component and starts it again."""
        running = self._processes.find(component)
        if running is not None:
            kill([running])
        self.start()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while not self._api.is_ready():
            for name in (ETCD, API_SERVER):
                if self._processes.find(name) is None:
                    raise ClusterError(f"{name} ended{self._processes.log_tail(name)}")
            if time.monotonic() > deadline:
                tail = self._processes.log_tail(API_SERVER)
                raise ClusterError(
                    f"the API server is not ready after {_READY_SECONDS:.0f} s{tail}"
                )
            time.sleep(0.1)

    def etcd_command(self) -> list[str]:
        """etcd with one member; no fsync, for the data ends with the cluster."""
        client = f"https://{self._addresses.gateway}:2379"
        peer = f"https://{self._addresses.gateway}:2380"
        certificate, key = self._pki.certificate(ETCD), self._pki.key(ETCD)
        authority = self._pki.certificate(ETCD_CA)
        return [
            str(self._layout.bin / ETCD),
            "--name=dbbench",
            f"--data-dir={self._layout.state / ETCD}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=dbbench={peer}",
            "--client-cert-auth",
            "--peer-client-cert-auth",
            f"--trusted-ca-file={authority}",
            f"--cert-file={certificate}",
            f"--key-file={key}",
            f"--peer-trusted-ca-file={authority}",
            f"--peer-cert-file={certificate}",
            f"--peer-key-file={key}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def api_server_command(self) -> list[str]:
        """The API server, set up as kubeadm does it."""
        certificate, key = self._pki.certificate, self._pki.key
        gateway = self._addresses.gateway
        return [
            str(self._layout.bin / API_SERVER),
            f"--advertise-address={gateway}",
            f"--bind-address={gateway}",
            f"--secure-port={API_PORT}",
            f"--cert-dir={self._layout.pki}",
            f"--tls-cert-file={certificate('apiserver')}",
            f"--tls-private-key-file={key('apiserver')}",
            f"--client-ca-file={certificate(CLUSTER_CA)}",
            f"--etcd-servers=https://{gateway}:2379",
            f"--etcd-cafile={certificate(ETCD_CA)}",
            f"--etcd-certfile={certificate('apiserver-etcd-client')}",
            f"--etcd-keyfile={key('apiserver-etcd-client')}",
            f"--kubelet-certificate-authority={certificate(CLUSTER_CA)}",
            f"--kubelet-client-certificate={certificate('apiserver-kubelet-client')}",
            f"--kubelet-client-key={key('apiserver-kubelet-client')}",
            "--kubelet-preferred-address-types=InternalIP",
            f"--service-cluster-ip-range={self._addresses.services}",
            f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
            f"--service-account-key-file={self._layout.pki / 'service-accounts.pub'}",
            f"--service-account-signing-key-file={key('service-accounts')}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            f"--requestheader-client-ca-file={certificate(FRONT_PROXY_CA)}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificate('front-proxy-client')}",
            f"--proxy-client-key-file={key('front-proxy-client')}",
            # The host does not run kube-proxy: aggregated APIs are reached by their endpoints.
            "--enable-aggregator-routing=true",
            f"--audit-policy-file={self._layout.audit_policy}",
            f"--audit-log-path={self._layout.audit_log}",
            # One file, whole: whoever reads it looks for what is not in it.
            "--audit-log-maxsize=4096",
        ]

    def controller_manager_command(self) -> list[str]:
        """The controller manager; pod ranges are given out by the address plan, not by it."""
        kubeconfig = self._layout.kubeconfigs / "controller-manager"
        return [
            str(self._layout.bin / CONTROLLER_MANAGER),
            *self._client_options(str(kubeconfig)),
            "--secure-port=10257",
            "--use-service-account-credentials=true",
            f"--root-ca-file={self._pki.certificate(CLUSTER_CA)}",
            f"--service-account-private-key-file={self._pki.key('service-accounts')}",
            f"--cluster-signing-cert-file={self._pki.certificate(CLUSTER_CA)}",
            f"--cluster-signing-key-file={self._pki.key(CLUSTER_CA)}",
            "--allocate-node-cidrs=false",
            f"--flex-volume-plugin-dir={self._layout.state / 'volume-plugins'}",
        ]

    def scheduler_command(self) -> list[str]:
        """The scheduler."""
        kubeconfig = self._layout.kubeconfigs / "scheduler"
        return [
            str(self._layout.bin / SCHEDULER),
            *self._client_options(str(kubeconfig)),
            "--secure-port=10259",
        ]

    def _client_options(self, kubeconfig: str) -> list[str]:
        return [
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            f"--bind-address={self._addresses.gateway}",
            "--leader-elect=false",
        ]
