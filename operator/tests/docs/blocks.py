"""Fenced blocks of the documentation, and the shell commands in them. No I/O but reading pages."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[3]
PAGES = (
    *sorted((PROJECT / "docs").rglob("*.md")),
    PROJECT / "README.md",
    PROJECT / "CONTRIBUTING.md",
)
_BLOCK = re.compile(
    r"(?:^<!-- needs: (?P<needs>[^\n]+?) -->\n\n?)?"
    r"^(?P<indent> *)```(?P<language>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.S | re.M,
)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SUBSTITUTION = re.compile(r"[$<]\(([^()]*)\)")
_REDIRECTION = re.compile(r"\d*(<|>|>>|>&|&>)")
_KEYWORDS = ("do", "then", "else", "!", "{", "sudo", "time")
_CONTROL = ("for", "done", "fi", "}", "if", "while")


@dataclass(frozen=True)
class Block:
    """One fenced block. `needs` is what its marker says that a test machine lacks; mostly empty."""

    page: str
    line: int
    language: str
    text: str
    needs: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A simple command as a shell reads it: without assignments, redirections and comments."""

    where: str
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        return self.words[0]

    @property
    def arguments(self) -> list[str]:
        return list(self.words[1:])


def blocks_of(text: str, page: str) -> Iterator[Block]:
    """All fenced blocks of a page, in their order."""
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("indent")) + 1
        yield Block(page, line, found["language"], found["text"], found["needs"] or "")


def blocks(*languages: str) -> list[Block]:
    """Blocks of all pages in one of these languages; all blocks when none is named."""
    return [
        block
        for path in PAGES
        for block in blocks_of(path.read_text(), str(path.relative_to(PROJECT)))
        if not languages or block.language in languages
    ]


def inline(path: Path) -> Iterator[tuple[str, str]]:
    """Place and text of each piece of code within a sentence or a table."""
    text = path.read_text()
    without = _BLOCK.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(without.splitlines(), 1):
        for found in _INLINE.finditer(line):
            yield f"{path.relative_to(PROJECT)}:{number}", found[1].replace(r"\|", "|")


def commands(block: Block) -> Iterator[Command]:
    """The simple commands of a block of shell; ValueError where a quote is not closed."""
    lines = block.text.replace("\\\n", " ").splitlines()
    for line in lines:
        yield from _commands(line, block.where)


def _commands(line: str, where: str) -> Iterator[Command]:
    for inner in _SUBSTITUTION.findall(line):
        yield from _commands(inner, where)
    lexer = shlex.shlex(
        _SUBSTITUTION.sub("SUBSTITUTION", line), posix=True, punctuation_chars=";&|<>"
    )
    lexer.whitespace_split = True
    words: list[str] = []
    redirected = False
    for word in [*lexer, ";"]:
        if _REDIRECTION.fullmatch(word):
            redirected = True
        elif redirected:
            redirected = False
        elif set(word) <= set(";&|"):
            if found := _simple(words):
                yield Command(where, found)
            words = []
        else:
            words.append(word)


def _simple(words: list[str]) -> tuple[str, ...]:
    while words and (words[0] in _KEYWORDS or re.match(r"[A-Za-z_]\w*=", words[0])):
        words = words[1:]
    return () if not words or words[0] in _CONTROL else tuple(words)
