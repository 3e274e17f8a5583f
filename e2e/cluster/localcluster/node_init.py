"""The first process of a node: sets up its mounts, then runs and restarts its daemons.

Started as pid 1 of new PID, mount and UTS namespaces inside the node's network namespace.
Killing it kills everything on the node, as pulling the plug does.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from localcluster import cgroups
from localcluster.processes import run

# A node's own copies of what the host has once. Everything else of the host is shared.
PRIVATE_FOLDERS = ("/var/lib", "/var/log")
_RESTART_SECONDS = 1.0
_POLL_SECONDS = 0.2


@dataclass
class Daemon:
    """A program that is kept running; ``needs_api`` delays its first start."""

    name: str
    command: list[str]
    needs_api: bool = False
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)
    not_before: float = 0.0


def covered_by(path: Path, folders: tuple[str, ...]) -> bool:
    """Whether mounting over ``folders`` hides ``path``."""
    return any(path.is_relative_to(folder) for folder in folders)


def mount_private_folders(folder: Path, project: Path) -> None:
    """Gives the node its own /run, /var/lib and /var/log.

    A project that lies below one of those stays visible at its place: the programs and the
    node's state are in it.
    """
    run(["mount", "--make-rshared", "/"])
    hidden = covered_by(project, (*PRIVATE_FOLDERS, "/run"))
    kept = os.open(project, os.O_PATH)
    os.set_inheritable(kept, True)
    sources = {private: _open(folder / private.strip("/")) for private in PRIVATE_FOLDERS}
    for private, source in sources.items():
        _bind(source, private)
    run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
    for path in ("/run/lock", "/run/netns"):
        Path(path).mkdir()
    if hidden:
        project.mkdir(parents=True, exist_ok=True)
        _bind(kept, str(project))


def _open(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_PATH)
    os.set_inheritable(handle, True)
    return handle


def _bind(handle: int, target: str) -> None:
    # By open handle: the source's path may lie below what was just mounted.
    subprocess.run(
        ["mount", "--bind", f"/proc/self/fd/{handle}", target], check=True, pass_fds=[handle]
    )
    os.close(handle)


class Supervisor:
    """Starts daemons, collects every ended process of the node, restarts daemons that end."""

    def __init__(self, daemons: list[Daemon], logs: Path, api: tuple[str, int]) -> None:
        self._daemons = daemons
        self._logs = logs
        self._api = api
        self._ending = False

    def run(self) -> None:
        """Runs until SIGTERM; returning ends the node, and the kernel kills what is left."""
        signal.signal(signal.SIGTERM, self._end)
        while not self._ending:
            self._start_what_is_due()
            self._collect()
            time.sleep(_POLL_SECONDS)

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._ending = True

    def _start_what_is_due(self) -> None:
        for daemon in self._daemons:
            if daemon.process is not None or time.monotonic() < daemon.not_before:
                continue
            if daemon.needs_api and not self._api_answers():
                continue
            with (self._logs / f"{daemon.name}.log").open("ab") as log:
                daemon.process = subprocess.Popen(
                    daemon.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
                )

    def _api_answers(self) -> bool:
        try:
            socket.create_connection(self._api, timeout=0.5).close()
        except OSError:
            return False
        return True

    def _collect(self) -> None:
        """Reaps daemons and the orphans (containers' shims) that pid 1 inherits."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for daemon in self._daemons:
                if daemon.process is not None and daemon.process.pid == pid:
                    code = os.waitstatus_to_exitcode(status)
                    daemon.process.returncode = code
                    daemon.process = None
                    daemon.not_before = time.monotonic() + _RESTART_SECONDS
                    print(f"{daemon.name} ended with {code}; restarting", flush=True)


def main() -> None:
    """Runs the node described by the JSON file named as the only argument."""
    description = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(description["folder"])
    cgroups.enter(description["cgroup"])
    socket.sethostname(description["name"])
    mount_private_folders(folder, Path(description["project"]))
    daemons = [Daemon(**daemon) for daemon in description["daemons"]]
    # containerd unpacks images in its temporary folder; the host's /tmp may be small.
    os.environ["TMPDIR"] = "/var/lib/containerd/tmp"
    Path(os.environ["TMPDIR"]).mkdir(parents=True, exist_ok=True)
    api = (description["api"]["host"], int(description["api"]["port"]))
    Supervisor(daemons, folder / "logs", api).run()


if __name__ == "__main__":
    main()
