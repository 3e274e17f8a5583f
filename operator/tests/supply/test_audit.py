"""Answers of the auditors are read, and an auditor without an answer is no clean bill."""

import json
import subprocess

import pytest

from supply import audit
from supply.audit import Answer


@pytest.mark.parametrize(
    ("read", "output", "found"),
    [
        (
            audit.of_pip_audit,
            {"dependencies": [{"name": "a", "vulns": []}, {"name": "b", "vulns": [{"id": "X-1"}]}]},
            ["b X-1"],
        ),
        (
            audit.of_cargo_audit,
            {
                "vulnerabilities": {
                    "list": [{"package": {"name": "c"}, "advisory": {"id": "RUSTSEC-1"}}]
                }
            },
            ["c RUSTSEC-1"],
        ),
    ],
)
def test_findings_are_named(read, output, found):
    assert read(json.dumps(output)) == found


def test_packages_that_pip_audit_passes_over_are_not_clean(monkeypatch):
    """An index without advisories of single versions answers so for every package."""
    packages = [{"name": "a", "vulns": []}, {"name": "b", "skip_reason": "b (1) not found"}]
    output = json.dumps({"dependencies": packages})
    ended = subprocess.CompletedProcess([], 0, output, "No known vulnerabilities found\n")
    monkeypatch.setattr(audit, "_run", lambda *_: ended)
    line = audit.python("requirements.txt").line
    assert line.startswith("NOT CHECKED")
    assert "1 of 2 packages were not looked up: b (1) not found" in line


def test_what_was_found_is_told_beside_what_was_not_asked():
    line = Answer("a", ("b X-1",), "1 of 2 packages were not looked up").line
    assert line == "FOUND        a  b X-1; 1 of 2 packages were not looked up"


def test_govulncheck_writes_one_document_after_the_other():
    output = '{"config": {}}\n{"finding": {"osv": "GO-2"}}\n{"finding": {"osv": "GO-2"}}\n'
    assert audit.of_govulncheck(output) == ["GO-2"]


def test_a_program_that_could_not_ask_has_checked_nothing(monkeypatch):
    ended = subprocess.CompletedProcess([], 1, "", "trying\nno route to host\n")
    monkeypatch.setattr(audit, "_run", lambda *_: ended)
    answer = audit.python("requirements.txt")
    assert answer == Answer("requirements.txt", unasked="no route to host")
    assert answer.line.startswith("NOT CHECKED")


def test_a_program_that_is_not_there_has_checked_nothing(monkeypatch):
    monkeypatch.setattr(audit.shutil, "which", lambda _: None)
    assert audit.rust().unasked == "cargo-audit is not installed"
    assert audit.go().unasked == "govulncheck is not installed"


@pytest.mark.parametrize(
    ("answers", "options", "code"),
    [
        ([Answer("a")], [], 0),
        ([Answer("a", ("X-1",))], [], 1),
        ([Answer("a", unasked="no network")], [], 0),
        ([Answer("a", unasked="no network")], ["--strict"], 1),
    ],
)
def test_what_was_found_fails_and_strictly_what_was_not_checked_too(
    monkeypatch, capsys, answers, options, code
):
    monkeypatch.setattr("sys.argv", ["audit", *options])
    monkeypatch.setattr(audit, "python", lambda _: answers[0])
    for name in ("rust", "go"):
        monkeypatch.setattr(audit, name, lambda: Answer("clean"))
    assert audit.main() == code
    assert ("Not everything was checked" in capsys.readouterr().out) == bool(answers[0].unasked)
