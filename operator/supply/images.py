"""Files in an image archive (OCI), without unpacking it."""

import json
import tarfile
from pathlib import Path
from typing import IO


def text_of(archive: Path, path: str) -> str | None:
    """A file of the image as its last layer has it; None when there is none."""
    with tarfile.open(archive) as image:
        index = json.load(_blob(image, "index.json"))
        manifest = json.load(_blob(image, _place(index["manifests"][0]["digest"])))
        for layer in reversed(manifest["layers"]):
            with tarfile.open(fileobj=_blob(image, _place(layer["digest"])), mode="r|*") as files:
                for member in files:
                    if member.isfile() and member.name.removeprefix("./") == path:
                        found = files.extractfile(member)
                        return found.read().decode() if found else None
    return None


def _place(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _blob(image: tarfile.TarFile, name: str) -> IO[bytes]:
    found = image.extractfile(name)
    if found is None:
        raise ValueError(f"{name} of the archive is no file")
    return found
