"""Debian base images, made from packages: the counterparts of debian:12-slim and debian:13-slim."""

import hashlib
import re
from pathlib import Path

from . import apt
from .tools import CACHE, TIMESTAMP, BuildError, buildah, progress, run, start_log

# What the public slim images leave out as well.
LEFT_OUT = ["doc", "man", "info", "locale", "lintian"]
LOGS = ["/var/log/apt", "/var/log/dpkg.log", "/var/log/alternatives.log", "/var/cache/ldconfig/*"]
OPTIONS = [
    "--mode=root",
    "--variant=minbase",
    "--format=tar",
    *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT),
    "--dpkgopt=path-include=/usr/share/doc/*/copyright",
    # Mirrors and apt settings belong to this machine: a build gets them through mounts.
    '--customize-hook=rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/apt.conf.d/99mmdebstrap',
    '--customize-hook=: > "$1"/etc/apt/sources.list',
    *(f'--customize-hook=rm -rf "$1"{name}' for name in LOGS),
    '--customize-hook=: > "$1"/etc/hostname; : > "$1"/etc/resolv.conf',
]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SETTINGS = ["--cmd", "bash", "--env", f"PATH={PATH}"]


def release(base: str) -> str:
    """Return the Debian release ("12") that a base name (debian:12-slim) asks for."""
    found = re.fullmatch(r"debian:(\d+)-slim", base)
    if not found or found[1] not in apt.CODENAMES:
        raise BuildError(f"base {base}: only debian:12-slim and debian:13-slim can be made here")
    return found[1]


def local_name(base: str) -> str:
    """Return the name of the base in this tree's storage."""
    return f"localhost/dbbench-base/{base}"


def identity(base: str) -> str:
    """Return what distinguishes one making of the base from another, empty while it is not made."""
    stamp = _stamp(base)
    return stamp.read_text() if stamp.exists() else ""


def ensure(base: str, *, refresh: bool) -> None:
    """Make the base image if it is missing or outdated."""
    number = release(base)
    recipe = hashlib.sha256(repr((number, TIMESTAMP, OPTIONS, SETTINGS)).encode()).hexdigest()
    stamp = _stamp(base)
    if not refresh and stamp.exists() and stamp.read_text() == recipe:
        try:
            buildah("bases", "inspect", "--type", "image", local_name(base))
        except BuildError:
            progress(base, "no longer in the storage: making it again")
        else:
            return
    log = f"base-{number}"
    start_log(log)
    progress(base, "making it from Debian packages")
    archive = CACHE / f"{log}.tar"
    settings = CACHE / "apt" / f"base-{number}.conf"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(apt.configuration())
    command = ["mmdebstrap", f"--aptopt={settings}", *OPTIONS, apt.CODENAMES[number], str(archive)]
    run(log, [*command, "-"], stdin=apt.sources(number))
    container = buildah(log, "from", "scratch").strip()
    buildah(log, "add", "--quiet", container, str(archive), "/")
    buildah(log, "config", *SETTINGS, container)
    commit = ["commit", "--quiet", "--rm", "--timestamp", TIMESTAMP]
    buildah(log, *commit, container, local_name(base))
    archive.unlink()
    stamp.write_text(recipe)


def _stamp(base: str) -> Path:
    return CACHE / f"base-{release(base)}.stamp"
