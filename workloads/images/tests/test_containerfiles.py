"""What the image build reads from Containerfiles and from apt, and when it builds."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from imagebuild import apt, bases, images
from imagebuild.tools import IMAGES, ROOT, BuildError

CONTAINERFILE = """\
ARG BASE=debian:12-slim
FROM ${BASE} AS build
COPY --chown=1:1 some/file other \\
    /build/
COPY --from=build /a /b
LABEL org.opencontainers.image.title=x org.opencontainers.image.version=1.2.3
"""


def test_base_version_and_copied_files_are_read() -> None:
    image = images.parse("x", CONTAINERFILE)
    assert image.base == "debian:12-slim"
    assert image.reference == "localhost/dbbench/x:1.2.3"
    assert image.sources == ("some/file", "other")


def test_an_image_without_a_version_is_an_error() -> None:
    with pytest.raises(BuildError, match="x/Containerfile has no label"):
        images.parse("x", CONTAINERFILE.replace("image.version", "image.vendor"))


def test_what_few_people_need_is_built_on_request_alone() -> None:
    found = {name for name, image in images.described().items() if image.on_request}
    assert found == {"container-disk", "guest-kernel-6.12", "launcher-debian12"}


def test_every_image_is_described_and_names_a_base_that_can_be_made() -> None:
    described = images.described()
    expected = {"driver", "guest-kernel", "hyper", "launcher", "mariadb", "operator", "postgres"}
    assert expected <= set(described)
    for image in described.values():
        if image.base:
            assert bases.release(image.base) in apt.CODENAMES


def test_hyper_in_the_image_is_the_one_that_the_driver_is_tested_with() -> None:
    locked = (IMAGES / "hyper" / "requirements.txt").read_text().partition("\n")[2]
    assert locked in (ROOT / "operator" / "requirements-dev.txt").read_text()
    assert f"tableauhyperapi=={images.described()['hyper'].version} " in locked


def test_another_base_is_refused_by_name() -> None:
    with pytest.raises(BuildError, match="alpine:3"):
        bases.release("alpine:3")


def test_no_containerfile_or_script_names_a_mirror() -> None:
    for path in [*IMAGES.glob("*/*"), IMAGES / "build"]:
        # Caches of test tools and linters have hidden folders beside the images' own.
        folder = path.parent.name
        if path.is_file() and "tests" not in folder and not folder.startswith("."):
            assert not re.search("(https?|ftp)://", path.read_text(errors="replace")), path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty project with one image that copies `source`."""
    for module, name, value in (
        (images, "ROOT", tmp_path),
        (images, "IMAGES", tmp_path / "images"),
        (images, "OUTPUT", tmp_path / "output"),
    ):
        monkeypatch.setattr(module, name, value)
    (tmp_path / "images" / "x").mkdir(parents=True)
    (tmp_path / "output").mkdir()
    text = "FROM scratch\nCOPY source /\nLABEL org.opencontainers.image.version=1\n"
    (tmp_path / "images" / "x" / "Containerfile").write_text(text)
    return tmp_path


def test_an_image_is_current_until_one_of_its_inputs_changes(project: Path) -> None:
    (project / "source").mkdir()
    (project / "source" / "file").write_text("one")
    image = images.described()["x"]
    assert image.missing_inputs() == []
    assert not image.is_current()
    image.archive.write_text("")
    image.stamp.write_text(image.fingerprint())
    assert image.is_current()
    (project / "source" / "__pycache__").mkdir()
    (project / "source" / "__pycache__" / "file.pyc").write_text("cache")
    assert image.is_current()
    (project / "source" / "file").chmod(0o755)
    assert not image.is_current()


def test_a_missing_input_is_named(project: Path) -> None:
    assert images.described()["x"].missing_inputs() == ["source"]


def test_sources_of_another_release_are_on_the_same_mirrors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suites = "m bookworm main\nm bookworm-updates main\ns bookworm-security main\n"
    others = "m bookworm contrib\nother stable main\n"
    monkeypatch.setattr(apt, "_query", lambda *_: suites + others)
    lines = apt.sources("13").splitlines()
    assert [line.split()[2:] for line in lines] == [
        ["m", "trixie", "main"],
        ["m", "trixie-updates", "main"],
        ["s", "trixie-security", "main"],
    ]


def test_a_machine_without_debian_sources_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apt, "_query", lambda *_: "x noble main\n")
    with pytest.raises(BuildError, match="no Debian 12 or 13"):
        apt.sources("12")
