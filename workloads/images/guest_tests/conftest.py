"""Images unpacked once, and a database made from them as a pod and as a guest."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbbench.api.database import Database
from dbbench.api.resources import Resources
from dbbench.engines import Engine, Hyper, MySQL

sys.path.insert(0, str(Path(__file__).parent))

import containers
from containers import ROOT, Container, Image, PodNetwork, Running

PASSWORD = "not-a-secret"
SETTINGS = "listen_addresses = '*'\nshared_buffers = 64MB\nlog_min_messages = log\n"
AGENT = {
    "version": 1,
    "listen": "0.0.0.0:9590",
    "command": [
        "docker-entrypoint.sh",
        "postgres",
        "-c",
        "config_file=/dbbench/config/postgresql.conf",
    ],
    "env": {
        "PGDATA": "/dbbench/data/pgdata",
        "POSTGRES_USER": "dbbench",
        "POSTGRES_DB": "dbbench",
        "POSTGRES_PASSWORD_FILE": "/dbbench/secret/password",
    },
    "user": {"uid": 999, "gid": 999},
    "dataDirectory": "/dbbench/data",
    "readiness": {"protocol": "PostgreSQL", "port": 5432},
    "server": {"executables": ["postgres"]},
    "stopSignal": "SIGINT",
    "stopGraceSeconds": 60,
}


MARIADB = MySQL()
MARIADB_CONFIG = Database(
    engine="MySQL",
    image="mariadb",
    config={"innodb_buffer_pool_size": "64M", "innodb_log_write_ahead_size": "4096"},
)


HYPER = Hyper()
HYPER_CONFIG = Database(engine="Hyper", image="hyper", config={"query_timeout_max": "1min"})
RESOURCES = Resources(cpu=1, memory="512Mi")


def agent_of(engine: Engine, database: Database) -> dict[str, Any]:
    """agent.json as the operator writes it."""
    return {
        **{key: AGENT[key] for key in ("version", "listen", "user", "dataDirectory")},
        "command": engine.command(database),
        "env": engine.environment(database),
        "readiness": {"protocol": engine.readiness.protocol, "port": engine.readiness.port},
        "server": {"executables": engine.executables},
        "stopSignal": engine.stop_signal,
        "stopGraceSeconds": engine.stop_grace_seconds,
    }


@dataclass(frozen=True)
class Server:
    """A database as these tests start it: what the operator would write, and a client."""

    image: str
    agent: dict[str, Any]
    file: str
    settings: str
    port: int
    memory: tuple[str, ...]
    client: tuple[str, ...]
    """Program of the image that prints what the statement behind it yields, without headings."""
    client_image: str = ""
    """The image that has the program, where the server's has none."""


POSTGRES = Server(
    image="postgres",
    agent=AGENT,
    file="postgresql.conf",
    settings=SETTINGS,
    port=5432,
    memory=("/var/run/postgresql", "/tmp"),
    client=(
        *("psql", "--no-psqlrc", "-qtA", "-v", "ON_ERROR_STOP=1"),
        *("-d", "host=127.0.0.1 user=dbbench dbname=dbbench", "-c"),
    ),
)
MARIADB_SERVER = Server(
    image="mariadb",
    agent=agent_of(MARIADB, MARIADB_CONFIG),
    file=MARIADB.config_file(MARIADB_CONFIG, RESOURCES)[0],
    settings=MARIADB.config_file(MARIADB_CONFIG, RESOURCES)[1],
    port=MARIADB.port,
    memory=("/tmp", *MARIADB.writable_directories),
    client=("mariadb", "--no-defaults", "--host=127.0.0.1", "--user=root", "-BN", "-e"),
)
HYPER_SERVER = Server(
    image="hyper",
    agent=agent_of(HYPER, HYPER_CONFIG),
    file=HYPER.config_file(HYPER_CONFIG, RESOURCES)[0],
    settings=HYPER.config_file(HYPER_CONFIG, RESOURCES)[1],
    port=HYPER.port,
    memory=("/tmp",),
    client=(
        *("psql", "--no-psqlrc", "-qtA", "-v", "ON_ERROR_STOP=1", "--no-password"),
        *("-d", f"host=127.0.0.1 port={HYPER.port} user=dbbench dbname=dbbench", "-c"),
    ),
    client_image="postgres",
)


@dataclass
class Images:
    databases: dict[str, Image]
    launcher: Image
    kernel: Image


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    """Return the images; those that are up to date are not built again."""
    if os.geteuid() != 0:
        pytest.fail("these tests start containers: they need root")
    binary = ROOT / ".state" / "bin" / "dbbench-driver"
    assert binary.exists(), "run workloads/build first"
    names = ["postgres", "mariadb", "hyper", "launcher", "guest-kernel"]
    subprocess.run([ROOT / "workloads" / "images" / "build", *names], check=True)
    into = tmp_path_factory.mktemp("images")
    found = {name: containers.unpack(name, into) for name in names}
    databases = {name: found[name] for name in ("postgres", "mariadb", "hyper")}
    return Images(databases, found["launcher"], found["guest-kernel"])


