"""The apt configuration of this machine, for use inside a build.

Nothing of it is written into an image: a build sees it through bind mounts.
"""

import re
import subprocess
from pathlib import Path

from .tools import CACHE, BuildError

CODENAMES = {"12": "bookworm", "13": "trixie"}
AUTHORITIES = Path("/etc/ssl/certs/ca-certificates.crt")
MOUNTED_AUTHORITIES = "/run/machine-authorities.crt"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def sources(release: str) -> str:
    """Return one-line sources of a Debian release ("12", "13") on this machine's mirrors."""
    target = CODENAMES[release]
    listed = _query(
        "apt-get",
        "indextargets",
        "--format",
        "$(SITE) $(RELEASE) $(COMPONENT)",
        "Created-By: Packages",
    )
    lines = []
    for entry in listed.splitlines():
        site, suite, component = entry.split()
        host = next(
            (
                name
                for name in CODENAMES.values()
                if re.match(rf"{name}(-security|-updates)?$", suite)
            ),
            None,
        )
        if host is None or component != "main":
            continue
        line = f"deb [signed-by={KEYRING}] {site} {suite.replace(host, target)} main"
        if line not in lines:
            lines.append(line)
    if not lines:
        raise BuildError(
            "apt on this machine lists no Debian 12 or 13 suite with component main; "
            "run 'apt-get update', or build with Docker, Podman or Buildah from a registry"
        )
    return "\n".join(lines) + "\n"


def configuration() -> str:
    """Return this machine's settings for reaching its mirrors: proxies, certificates, checks."""
    wanted = re.compile(
        r"Acquire::(https?|ftp|Retries|Check-Valid-Until|Check-Date|ForceIPv[46]|Max-FutureTime)\b"
    )
    return "".join(
        f"{line}\n" for line in _query("apt-config", "dump").splitlines() if wanted.match(line)
    )


def mounts(release: str, image: str) -> list[str]:
    """Return `source:destination[:ro]` mounts that let apt work inside the build of an image.

    Each image has its own folders: apt locks them, and two images are built at a time.
    """
    folder = CACHE / "apt" / image
    for name in ("archives/partial", "lists/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "mirrors.list").write_text(sources(release))
    settings = configuration() + 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\n'
    if AUTHORITIES.exists():
        settings += f'Acquire::https::CaInfo "{MOUNTED_AUTHORITIES}";\n'
    (folder / "machine.conf").write_text(settings)
    return [
        f"{folder}/mirrors.list:/etc/apt/sources.list:ro",
        f"{folder}/machine.conf:/etc/apt/apt.conf.d/90machine:ro",
        f"{folder}/archives:/var/cache/apt/archives",
        f"{folder}/lists:/var/lib/apt/lists",
        *certificates(),
    ]


def certificates() -> list[str]:
    """Return the mount of this machine's certificate authorities, for https mirrors and indexes.

    Not at the usual place: there the package ca-certificates could not write its own file.
    """
    return [f"{AUTHORITIES.resolve()}:{MOUNTED_AUTHORITIES}:ro"] if AUTHORITIES.exists() else []


def _query(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(f"{' '.join(command)}: {error}") from error
