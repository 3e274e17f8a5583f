"""The page of all benchmarks: what runs, what waits and what has ended. No I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.dashboard.frame import live, page
from dbbench.cli.dashboard.parts import (
    Stand,
    age,
    bar,
    clock,
    emulated,
    href,
    marked,
    shortened,
    stand,
    waited,
    when,
    worst,
)
from dbbench.cli.run_state import count, ending, reason, remaining, state
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.tables import table

_MOST_ENDED = 200


@dataclass(frozen=True)
class Unreadable:
    """A benchmark that this version cannot read, and why."""

    namespace: str
    name: str
    why: str


def overview(
    benchmarks: Sequence[DBBenchmark],
    unreadable: Sequence[Unreadable],
    scope: str,
    now: datetime,
) -> str:
    """The page; `scope` says which benchmarks these are."""
    groups: dict[Stand, list[DBBenchmark]] = {found: [] for found in Stand}
    for one in benchmarks:
        groups[stand(one)].append(one)
    running = sorted(groups[Stand.RUNNING], key=_name)
    waiting = sorted(groups[Stand.WAITING], key=_place)
    ended = sorted(groups[Stand.SUCCEEDED] + groups[Stand.FAILED], key=_end, reverse=True)
    counts = {"running": running, "waiting": waiting, "ended": ended, "not readable": unreadable}
    told = ", ".join(f"{len(found)} {word}" for word, found in counts.items() if found)
    main = [
        element(
            "header",
            element("p", f"Benchmarks in {scope}", class_="where"),
            live("told", element("h1", told or "No benchmarks yet")),
        ),
        live("running", _section("Running", "Results are of the blocks that are whole.",
                                 _running(running, now))),
        live("waiting", _section("Waiting", "Position 1 is next.", _waiting(waiting, now))),
        live("ended", _section("Ended", "What cannot start, then the latest first.",
                               _ended(ended[:_MOST_ENDED], now)), _left_out(len(ended))),
        live("unreadable", _section("Not readable", "They are of another version of dbbench.",
                                    _unreadable(unreadable))),
        live("first", None if benchmarks or unreadable else _first()),
    ]  # fmt: skip
    return page(told or "No benchmarks", main, now)


def _name(benchmark: DBBenchmark) -> tuple[str, str]:
    return benchmark.metadata.namespace, benchmark.metadata.name


def _place(benchmark: DBBenchmark) -> tuple[float, str, str]:
    queue = benchmark.status.queue
    return (queue.position if queue else float("inf"), *_name(benchmark))


def _end(benchmark: DBBenchmark) -> tuple[str, str, str]:
    # What cannot start has no end, and somebody should look at it: before all others.
    return (benchmark.status.completion_time or "later", *_name(benchmark))


def _section(title: str, caption: str, content: tuple[Sequence[str], list[list[Child]]]) -> Child:
    header, rows = content
    if not rows:
        return None
    texts = {n for n, name in enumerate(header) if name not in ("trials", "age")}
    return element(
        "section", element("h2", title), table(caption, header, rows, texts=texts, kind="runs")
    )


def _running(
    found: Iterable[DBBenchmark], now: datetime
) -> tuple[Sequence[str], list[list[Child]]]:
    header = ("benchmark", "engine", "state", "progress", "now", "expected end", "worst slowdown",
              "age")  # fmt: skip
    return header, [
        [
            _link(one),
            _engine(one),
            marked(Stand.RUNNING, reason(one) or "starting"),
            [bar(one), count(one)],
            shortened(one.status.progress.current if one.status.progress else ""),
            _expected(one, now),
            worst(one),
            age(one, now),
        ]
        for one in found
    ]


def _waiting(
    found: Iterable[DBBenchmark], now: datetime
) -> tuple[Sequence[str], list[list[Child]]]:
    header = ("benchmark", "engine", "state", "waits for", "progress", "age")
    return header, [
        [
            _link(one),
            _engine(one),
            marked(Stand.WAITING, reason(one) or "new"),
            _waits_for(one, now),
            [bar(one), count(one)] if one.status.progress else None,
            age(one, now),
        ]
        for one in found
    ]


def _ended(found: Iterable[DBBenchmark], now: datetime) -> tuple[Sequence[str], list[list[Child]]]:
    header = ("benchmark", "engine", "state", "why", "worst slowdown", "trials", "ended", "age")
    rows: list[list[Child]] = []
    for one in found:
        end, progress = ending(one), one.status.progress
        if end is None:
            continue
        rows.append([
            _link(one),
            _engine(one),
            marked(stand(one), stand(one).value),
            shortened(end.text),
            worst(one),
            f"{progress.trials_done}/{progress.trials_planned}" if progress else None,
            when(one.status.completion_time, now),
            age(one, now),
        ])  # fmt: skip
    return header, rows


def _unreadable(found: Iterable[Unreadable]) -> tuple[Sequence[str], list[list[Child]]]:
    return ("benchmark", "why"), [
        [f"{one.namespace} / {one.name}", shortened(one.why)] for one in found
    ]


def _link(benchmark: DBBenchmark) -> Safe:
    metadata = benchmark.metadata
    link = element(
        "a", metadata.name, href=href(benchmark), id=f"to-{metadata.namespace}/{metadata.name}"
    )
    return element("span", element("small", f"{metadata.namespace} / "), link, " ",
                   emulated(benchmark))  # fmt: skip


def _engine(benchmark: DBBenchmark) -> Safe:
    return element("span", benchmark.spec.database.engine.value, class_="whole")


def _expected(benchmark: DBBenchmark, now: datetime) -> Child:
    left, progress = remaining(benchmark, now), benchmark.status.progress
    if not left or progress is None:
        return None
    return [clock(progress.estimated_completion_time, now), f", {left} left"]


def _waits_for(benchmark: DBBenchmark, now: datetime) -> str:
    queue = benchmark.status.queue
    if queue is not None:
        return f"{queue.node}: {queue.benchmark}"
    return shortened(state(benchmark, now, waited(benchmark, now)))


def _left_out(ended: int) -> Child:
    if ended <= _MOST_ENDED:
        return None
    return element(
        "p", f"{ended - _MOST_ENDED} that ended earlier are left out; dbbench list shows them."
    )


def _first() -> Safe:
    return element(
        "p", "dbbench init writes a benchmark into a file; dbbench run FILE starts it, and it "
        "appears here."
    )  # fmt: skip
