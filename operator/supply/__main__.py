"""Writes bills of materials into a folder: `make sbom`."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dbbench import __version__
from supply import bom, images, parts
from supply.parts import Part

PROJECT = Path(__file__).parents[2]
STATE = PROJECT / ".state"
LISTING = "usr/share/dbbench/packages"
CONTAINERFILES = PROJECT / "workloads" / "images"
# What an image copies that has parts of its own: the driver's binary, the operator's packages.
DRIVER = ".state/bin/dbbench-driver"
OPERATOR = "operator/requirements.txt"


def main() -> None:
    """One file for each program and image; what has not been built is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind, found in [*_programs(), *_images()]:
        path = folder / f"{name}.cdx.json"
        path.write_text(bom.document(name, __version__, kind, found))
        print(f"{path}: {len(found)} packages")


def _operator() -> list[Part]:
    return parts.python((PROJECT / "operator" / "requirements.txt").read_text())


def _driver() -> list[Part]:
    return parts.rust((PROJECT / "workloads" / "Cargo.lock").read_text())


def _programs() -> Iterator[tuple[str, str, list[Part]]]:
    yield "dbbench-operator", "application", _operator()
    yield "dbbench-driver", "application", _driver()
    development = PROJECT / "operator" / "requirements-dev.txt"
    yield "development", "application", parts.python(development.read_text())
    programs = STATE / "bin"
    if not programs.is_dir():
        print("left out: Go programs; `make go-binaries` builds them", file=sys.stderr)
        return
    command = ["go", "version", "-m", str(programs.resolve())]
    said = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 (ours)
    yield "test-bed", "application", parts.go(said.stdout)


def _images() -> Iterator[tuple[str, str, list[Part]]]:
    archives = sorted((STATE / "images").glob("*.tar"))
    if not archives:
        print("left out: images; `make images` builds them", file=sys.stderr)
    for archive in archives:
        name = archive.stem
        listing = images.text_of(archive, LISTING)
        copied = _containerfile(name)
        found = parts.together(
            [
                parts.debian(listing or ""),
                _driver() if DRIVER in copied else [],
                _operator() if OPERATOR in copied else [],
            ]
        )
        if found:
            yield f"image-{name}", "container", found


def _containerfile(name: str) -> str:
    """Of an image of this project; the local cluster's own have none there."""
    path = CONTAINERFILES / name / "Containerfile"
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    main()
