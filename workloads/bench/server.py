"""A temporary PostgreSQL on a free loopback port, with its data in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Self

USER = "bench"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "150",
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
    "synchronous_commit": "off",
    "autovacuum": "off",
}


class Server:
    """Runs while the context is open; trusts every connection from this machine."""

    def __init__(self, settings: dict[str, str] | None = None) -> None:
        self.settings = SETTINGS | (settings or {})
        self.bin = _newest()
        # PostgreSQL refuses to run as root: then the account of its package is used.
        self.account = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.folder = Path(tempfile.mkdtemp(prefix="dbbench-bench-"))
        self.folder.chmod(0o755)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port: int = listener.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        # A benchmark that is ended from outside takes its server with it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        data = self.folder / "data"
        data.mkdir(mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(data, self.account)
        self._run(
            "initdb",
            "--auth=trust",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C",
            "-U",
            USER,
            "-D",
            str(data),
        )
        options = [f"-c{name}={value}" for name, value in self.settings.items()]
        log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            [self.bin / "postgres", "-D", data, "-p", str(self.port), *options],
            stdout=log,
            stderr=log,
            cwd="/",
            **self._as_account(),
        )
        waiting = ["-h", "127.0.0.1", "-p", str(self.port), "-d", "postgres", "-q"]
        for _ in range(600):
            ready = subprocess.run([self.bin / "pg_isready", *waiting, "-t", "1"], check=False)
            if ready.returncode == 0:
                return self
            if self.process.poll() is not None:
                break
        raise RuntimeError(f"PostgreSQL does not start:\n{(self.folder / 'log').read_text()}")

    def __exit__(self, *_: object) -> None:
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str) -> str:
        return f"postgres://{USER}@127.0.0.1:{self.port}/{database}"

    def cpu_seconds(self) -> float:
        """CPU time, user and system, of all processes that the server has had."""
        if self.process is None:
            return 0.0
        alive = _times(self.process.pid)
        father = alive.pop(self.process.pid)
        return sum(father) + sum(sum(times[:2]) for times in alive.values())

    def client(self, program: str, database: str, *arguments: str) -> list[str]:
        """The command line of one of PostgreSQL's own clients."""
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d", database]
        return [str(self.bin / program), *where, *arguments]

    def sql(self, database: str, sql: str) -> str:
        command = self.client("psql", database, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql)
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.bin / program, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **self._as_account(),
        )

    def _as_account(self) -> dict[str, str]:
        return {"user": self.account} if os.geteuid() == 0 else {}


def _times(father: int) -> dict[int, list[float]]:
    """Of a process and its children: user, system, and both of the children that have ended."""
    times: dict[int, list[float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in brackets, may hold anything; after it come the state and the father.
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        process = int(path.parent.name)
        if process == father or int(fields[1]) == father:
            ticks = os.sysconf("SC_CLK_TCK")
            times[process] = [int(field) / ticks for field in fields[11:15]]
    return times


def _newest() -> Path:
    found = [
        path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "pgbench").exists()
    ]
    if not found:
        raise SystemExit("install PostgreSQL first: apt-get install postgresql")
    return max(found, key=lambda path: int(path.parent.name))
