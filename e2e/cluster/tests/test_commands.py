"""The command line: what it takes, and what it says when it cannot go on."""

from pathlib import Path

import pytest
from localcluster import commands
from localcluster.layout import Layout


def test_up_takes_node_names() -> None:
    assert commands.parser().parse_args(["up", "--nodes", "a,b"]).nodes == "a,b"
    assert commands.parser().parse_args(["up"]).nodes is None


def test_import_takes_archives() -> None:
    options = commands.parser().parse_args(["import", "a.tar", "b.tar"])
    assert options.archives == [Path("a.tar"), Path("b.tar")]


@pytest.mark.parametrize(
    "arguments",
    [[], ["import"], ["node", "reboot", "a"], ["restart", "kubelet"], ["up", "--bogus"]],
)
def test_wrong_arguments_end_with_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        commands.parser().parse_args(arguments)
    assert ended.value.code == 2
    assert "usage: cluster" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["status", "kubeconfig"])
def test_without_a_cluster_the_message_names_the_way_out(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Layout, "of_project", lambda: Layout(tmp_path))
    assert commands.cluster_main([command]) == 1
    assert "no cluster here; start one with" in capsys.readouterr().err


def test_bad_node_name_is_refused_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Layout, "of_project", lambda: Layout(tmp_path))
    assert commands.cluster_main(["up", "--nodes", "Bench_1"]) == 1
    assert "cannot be a node's name" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_ordinary_user_is_told_to_be_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Layout, "of_project", lambda: Layout(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert commands.cluster_main(["up"]) == 1
    assert "the cluster needs root" in capsys.readouterr().err
    assert not (tmp_path / ".state/cluster").exists()