@pytest.fixture(scope="session")
def network():
    """Return the name of a network namespace for everything in these tests."""
    with containers.network(f"dbbench-images-{os.getpid()}") as name:
        yield name


@pytest.fixture
def pod_network() -> Iterator[PodNetwork]:
    """Return a pod's network with a cable to its node."""
    with containers.pod_network(f"dbbench-images-{os.getpid()}") as made:
        yield made


class Bench:
    """A directory with what a pod's volumes hold, and the containers that use it."""

    def __init__(self, folder: Path, images: Images, network: str, server: Server) -> None:
        self.folder, self.images, self.network, self.server = folder, images, network, server
        self.image = images.databases[server.image]
        # From where, and at which address, clients reach the database and the agents.
        self.clients, self.address = network, "127.0.0.1"
        self.serial = 0
        for volume in ("bin", "config", "data", "kernel", "root", "scratch", "secret"):
            (folder / volume).mkdir(parents=True)
            # An emptyDir may be written by any user of the pod.
            (folder / volume).chmod(0o777)
        (folder / "secret" / "password").write_text(PASSWORD)
        (folder / "config" / server.file).write_text(server.settings)
        self.configure({})

    def configure(self, changes: dict) -> None:
        """Write agent.json with some keys changed."""
        (self.folder / "config" / "agent.json").write_text(json.dumps(self.server.agent | changes))

    def volumes(self, *names: str) -> dict[str, Path]:
        return {f"/dbbench/{name}": self.folder / name for name in names}

    def bundle(self, kind: str) -> Path:
        self.serial += 1
        return self.folder / f"{kind}-{self.serial}"

    def install(self) -> None:
        """Fill /dbbench/bin and /dbbench/kernel, as init containers do."""
        for image, binary, volume, sources in (
            (self.images.launcher, "/usr/local/bin/dbbench-driver", "bin", ["/opt/guest-tools"]),
            (self.images.kernel, "/dbbench-driver", "kernel", ["/boot/vmlinuz", "/boot/initrd"]),
        ):
            command = [binary, "agent", "install", "--to", f"/dbbench/{volume}"]
            command += [word for source in sources for word in ("--from", source)]
            container = Container(image, command, 107, 107, self.network, self.volumes(volume))
            code, output = containers.run(container, self.bundle("install"))
            assert code == 0, output

    def pack(self, size: str = "2Gi", *options: str) -> tuple[int, str]:
        """Make the root disk inside the database's image, on the node of the data's volume."""
        command = ["/dbbench/bin/dbbench-driver", "agent", "pack-root", "--size", size]
        command += ["--tools", "/dbbench/bin/guest-tools", "--output", "/dbbench/root/disk.img"]
        command += ["--data", "/dbbench/data", *options]
        container = Container(
            self.image,
            command,
            uid=0,
            gid=107,
            network=self.network,
            mounts=self.volumes("bin", "data", "root"),
            capabilities=["CAP_DAC_OVERRIDE"],
        )
        return containers.run(container, self.bundle("pack"))

    def join(self, network: PodNetwork) -> None:
        """Run containers in this pod's network, and clients on its node."""
        self.network, self.clients, self.address = network.pod, network.node, network.address

    def tap(self, capabilities: Sequence[str] = ("CAP_NET_ADMIN", "CAP_MKNOD")) -> tuple[int, str]:
        """Make the tap device, as the init container does."""
        self.launcher({"network": {"tap": {}}, "listen": "0.0.0.0:9591"})
        command = [*self.images.launcher.entrypoint, "agent", "tap"]
        command += ["--config", "/dbbench/bin/launcher.json"]
        container = Container(
            self.images.launcher,
            command,
            uid=0,
            gid=107,
            network=self.network,
            mounts=self.volumes("bin") | self.scratch(),
            capabilities=capabilities,
        )
        return containers.run(container, self.bundle("tap"))

    def scratch(self) -> dict[str, Path]:
        """The volume that the launcher shares with the container that makes the tap device."""
        return {"/run/dbbench": self.folder / "scratch"}

    def launcher(self, changes: dict) -> None:
        """Write launcher.json with some keys changed."""
        launcher = {
            "version": 1,
            "cpus": 1,
            "memoryMiB": 512,
            "machine": "q35",
            "accelerator": "TCG",
            "kernel": "/dbbench/kernel/vmlinuz",
            "initrd": "/dbbench/kernel/initrd",
            "cmdline": "console=ttyS0 quiet net.ifnames=0 panic=-1",
            "disks": [
                {"serial": "root", "file": "/dbbench/root/disk.img"},
                {"serial": "data", "file": "/dbbench/data/disk.img", "sizeBytes": 1 << 30},
            ],
            "isos": [
                {"serial": "config", "directory": "/dbbench/config"},
                {"serial": "secret", "directory": "/dbbench/secret"},
            ],
            "network": {"user": {"forward": [self.server.port, 9590]}},
            "scratch": "/run/dbbench",
            "powerdownGraceSeconds": 90,
        }
        (self.folder / "bin" / "launcher.json").write_text(json.dumps(launcher | changes))

    def guest(self, changes: dict | None = None):
        """Run the guest, as uid 107 and without any capability; `changes` go into launcher.json."""
        self.launcher(changes or {})
        resolv = self.folder / "resolv.conf"
        resolv.write_text("nameserver 10.96.0.10\nsearch bench.svc.cluster.local\n")
        container = Container(
            self.images.launcher,
            [
                *self.images.launcher.entrypoint,
                "agent",
                "launch",
                "--config",
                "/dbbench/bin/launcher.json",
            ],
            uid=107,
            gid=107,
            network=self.network,
            mounts=self.volumes("bin", "config", "data", "kernel", "root", "secret")
            | self.scratch()
            | {"/etc/resolv.conf": resolv},
        )
        return containers.running(container, self.bundle("guest"))

    def pod(self, uid: int = 999):
        """Run the database's container with the agent as PID 1, without root."""
        container = Container(
            self.image,
            [
                "/dbbench/bin/dbbench-driver",
                "agent",
                "serve",
                "--config",
                "/dbbench/config/agent.json",
            ],
            uid=uid,
            gid=uid,
            network=self.network,
            mounts=self.volumes("bin", "config", "data", "secret"),
            memory=self.server.memory,
        )
        return containers.running(container, self.bundle("pod"))

    def get(self, path: str) -> tuple[int, str]:
        """Ask the agent; status 0 when it does not answer."""
        return self.ask(path)

    def post(self, path: str, body: dict | None = None) -> dict:
        """Have the agent do something; the answer must be success."""
        status, answer = self.ask(path, "--data", json.dumps(body or {}))
        assert status == 200, answer
        return json.loads(answer)

    def ask(self, path: str, *options: str, port: int = 9590) -> tuple[int, str]:
        url = f"http://{self.address}:{port}{path}"
        curl = ["curl", "--silent", "--max-time", "60", "--write-out", "\n%{http_code}", url]
        asked = self.inside([*curl, *options])
        body, _, status = asked.stdout.rpartition("\n")
        return int(status or 0), body

    def ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def wait_until_ready(self, started: Running) -> None:
        containers.wait_until(self.ready, "the database is ready", started)

    def sql(self, statement: str) -> str:
        """Return what the server's client prints for a statement over TCP."""
        client = [word.replace("127.0.0.1", self.address) for word in self.server.client]
        done = self.inside([*client, statement])
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def shell(self, command: str) -> str:
        """Return what a command beside the server prints: the server runs it."""
        quoted = command.replace("'", "''")
        return self.sql(
            f"CREATE TEMP TABLE said (line text); COPY said FROM PROGRAM '{quoted}'; TABLE said"
        )

    def inside(
        self, command: list[str], password: str = PASSWORD
    ) -> subprocess.CompletedProcess[str]:
        """Run a client in the clients' network; the client comes from an image."""
        enter = ["nsenter", f"--net=/run/netns/{self.clients}"]
        if command[0] == self.server.client[0]:
            image = self.images.databases[self.server.client_image or self.server.image]
            enter += ["chroot", str(image.root)]
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/lib/postgresql/15/bin",
            "PGPASSWORD": password,
            "MYSQL_PWD": password,
        }
        return subprocess.run(
            [*enter, *command], capture_output=True, text=True, env=environment, check=False
        )


@pytest.fixture
def bench(tmp_path: Path, images: Images, network: str) -> Bench:
    """Return volumes with the agent installed, for PostgreSQL."""
    bench = Bench(tmp_path / "bench", images, network, POSTGRES)
    bench.install()
    return bench


@pytest.fixture
def mariadb(tmp_path: Path, images: Images, network: str) -> Bench:
    """Return volumes with the agent installed, for MariaDB."""
    bench = Bench(tmp_path / "mariadb", images, network, MARIADB_SERVER)
    bench.install()
    return bench


@pytest.fixture
def hyper(tmp_path: Path, images: Images, network: str) -> Bench:
    """Return volumes with the agent installed, for Hyper."""
    bench = Bench(tmp_path / "hyper", images, network, HYPER_SERVER)
    bench.install()
    return bench
