"""Certificate authorities, certificates and kubeconfigs, made with openssl."""

import base64
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from localcluster.addresses import Addresses
from localcluster.processes import run

_DAYS = "3650"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")

CLUSTER_CA = "ca"
ETCD_CA = "etcd-ca"
FRONT_PROXY_CA = "front-proxy-ca"


@dataclass(frozen=True)
class Certificate:
    """A certificate to be made: file name, signer, subject and the names it is valid for."""

    name: str
    authority: str
    common_name: str
    organisation: str = ""
    alternatives: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject as openssl takes it; the organisation is the Kubernetes group."""
        group = f"/O={self.organisation}" if self.organisation else ""
        return f"{group}/CN={self.common_name}"


def certificates(addresses: Addresses) -> list[Certificate]:
    """Every certificate of a cluster with these addresses."""
    gateway = f"IP:{addresses.gateway}"
    loopback = ("IP:127.0.0.1", "DNS:localhost")
    api_names = ("kubernetes", "kubernetes.default", "kubernetes.default.svc")
    wanted = [
        Certificate("etcd", ETCD_CA, "etcd", alternatives=(gateway, *loopback)),
        Certificate("apiserver-etcd-client", ETCD_CA, "kube-apiserver"),
        Certificate("front-proxy-client", FRONT_PROXY_CA, "front-proxy-client"),
        Certificate(
            "apiserver",
            CLUSTER_CA,
            "kube-apiserver",
            alternatives=(
                gateway,
                f"IP:{addresses.api_service}",
                *loopback,
                *(f"DNS:{name}" for name in (*api_names, f"{api_names[-1]}.cluster.local")),
            ),
        ),
        Certificate("apiserver-kubelet-client", CLUSTER_CA, "kube-apiserver-kubelet-client"),
        Certificate("admin", CLUSTER_CA, "cluster-admin", "system:masters"),
        Certificate("controller-manager", CLUSTER_CA, "system:kube-controller-manager"),
        Certificate("scheduler", CLUSTER_CA, "system:kube-scheduler"),
        Certificate("proxy", CLUSTER_CA, "system:kube-proxy"),
    ]
    for node in addresses.nodes:
        names = (f"DNS:{node.name}", f"IP:{node.address}")
        wanted.append(
            Certificate(
                f"node-{node.name}",
                CLUSTER_CA,
                f"system:node:{node.name}",
                "system:nodes",
                alternatives=names,
            )
        )
    return wanted


class Pki:
    """The certificates in one folder; what exists is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def certificate(self, name: str) -> Path:
        """The certificate called ``name``, PEM."""
        return self._folder / f"{name}.crt"

    def key(self, name: str) -> Path:
        """The private key called ``name``, PEM."""
        return self._folder / f"{name}.key"

    def ensure(self, addresses: Addresses) -> None:
        """Makes whatever is missing."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with ThreadPoolExecutor() as pool:
            list(pool.map(self._authority, (CLUSTER_CA, ETCD_CA, FRONT_PROXY_CA)))
            list(pool.map(self._issue, certificates(addresses)))
        self._service_account_key()

    def _authority(self, name: str) -> None:
        if self._is_made(name):
            return
        usage = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
        self._request(name, f"/CN=dbbench {name}", usage, ())

    def _issue(self, certificate: Certificate) -> None:
        if self._is_made(certificate.name):
            return
        extensions = [
            "basicConstraints=critical,CA:FALSE",
            "keyUsage=critical,digitalSignature",
            "extendedKeyUsage=serverAuth,clientAuth",
        ]
        if certificate.alternatives:
            extensions.append(f"subjectAltName={','.join(certificate.alternatives)}")
        authority = certificate.authority
        signer = (
            *("-CA", str(self.certificate(authority))),
            *("-CAkey", str(self.key(authority))),
        )
        self._request(certificate.name, certificate.subject, extensions, signer)

    def _is_made(self, name: str) -> bool:
        return self.certificate(name).is_file() and self.key(name).is_file()

    def _request(
        self, name: str, subject: str, extensions: Sequence[str], signer: Sequence[str]
    ) -> None:
        # The certificate is renamed into place last: half a pair is made again.
        fresh = self._folder / f"{name}.crt.new"
        options = [option for extension in extensions for option in ("-addext", extension)]
        run(
            [
                *("openssl", "req", "-x509", "-sha256", "-days", _DAYS, *_NEW_KEY),
                *("-config", "/dev/null", "-subj", subject, *options, *signer),
                *("-keyout", str(self.key(name)), "-out", str(fresh)),
            ]
        )
        fresh.rename(self.certificate(name))

    def _service_account_key(self) -> None:
        key, public = self.key("service-accounts"), self._folder / "service-accounts.pub"
        if public.is_file():
            return
        curve = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        run(["openssl", "genpkey", *curve, "-out", str(key)])
        fresh = public.with_suffix(".new")
        run(["openssl", "pkey", "-in", str(key), "-pubout", "-out", str(fresh)])
        fresh.rename(public)

    def write_kubeconfig(self, path: Path, server: str, certificate: str) -> None:
        """Writes a kubeconfig (as JSON, which is YAML) for the holder of ``certificate``."""
        document = kubeconfig(
            server,
            authority=self.certificate(CLUSTER_CA).read_bytes(),
            certificate=self.certificate(certificate).read_bytes(),
            key=self.key(certificate).read_bytes(),
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(json.dumps(document, indent=1) + "\n")


def kubeconfig(server: str, authority: bytes, certificate: bytes, key: bytes) -> dict[str, object]:
    """A kubeconfig that holds everything itself, so that it can be copied anywhere."""

    def encoded(data: bytes) -> str:
        return base64.b64encode(data).decode()

    cluster = {"server": server, "certificate-authority-data": encoded(authority)}
    user = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "dbbench", "cluster": cluster}],
        "users": [{"name": "dbbench", "user": user}],
        "contexts": [{"name": "dbbench", "context": {"cluster": "dbbench", "user": "dbbench"}}],
        "current-context": "dbbench",
    }
