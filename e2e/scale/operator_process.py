"""The operator as the chart starts it, outside of a pod: its rights, environment and account."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from access.kubectl import Kubectl, Manifest, run, wait_until_established
from access.operator import DEPLOYMENT, NAMESPACE, RELEASE
from access.paths import CHART, program

ACCOUNT = DEPLOYMENT
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
# Nothing here can run them, or serves their kind.
_LEFT_OUT = {"Deployment", "Pod"}
_END_SECONDS = 30


@dataclass(frozen=True)
class Operator:
    """A running operator; `port` of its metrics."""

    pid: int
    port: int

    def memory_peak(self) -> int:
        """Most memory that it ever had resident, bytes."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError("the operator has ended; see its log")

    def cpu_seconds(self) -> float:
        """Of processors that it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rendered() -> list[Manifest]:
    """What the chart installs with its default values."""
    text = run([program("helm"), "template", RELEASE, CHART, "--namespace", NAMESPACE])
    return [document for document in yaml.safe_load_all(text) if document]


def install(kubectl: Kubectl, chart: list[Manifest]) -> None:
    """The CRD, the account and its rights."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    wanted = [
        document
        for document in chart
        if document["kind"] not in _LEFT_OUT
        and "helm.sh/hook" not in (document["metadata"].get("annotations") or {})
    ]
    kubectl.apply(namespace)
    text = "\n---\n".join(map(json.dumps, wanted))
    kubectl.within(NAMESPACE)("apply", "--server-side", "-f", "-", text=text)
    wait_until_established(kubectl, "dbbenchmarks.dbbench.io")


@contextmanager
def operator(kubectl: Kubectl, chart: list[Manifest], folder: Path) -> Iterator[Operator]:
    """The process, with the account's own token; SIGTERM at the end. Its log is in `folder`."""
    token = kubectl.within(NAMESPACE)("create", "token", ACCOUNT, "--duration=24h").strip()
    kubeconfig = folder / "operator.kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(json.dumps(with_token(json.loads(kubectl.kubeconfig.read_text()), token)))
    port = _free_port()
    environment = {
        **os.environ,
        **environment_of(chart),
        "KUBECONFIG": str(kubeconfig),
        "DBBENCH_PORT": str(port),
    }
    with (folder / "operator.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dbbench.main"], env=environment, stdout=log, stderr=log
        )
    try:
        yield Operator(process.pid, port)
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def with_token(kubeconfig: Manifest, token: str) -> Manifest:
    """The same cluster for the holder of a token."""
    (user,) = kubeconfig["users"]
    return kubeconfig | {"users": [{"name": user["name"], "user": {"token": token}}]}


def environment_of(chart: list[Manifest]) -> dict[str, str]:
    """Variables of the operator's container."""
    (deployment,) = [document for document in chart if document["kind"] == "Deployment"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return {variable["name"]: variable["value"] for variable in container["env"]}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
