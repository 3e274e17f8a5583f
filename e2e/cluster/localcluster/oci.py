"""OCI image archives: reading what one holds, and writing one from a few files.

The archives written here have one layer and no base image; the same input gives the same
bytes, so that an unchanged image is never imported twice.
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from localcluster.errors import ClusterError

_REFERENCE = "org.opencontainers.image.ref.name"
_INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
_MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
_CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
_LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
_EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True)
class ImageReference:
    """An image in an archive: its name with tag, and the digest of its manifest."""

    name: str
    digest: str

    @property
    def by_digest(self) -> str:
        """The same image as ``name@sha256:...``, less the tag."""
        repository, _, last = self.name.rpartition("/")
        return f"{repository}/{last.partition(':')[0]}@{self.digest}"


@dataclass(frozen=True)
class ImageFile:
    """One entry of a layer: a program, a text, a link, or (without any of them) a folder."""

    path: str
    content: bytes | Path | None = None
    link: str | None = None
    mode: int = 0o755


@dataclass(frozen=True)
class ImageRecipe:
    """A minimal image: its name with tag, its files, and how a container of it starts."""

    name: str
    files: tuple[ImageFile, ...]
    entrypoint: tuple[str, ...]
    user: str = "0:0"
    environment: Mapping[str, str] = field(default_factory=dict)


def references(archive: Path) -> list[ImageReference]:
    """The images in an OCI archive."""
    try:
        with tarfile.open(archive) as tar:
            member = tar.extractfile("index.json")
            index = json.load(member) if member else {}
    except (OSError, KeyError, ValueError, tarfile.TarError) as error:
        raise ClusterError(f"{archive} is not an OCI archive: {error}") from error
    found = []
    for manifest in index.get("manifests", []):
        name = manifest.get("annotations", {}).get(_REFERENCE, "")
        if "/" not in name or ":" not in name.rpartition("/")[2]:
            raise ClusterError(
                f"{archive} holds an image without a full name (it says {name!r}); write it "
                "with one, for example `buildah push IMAGE oci-archive:FILE:localhost/a/b:tag`"
            )
        found.append(ImageReference(name, manifest["digest"]))
    if not found:
        raise ClusterError(f"{archive} holds no image")
    return found


def write(recipe: ImageRecipe, archive: Path) -> ImageReference:
    """Writes the image as an OCI archive, replacing ``archive`` at once."""
    layer = _layer(recipe.files)
    blobs = {_digest(layer): layer}
    config = _json(
        {
            "created": _EPOCH,
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "User": recipe.user,
                "Env": [f"{key}={value}" for key, value in sorted(recipe.environment.items())],
                "Entrypoint": list(recipe.entrypoint),
            },
            "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
            "history": [{"created": _EPOCH}],
        }
    )
    blobs[_digest(config)] = config
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST_TYPE,
            "config": _descriptor(_CONFIG_TYPE, config),
            "layers": [_descriptor(_LAYER_TYPE, layer)],
        }
    )
    blobs[_digest(manifest)] = manifest
    entry = {**_descriptor(_MANIFEST_TYPE, manifest), "annotations": {_REFERENCE: recipe.name}}
    index = _json({"schemaVersion": 2, "mediaType": _INDEX_TYPE, "manifests": [entry]})
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_suffix(".new")
    with tarfile.open(fresh, "w") as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", index)
        for digest, data in sorted(blobs.items()):
            _add(tar, f"blobs/sha256/{digest.removeprefix('sha256:')}", data)
    fresh.replace(archive)
    return ImageReference(recipe.name, _digest(manifest))


def _layer(files: Sequence[ImageFile]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for file in files:
            if file.link is not None:
                entry = tarfile.TarInfo(file.path)
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, file.link, 0o777
                tar.addfile(entry)
            elif file.content is None:
                entry = tarfile.TarInfo(file.path)
                entry.type, entry.mode = tarfile.DIRTYPE, file.mode
                tar.addfile(entry)
            else:
                content = file.content
                data = content.read_bytes() if isinstance(content, Path) else content
                _add(tar, file.path, data, file.mode)
    return buffer.getvalue()


def _add(tar: tarfile.TarFile, name: str, data: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    tar.addfile(entry, io.BytesIO(data))


def _descriptor(media_type: str, data: bytes) -> dict[str, object]:
    return {"mediaType": media_type, "digest": _digest(data), "size": len(data)}


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _json(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
