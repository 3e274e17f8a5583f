"""The API server as the cluster's administrator."""

import http.client
import json
import ssl
from typing import Any

from localcluster.addresses import API_PORT, Addresses
from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.pki import CLUSTER_CA, Pki
from localcluster.processes import run

_SECONDS = 10.0


class Api:
    """Reads by HTTPS, applies with kubectl."""

    def __init__(self, addresses: Addresses, layout: Layout) -> None:
        self._host = str(addresses.gateway)
        self._layout = layout

    def is_ready(self) -> bool:
        """Whether the API server answers and every check of ``/readyz`` passes."""
        try:
            return self._request("/readyz")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def get(self, path: str) -> dict[str, Any]:
        """The JSON object at ``path``."""
        try:
            status, body = self._request(path)
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"the API server does not answer: {error}") from error
        if status != 200:
            raise ClusterError(f"GET {path}: {status} {body.decode(errors='replace')}")
        document = json.loads(body)
        return document if isinstance(document, dict) else {}

    def apply(self, manifests: str) -> None:
        """Applies YAML or JSON documents, server-side."""
        self.kubectl(
            *("apply", "--server-side", "--force-conflicts"),
            *("--field-manager=dbbench-cluster", "--filename=-"),
            stdin=manifests,
        )

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Runs kubectl; returns what it prints."""
        kubeconfig = f"--kubeconfig={self._layout.kubeconfig}"
        return run([str(self._layout.bin / "kubectl"), kubeconfig, *arguments], stdin=stdin).stdout

    def _request(self, path: str) -> tuple[int, bytes]:
        pki = Pki(self._layout.pki)
        context = ssl.create_default_context(cafile=str(pki.certificate(CLUSTER_CA)))
        context.load_cert_chain(pki.certificate("admin"), pki.key("admin"))
        connection = http.client.HTTPSConnection(
            self._host, API_PORT, context=context, timeout=_SECONDS
        )
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()
