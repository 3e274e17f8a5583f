"""Where everything is."""

import shutil
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STATE = PROJECT / ".state"
BIN = STATE / "bin"
IMAGES = STATE / "images"
LOCAL_KUBECONFIG = STATE / "cluster" / "kubeconfig"
LOCAL_AUDIT_LOG = STATE / "cluster" / "audit.log"
CHART = PROJECT / "charts" / "dbbench-operator"
SAMPLES = PROJECT / "manifests" / "samples"
SAMPLE = SAMPLES / "quickstart.yaml"
EXPERIMENTS = PROJECT / "manifests" / "experiments"
DBBENCH = PROJECT / ".venv" / "bin" / "dbbench"


def program(name: str) -> Path:
    """Our own build of a program where there is one, else the machine's."""
    own = BIN / name
    if own.exists():
        return own
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is neither built nor on PATH; run: make binaries")
    return Path(found)
