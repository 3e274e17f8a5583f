"""OCI archives: written, and read back."""

import io
import json
import tarfile
from pathlib import Path

import pytest
from localcluster import oci
from localcluster.errors import ClusterError
from localcluster.image_import import is_present, parse_listing
from localcluster.oci import ImageFile, ImageRecipe, ImageReference

RECIPE = ImageRecipe(
    name="localhost/dbbench/example:0.1.0",
    files=(
        ImageFile("tmp", mode=0o1777),
        ImageFile("bin/tool", b"#!/bin/sh\n"),
        ImageFile("bin/alias", link="tool"),
    ),
    entrypoint=("/bin/tool",),
    user="65532:65532",
    environment={"PATH": "/bin"},
)


def _blob(archive: Path, digest: str) -> bytes:
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"blobs/{digest.replace(':', '/')}")
        assert member is not None
        return member.read()


def test_archive_says_what_it_holds(tmp_path: Path) -> None:
    written = oci.write(RECIPE, tmp_path / "example.tar")
    assert oci.references(tmp_path / "example.tar") == [written]
    assert written.name == RECIPE.name


def test_layer_holds_the_files_as_described(tmp_path: Path) -> None:
    archive = tmp_path / "example.tar"
    manifest = json.loads(_blob(archive, oci.write(RECIPE, archive).digest))
    config = json.loads(_blob(archive, manifest["config"]["digest"]))
    assert config["config"]["User"] == "65532:65532"
    assert config["rootfs"]["diff_ids"] == [manifest["layers"][0]["digest"]]
    layer = io.BytesIO(_blob(archive, manifest["layers"][0]["digest"]))
    with tarfile.open(fileobj=layer) as tar:
        assert tar.getmember("tmp").mode == 0o1777
        assert tar.getmember("bin/alias").linkname == "tool"
        tool = tar.extractfile("bin/tool")
        assert tool is not None
        assert tool.read() == b"#!/bin/sh\n"


def test_same_recipe_gives_the_same_bytes(tmp_path: Path) -> None:
    oci.write(RECIPE, tmp_path / "one.tar")
    oci.write(RECIPE, tmp_path / "two.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


def test_name_by_digest_drops_the_tag_and_keeps_a_port() -> None:
    image = ImageReference("localhost:5000/a/b:tag", "sha256:12")
    assert image.by_digest == "localhost:5000/a/b@sha256:12"


def test_file_that_is_no_archive_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "broken.tar").write_bytes(b"no archive")
    with pytest.raises(ClusterError, match=r"broken\.tar is not an OCI archive"):
        oci.references(tmp_path / "broken.tar")


@pytest.mark.parametrize("name", ["", "0.1.0", "localhost/dbbench/example"])
def test_image_without_a_full_name_is_refused(tmp_path: Path, name: str) -> None:
    entry = {"digest": "sha256:12", "annotations": {"org.opencontainers.image.ref.name": name}}
    index = json.dumps({"manifests": [entry]}).encode()
    with tarfile.open(tmp_path / "nameless.tar", "w") as tar:
        info = tarfile.TarInfo("index.json")
        info.size = len(index)
        tar.addfile(info, io.BytesIO(index))
    with pytest.raises(ClusterError, match="without a full name"):
        oci.references(tmp_path / "nameless.tar")


def test_image_is_present_only_under_both_of_its_names() -> None:
    image = ImageReference("localhost/a/b:1", "sha256:12")
    heading = "REF TYPE DIGEST SIZE PLATFORMS LABELS\n"
    by_tag = "localhost/a/b:1 application/x sha256:12 1.0 MiB linux/amd64 -\n"
    by_digest = "localhost/a/b@sha256:12 application/x sha256:12 1.0 MiB linux/amd64 -\n"
    older = "localhost/a/b:1 application/x sha256:11 1.0 MiB linux/amd64 -\n"
    assert is_present(image, parse_listing(heading + by_tag + by_digest))
    assert not is_present(image, parse_listing(heading + by_tag))
    assert not is_present(image, parse_listing(heading + older + by_digest))
    assert not is_present(image, parse_listing(heading))
