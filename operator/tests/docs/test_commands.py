"""Every command in the docs is one that there is; what no machine of ours can run is marked.

A marker is the line `<!-- needs: WHAT -->` before a block. Commands that are known are checked in
marked blocks, too.
"""

import re
from pathlib import Path

import click
import pytest

from dbbench.cli.main import cli
from tests.docs.blocks import PAGES, PROJECT, Block, Command, blocks, blocks_of, commands, inline
from tests.docs.programs import TARGETS, check, dbbench, driver, helm, kubectl, make

LANGUAGES = {"sh", "yaml", "json", "csv", "text"}
SHELL = blocks("sh")


def test_the_pages_are_found_with_their_blocks() -> None:
    assert len(PAGES) > 25
    assert len(SHELL) > 20


def test_every_block_says_what_it_is() -> None:
    unknown = [block.where for block in blocks() if block.language not in LANGUAGES]
    assert unknown == [], f"languages are {', '.join(sorted(LANGUAGES))}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_no_code_is_merely_indented(path: Path) -> None:
    """Such code has no language, so that nothing could be checked in it."""
    indented = re.findall(r"(?<=\n\n)(?: {4}\S.*\n)+", path.read_text())
    assert indented == []


@pytest.mark.parametrize("block", blocks("text"), ids=lambda block: block.where)
def test_commands_are_not_hidden_in_text(block: Block) -> None:
    for line in block.text.splitlines():
        assert not re.match(r"(\$ |kubectl |helm |make |dbbench-driver )", line), line


@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.where)
def test_every_command_is_known_or_its_block_is_marked(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in commands(block):
        try:
            known = check(command)
        except ValueError as error:
            pytest.fail(f"{block.where}: {' '.join(command.words)}: {error}")
        assert known or block.needs, (
            f"{block.where}: nothing checks `{command.program}`; add a check to programs.py, or "
            "put <!-- needs: WHAT --> before the block"
        )


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_commands_within_sentences_exist(path: Path) -> None:
    for where, text in inline(path):
        words = text.split()
        if words[0] == "make" and len(words) > 1:
            targets = [word for word in words[1:] if re.fullmatch(r"[a-z-]+", word)]
            assert set(targets) <= TARGETS, f"{where}: {text}"
        if words[:2] == ["kubectl", "dbbench"]:
            words = words[1:]
        if words[0] == "dbbench" and len(words) > 1:
            _exists(words[1:], f"{where}: {text}")


def _exists(words: list[str], where: str) -> None:
    if words[0].startswith("-") or not words[0].islower():
        return
    with click.Context(cli) as context:
        command = cli.get_command(context, words[0])
        assert command is not None, where
        options = {name for parameter in command.params for name in parameter.opts}
    for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(words[1:])):
        assert word in options | {"--help"}, where


def one(text: str) -> list[Command]:
    (block,) = blocks_of(f"```sh\n{text}\n```\n", "page.md")
    return list(commands(block))


def test_a_shell_line_is_taken_apart() -> None:
    text = (
        "A=1 B=2 first --x 'a b' > out.txt  # a comment\n"
        "for n in 1 2; do second $n && third; done\n"
        "fourth \\\n    -y < in | fifth $(sixth z) || seventh\n"
    )
    assert [command.words for command in one(text)] == [
        ("first", "--x", "a b"),
        ("second", "$n"),
        ("third",),
        ("sixth", "z"),
        ("fourth", "-y"),
        ("fifth", "SUBSTITUTION"),
        ("seventh",),
    ]


def test_a_marker_belongs_to_the_block_after_it() -> None:
    page = "<!-- needs: a registry -->\n```sh\na\n```\n\n```sh\nb\n```\n"
    assert [(block.needs, block.line) for block in blocks_of(page, "p")] == [
        ("a registry", 2),
        ("", 6),
    ]


@pytest.mark.parametrize(
    ("program", "line", "said"),
    [
        (dbbench, "reprot quickstart", "reprot"),
        (dbbench, "report quickstart --outputs html", "--outputs"),
        (dbbench, "watch", "NAME"),
        (driver, "tpcx run", "tpcx"),
        (driver, "tpch run --scale-faktor 1", "--scale-faktor"),
        (make, "cluster-top", "cluster-top"),
        (make, "fuzz COUNTS=3", "COUNTS"),
        (helm, "install d charts/dbbench --namespace n", "charts/dbbench"),
        (helm, "install d charts/dbbench-operator --set kubevirts.enabled=true", "kubevirts"),
        (
            helm,
            "install d charts/dbbench-operator --set kubevirt.enabled=often",
            "kubevirt.enabled",
        ),
        (helm, "install d charts/dbbench-operator --sets a=b", "--sets"),
        (kubectl, "wait dbb/x --for=condition=Done", "Done"),
        (kubectl, "get dbbs", "dbbs"),
        (kubectl, "get dbb x -o jsonpath={.status.comparison}", "comparison"),
        (kubectl, "get pods -l dbbench.io/job-name=x", "dbbench.io/job-name"),
        (kubectl, "apply -f manifests/samples/slow.yaml", "slow.yaml"),
        (kubectl, "exterminate pods", "exterminate"),
        (kubectl, "dbbench lst", "lst"),
    ],
)
def test_a_wrong_command_is_found(
    program: object, line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(program)
    with pytest.raises(ValueError, match=re.escape(said)):
        program(line.split())
