"""Completion of commands, options and names: by click's scripts, and as kubectl asks for it."""

import sys

import pytest
from click.testing import CliRunner

from dbbench.cli import completion
from dbbench.cli.completion import SHELLS, kubectl
from dbbench.cli.main import _COMMANDS, cli

PATH = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks"


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A test machine may be slower than a user is patient."""
    monkeypatch.setattr(completion, "_PATIENCE_SECONDS", 60.0)


def completed(*words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-dbbench", *words])
    kubectl()
    *found, directive = capsys.readouterr().out.splitlines()
    assert directive == ":4"
    return [line.split("\t")[0] for line in found]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_is_printed(shell):
    found = CliRunner().invoke(cli, ["completion", shell])
    assert found.exit_code == 0
    assert f"_DBBENCH_COMPLETE={shell}_complete" in found.stdout


def test_commands_are_completed(monkeypatch, capsys):
    assert completed("", monkeypatch=monkeypatch, capsys=capsys) == list(_COMMANDS)
    assert completed("pre", monkeypatch=monkeypatch, capsys=capsys) == ["preflight"]


def test_options_are_completed(monkeypatch, capsys):
    assert "--timeout" in completed("watch", "--", monkeypatch=monkeypatch, capsys=capsys)


@pytest.mark.parametrize("command", ["watch", "report", "export", "logs", "debug"])
def test_names_of_benchmarks_are_completed(api, monkeypatch, capsys, command):
    names = [{"metadata": {"name": name}} for name in ("quick", "quiet", "slow")]
    api.answers[PATH] = [(200, {"items": names, "metadata": {}})]
    found = completed(command, "qui", monkeypatch=monkeypatch, capsys=capsys)
    assert found == ["quick", "quiet"]


def test_a_cluster_that_refuses_completes_nothing(api, monkeypatch, capsys):
    api.answers[PATH] = [(403, {"message": "no"})]
    assert completed("watch", "", monkeypatch=monkeypatch, capsys=capsys) == []
