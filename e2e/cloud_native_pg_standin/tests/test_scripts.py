"""The containers' own commands with a real PostgreSQL: a primary and a synchronous standby."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standin.instance import job, pod
from standin.translation import Cluster, translate

from .test_translation import document

PASSWORD = 'it\'s \\a $(PGDATA) "secret"'
LIMIT_SECONDS = 60
# PostgreSQL's programs do not run as root.
ACCOUNT = "postgres" if os.geteuid() == 0 else None


def programs() -> str:
    """PATH with PostgreSQL's programs, which Debian keeps apart."""
    debian = sorted(str(path) for path in Path("/usr/lib/postgresql").glob("*/bin"))
    return ":".join([*debian[-1:], os.environ["PATH"]])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Machine:
    """Runs containers as processes: their paths are folders here, their Services this machine."""

    def __init__(self, root: Path, cluster: Cluster) -> None:
        self.root = root
        self.cluster = cluster
        self.ports = {serial: free_port() for serial in cluster.serials}
        (root / "password").write_text(PASSWORD + "\n")

    def start(self, found: dict[str, Any], serial: int) -> subprocess.Popen[str]:
        """The process of an object's container."""
        template = found["spec"].get("template", found)
        (container,) = template["spec"]["containers"]
        environment = {
            entry["name"]: self._here(entry["value"].replace("$$", "$"), serial)
            for entry in container["env"]
        }
        environment |= {"PATH": programs(), "PGPORT": str(self.ports[1])}
        folder = self.root / str(serial)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        command = [text.replace("$$", "$") for text in (*container["command"], *container["args"])]
        return subprocess.Popen(
            # No container is started with signals ignored; a test in the background is.
            ["env", "--default-signal=INT,TERM", *command],
            env=environment,
            user=ACCOUNT,
            cwd="/",
            text=True,
        )

    def run(self, found: dict[str, Any], serial: int) -> None:
        process = self.start(found, serial)
        assert process.wait(LIMIT_SECONDS) == 0

    def sql(self, serial: int, text: str, *, password: str = "") -> str:
        """psql's answer: through the socket, or with a password as the application."""
        host = "127.0.0.1" if password else str(self.root / str(serial))
        user = self.cluster.owner if password else "postgres"
        done = subprocess.run(
            [*self.psql(serial, user), "-h", host, "-c", text],
            env={"PATH": programs(), "PGPASSWORD": password},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def psql(self, serial: int, user: str) -> list[str]:
        database, port = self.cluster.database, str(self.ports[serial])
        return ["psql", "-X", "-At", "-p", port, "-U", user, "-d", database]

    def wait(self, serial: int, text: str, answer: str) -> None:
        deadline = time.monotonic() + LIMIT_SECONDS
        said = ""
        while said != answer:
            assert time.monotonic() < deadline, f"{text}: {said!r}"
            time.sleep(0.2)
            try:
                said = self.sql(serial, text)
            except subprocess.CalledProcessError as error:
                said = error.stderr

    def _here(self, text: str, serial: int) -> str:
        here = str(self.root / str(serial))
        conninfo = f"host={self.cluster.write_service} port=5432"
        for there, changed in {
            conninfo: f"host=127.0.0.1 port={self.ports[1]}",
            self.cluster.write_service: "127.0.0.1",
            "port = '5432'": f"port = '{self.ports[serial]}'",
            "/controller/application": str(self.root),
            "/controller/run": here,
            "/var/lib/postgresql/data": here,
        }.items():
            text = text.replace(there, changed)
        return text


@pytest.fixture
def machine() -> Iterator[Machine]:
    wanted = document("cloudnativepg-standbys")
    wanted["spec"]["instances"] = 2
    wanted["spec"]["postgresql"]["synchronous"]["number"] = 1
    statements = ["CREATE TABLE kept (text text)", "INSERT INTO kept VALUES ('it''s $(PGDATA)')"]
    wanted["spec"]["bootstrap"]["initdb"]["postInitApplicationSQL"] += statements
    wanted["spec"]["postgresql"]["parameters"] = {"shared_buffers": "16MB", "work_mem": "5MB"}
    # Short: the path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="cnpg-") as root:
        Path(root).chmod(0o755)
        yield Machine(Path(root), translate(wanted))


def test_a_primary_and_a_synchronous_standby_outlast_a_restart(machine: Machine) -> None:
    cluster = machine.cluster
    machine.run(job(cluster, 1), 1)
    # Once more changes nothing: a Job may run its pod again.
    machine.run(job(cluster, 1), 1)
    running = {1: machine.start(pod(cluster, 1), 1)}
    try:
        machine.wait(1, "SELECT text FROM kept", "it's $(PGDATA)")
        mine = "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"
        assert machine.sql(1, mine, password=PASSWORD) == "t"
        assert machine.sql(1, "SHOW work_mem") == "5MB"

        machine.run(job(cluster, 2), 2)
        running[2] = machine.start(pod(cluster, 2), 2)
        synchronous = "SELECT application_name, sync_state FROM pg_stat_replication"
        machine.wait(1, synchronous, f"{cluster.instance(2)}|sync")
        # It commits, so that the standby has it.
        machine.sql(1, "INSERT INTO kept VALUES ('more')")
        machine.wait(2, "SELECT count(*), pg_is_in_recovery() FROM kept", "2|t")

        for serial in cluster.serials:
            running[serial].send_signal(signal.SIGINT)
            assert running.pop(serial).wait(LIMIT_SECONDS) == 0
        for serial in cluster.serials:
            # As the kubelet leaves the volume of a pod with a group of its own.
            (machine.root / str(serial) / "pgdata").chmod(0o2770)
            running[serial] = machine.start(pod(cluster, serial), serial)
            machine.wait(serial, "SELECT count(*) FROM kept", "2")
        machine.wait(1, synchronous, f"{cluster.instance(2)}|sync")

        # A client that stays is disconnected.
        sleep = "SELECT pg_sleep(600)"
        client = subprocess.Popen(
            [*machine.psql(1, "postgres"), "-h", str(machine.root / "1"), "-c", sleep],
            env={"PATH": programs()},
            stderr=subprocess.DEVNULL,
        )
        machine.wait(1, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'", "1")
        running[1].send_signal(signal.SIGTERM)
        assert running.pop(1).wait(LIMIT_SECONDS) == 0
        assert client.wait(LIMIT_SECONDS) != 0
    finally:
        for process in running.values():
            process.send_signal(signal.SIGTERM)
            process.wait(LIMIT_SECONDS)
