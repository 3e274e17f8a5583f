"""Processes of the cluster on the host: started, remembered, found again and killed.

Each one carries the state folder in its environment, so that it is known as ours even when
``up`` died between starting it and writing its record, and so that a recycled pid is not.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from localcluster.errors import ClusterError

_MARK = "DBBENCH_CLUSTER_STATE"
_DEATH_SECONDS = 20.0
_EXEC_SECONDS = 1.0


def run(
    command: Sequence[str],
    *,
    stdin: str | None = None,
    check: bool = True,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end with its output captured; its stderr is the error's text.

    ``environment`` is None for the caller's own.
    """
    try:
        completed = subprocess.run(
            list(command),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    except FileNotFoundError as error:
        raise ClusterError(f"`{command[0]}` is not installed") from error
    if check and completed.returncode:
        detail = (completed.stderr or completed.stdout).strip()
        raise ClusterError(f"`{' '.join(command)}` failed ({completed.returncode}): {detail}")
    return completed


def parse_stat(text: str) -> tuple[str, int, int]:
    """State letter, parent's pid and start time (ticks since boot) from ``/proc/PID/stat``."""
    # The program's name stands in parentheses and may itself hold any character.
    fields = text[text.rindex(")") + 2 :].split()
    return fields[0], int(fields[1]), int(fields[19])


def _stat(pid: int) -> tuple[str, int, int] | None:
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None


@dataclass(frozen=True)
class Process:
    """A process that was started: its name in the cluster, and which pid it was, since when."""

    name: str
    pid: int
    started: int

    def is_alive(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        stat = _stat(self.pid)
        return stat is not None and stat[0] != "Z" and stat[2] == self.started


def children(pid: int) -> list[Process]:
    """The processes whose parent is ``pid``."""
    found = []
    for child in _pids():
        stat = _stat(child)
        if stat is not None and stat[1] == pid:
            found.append(Process(f"child of {pid}", child, stat[2]))
    return found


class Processes:
    """The processes of the cluster whose state folder is ``state``."""

    def __init__(self, state: Path, records: Path, logs: Path) -> None:
        self._state = state
        self._records = records
        self._logs = logs

    def start(self, name: str, command: Sequence[str]) -> Process:
        """Starts a daemon; its output is appended to ``logs/NAME.log``."""
        self._logs.mkdir(parents=True, exist_ok=True)
        self._records.mkdir(parents=True, exist_ok=True)
        with self.log(name).open("ab") as log:
            popen = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                cwd="/",
                start_new_session=True,
            )
        stat = _stat(popen.pid)
        if stat is None:
            raise ClusterError(f"{name} ended at once{self.log_tail(name)}")
        process = Process(name, popen.pid, stat[2])
        # Popen returns in the middle of exec, a moment before the new environment shows.
        while process.is_alive() and not self._is_marked(process):
            time.sleep(0.001)
        record = {"pid": process.pid, "started": process.started}
        fresh = self._records / f"{name}.new"
        fresh.write_text(json.dumps(record))
        fresh.rename(self._records / f"{name}.json")
        return process

    def run(
        self, command: Sequence[str], *, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command that may outlive a killed ``up``, marked so that ``down`` finds it."""
        return run(command, check=check, environment=self._environment())

    def _environment(self) -> dict[str, str]:
        return {**_plain_environment(), _MARK: str(self._state)}

    def find(self, name: str) -> Process | None:
        """The running process called ``name``, if there is one."""
        try:
            record = json.loads((self._records / f"{name}.json").read_text())
            process = Process(name, record["pid"], record["started"])
        except (FileNotFoundError, ValueError, KeyError):
            return None
        return process if self._is_marked(process) else None

    def ensure(self, name: str, command: Sequence[str]) -> bool:
        """Starts ``name`` unless it runs; tells whether it had to."""
        if self.find(name) is not None:
            return False
        self.start(name, command)
        return True

    def all(self) -> list[Process]:
        """Every process on the machine that carries this cluster's mark."""
        return [
            Process(f"pid {pid}", pid, stat[2])
            for pid in _pids()
            if self._carries_mark(_environment_of(pid)) and (stat := _stat(pid)) is not None
        ]

    def log(self, name: str) -> Path:
        """The log file of process ``name``."""
        return self._logs / f"{name}.log"

    def log_tail(self, name: str, lines: int = 12) -> str:
        """The end of a process's log, for an error message."""
        try:
            text = self.log(name).read_text(errors="replace")
        except FileNotFoundError:
            return ""
        tail = "\n  ".join(text.splitlines()[-lines:])
        return f"; the end of {self.log(name)}:\n  {tail}"

    def _is_marked(self, process: Process) -> bool:
        """Whether it runs and is this cluster's."""
        deadline = time.monotonic() + _EXEC_SECONDS
        while process.is_alive():
            environment = _environment_of(process.pid)
            # In the middle of exec, which some daemons do several times, it has none.
            if environment or time.monotonic() > deadline:
                return self._carries_mark(environment)
            time.sleep(0.001)
        return False

    def _carries_mark(self, environment: bytes) -> bool:
        return f"{_MARK}={self._state}".encode() in environment.split(b"\0")


def _environment_of(pid: int) -> bytes:
    """Empty for a thread of the kernel, in the middle of exec, and where it must not be read."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _pids() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            yield int(entry.name)


def _plain_environment() -> Mapping[str, str]:
    """The little that daemons need: settings of the caller's shell must not change a cluster."""
    sbin = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": f"{os.environ.get('PATH', '')}:{sbin}", "HOME": "/root", "LANG": "C.UTF-8"}


def kill(processes: Sequence[Process]) -> None:
    """Kills processes at once and waits until they are gone.

    At once, because the API server alone takes 14 s to stop in order, and because nothing
    that they would save is kept.
    """
    for process in processes:
        if process.is_alive():
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    deadline = time.monotonic() + _DEATH_SECONDS
    while remaining := [process for process in processes if process.is_alive()]:
        if time.monotonic() > deadline:
            pids = ", ".join(f"{process.name} ({process.pid})" for process in remaining)
            raise ClusterError(f"these processes do not die: {pids}")
        time.sleep(0.02)
