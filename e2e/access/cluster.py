"""The cluster to use: the one that KUBECONFIG names, else the local one, started when needed."""

import os
import shutil
import subprocess
from pathlib import Path

from access.kubectl import CallError, Kubectl
from access.paths import BIN, LOCAL_KUBECONFIG, PROJECT


def user_kubeconfig() -> Path | None:
    """The kubeconfig that the user chose; None when the local cluster is meant."""
    text = os.environ.get("KUBECONFIG", "")
    return Path(text) if text and Path(text) != LOCAL_KUBECONFIG else None


def client() -> Kubectl:
    """kubectl for the cluster to use: the user's own program where there is a user's cluster."""
    chosen = user_kubeconfig()
    if chosen is None:
        return Kubectl(LOCAL_KUBECONFIG)
    program = BIN / "kubectl"
    return Kubectl(chosen, program=program if program.exists() else Path(_found("kubectl")))


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(f"{program} is not on PATH; run: make binaries")
    return path


def answers(kubectl: Kubectl) -> bool:
    """Whether the cluster's API server is ready."""
    try:
        return kubectl("get", "--raw", "/readyz").strip() == "ok"
    except (CallError, subprocess.TimeoutExpired):
        return False


def start_local() -> None:
    """Start the local cluster, or what of it does not run, with all images in it."""
    subprocess.run([PROJECT / "e2e" / "cluster" / "cluster", "up"], check=True)


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
