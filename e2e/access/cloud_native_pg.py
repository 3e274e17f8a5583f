"""The stand-in for CloudNativePG of e2e/cloud_native_pg_standin, put in or taken out."""

import os
import subprocess

from access.kubectl import Kubectl
from access.paths import BIN, PROJECT

_INSTALL = PROJECT / "e2e" / "cloud_native_pg_standin" / "install"
_CRD = "clusters.postgresql.cnpg.io"


def install(kubectl: Kubectl) -> None:
    """CloudNativePG's API, and the controller that runs its clusters."""
    _call(kubectl)


def install_api(kubectl: Kubectl) -> None:
    """CloudNativePG's API alone: nothing is run."""
    _call(kubectl, "crds")


def remove(kubectl: Kubectl) -> None:
    """Everything of it; nothing happens where it is not installed."""
    if kubectl.get("crd", _CRD) is not None:
        _call(kubectl, "remove")


def _call(kubectl: Kubectl, *arguments: str) -> None:
    path = f"{BIN}:{os.environ['PATH']}"
    environment = {**os.environ, **kubectl.environment, "PATH": path}
    subprocess.run([_INSTALL, *arguments], check=True, env=environment)
