"""Processes that are started, found again and killed: real ones."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from localcluster.errors import ClusterError
from localcluster.processes import Processes, children, kill, parse_stat, run


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path, tmp_path / "processes", tmp_path / "logs")
    yield made
    kill(made.all())


def test_stat_is_read_past_a_name_with_parentheses_and_spaces() -> None:
    fields = " ".join(["S", "17", *["0"] * 17, "4711", "0"])
    assert parse_stat(f"42 (a (b) c) {fields}") == ("S", 17, 4711)


def test_process_is_started_once_and_found_by_another_instance(
    processes: Processes, tmp_path: Path
) -> None:
    assert processes.ensure("sleeper", ["sleep", "60"]) is True
    assert processes.ensure("sleeper", ["sleep", "60"]) is False
    again = Processes(tmp_path, tmp_path / "processes", tmp_path / "logs")
    assert again.find("sleeper") == processes.find("sleeper") is not None


def test_killed_process_is_gone_and_can_be_started_again(processes: Processes) -> None:
    process = processes.start("sleeper", ["sleep", "60"])
    kill([process])
    assert processes.find("sleeper") is None
    assert processes.ensure("sleeper", ["sleep", "60"]) is True


def test_recycled_pid_is_not_taken_for_ours(processes: Processes, tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            text = Path(f"/proc/{stranger.pid}/stat").read_text()
            record = {"pid": stranger.pid, "started": parse_stat(text)[2]}
            (tmp_path / "processes").mkdir()
            (tmp_path / "processes/sleeper.json").write_text(json.dumps(record))
            assert processes.find("sleeper") is None
        finally:
            stranger.kill()


def test_process_that_becomes_other_programs_is_never_lost(processes: Processes) -> None:
    chain = [*("env",) * 20, "sleep", "100"]
    for _ in range(20):
        process = processes.start("a", chain)
        assert all(processes.find("a") == process for _ in range(100))
        kill([process])


def test_process_without_a_record_is_still_known_as_ours(
    processes: Processes, tmp_path: Path
) -> None:
    process = processes.start("sleeper", ["sleep", "60"])
    (tmp_path / "processes/sleeper.json").unlink()
    assert [found.pid for found in processes.all()] == [process.pid]


def test_clusters_do_not_see_each_others_processes(processes: Processes, tmp_path: Path) -> None:
    processes.start("sleeper", ["sleep", "60"])
    other = Processes(tmp_path / "other", tmp_path / "processes", tmp_path / "logs")
    assert other.all() == []
    assert other.find("sleeper") is None


def test_children_are_found() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            assert child.pid in [process.pid for process in children(os.getpid())]
        finally:
            child.kill()


def test_end_of_the_log_is_at_hand_for_a_message(processes: Processes) -> None:
    process = processes.start("talker", ["sh", "-c", "echo first; echo last; sleep 60"])
    while "last" not in processes.log("talker").read_text():
        assert process.is_alive()
    assert processes.log_tail("talker", lines=1).endswith(":\n  last")


def test_failed_command_is_an_error_with_its_own_words() -> None:
    with pytest.raises(ClusterError, match=r"failed \(2\).*no such place"):
        run(["sh", "-c", "echo no such place >&2; exit 2"])


def test_missing_program_is_named() -> None:
    with pytest.raises(ClusterError, match="`no-such-program` is not installed"):
        run(["no-such-program"])
