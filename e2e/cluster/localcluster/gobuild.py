"""Builds the Go programs of the cluster into one folder, and skips those that are unchanged."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.progress import Progress

_KUBERNETES_VERSION = "1.34.4"
_HELM_VERSION = "3.19.5"
_LOCAL_PATH_VERSION = "0.0.30"
_PROMETHEUS_OPERATOR_VERSION = "0.85.0"
_MINIMUM_GO = (1, 24)

PROMETHEUS_OPERATOR_MODULE = "github.com/prometheus-operator/prometheus-operator"
PROMETHEUS_OPERATOR_FOLDER = "prometheus-operator"
"""Of the module that pins it, below ``go/``."""

# The same for all programs, or they would not share compiled packages. Without paths, so that
# clones of the project share them too; without debugging data, a tenth of the compiler's work.
_BUILD_FLAGS = ("-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false")
# The compiler collects its garbage less often: a fifth less work on k8s.io/api/core/v1 for
# 516 MiB of memory instead of 363. Linking kube takes the most, 1.9 GiB. It does not change
# the output.
_COMPILER_GC_PERCENT = "300"


@dataclass(frozen=True)
class Program:
    """One Go program: its package, the module that pins it, and the names it answers to.

    `of_cluster` False: not needed by the cluster itself, and built only when it is named.
    """

    name: str
    package: str
    module: str = "."  # folder below ``go/``
    linker_flags: str = ""
    links: tuple[str, ...] = ()
    of_cluster: bool = field(default=True, repr=False)  # decides nothing of the program's bytes


def _kubernetes_version_flags() -> str:
    """Linker flags that give Kubernetes its version; without them it reports v0.0.0."""
    major, minor, _ = _KUBERNETES_VERSION.split(".")
    package = "k8s.io/component-base/version"
    return (
        f"-X {package}.gitVersion=v{_KUBERNETES_VERSION}"
        f" -X {package}.gitMajor={major} -X {package}.gitMinor={minor}"
    )


def _helm_version_flags() -> str:
    """Linker flags for Helm's own version and the Kubernetes it renders for offline (else 1.20)."""
    major, minor, _ = _KUBERNETES_VERSION.split(".")
    flags = [f"-X helm.sh/helm/v3/internal/version.version=v{_HELM_VERSION}"]
    for package in ("chartutil", "lint/rules"):
        flags.append(f"-X helm.sh/helm/v3/pkg/{package}.k8sVersionMajor={major}")
        flags.append(f"-X helm.sh/helm/v3/pkg/{package}.k8sVersionMinor={minor}")
    return " ".join(flags)


PROGRAMS = (
    Program(
        name="kube",
        package="./kube",
        linker_flags=_kubernetes_version_flags(),
        links=(
            "etcd",
            "kube-apiserver",
            "kube-controller-manager",
            "kube-proxy",
            "kube-scheduler",
            "kubectl",
            "kubelet",
        ),
    ),
    Program(name="coredns", package="./coredns"),
    Program(
        name="helm",
        package="helm.sh/helm/v3/cmd/helm",
        linker_flags=_helm_version_flags(),
    ),
    Program(
        name="local-path-provisioner",
        package="github.com/rancher/local-path-provisioner",
        linker_flags=f"-X main.VERSION=v{_LOCAL_PATH_VERSION}",
    ),
    Program(name="pause", package=".", module="pause"),
    Program(
        name="prometheus-operator",
        package=f"{PROMETHEUS_OPERATOR_MODULE}/cmd/operator",
        module=PROMETHEUS_OPERATOR_FOLDER,
        linker_flags=(
            f"-X github.com/prometheus/common/version.Version={_PROMETHEUS_OPERATOR_VERSION}"
        ),
        of_cluster=False,
    ),
)


def select(names: Sequence[str]) -> tuple[Program, ...]:
    """The programs called ``names`` in build order; the cluster's own when none is named."""
    known = {program.name for program in PROGRAMS}
    unknown = sorted(set(names) - known)
    if unknown:
        raise ClusterError(
            f"no program is called {', '.join(unknown)}; there are {', '.join(sorted(known))}"
        )
    return tuple(p for p in PROGRAMS if (p.name in names if names else p.of_cluster))


