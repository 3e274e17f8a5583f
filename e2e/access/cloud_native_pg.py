"""CloudNativePG's API: its schema without its operator, put into the cluster or taken out."""

import subprocess
import sys

from access.kubectl import Kubectl, wait_until_established
from access.paths import PROJECT

_CRD = "clusters.postgresql.cnpg.io"
_SCHEMAS = PROJECT / ".state" / "cache" / "schemas" / "crds"


def install_api(kubectl: Kubectl) -> None:
    """The CRD alone: nothing is run."""
    script = PROJECT / "e2e" / "schemas" / "make_crds.py"
    subprocess.run([sys.executable, script, _SCHEMAS], check=True, stdout=subprocess.DEVNULL)
    # Larger than the annotation that client-side apply keeps.
    manifest = str(_SCHEMAS / f"{_CRD}.json")
    kubectl("apply", "--server-side", "--force-conflicts", "-f", manifest)
    wait_until_established(kubectl, _CRD)


def remove(kubectl: Kubectl) -> None:
    """The CRD with every object of it."""
    kubectl("delete", "crd", _CRD, "--ignore-not-found", "--timeout=60s")
