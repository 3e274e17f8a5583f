"""What `dbbench watch` makes of a benchmark's status."""

import io
from datetime import UTC, datetime

from rich.console import Console

from dbbench.cli.watch_view import LineView, screen

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


def progress(done, current, **more):
    return {
        "trialsDone": done,
        "trialsPlanned": 6,
        "percent": 100 * done // 6,
        "current": current,
        **more,
    }


def lines_of(*benchmarks):
    text = io.StringIO()
    view = LineView(Console(file=text, width=40))
    for number, benchmark in enumerate(benchmarks):
        view.show(benchmark, NOW, number)
    # Without the time of day, which is that of the machine's zone.
    return [line[9:] for line in text.getvalue().splitlines()]


def test_lines_are_printed_for_changes_only(benchmark_of):
    first = benchmark_of(progress=progress(0, "starting pod"))
    later = benchmark_of(
        progress=progress(0, "starting pod", estimatedCompletionTime="2026-11-21T08:05:00Z")
    )
    loading = benchmark_of(progress=progress(0, "loading orders", trialsInvalid=1))
    assert lines_of(first, first, later, loading, loading) == [
        "0/6 trials, 0 % starting pod",
        "0/6 trials, 0 %, 1 not usable loading orders",
    ]


def test_results_are_printed_when_a_block_adds_to_them_with_their_emulation(benchmark_of):
    from_two = {
        "workload": "orders",
        "cell": "",
        "target": "vm",
        "metric": "throughput",
        "unit": "per_second",
        "baselineValue": "150",
        "targetValue": "100",
        "slowdown": "0.5",
        "confidenceInterval": {"low": "0.4", "high": "0.6", "level": "0.95"},
        "verdict": "Slower",
        "blocks": 2,
        "emulated": True,
    }
    measured = progress(4, "measuring")
    benchmarks = [
        benchmark_of(progress=measured, comparisons=[from_two]),
        benchmark_of(progress=measured, comparisons=[from_two]),
        benchmark_of(progress=measured, comparisons=[from_two | {"blocks": 3}]),
    ]
    lines = lines_of(*benchmarks)
    assert lines[1:] == [
        "  vm/orders: slowdown +50.00 %, 95 % interval +40.00 to +60.00 % "
        "(Slower, 2 blocks, emulated: not representative)",
        "  vm/orders: slowdown +50.00 %, 95 % interval +40.00 to +60.00 % "
        "(Slower, 3 blocks, emulated: not representative)",
    ]


def test_each_news_of_a_tested_cause_is_a_line(benchmark_of):
    test = {
        "workload": "orders",
        "cell": "",
        "target": "vm",
        "cause": "ioWait",
        "slowdownBefore": "0.5",
        "verdict": "Inconclusive",
        "message": "waiting for I/O: not measured yet",
    }
    told = test | {"verdict": "Confirmed", "message": "waiting for I/O: confirmed"}
    measured = progress(4, "measuring")
    lines = lines_of(
        *(benchmark_of(progress=measured, confirmations=[one]) for one in (test, test, told))
    )
    assert lines[1:] == [
        "  vm/orders, cause tested: waiting for I/O: not measured yet",
        "  vm/orders, cause tested: waiting for I/O: confirmed",
    ]


def test_the_screen_shows_progress_warnings_and_results(benchmark_of):
    benchmark = benchmark_of(
        ("Representative", "False", "Emulated", "no hardware virtualization"),
        progress=progress(3, "measuring [vm]"),
        comparisons=[
            {
                "workload": "orders",
                "cell": "connection=Shared",
                "target": "vm",
                "metric": "throughput",
                "unit": "per_second",
                "baselineValue": "150",
                "targetValue": "100",
                "slowdown": "0.5",
                "verdict": "Inconclusive",
                "blocks": 1,
                "cause": "steal: 60 % [of] the slowdown",
            }
        ],
        confirmations=[
            {
                "workload": "orders",
                "cell": "connection=Shared",
                "target": "vm",
                "cause": "steal",
                "slowdownBefore": "0.5",
                "verdict": "NotTested",
                "message": "steal: not [tested]",
            }
        ],
    )
    text = io.StringIO()
    Console(file=text, width=160).print(screen(benchmark, NOW, 1))
    shown = text.getvalue()
    assert "3/6 trials, 50 %" in shown
    assert "measuring [vm]" in shown
    assert "Representative=False: Emulated: no hardware virtualization" in shown
    row = next(line for line in shown.splitlines() if "connection=Shared" in line)
    assert " ".join(row.split()) == (
        "orders/connection=Shared vm 150 /s 100 /s +50.00 % - Inconclusive 1"
    )
    assert "orders on vm: steal: 60 % [of] the slowdown" in shown
    assert "vm/orders/connection=Shared, cause tested: steal: not [tested]" in shown
    narrow = io.StringIO()
    Console(file=narrow, width=80).print(screen(benchmark, NOW, 1, 80))
    assert "Inconclusive" in narrow.getvalue()
    assert "150 /s" not in narrow.getvalue()
