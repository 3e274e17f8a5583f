"""The cluster's own images, each a static program and nothing else."""

import hashlib
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.layout import Layout
from localcluster.machine import download_package
from localcluster.oci import ImageFile, ImageRecipe, write
from localcluster.processes import run

_TAG = "0.1.0"
_BUSYBOX_PACKAGE = "busybox-static"
_NOBODY = ImageFile(
    "etc/passwd",
    b"root:x:0:0:root:/:/bin/sh\nnonroot:x:65532:65532:nonroot:/:/bin/sh\n",
    mode=0o644,
)
_TEMPORARY = ImageFile("tmp", mode=0o1777)


def name(image: str) -> str:
    """The full name of one of the cluster's images."""
    return f"localhost/dbbench/{image}:{_TAG}"


def ensure(layout: Layout) -> list[Path]:
    """Writes the archives whose inputs changed; returns the archives of all of them."""
    recipes = {
        "pause": _program(layout, "pause", user="65535:65535"),
        "coredns": _program(layout, "coredns", user="65532:65532"),
        "local-path-provisioner": _program(layout, "local-path-provisioner", user="65532:65532"),
        "busybox": _busybox(_busybox_program(layout.cache)),
    }
    return [_ensure(recipe, layout.images / f"{image}.tar") for image, recipe in recipes.items()]


def ensure_other(layout: Layout, program: str) -> Path:
    """The archive of a program that the cluster itself does not need; `up` does not import it."""
    recipe = _program(layout, program, user="65532:65532")
    return _ensure(recipe, layout.cache / "other-images" / f"{program}.tar")


def _ensure(recipe: ImageRecipe, archive: Path) -> Path:
    """Writes the archive if its inputs changed."""
    stamp = archive.with_name(f".{archive.stem}.inputs")
    inputs = _inputs(recipe)
    if not (archive.is_file() and stamp.is_file() and stamp.read_text() == inputs):
        write(recipe, archive)
        stamp.write_text(inputs)
    return archive


def _program(layout: Layout, program: str, user: str) -> ImageRecipe:
    binary = layout.bin / program
    if not binary.is_file():
        raise ClusterError(f"{binary} is missing; run e2e/cluster/build {program}")
    files = (_NOBODY, _TEMPORARY, ImageFile(f"usr/bin/{program}", binary))
    return ImageRecipe(name(program), files, (f"/usr/bin/{program}",), user)


def _busybox(binary: Path) -> ImageRecipe:
    """Busybox with a link for each of its commands, as its own installer would make them."""
    commands = sorted(set(run([str(binary), "--list"]).stdout.split()) - {"busybox"})
    links = tuple(ImageFile(f"bin/{command}", link="busybox") for command in commands)
    files = (_NOBODY, _TEMPORARY, ImageFile("bin/busybox", binary), *links)
    return ImageRecipe(name("busybox"), files, ("/bin/sh",), environment={"PATH": "/bin"})


def _busybox_program(cache: Path) -> Path:
    """Debian's static busybox, unpacked rather than installed: it would replace ``busybox``."""
    folder = cache / _BUSYBOX_PACKAGE
    program = folder / "unpacked/bin/busybox"
    if program.is_file():
        return program
    package = download_package(_BUSYBOX_PACKAGE, folder)
    fresh = folder / "unpacking"
    run(["rm", "-rf", str(fresh)])
    run(["dpkg-deb", "-x", str(package), str(fresh)])
    fresh.rename(folder / "unpacked")
    return program


def _inputs(recipe: ImageRecipe) -> str:
    """A digest of all that decides the bytes of an image."""
    digest = hashlib.sha256()
    digest.update(repr((recipe.name, recipe.entrypoint, recipe.user)).encode())
    digest.update(repr(sorted(recipe.environment.items())).encode())
    for file in recipe.files:
        digest.update(repr((file.path, file.link, file.mode)).encode())
        content = file.content
        digest.update(content.read_bytes() if isinstance(content, Path) else content or b"")
    return digest.hexdigest()
