"""The cluster to use: the one that KUBECONFIG names, else the local one, started when needed."""

import os
import subprocess
from pathlib import Path

from access.kubectl import CallError, Kubectl, wait, wait_until_established
from access.paths import CHART, LOCAL_KUBECONFIG, PROJECT, program

_CRD = CHART / "files" / "dbbench.io_dbbenchmarks.yaml"


def user_kubeconfig() -> Path | None:
    """The kubeconfig that the user chose; None when the local cluster is meant."""
    text = os.environ.get("KUBECONFIG", "")
    return Path(text) if text and Path(text).resolve() != LOCAL_KUBECONFIG.resolve() else None


def client() -> Kubectl:
    """kubectl for the cluster to use."""
    return Kubectl(user_kubeconfig() or LOCAL_KUBECONFIG, program=program("kubectl"))


def answers(kubectl: Kubectl) -> bool:
    """Whether the cluster's API server is ready."""
    try:
        return kubectl("get", "--raw", "/readyz").strip() == "ok"
    except (CallError, subprocess.TimeoutExpired):
        return False


def start_local() -> None:
    """Start the local cluster, or what of it does not run, with all images in it."""
    subprocess.run([PROJECT / "e2e" / "cluster" / "cluster", "up"], check=True)


def install_crd(kubectl: Kubectl) -> None:
    """The CRD as the chart has it, without the operator."""
    kubectl("apply", "--server-side", "--force-conflicts", "-f", str(_CRD))
    wait_until_established(kubectl, "dbbenchmarks.dbbench.io")
    # Discovery of a new type lags behind its condition.
    wait("the CRD is served", lambda: kubectl("get", "dbb") is not None, limit=30)


def nodes(kubectl: Kubectl) -> list[str]:
    """Names of the nodes that pods can be put on, sorted."""
    return sorted(
        node["metadata"]["name"]
        for node in kubectl.list("nodes")
        if not node["spec"].get("unschedulable")
        and not any(
            taint["effect"] in ("NoSchedule", "NoExecute")
            for taint in node["spec"].get("taints", [])
        )
    )
