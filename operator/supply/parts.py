"""What programs and images are made of, from lock files and what builders record. No I/O."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, order=True)
class Part:
    """One package: `purl` is its package URL, `sha256` its archive's, where a lock has it."""

    purl: str
    name: str
    version: str
    sha256: str = ""


def _part(kind: str, name: str, version: str, sha256: str = "") -> Part:
    purl = f"pkg:{kind}/{quote(name, safe='/@')}@{quote(version, safe='')}"
    return Part(purl, name, version, sha256)


def python(requirements: str) -> list[Part]:
    """Packages of a requirements file with pinned versions."""
    pinned = re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)", requirements, re.M)
    return sorted({_part("pypi", re.sub(r"[-_.]+", "-", name).lower(), v) for name, v in pinned})


def rust(lock: str) -> list[Part]:
    """Crates of a Cargo.lock with the checksums of their archives; our own have none."""
    packages = tomllib.loads(lock)["package"]
    return sorted(
        _part("cargo", one["name"], one["version"], one.get("checksum", "")) for one in packages
    )


def go(build_information: str) -> list[Part]:
    """Modules in what `go version -m` prints of one or several programs."""
    found: list[Part] = []
    for line in build_information.splitlines():
        words = line.split("\t")[1:]
        if words[:1] in (["dep"], ["=>"]) and len(words) >= 3:
            if words[0] == "=>":
                found.pop()
            found.append(_part("golang", words[1], words[2]))
    compilers = set(re.findall(r": go([0-9.]+)", build_information))
    return sorted({*found, *(_part("golang", "stdlib", version) for version in compilers)})


def debian(listing: str) -> list[Part]:
    """Debian packages of an image, as `/usr/share/dbbench/packages` lists them: NAME=VERSION."""
    lines = (line.partition("=") for line in listing.splitlines() if "=" in line)
    return sorted(_part("deb/debian", name, version) for name, _, version in lines)


def together(lists: Iterable[list[Part]]) -> list[Part]:
    """All of them, each once."""
    return sorted({part for parts in lists for part in parts})
