"""Writes the result of a demo into README.md and docs/quickstart.md, between two markers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BEGIN = "<!-- demo: begin -->"
END = "<!-- demo: end -->"
UNITS = {"seconds": "s", "per_second": "/s", "per_minute": "/min"}


def refresh(path: Path, results: Mapping[str, str]) -> None:
    """Replace the text between the markers; ValueError when the file has none."""
    text = path.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{path} has no {BEGIN} ... {END}")
    path.write_text(f"{before}{BEGIN}\n{table(json.loads(results['summary.json']))}\n{END}{after}")


def table(summary: Mapping[str, Any]) -> str:
    """The main metric of each workload, and what it was measured on."""
    baseline = summary["baseline"]
    lines = [
        f"| workload | metric | {baseline} | target | its value | slowdown | 95 % interval "
        "| verdict |",
        "|---|---|--:|---|--:|--:|--:|---|",
    ]
    for found in summary["comparisons"]:
        if not found["primary"]:
            continue
        unit = UNITS[found["unit"]]
        interval = found["interval"]
        bounds = f"{_percent(interval['low'])} to {_percent(interval['high'])}" if interval else "-"
        cells = [
            found["workload"],
            found["metric"],
            f"{found['baselineValue']:.4g} {unit}",
            found["target"] + (" (emulated)" if found["emulated"] else ""),
            f"{found['targetValue']:.4g} {unit}",
            f"**{_percent(found['slowdown'])}**",
            bounds,
            found["verdict"],
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", _conditions(summary)])


def _conditions(summary: Mapping[str, Any]) -> str:
    environment = summary["environment"] or {}
    cpu = environment.get("cpuModel", "an unknown CPU")
    text = f"As `make demo` printed it on {cpu}, Kubernetes {environment.get('kubernetesVersion')}."
    if summary["emulatedTargets"]:
        text += (
            " That machine has no hardware virtualisation: the guest ran under software emulation, "
            "which dbbench marks everywhere. The table shows that the whole path works, not what a "
            "virtual machine costs."
        )
    return text


def _percent(ratio: float) -> str:
    return f"{100 * ratio:+.1f} %"
