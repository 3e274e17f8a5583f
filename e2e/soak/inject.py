"""Breaks one thing of a run. Each way says what it broke; None when there is nothing yet."""

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from errno import ENOSPC
from pathlib import Path
from subprocess import TimeoutExpired

from access.benchmarks import LABEL, Benchmark
from access.documents import DATABASE_NODE, DRIVER_NODE
from access.kubectl import CallError, Manifest, run
from access.operator import Helm
from access.paths import IMAGES, PROJECT

from soak.faults import Kind
from soak.machine import Process, daemon, nodes, processes_of

_CLUSTER = PROJECT / "e2e" / "cluster" / "cluster"
_DRIVER_IMAGE = "localhost/dbbench/driver"
_TARGET = "app.kubernetes.io/component=target"
_DRIVER = "dbbench.io/job in (load,trial)"
_STOPPED_SECONDS = (5.0, 60.0)
_POWERLESS_SECONDS = (1.0, 30.0)
_MOST_BYTES = 2**29


@dataclass
class Injector:
    """Into one run. `repairs` put right what would outlive it; they are called at its end."""

    operator: Helm
    benchmark: Benchmark
    chance: random.Random
    repairs: list[Callable[[], None]] = field(default_factory=list)

    def inject(self, kind: Kind) -> str | None:
        """What was broken; None while there is nothing of that kind to break."""
        try:
            return self._ways()[kind]()
        except (CallError, TimeoutExpired):
            # It is gone by now, or the API server restarts: looked for again.
            return None

    def _ways(self) -> dict[Kind, Callable[[], str | None]]:
        return {
            Kind.OPERATOR: self._operator,
            Kind.API_SERVER: lambda: self._restart("apiserver"),
            Kind.ETCD: lambda: self._restart("etcd"),
            Kind.KUBELET: self._kubelet,
            Kind.NODE: self._node,
            Kind.DRIVER: lambda: self._process(_DRIVER, "dbbench-driver", signal.SIGKILL),
            Kind.DRIVER_POD: lambda: self._pod(_DRIVER),
            Kind.DATABASE: lambda: self._process(_TARGET, "postgres", signal.SIGKILL),
            Kind.DATABASE_POD: lambda: self._pod(_TARGET),
            Kind.GUEST_KILLED: lambda: self._process(_TARGET, "qemu-system", signal.SIGKILL),
            Kind.GUEST_HUNG: lambda: self._process(_TARGET, "qemu-system", signal.SIGSTOP),
            Kind.CONFIG_MAP: self._config_map,
            Kind.CHILD: self._child,
            Kind.IMAGE: self._image,
            Kind.DISK_FULL: self._fill,
        }

    def repair(self) -> None:
        """Put right what is still broken."""
        while self.repairs:
            self.repairs.pop()()

    def _operator(self) -> str | None:
        killed = self.operator.kill()
        return f"operator {killed}" if killed else None

    def _restart(self, component: str) -> str:
        run([_CLUSTER, "restart", component])
        return component

    def _kubelet(self) -> str | None:
        node = self.chance.choice((DATABASE_NODE, DRIVER_NODE))
        found = daemon(node, "kubelet")
        if found is None or not found.send(signal.SIGSTOP):
            return None
        seconds = self.chance.uniform(*_STOPPED_SECONDS)
        time.sleep(seconds)
        found.send(signal.SIGCONT)
        return f"kubelet of {node} for {seconds:.0f} s"

    def _node(self) -> str | None:
        node = self.chance.choice((DATABASE_NODE, DRIVER_NODE))
        if not nodes()[node].stop():
            return None
        seconds = self.chance.uniform(*_POWERLESS_SECONDS)
        time.sleep(seconds)
        nodes()[node].start()
        return f"node {node} without power for {seconds:.0f} s"

    def _pods(self, selector: str) -> list[Manifest]:
        pods = self.benchmark.kubectl.list("pods", f"{LABEL}={self.benchmark.name},{selector}")
        return [pod for pod in pods if pod["status"].get("phase") == "Running"]

    def _processes(self, selector: str, name: str) -> list[Process]:
        uids = [pod["metadata"]["uid"] for pod in self._pods(selector)]
        return [one for one in processes_of(uids) if one.name.startswith(name)] if uids else []

    def _process(self, selector: str, name: str, number: signal.Signals) -> str | None:
        """The oldest of that name: the postmaster, not one of its children."""
        for one in self._processes(selector, name)[:1]:
            if one.send(number):
                return f"{number.name} to {one.name}"
        return None

    def _pod(self, selector: str) -> str | None:
        pods = [pod["metadata"]["name"] for pod in self._pods(selector)]
        if not pods:
            return None
        name = self.chance.choice(pods)
        self.benchmark.kubectl("delete", "pod", name, "--grace-period=0", "--force")
        return f"pod {name}"

    def _config_map(self) -> str | None:
        return self._delete("configmaps")

    def _child(self) -> str | None:
        """A database scaled down, or an object of the run deleted, by hand."""
        if self.chance.random() < 0.5:
            return self._delete(self.chance.choice(("jobs", "services", "statefulsets", "secrets")))
        sets = self._names("statefulsets")
        if not sets:
            return None
        name = self.chance.choice(sets)
        self.benchmark.kubectl("scale", "statefulset", name, "--replicas=0")
        return f"statefulset {name} scaled to 0"

    def _delete(self, kind: str) -> str | None:
        names = self._names(kind)
        if not names:
            return None
        name = self.chance.choice(names)
        self.benchmark.kubectl.delete(kind, name)
        return f"{kind} {name} deleted"

    def _names(self, kind: str) -> list[str]:
        found = self.benchmark.kubectl.list(kind, f"{LABEL}={self.benchmark.name}")
        return sorted(one["metadata"]["name"] for one in found)

    def _image(self) -> str | None:
        """The driver's, on its node: what runs goes on, what starts does not."""
        node = nodes()[DRIVER_NODE]
        listed = node.ctr("images", "list", "--quiet") or ""
        names = [name for name in listed.split() if name.startswith(_DRIVER_IMAGE)]
        if not names:
            return None
        node.ctr("images", "remove", *names)
        self.repairs.append(_import_driver)
        return f"image {names[0]} on {DRIVER_NODE}"

    def _fill(self) -> str | None:
        """Write into the database's tmpfs until nothing more fits."""
        for one in self._processes(_TARGET, "postgres")[:1]:
            # A server's working folder is that of its files.
            written = _fill(Path(f"/proc/{one.pid}/cwd/filled-by-soak"))
            return f"{written // 2**20} MiB written into the data folder"
        return None


def _import_driver() -> None:
    run([_CLUSTER, "import", IMAGES / "driver.tar"])


def _fill(path: Path) -> int:
    """Write until no space is left, or more than the volume can be; bytes written."""
    written = 0
    piece = bytes(2**20)
    try:
        with path.open("wb", buffering=0) as file:
            while written < _MOST_BYTES:
                written += file.write(piece)
    except OSError as error:
        if error.errno == ENOSPC:
            return written
        raise CallError(["write", str(path)], error.errno or 1, str(error)) from error
    path.unlink()
    raise RuntimeError(f"{written} bytes did not fill {path}: it is no small tmpfs")