def parse_go_version(text: str) -> tuple[int, int]:
    """``(1, 26)`` from the output of ``go version``."""
    match = re.search(r"\bgo(\d+)\.(\d+)", text)
    if match is None:
        raise ClusterError(f"cannot read the Go version in {text!r}")
    return int(match[1]), int(match[2])


def fingerprint(program: Program, module: Path, go_version: str) -> str:
    """A digest of all that decides the bytes of ``program``: sources, flags and compiler."""
    digest = hashlib.sha256()
    digest.update(repr((program, _BUILD_FLAGS, go_version)).encode())
    sources = [module / "go.mod", module / "go.sum"]
    if program.package.startswith("."):
        sources += sorted((module / program.package).glob("*.go"))
    for source in sources:
        if source.is_file():
            digest.update(f"\0{source.name}\0".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()


class Builder:
    """Builds programs from ``sources`` (the ``go`` folder) into ``output``."""

    def __init__(self, sources: Path, output: Path, progress: Progress) -> None:
        self._sources = sources
        self._output = output
        self._progress = progress
        self._environment = {
            "GOGC": _COMPILER_GC_PERCENT,
            **os.environ,
            "CGO_ENABLED": "0",
            "GOWORK": "off",
        }

    def build(self, programs: Sequence[Program]) -> list[str]:
        """Builds what changed; returns the names of the programs that were built."""
        go_version = self._go_version()
        with self._exclusive():
            return self._build_changed(programs, go_version)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Waits for another build into the same folder: it may be making what we need."""
        self._output.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._output, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _build_changed(self, programs: Sequence[Program], go_version: str) -> list[str]:
        built = []
        for program in programs:
            digest = fingerprint(program, self._sources / program.module, go_version)
            if not self._is_current(program, digest):
                self._compile(program)
                self._stamp(program).write_text(digest)
                built.append(program.name)
            self._link(program)
        return built

    def _stamp(self, program: Program) -> Path:
        return self._output / f".{program.name}.inputs"

    def _is_current(self, program: Program, digest: str) -> bool:
        stamp = self._stamp(program)
        binary = self._output / program.name
        return binary.is_file() and stamp.is_file() and stamp.read_text() == digest

    def _link(self, program: Program) -> None:
        for name in program.links:
            link = self._output / name
            if not (link.is_symlink() and link.readlink() == Path(program.name)):
                link.unlink(missing_ok=True)
                link.symlink_to(program.name)

    def _go_version(self) -> str:
        try:
            text = subprocess.run(
                ["go", "version"], capture_output=True, text=True, check=True
            ).stdout.strip()
        except FileNotFoundError as error:
            raise ClusterError(
                "Go is not installed (no `go` on PATH); install Go 1.24 or newer from go.dev/dl"
            ) from error
        if parse_go_version(text) < _MINIMUM_GO:
            raise ClusterError(f"Go 1.24 or newer is needed, this machine has: {text}")
        return text

    def _compile(self, program: Program) -> None:
        module = self._sources / program.module
        with self._progress.task(f"load {program.name}"):
            total = self._package_count(program, module)
        # Linked aside, then renamed: a running program keeps its old file.
        scratch = self._output / ".linking"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        fresh = scratch / program.name
        command = [
            *("nice", "go", "build", "-v", *_BUILD_FLAGS),
            f"-ldflags=-s -w {program.linker_flags}",
            *("-o", str(fresh), program.package),
        ]
        with self._progress.task(f"build {program.name}", total=total) as task:
            self._run_counting(command, module, task.advance)
        fresh.replace(self._output / program.name)
        scratch.rmdir()

    def _package_count(self, program: Program, module: Path) -> int:
        listing = subprocess.run(
            ["go", "list", "-deps", program.package],
            cwd=module,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if listing.returncode:
            raise ClusterError(f"cannot load {program.name}:\n{listing.stderr.strip()}")
        return len(listing.stdout.splitlines())

    def _run_counting(self, command: list[str], module: Path, advance: Callable[[], None]) -> None:
        """Runs ``go build -v``, which names each compiled package on a line of stderr."""
        errors: list[str] = []
        with subprocess.Popen(
            command, cwd=module, env=self._environment, stderr=subprocess.PIPE, text=True
        ) as process:
            for line in process.stderr or ():
                if re.fullmatch(r"[\w./~-]+\n", line):
                    advance()
                else:
                    errors.append(line)
        if process.returncode:
            raise ClusterError(f"{' '.join(command)} failed:\n{''.join(errors).strip()}")
