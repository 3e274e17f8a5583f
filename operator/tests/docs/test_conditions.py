"""docs/reference/conditions.md has every reason of a condition or a record, with its cure."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dbbench

PROJECT = Path(__file__).parents[3]
PAGE = (PROJECT / "docs" / "reference" / "conditions.md").read_text()
SOURCES = sorted((Path(dbbench.__file__).parent / "evaluate").glob("*.py"))
REASON = re.compile(r"[A-Z][A-Za-z]+")
# Tables, constants and variables that hold reasons.
NAMED = ("_FINAL", "reason", "QUEUED", "SUSPENDED")
# Constructors and functions with the position of their reason.
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
        found |= set(
            re.findall(r'(?:Exit::[A-Za-z]+,|inconsistent\()\s*"([A-Za-z]+)"', path.read_text())
        )
    return found


FOUND = {reason for path in SOURCES for reason in reasons(ast.parse(path.read_text()))}


# Words of Kubernetes, of KubeVirt and of the driver that the operator compares with or names.
FOREIGN = {
    "Job", "Secret", "ConfigMap", "Cluster", "PersistentVolumeClaim", "VirtualMachine",
    "StatefulSet", "True", "False", "Ready", "Complete", "Failed", "Failure", "Pending",
    "PodScheduled", "Stopped", "BackOff", "CrashLoopBackOff", "CreateContainerConfigError",
    "CreateContainerError", "Unhealthy", "DataVolumeError", "Err", "ErrImageNeverPull",
    "ErrImagePull", "Error", "ImagePullBackOff", "InvalidImageName", "RunContainerError",
    "CPUManager", "HostDisk", "MTU", "Masquerade", "TLS", "User",
    # Phases, states of the queue and of rights, and reasons to stop, which are in the message.
    "Stalled", "Succeeded", "Blocked", "Holds", "Waits", "Forbidden", "Yes", "No", "State",
    "MaxBlocksReached", "TargetHalfWidthReached",
}  # fmt: skip


def words() -> set[str]:
    """Every literal of the package that could be a reason: one word that begins with a capital."""
    return {word for path in SOURCES for word in literals(ast.parse(path.read_text()))}


def test_no_word_that_could_be_a_reason_is_overlooked() -> None:
    """Whatever way a new reason takes to a condition, it is a literal that somebody must sort."""
    assert sorted(words() - explained() - FOREIGN) == []


def test_every_reason_has_a_cause_and_a_cure() -> None:
    for line in rows():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if cells[0] == "`Measured`":
            continue
        assert all(cells[1:]), line
        assert len(cells) in (3, 4), line


def test_the_search_finds_reasons_of_every_kind() -> None:
    assert {"NodeNotFound", "Emulated", "ResultLost", "GateFailed", "InvalidArguments"} <= FOUND
    assert "DatabaseUnreachable" in driver_reasons()


@pytest.mark.parametrize("reason", sorted(FOUND))
def test_the_page_explains_the_reason(reason: str) -> None:
    assert f"`{reason}`" in PAGE


@pytest.mark.parametrize("reason", sorted(driver_reasons()))
def test_the_page_explains_the_reason_of_the_driver(reason: str) -> None:
    assert f"`{reason}`" in PAGE


def tables() -> Iterator[tuple[str, list[str]]]:
    """Title of each section about reasons, with the lines of its tables below their headings."""
    for title, text in re.findall(r"^## (Reasons.*?)$(.*?)(?=^##|\Z)", PAGE, re.S | re.M):
        lines = [line for line in text.splitlines() if line.startswith("|")]
        body = [
            line
            for line, after in zip(lines, [*lines[1:], ""], strict=True)
            if not set(line) <= set("|- ") and not (after and set(after) <= set("|- "))
        ]
        yield title, body


def rows() -> list[str]:
    return [line for _, lines in tables() for line in lines]


def explained() -> set[str]:
    """First columns of the tables of reasons; in that of other conditions, the second."""
    found: set[str] = set()
    for title, lines in tables():
        column = 2 if title == "Reasons of the other conditions" else 1
        for line in lines:
            found |= set(re.findall(r"`([A-Z][A-Za-z]+)`", line.split("|")[column]))
    return found


def test_the_page_explains_no_reason_that_there_is_not() -> None:
    known = FOUND | driver_reasons()
    assert {"NodeNotFound", "Queued", "Emulated", "StatementTimeout"} <= explained()
    assert sorted(explained() - known) == []
