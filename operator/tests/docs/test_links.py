"""Links between pages lead somewhere, to the page and to the heading."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, PROJECT

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FOREIGN = ("http://", "https://")


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.S | re.M)


def links(path: Path) -> list[str]:
    """Where the links of a page lead; what looks like one within code is none."""
    return LINK.findall(re.sub(r"`[^`\n]*`", "code", prose(path)))


def anchors(path: Path) -> set[str]:
    """What headings are called in links, on the site as where the repository is hosted."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", prose(path), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        found.add(re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in links(path):
        if link.startswith(FOREIGN):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{link}: no such page"
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading"


def test_there_are_links_to_check() -> None:
    assert sum(len(links(path)) for path in PAGES) > 60
    assert "several-benchmarks-on-one-node" in anchors(PROJECT / "docs" / "operations.md")


def test_every_page_has_its_place_on_the_site() -> None:
    """docs/site/conf.py lists them; building the site (`make docs`) would tell, too."""
    contents = (PROJECT / "docs" / "site" / "conf.py").read_text()
    docs = PROJECT / "docs"
    pages = [path.relative_to(docs) for path in PAGES if path.is_relative_to(docs)]
    listed = [path for path in pages if path.parts[0] != "decisions" and path.stem != "README"]
    for path in listed:
        short = path.stem if path.parts[0] in ("reference", "workloads") else path.with_suffix("")
        assert f'"{short}"' in contents, path
