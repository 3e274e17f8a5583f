"""Files of measurements as commands read them: a path, or - for standard input."""

import sys
from collections.abc import Sequence
from pathlib import Path

from dbbench.cli import long_form
from dbbench.cli.failure import CommandFailed

_MOST_PROBLEMS = 20


def name_of(file: str) -> str:
    """What messages call the file."""
    return "standard input" if file == "-" else file


def rows_of(file: str) -> list[long_form.Row]:
    """The rows of a file; CommandFailed lists what is wrong with it."""
    try:
        return long_form.read(_text(file, name_of(file)))
    except long_form.InputError as error:
        raise CommandFailed(listed(name_of(file), error.problems)) from error


def listed(name: str, problems: Sequence[long_form.Problem]) -> str:
    """The problems of a file, one a line."""
    lines = [f"{name}: {problem}" for problem in problems[:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        lines.append(f"{name}: and {len(problems) - _MOST_PROBLEMS} more")
    return "\n".join(lines)


def _text(file: str, name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise CommandFailed(f"{name}: {error.strerror or error}") from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise CommandFailed(f"{name}: line {line}: not UTF-8 text; convert the file") from error
