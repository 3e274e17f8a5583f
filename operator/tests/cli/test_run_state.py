"""How far a benchmark is, in the words of every command."""

from datetime import UTC, datetime

import pytest

from dbbench.cli.run_state import Ending, ending, line, news, reason, state

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def progress(done, current, **more):
    return {
        "trialsDone": done,
        "trialsPlanned": 6,
        "percent": 100 * done // 6,
        "current": current,
        **more,
    }


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], None),
        ([("Succeeded", "Unknown", "Running"), ("Reconciling", "True", "Running")], None),
        ([("Succeeded", "Unknown", "Running"), ("Stalled", "False", "Running")], None),
        ([("Succeeded", "True", "Measured", "6 trials")], Ending(True, "Measured: 6 trials")),
        (
            [("Succeeded", "False", "X"), ("Stalled", "True", "NodeMissing", "no node")],
            Ending(False, "NodeMissing: no node"),
        ),
        ([("Succeeded", "False", "GateFailed", "")], Ending(False, "GateFailed")),
    ],
)
def test_an_ending_is_read_as_kstatus_reads_it(benchmark_of, conditions, expected):
    assert ending(benchmark_of(*conditions)) == expected


def test_conditions_of_an_older_spec_are_no_ending(benchmark_of):
    benchmark = benchmark_of(("Succeeded", "True"), observedGeneration=0)
    assert ending(benchmark) is None
    assert state(benchmark, NOW, 1) == "waiting for the operator"


def test_an_operator_that_does_not_look_is_asked_after(benchmark_of):
    benchmark = benchmark_of(observedGeneration=-1)
    assert "Does it run?" in state(benchmark, NOW, 60)


def test_the_state_tells_what_runs_and_how_long_it_will_take(benchmark_of):
    benchmark = benchmark_of(
        progress=progress(
            1, "b001.vm.orders: measuring", estimatedCompletionTime="2026-11-21T09:12:00Z"
        )
    )
    assert state(benchmark, NOW, 1) == "b001.vm.orders: measuring (about 1 h 12 min left)"


def test_the_time_that_is_left_is_no_news(benchmark_of):
    benchmark = benchmark_of(
        progress=progress(1, "loading", estimatedCompletionTime="2026-11-21T08:05:00Z")
    )
    assert line(benchmark, NOW, 1) == "1/6 trials, 16 % loading (about 5 min left)"
    assert news(benchmark, 1) == "1/6 trials, 16 % loading"


def test_an_ending_has_no_time_left(benchmark_of):
    benchmark = benchmark_of(
        ("Succeeded", "True", "Measured"),
        progress=progress(6, "done", estimatedCompletionTime="2026-11-21T08:05:00Z"),
    )
    assert state(benchmark, NOW, 1) == "succeeded: Measured"


def test_the_reason_has_the_place_in_the_queue(benchmark_of):
    queue = {"position": 3, "node": "node a", "benchmark": "db/other"}
    assert reason(benchmark_of(reason="Queued", queue=queue)) == "Queued (3)"
    assert reason(benchmark_of()) == ""
