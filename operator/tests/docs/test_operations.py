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
# Tables, constants and variables that hold reasons.
NAMED = ("_FINAL", "reason", "QUEUED", "SUSPENDED")
POSITION = {"Problem": 0, "Finding": 1, "Verdict": 1, "phase_findings": 1}


def reasons(tree: ast.AST) -> Iterator[str]:
    """Literal reasons in calls, and in the tables and fallbacks that feed them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            position = POSITION.get(node.func.id)
            if position is not None and len(node.args) > position:
                yield from literals(node.args[position])
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "reason":
                    yield from literals(keyword.value)
        if isinstance(node, ast.Assign) and any(
            isinstance(name, ast.Name) and name.id in NAMED
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


def explained() -> set[str]:
    """First columns of the tables of reasons; in that of other conditions, the second."""
    found: set[str] = set()
    for title, text in re.findall(r"^### (Reasons.*?)$(.*?)(?=^##)", PAGE, re.S | re.M):
        column = 2 if title == "Reasons of the other conditions" else 1
        rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
        for row in rows[1:]:
            found |= set(re.findall(r"`([A-Z][A-Za-z]+)`", row[column]))
    return found


def test_the_page_explains_no_reason_that_there_is_not() -> None:
    known = FOUND | driver_reasons()
    assert {"NodeNotFound", "Queued", "Emulated", "StatementTimeout"} <= explained()
    assert sorted(explained() - known) == []
