"""A place where whole clusters can run beside the machine's own one.

A copy of the project in namespaces of its own: its host network, its ``/run`` and its process
list are not the machine's, so that a cluster in it can be started, broken and removed at will.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from localcluster.layout import Layout
from localcluster.processes import Process, children, kill, parse_stat

CLUSTER_IMAGES = ("busybox", "coredns", "local-path-provisioner", "pause")


class Sandbox:
    """Namespaces that stay until ``close``, and the projects copied into them."""

    def __init__(self) -> None:
        # Not below /tmp: the clusters' data may be large, and /tmp small.
        self._project = Layout.of_project().project
        state = self._project / ".state"
        self.folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir=state))
        prepare = "mount -t tmpfs tmpfs /run && mkdir /run/netns && ip link set lo up && echo ready"
        # As the first process it has to collect orphans, which `pause` is made for.
        first = Layout.of_project().bin / "pause"
        namespaces = ("--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
        self._keeper = subprocess.Popen(
            ["unshare", *namespaces, "sh", "-c", f"{prepare} && exec {first}"],
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._keeper.stdout is None or self._keeper.stdout.readline() != "ready\n":
            raise RuntimeError("the sandbox's namespaces cannot be made")
        self._first = children(self._keeper.pid)[0]

    def clone(self, name: str) -> Path:
        """A copy of the project's cluster part, with the programs and images already built."""
        project = self.folder / name
        shutil.copytree(
            Layout.of_project().sources,
            project / "e2e/cluster",
            ignore=shutil.ignore_patterns("__pycache__", ".*_cache"),
        )
        original, copy = Layout(self._project), Layout(project)
        copy.images.mkdir(parents=True)
        copy.bin.symlink_to(original.bin)
        copy.cache.symlink_to(original.cache)
        for image in CLUSTER_IMAGES:
            for file in (f"{image}.tar", f".{image}.inputs"):
                os.link(original.images / file, copy.images / file)
        return project

    def command(self, *command: str) -> list[str]:
        """The command line that runs ``command`` inside."""
        # Only a folder that is entered inside has a path there; nsenter's --wd is opened outside.
        inside = ("--net", "--mount", "--pid", "--", "env", "--chdir=/")
        return ["nsenter", "--target", str(self._first.pid), *inside, *command]

    def run(self, command: Sequence[str], stdin: str | None = None) -> str:
        """Runs a command inside; returns its output, raises with it when it fails."""
        completed = self.try_run(command, stdin)
        if completed.returncode:
            output = completed.stdout + completed.stderr
            raise AssertionError(
                f"{' '.join(command)} ended with {completed.returncode}:\n{output}"
            )
        return completed.stdout

    def try_run(
        self, command: Sequence[str], stdin: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a command inside, whether it fails or not."""
        return subprocess.run(
            self.command(*command), input=stdin, capture_output=True, text=True, check=False
        )

    def process(self, program: str, argument: str) -> Process:
        """The process that runs ``program`` with ``argument``; paths inside are unlike others'."""
        for entry in Path("/proc").iterdir():
            try:
                command = (entry / "cmdline").read_bytes().decode().split("\0")
                started = parse_stat((entry / "stat").read_text())[2]
            except OSError:
                continue
            if command[0] == program and argument in command:
                return Process(program, int(entry.name), started)
        raise AssertionError(f"{program} {argument} does not run")

    def close(self) -> None:
        """Ends the namespaces and deletes the copies."""
        kill([self._first])
        self._keeper.wait()
        shutil.rmtree(self.folder)
