"""Where everything is."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STATE = PROJECT / ".state"
BIN = STATE / "bin"
IMAGES = STATE / "images"
LOCAL_KUBECONFIG = STATE / "cluster" / "kubeconfig"
CHART = PROJECT / "charts" / "dbbench-operator"
SAMPLE = PROJECT / "manifests" / "samples" / "quickstart.yaml"
DBBENCH = PROJECT / ".venv" / "bin" / "dbbench"
