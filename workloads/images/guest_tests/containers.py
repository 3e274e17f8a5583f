"""Containers for these tests: images of .state/images, run by runc as for a kubelet."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MASKED = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/sys/firmware"]


@dataclass
class Image:
    """An unpacked image."""

    root: Path
    env: dict[str, str]
    entrypoint: list[str]


def unpack(name: str, into: Path) -> Image:
    """Unpack the archive of an image built by workloads/images/build."""
    archive = ROOT / ".state" / "images" / f"{name}.tar"
    layout, root = into / f"{name}-layout", into / name
    for folder in (layout, root):
        folder.mkdir()
    subprocess.run(["tar", "-C", layout, "-xf", archive], check=True)

    def blob(descriptor: dict) -> Path:
        return layout / "blobs" / descriptor["digest"].replace(":", "/")

    index = json.loads((layout / "index.json").read_text())
    manifest = json.loads(blob(index["manifests"][0]).read_text())
    keep = ["--xattrs", "--xattrs-include=*", "--numeric-owner", "--same-permissions"]
    for layer in manifest["layers"]:
        subprocess.run(["tar", "-C", root, *keep, "-xf", blob(layer)], check=True)
    config = json.loads(blob(manifest["config"]).read_text())["config"]
    env = dict(word.split("=", 1) for word in config.get("Env", []))
    return Image(root, env, config.get("Entrypoint", []))


@dataclass
class Container:
    """What a pod's specification says of one container."""

    image: Image
    command: Sequence[str]
    uid: int
    gid: int
    network: str
    mounts: dict[str, Path] = field(default_factory=dict)
    """Directories of the host, by where they are in the container."""
    memory: Sequence[str] = ()
    """Where an emptyDir in memory is."""
    capabilities: Sequence[str] = ()
    env: dict[str, str] = field(default_factory=dict)

    def supplementary_groups(self) -> list[int]:
        """Return the groups that the image gives to the user, as containerd does."""

        def lines(name: str) -> list[list[str]]:
            file = self.image.root / "etc" / name
            return (
                [line.split(":") for line in file.read_text().splitlines()] if file.exists() else []
            )

        names = {fields[0] for fields in lines("passwd") if fields[2] == str(self.uid)}
        return [int(fields[2]) for fields in lines("group") if names & set(fields[3].split(","))]

    def specification(self) -> dict:
        """Return runc's config.json: read-only root, no new privileges."""
        bind = [
            {"destination": point, "type": "bind", "source": str(path), "options": ["rbind", "rw"]}
            for point, path in self.mounts.items()
        ]
        tmpfs = [
            {"destination": point, "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]}
            for point in self.memory
        ]
        sets = ("bounding", "effective", "permitted", "inheritable", "ambient")
        kinds = ("mount", "pid", "ipc", "uts")
        namespaces: list[dict] = [{"type": kind} for kind in kinds]
        namespaces.append({"type": "network", "path": f"/run/netns/{self.network}"})
        return {
            "ociVersion": "1.0.2",
            "process": {
                "user": {
                    "uid": self.uid,
                    "gid": self.gid,
                    "additionalGids": self.supplementary_groups(),
                },
                "args": list(self.command),
                "env": [f"{name}={value}" for name, value in (self.image.env | self.env).items()],
                "cwd": "/",
                "capabilities": {kind: list(self.capabilities) for kind in sets},
                "noNewPrivileges": True,
            },
            "root": {"path": str(self.image.root), "readonly": True},
            "hostname": "bench-0",
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                {
                    "destination": "/dev",
                    "type": "tmpfs",
                    "source": "tmpfs",
                    "options": ["mode=755"],
                },
                {"destination": "/dev/pts", "type": "devpts", "source": "devpts"},
                {
                    "destination": "/dev/shm",
                    "type": "tmpfs",
                    "source": "shm",
                    "options": ["mode=1777"],
                },
                {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
                {
                    "destination": "/sys/fs/cgroup",
                    "type": "cgroup",
                    "source": "cgroup",
                    "options": ["ro"],
                },
                *bind,
                *tmpfs,
            ],
            "linux": {"namespaces": namespaces, "maskedPaths": MASKED},
        }


@dataclass
class Running:
    """A started container."""

    process: subprocess.Popen
    log: Path

    def output(self) -> str:
        """Return everything it has written so far."""
        return self.log.read_text(errors="replace")

    def stop(self, patience: float = 120) -> int:
        """Send SIGTERM as a kubelet does, and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(patience)


@contextlib.contextmanager
def running(container: Container, bundle: Path) -> Iterator[Running]:
    """Run a container in a bundle directory; it is gone afterwards."""
    bundle.mkdir(parents=True, exist_ok=True)
    (bundle / "config.json").write_text(json.dumps(container.specification()))
    name = f"dbbench-{os.getpid()}-{bundle.name}"
    state = bundle / "runc"
    log = bundle / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["runc", "--root", state, "run", "--bundle", bundle, name],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Running(process, log)
    finally:
        subprocess.run(
            ["runc", "--root", state, "delete", "--force", name], check=False, capture_output=True
        )
        process.wait(60)


def run(container: Container, bundle: Path) -> tuple[int, str]:
    """Run a container to its end; return its exit code and its output."""
    with running(container, bundle) as started:
        code = started.process.wait(300)
        return code, started.output()


@contextlib.contextmanager
def network(name: str) -> Iterator[str]:
    """Make a network namespace with nothing but loopback, as long as it is needed."""
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


@dataclass(frozen=True)
class PodNetwork:
    """The network namespaces of a pod and of its node, and the cable between them.

    The pod's gateway answers no question for its hardware address, as with some network plugins;
    what lies beyond it is on the node.
    """

    pod: str
    node: str
    address: str = "10.93.0.2"
    near: str = "10.93.0.1"
    far: str = "172.31.9.9"
    gateway: str = "169.254.1.1"
    mtu: int = 1400

    def hardware(self) -> str:
        """Return the hardware address of the pod's interface."""
        (link,) = json.loads(self.ip(self.pod, "-json", "link", "show", "eth0"))
        return link["address"]

    @staticmethod
    def ip(namespace: str, *arguments: str) -> str:
        command = ["ip", "-n", namespace, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def connect(self) -> None:
        """Make the cable, and the addresses and routes of both ends."""
        ip, mtu = self.ip, str(self.mtu)
        end = ["type", "veth", "peer", "name", "eth0", "mtu", mtu, "netns", self.pod]
        ip(self.node, "link", "add", "cable", "mtu", mtu, *end)
        for namespace, interface in ((self.pod, "eth0"), (self.node, "cable")):
            ip(namespace, "link", "set", interface, "up")
        ip(self.node, "address", "add", f"{self.near}/24", "dev", "cable")
        for address in (self.far, self.gateway):
            ip(self.node, "address", "add", f"{address}/32", "dev", "lo")
        # An address of another interface is none that is answered for.
        setting = "net.ipv4.conf.all.arp_ignore=1"
        subprocess.run(["ip", "netns", "exec", self.node, "sysctl", "-qw", setting], check=True)
        (link,) = json.loads(ip(self.node, "-json", "link", "show", "cable"))
        ip(self.pod, "address", "add", f"{self.address}/24", "dev", "eth0")
        ip(self.pod, "route", "add", self.gateway, "dev", "eth0")
        ip(self.pod, "route", "add", "default", "via", self.gateway)
        permanent = ["lladdr", link["address"], "nud", "permanent"]
        ip(self.pod, "neighbour", "add", self.gateway, "dev", "eth0", *permanent)


@contextlib.contextmanager
def pod_network(name: str) -> Iterator[PodNetwork]:
    """Make the network of a pod and its node, as long as it is needed."""
    with network(f"{name}-pod") as pod, network(f"{name}-node") as node:
        made = PodNetwork(pod, node)
        made.connect()
        yield made


def wait_until(condition, what: str, started: Running, patience: float = 240):
    """Return the condition's first true answer; fail when the container or the time ends."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if answer := condition():
            return answer
        if started.process.poll() is not None:
            break
        time.sleep(0.2)
    tail = "\n".join(started.output().splitlines()[-40:])
    raise AssertionError(f"{what}: not reached (exit code {started.process.poll()})\n{tail}")
