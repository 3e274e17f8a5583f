"""Images: what their Containerfiles read, whether they are up to date, and how they are built."""

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import apt, bases
from .tools import CACHE, IMAGES, OUTPUT, ROOT, TIMESTAMP, BuildError, buildah, start_log

LEFT_OUT = {
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
    ".import_linter_cache",
}


@dataclass(frozen=True)
class Image:
    """One image, as its Containerfile describes it. Its paths begin at the project's root."""

    name: str
    version: str
    base: str | None
    """Name of the Debian base, such as debian:12-slim; None for an image made from nothing."""
    sources: tuple[str, ...]
    """Files and folders that the Containerfile copies."""
    on_request: bool = False
    """Built only where it is named: the label io.dbbench.build=on-request."""

    @property
    def containerfile(self) -> Path:
        return IMAGES / self.name / "Containerfile"

    @property
    def reference(self) -> str:
        return f"localhost/dbbench/{self.name}:{self.version}"

    @property
    def archive(self) -> Path:
        return OUTPUT / f"{self.name}.tar"

    @property
    def stamp(self) -> Path:
        return OUTPUT / f".{self.name}.stamp"

    def missing_inputs(self) -> list[str]:
        """Return the copied paths that do not exist."""
        return [source for source in self.sources if not any(ROOT.glob(source))]

    def fingerprint(self) -> str:
        """Return a hash of everything that the image is made from."""
        digest = hashlib.sha256(f"{self.reference} {self.base} {TIMESTAMP}\n".encode())
        if self.base:
            digest.update(bases.identity(self.base).encode())
        own = [
            path
            for path in (self.containerfile, *self.containerfile.parent.rglob("*"))
            if path.is_file()
        ]
        copied = [
            path for source in self.sources for found in ROOT.glob(source) for path in _files(found)
        ]
        for path in sorted({*own, *copied}):
            if LEFT_OUT.isdisjoint(path.parts):
                mode = path.lstat().st_mode & 0o777
                digest.update(f"{path.relative_to(ROOT)} {mode:o}\n".encode())
                digest.update(
                    str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
                )
        return digest.hexdigest()

    def is_current(self) -> bool:
        """Tell whether the archive was built from exactly the present inputs."""
        return (
            self.archive.exists()
            and self.stamp.exists()
            and self.stamp.read_text() == self.fingerprint()
        )


def described() -> dict[str, Image]:
    """Return every image that has a Containerfile, by name."""
    found = {}
    for path in sorted(IMAGES.glob("*/Containerfile")):
        found[path.parent.name] = parse(path.parent.name, path.read_text())
    return found


def parse(name: str, text: str) -> Image:
    """Read from a Containerfile what the build has to know of it."""
    text = text.replace("\\\n", " ")
    base = re.search(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    version = re.search(
        r"^LABEL .*\borg\.opencontainers\.image\.version=\"?([\w.-]+)", text, re.MULTILINE
    )
    if not version:
        raise BuildError(f"{name}/Containerfile has no label org.opencontainers.image.version")
    sources: list[str] = []
    for line in re.findall(r"^(?:COPY|ADD)\s+(.*)$", text, re.MULTILINE):
        words = line.split()
        if not any(word.startswith("--from=") for word in words):
            sources += [word for word in words if not word.startswith("--")][:-1]
    on_request = "io.dbbench.build=on-request" in text
    unique = tuple(dict.fromkeys(sources))
    return Image(name, version[1], base[1] if base else None, unique, on_request)


def build(image: Image) -> int:
    """Build the image and write its archive. Returns the archive's size in bytes."""
    start_log(image.name)
    fingerprint = image.fingerprint()
    image.stamp.unlink(missing_ok=True)
    context = _context(image)
    options = [
        "--quiet",
        "--format",
        "oci",
        "--layers=false",
        "--timestamp",
        TIMESTAMP,
        "--pull-never",
    ]
    if image.base:
        options += ["--build-arg", f"BASE={bases.local_name(image.base)}"]
        for mount in [*apt.mounts(bases.release(image.base), image.name), *_pip_mounts()]:
            options += ["--volume", mount]
    try:
        buildah(
            image.name,
            "bud",
            *options,
            "--tag",
            image.reference,
            "--file",
            str(image.containerfile),
            str(context),
        )
    finally:
        shutil.rmtree(context)
    partial = image.archive.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    buildah(
        image.name, "push", "--quiet", image.reference, f"oci-archive:{partial}:{image.reference}"
    )
    partial.rename(image.archive)
    image.stamp.write_text(fingerprint)
    buildah(image.name, "rmi", "--prune", "--force")
    return image.archive.stat().st_size


def _context(image: Image) -> Path:
    """Lay out a folder with just what the image copies, without caches beside the sources."""
    context = CACHE / "context" / image.name
    shutil.rmtree(context, ignore_errors=True)
    context.mkdir(parents=True)
    for source in image.sources:
        for found in ROOT.glob(source):
            target = context / found.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            if found.is_dir():
                shutil.copytree(
                    found,
                    target,
                    symlinks=True,
                    ignore=shutil.ignore_patterns(*LEFT_OUT, "*.egg-info"),
                )
            else:
                shutil.copy2(found, target)
    return context


def _files(path: Path) -> list[Path]:
    return [path] if not path.is_dir() else [file for file in path.rglob("*") if file.is_file()]


def _pip_mounts() -> list[str]:
    """Return mounts of this machine's pip settings: an index or a folder of wheels is used."""
    if not shutil.which("pip"):
        return []
    listed = subprocess.run(
        ["pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    settings, mounts = ["[global]"], []
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        value = value.strip("'\"")
        option = key.removeprefix(":env:.").removeprefix("global.")
        if option in {
            "index-url",
            "extra-index-url",
            "trusted-host",
            "proxy",
            "cert",
            "find-links",
            "timeout",
        }:
            # The one certificate file that a build sees is this machine's own.
            value = apt.MOUNTED_AUTHORITIES if option == "cert" else value
            settings.append(f"{option} = {value}")
        if option == "find-links" and Path(value).is_dir():
            mounts.append(f"{value}:{value}:ro")
    path = CACHE / "pip.conf"
    path.write_text("\n".join(dict.fromkeys(settings)) + "\n")
    return [f"{path}:/etc/pip.conf:ro", *mounts]
