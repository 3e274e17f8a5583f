"""What the machine must offer: rights, kernel features, disk, programs."""

import os
import platform
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from localcluster import cgroups
from localcluster.errors import ClusterError
from localcluster.node_config import Machine
from localcluster.processes import run

_DISK_GIB = 10
_MEMORY_MIB = 3500
_CAP_SYS_ADMIN, _CAP_NET_ADMIN = 21, 12
_CNI_FOLDERS = ("/usr/lib/cni", "/opt/cni/bin")
_CNI_PROGRAMS = ("ptp", "portmap", "host-local", "loopback")
_SBIN = ("/usr/local/sbin", "/usr/sbin", "/sbin")

# Program -> Debian package. A program that another package brings (Docker's containerd.io,
# for one) is as good, and installing Debian's beside it would remove that package.
_PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "containerd-shim-runc-v2": "containerd",
    "runc": "runc",
    "nft": "nftables",
    "conntrack": "conntrack",
    "socat": "socat",
    "ip": "iproute2",
    "openssl": "openssl",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mount": "mount",
    "losetup": "mount",
}
_CNI_PACKAGE = "containernetworking-plugins"


def _extend_path() -> None:
    """Adds the folders of system programs, which a user's PATH may lack."""
    present = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join([*present, *(f for f in _SBIN if f not in present)])


def cni_folder(folders: Iterable[str] = _CNI_FOLDERS) -> str | None:
    """The first folder that holds all CNI programs that the nodes use."""
    for folder in folders:
        if all((Path(folder) / program).is_file() for program in _CNI_PROGRAMS):
            return folder
    return None


def missing_packages() -> list[str]:
    """Debian packages that bring the programs which this machine lacks."""
    missing = {package for program, package in _PACKAGES.items() if shutil.which(program) is None}
    if cni_folder() is None:
        missing.add(_CNI_PACKAGE)
    return sorted(missing)


def install_packages(packages: list[str]) -> None:
    """Installs Debian packages, with as little beside them as possible."""
    if shutil.which("apt-get") is None:
        raise ClusterError(
            f"this machine lacks {', '.join(packages)} and has no apt-get; install what "
            "brings the same programs by its own package manager, then run this again"
        )
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    _apt_get("install", "-y", "-qq", "--no-install-recommends", *packages)


def download_package(package: str, folder: Path) -> Path:
    """Downloads a Debian package into ``folder`` without installing it; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    _apt_get("download", "-qq", package, folder=folder)
    return max(folder.glob(f"{package}_*.deb"), key=lambda file: file.stat().st_mtime)


def _apt_get(*arguments: str, folder: Path = Path("/")) -> None:
    """Runs apt-get; once more with new package lists, which a new machine may lack."""
    command = ["env", f"--chdir={folder}", "apt-get", "-o", "DPkg::Lock::Timeout=300"]
    if run([*command, *arguments], check=False).returncode:
        run([*command, "update", "-qq"])
        run([*command, *arguments])


def check(state: Path, *, begun: bool = False) -> None:
    """Raises an error that lists everything on which a cluster would fail here.

    A cluster in ``state`` that was ``begun`` has taken its disk already.
    """
    _extend_path()
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise ClusterError(f"Linux on x86_64 is needed, this is {platform.platform()}")
    if os.geteuid() != 0:
        raise ClusterError("the cluster needs root (namespaces, mounts, cgroups): run it with sudo")
    problems = [*_rights(), *_kernel(), *_memory(), *([] if begun else _disk(state))]
    if problems:
        listing = "\n  - ".join(problems)
        raise ClusterError(f"this machine cannot run the cluster:\n  - {listing}")


def has_capability(effective: str, number: int) -> bool:
    """Whether a ``CapEff`` mask (hexadecimal) has capability ``number``."""
    return bool(int(effective, 16) >> number & 1)


def _rights() -> list[str]:
    status = Path("/proc/self/status").read_text()
    effective = status.split("CapEff:")[1].split()[0]
    wanted = {"CAP_SYS_ADMIN": _CAP_SYS_ADMIN, "CAP_NET_ADMIN": _CAP_NET_ADMIN}
    return [
        f"root lacks {name}: in a container, start that container privileged"
        for name, number in wanted.items()
        if not has_capability(effective, number)
    ]


def _kernel() -> list[str]:
    problems = []
    trees = cgroups.hierarchies()
    if not trees:
        problems.append("no cgroups are mounted: mount -t cgroup2 none /sys/fs/cgroup")
    elif missing := cgroups.missing_controllers(trees):
        problems.append(
            f"cgroup controllers are missing: {', '.join(missing)} (kernel arguments "
            "`cgroup_enable=...`, or a container without its own cgroup mount)"
        )
    elif any(not os.access(tree.mount, os.W_OK) for tree in trees):
        problems.append("/sys/fs/cgroup is read-only: remount it writable")
    problems.extend(
        f"the kernel has no {kind} namespaces"
        for kind in ("net", "pid", "mnt", "uts")
        if not Path(f"/proc/self/ns/{kind}").exists()
    )
    return problems


def memory_mib() -> int:
    """The machine's memory in MiB."""
    first = Path("/proc/meminfo").read_text().splitlines()[0]
    return int(first.split()[1]) // 1024


def _memory() -> list[str]:
    if memory_mib() >= _MEMORY_MIB:
        return []
    return [f"the machine has {memory_mib()} MiB of memory, {_MEMORY_MIB} are needed"]


def _disk(state: Path) -> list[str]:
    folder = next(parent for parent in (state, *state.parents) if parent.is_dir())
    free = shutil.disk_usage(folder).free // 2**30
    if free >= _DISK_GIB:
        return []
    return [f"{folder} has {free} GiB free, {_DISK_GIB} GiB are needed: make room"]


def describe(state: Path) -> Machine:
    """What the nodes are told about the machine; call after ``install_packages``."""
    folder = cni_folder()
    if folder is None:
        raise ClusterError(f"no CNI programs in {' or '.join(_CNI_FOLDERS)}")
    return Machine(memory_mib(), folder, _snapshotter(state))


def _snapshotter(state: Path) -> str:
    """``overlayfs``, or ``native`` (slower: whole copies) where it cannot be mounted here."""
    state.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state) as scratch:
        folders = {name: Path(scratch) / name for name in ("lower", "upper", "work", "merged")}
        for folder in folders.values():
            folder.mkdir()
        layers = ",".join(f"{name}dir={folders[name]}" for name in ("lower", "upper", "work"))
        # In a mount namespace of its own, which ends with the trial.
        trial = ["mount", "-t", "overlay", "overlay", "-o", layers, str(folders["merged"])]
        works = run(["unshare", "--mount", *trial], check=False).returncode == 0
    return "overlayfs" if works else "native"
