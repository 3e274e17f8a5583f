"""The stand-in for KubeVirt of e2e/kubevirt_standin, put into the cluster or taken out."""

import os
import subprocess

from access.kubectl import Kubectl
from access.paths import BIN, PROJECT

_INSTALL = PROJECT / "e2e" / "kubevirt_standin" / "install"
_CRD = "virtualmachines.kubevirt.io"


def install(kubectl: Kubectl) -> None:
    """KubeVirt's API, and the controller that runs the guests."""
    _call(kubectl)


def install_api(kubectl: Kubectl) -> None:
    """KubeVirt's API alone."""
    _call(kubectl, "crds")


def remove(kubectl: Kubectl) -> None:
    """Everything of it; nothing happens where it is not installed."""
    if kubectl.get("crd", _CRD) is not None:
        _call(kubectl, "remove")


def _call(kubectl: Kubectl, *arguments: str) -> None:
    path = f"{BIN}:{os.environ['PATH']}"
    environment = {**os.environ, **kubectl.environment, "PATH": path}
    subprocess.run([_INSTALL, *arguments], check=True, env=environment)
