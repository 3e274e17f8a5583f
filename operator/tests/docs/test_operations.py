"""Every reason that a condition or a record can have is explained in docs/operations.md."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dbbench

PROJECT = Path(__file__).parents[3]
PAGE = (PROJECT / "docs" / "operations.md").read_text()
SOURCES = sorted((Path(dbbench.__file__).parent / "evaluate").glob("*.py"))
REASON = re.compile(r"[A-Z][A-Za-z]+")
# Constructors and functions with the position of their reason.
POSITION = {"Problem": 0, "Finding": 1, "Verdict": 1, "phase_findings": 1}


def reasons(tree: ast.AST) -> Iterator[str]:
    """Literal reasons in calls, and in the tables and fallbacks that feed them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            position = POSITION.get(node.func.id)
            if position is not None and len(node.args) > position:
                yield from literals(node.args[position])
        if isinstance(node, ast.Assign) and any(
            isinstance(name, ast.Name) and name.id in ("_FINAL", "reason")
            for target in node.targets
            for name in ast.walk(target)
        ):
            yield from literals(node.value)


def literals(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if (
            isinstance(part, ast.Constant)
            and isinstance(part.value, str)
            and REASON.fullmatch(part.value)
        ):
            yield part.value


def driver_reasons() -> set[str]:
    found = set()
    for path in (PROJECT / "workloads" / "driver" / "src").rglob("*.rs"):
        found |= set(re.findall(r'Exit::[A-Za-z]+,\s*"([A-Za-z]+)"', path.read_text()))
    return found


FOUND = {reason for path in SOURCES for reason in reasons(ast.parse(path.read_text()))}


def test_the_search_finds_reasons_of_every_kind() -> None:
    assert {"NodeNotFound", "Emulated", "ResultLost", "GateFailed", "InvalidArguments"} <= FOUND
    assert "DatabaseUnreachable" in driver_reasons()


@pytest.mark.parametrize("reason", sorted(FOUND))
def test_the_page_explains_the_reason(reason: str) -> None:
    assert f"`{reason}`" in PAGE


@pytest.mark.parametrize("reason", sorted(driver_reasons()))
def test_the_page_explains_the_reason_of_the_driver(reason: str) -> None:
    assert f"`{reason}`" in PAGE
