"""Runs of programs, and what they cost."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / ".state" / "bin" / "dbbench-driver"


@dataclass(frozen=True)
class Run:
    """One run of a program: output, CPU time (user and system), largest resident set."""

    code: int
    output: str
    errors: str
    cpu_seconds: float
    memory_bytes: int


def run(command: list[str], *, memory: bool = False) -> Run:
    """Runs a program to its end; wait4 gives the kernel's accounting of exactly this process.

    The largest resident set is looked up while it runs, where asked for: the kernel's own figure
    begins with the memory of the process that started the program.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        peak = 0
        while True:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG if memory else 0)
            if ended:
                break
            peak = max(peak, _peak(process.pid))
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return Run(
            process.returncode,
            output.read().decode(),
            errors.read().decode(),
            usage.ru_utime + usage.ru_stime,
            peak,
        )


@dataclass(frozen=True)
class Measured:
    """A run of the driver with its result document."""

    run: Run
    document: dict[str, Any]

    def metric(self, name: str) -> float:
        return next(
            float(metric["value"]) for metric in self.document["metrics"] if metric["name"] == name
        )

    def transactions(self) -> int:
        return sum(sum(operation["counts"].values()) for operation in self.document["operations"])


def _peak(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0


def driver(program: str, arguments: str, url: str, *, memory: bool = False) -> Measured:
    """Runs the driver. A saturated one is let through: it shares the machine with the database."""
    done = run([program, *arguments.split(), "--url", url, "--progress", "none"], memory=memory)
    if not done.output:
        raise SystemExit(f"{arguments}: {done.errors}")
    document = json.loads(done.output)
    reasons = [
        reason for reason in document["invalidReasons"] if "the driver was saturated" not in reason
    ]
    if reasons:
        raise SystemExit(f"{arguments}: {reasons}")
    return Measured(done, document)
