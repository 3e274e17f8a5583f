"""What the dashboard's pages have in common: links, bars, times, verdicts. No I/O."""

from datetime import UTC, datetime
from enum import StrEnum

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.run_state import bounds, cell_name, ending
from dbbench.evaluate.tenure import QUEUED, SUSPENDED
from dbbench.results.figures import interval, percent
from dbbench.results.page.forest import verdict
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.wording import label

_LONGEST = 240


class Stand(StrEnum):
    """How a benchmark stands."""

    RUNNING = "running"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


# Shapes, beside the words: colour only helps.
_MARKS = {Stand.RUNNING: "▶", Stand.WAITING: "○", Stand.SUCCEEDED: "✓", Stand.FAILED: "✗"}


def stand(benchmark: DBBenchmark) -> Stand:
    """It waits for the operator, for its nodes, or to be resumed; it runs; or it has ended."""
    end, status = ending(benchmark), benchmark.status
    if end is not None:
        return Stand.SUCCEEDED if end.succeeded else Stand.FAILED
    if status.observed_generation < 0 or status.queue or status.reason in (QUEUED, SUSPENDED):
        return Stand.WAITING
    return Stand.RUNNING


def href(benchmark: DBBenchmark, document: str = "") -> str:
    """Address of its page, or of a document of its results."""
    path = f"/benchmarks/{benchmark.metadata.namespace}/{benchmark.metadata.name}"
    return f"{path}/{document}" if document else path


def marked(found: Stand, words: str) -> Safe:
    """Words about how it stands, with the mark of it."""
    mark = element("span", _MARKS[found], aria_hidden="true")
    return element("span", mark, f" {words}", class_=f"state {found.value}")


def bar(benchmark: DBBenchmark) -> Safe | None:
    """The share of trials that are done."""
    progress = benchmark.status.progress
    if progress is None:
        return None
    return element(
        "progress",
        f"{progress.percent} %",
        max=max(progress.trials_planned, 1),
        value=progress.trials_done,
        aria_label=f"trials of {benchmark.metadata.name}",
    )


def worst(benchmark: DBBenchmark) -> Child:
    """The greatest slowdown with its interval and its verdict; nothing before there is one."""
    comparisons = benchmark.status.comparisons
    if not comparisons:
        return None
    found = max(comparisons, key=lambda one: float(one.slowdown))
    return [
        element("strong", percent(float(found.slowdown))),
        " ",
        verdict(found.verdict.value),
        element("br"),
        element("small", f"{interval(bounds(found))}: "
                f"{label(found.target, found.emulated)}, {cell_name(found)}"),
    ]  # fmt: skip


def emulated(benchmark: DBBenchmark) -> Safe | None:
    """A badge where anything of it ran under software emulation."""
    environment = benchmark.status.environment
    targets = environment.targets if environment else []
    comparisons = benchmark.status.comparisons
    if any(one.emulated for one in targets) or any(one.emulated for one in comparisons):
        return element("span", "emulated", class_="badge")
    return None


def waited(benchmark: DBBenchmark, now: datetime) -> float:
    """Seconds since it was created."""
    created = benchmark.metadata.creation_timestamp
    return (now - datetime.fromisoformat(created)).total_seconds() if created else 0.0


def age(benchmark: DBBenchmark, now: datetime) -> str:
    """Time since it was created, in one unit."""
    return since(waited(benchmark, now)) if benchmark.metadata.creation_timestamp else "-"


def since(seconds: float) -> str:
    """A time in one unit: `3 min`, `5 h`, `12 d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= (2 * size if size > 60 else size):
            return f"{int(seconds // size)} {unit}"
    return "< 1 min"


def when(moment: str | None, now: datetime) -> Child:
    """How long ago; the moment itself beside it for programs and on pointing."""
    if moment is None:
        return "-"
    at = datetime.fromisoformat(moment)
    text = f"{since((now - at).total_seconds())} ago"
    return element("time", text, datetime=moment, title=f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC")


def clock(moment: str | None, now: datetime) -> Child:
    """The time of day where the reader is, with the date where that is another day."""
    if moment is None:
        return "-"
    at = datetime.fromisoformat(moment).astimezone()
    form = "%H:%M" if at.date() == now.astimezone().date() else "%Y-%m-%d %H:%M"
    return element("time", f"{at:{form}}", datetime=moment)


def shortened(text: str) -> str:
    """The beginning of a long text: the benchmark's own page has all of it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
