"""Where things are, and the programs that the build runs."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
IMAGES = ROOT / "workloads" / "images"
OUTPUT = ROOT / ".state" / "images"
CACHE = ROOT / ".state" / "cache" / "images"

# One fixed time for everything a build writes, so that equal inputs give equal layers.
TIMESTAMP = os.environ.get("SOURCE_DATE_EPOCH", "1767225600")

PACKAGES = {
    "buildah": "buildah",
    "mmdebstrap": "mmdebstrap",
    "newuidmap": "uidmap",
    "runc": "runc",
}


class BuildError(Exception):
    """A step failed; the message names it and where its log is."""


_printing = threading.Lock()


def progress(subject: str, message: str) -> None:
    """Print one line about one image or base."""
    with _printing:
        print(f"images: {subject:<24} {message}", flush=True)


@contextlib.contextmanager
def only_build() -> Iterator[None]:
    """Hold the lock that keeps two builds of this tree apart."""
    CACHE.mkdir(parents=True, exist_ok=True)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting", "another build of this tree is running")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_packages() -> None:
    """Install the Debian packages of the programs that are missing."""
    missing = [package for program, package in PACKAGES.items() if not shutil.which(program)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise BuildError(
            f"these programs are missing, and there is no apt-get: {', '.join(missing)}"
        )
    progress("packages", f"installing {' '.join(missing)}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    wait = ["-o", "DPkg::Lock::Timeout=600"]
    run("packages", ["apt-get", *wait, "update", "-qq"], env=environment)
    run(
        "packages",
        ["apt-get", *wait, "install", "-y", "-qq", "--no-install-recommends", *missing],
        env=environment,
    )


def run(
    log: str, command: list[str], *, stdin: str | None = None, env: dict[str, str] | None = None
) -> str:
    """Run a command, keep what it says in the log of that name, and return its standard output."""
    path = CACHE / "logs" / f"{log.replace('/', '-').replace(':', '-')}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as errors:
        errors.write(f"+ {' '.join(command)}\n")
        errors.flush()
        done = subprocess.run(
            command,
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=env,
            check=False,
        )
        errors.write(done.stdout)
    if done.returncode:
        tail = path.read_text(errors="replace").splitlines()[-25:]
        with _printing:
            print("\n".join(tail), file=sys.stderr)
        raise BuildError(
            f"{command[0]} ended with {done.returncode}; log: {path.relative_to(ROOT)}"
        )
    return done.stdout


def start_log(log: str) -> None:
    """Forget what an earlier build wrote to the log of that name."""
    (CACHE / "logs" / f"{log}.log").unlink(missing_ok=True)


def buildah(log: str, *arguments: str) -> str:
    """Run buildah on this tree's own storage, and return its standard output."""
    storage = ["--root", str(CACHE / "storage"), "--runroot", str(CACHE / "storage-run")]
    environment = os.environ | {"BUILDAH_ISOLATION": "chroot", "TMPDIR": str(CACHE / "tmp")}
    (CACHE / "tmp").mkdir(parents=True, exist_ok=True)
    # Images here come from this storage or from nothing: no registry, hence no signature policy.
    policy = CACHE / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    subcommand, *rest = arguments
    if subcommand in {"from", "bud", "push", "commit"}:
        rest = ["--signature-policy", str(policy), *rest]
    return run(log, ["buildah", *storage, subcommand, *rest], env=environment)
