"""Kernel settings of the whole machine that a kubelet changes: remembered, and put back."""

import json
from pathlib import Path

# Those that a kubelet sets when it starts.
_SETTINGS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
_ROOT = Path("/proc/sys")


def save(record: Path, root: Path = _ROOT) -> None:
    """Writes the settings to ``record``, unless an earlier start already has."""
    if record.is_file():
        return
    values = {
        name: (root / name).read_text().strip() for name in _SETTINGS if (root / name).is_file()
    }
    fresh = record.with_suffix(".new")
    fresh.write_text(json.dumps(values, indent=1) + "\n")
    fresh.rename(record)


def restore(record: Path, root: Path = _ROOT) -> None:
    """Puts back what differs from ``record``; without a record nothing was changed."""
    if not record.is_file():
        return
    for name, value in json.loads(record.read_text()).items():
        if (root / name).read_text().strip() != value:
            (root / name).write_text(value)
