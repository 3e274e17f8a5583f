"""What `dbbench watch` shows: a screen on a terminal, lines elsewhere. No cluster access."""

from dataclasses import dataclass
from datetime import datetime

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.status import (
    Comparison,
    Condition,
    ConditionStatus,
    ConditionType,
    Confirmation,
)
from dbbench.cli.comparison_view import STYLES
from dbbench.results.figures import interval, level, percent, quantity

# By then an operator that runs has looked at a new object many times over.
_OPERATOR_PATIENCE_SECONDS = 20
_WIDTH_WITH_VALUES = 110


@dataclass(frozen=True)
class Ending:
    """How a benchmark ended, and why."""

    succeeded: bool
    text: str


def ending(benchmark: DBBenchmark) -> Ending | None:
    """None while it runs, and as long as the operator has not seen the newest spec.

    As kstatus has it: Succeeded=True is success; Succeeded=False and Stalled=True are failures.
    """
    if not _current(benchmark):
        return None
    succeeded = _condition(benchmark, ConditionType.SUCCEEDED)
    stalled = _condition(benchmark, ConditionType.STALLED)
    if succeeded is not None and succeeded.status is ConditionStatus.TRUE:
        return Ending(True, _told(succeeded))
    if stalled is not None and stalled.status is ConditionStatus.TRUE:
        return Ending(False, _told(stalled))
    if succeeded is not None and succeeded.status is ConditionStatus.FALSE:
        return Ending(False, _told(succeeded))
    return None


def screen(
    benchmark: DBBenchmark, now: datetime, waited: float, width: int = _WIDTH_WITH_VALUES
) -> RenderableType:
    """Progress bar, what runs now, and the results so far."""
    progress = benchmark.status.progress
    parts: list[RenderableType] = []
    if progress is not None:
        line = Table.grid(padding=(0, 2))
        line.add_row(
            Text(benchmark.metadata.name, style="bold"),
            ProgressBar(total=max(progress.trials_planned, 1), completed=progress.trials_done,
                        width=40),
            _count(benchmark),
        )  # fmt: skip
        parts.append(line)
    parts.append(Text(state(benchmark, now, waited)))
    parts += [Text(text, style="yellow") for text in _warnings(benchmark)]
    if benchmark.status.comparisons:
        parts.append(_results(benchmark, width))
    return Group(*parts)


def state(benchmark: DBBenchmark, now: datetime, waited: float) -> str:
    """One sentence: what happens now, and when it is expected to end."""
    status = benchmark.status
    if not _current(benchmark):
        text = "waiting for the operator"
        if waited > _OPERATOR_PATIENCE_SECONDS:
            text += (
                "; it has not looked at this benchmark yet. Does it run? "
                "kubectl get pods -A -l app.kubernetes.io/name=dbbench-operator"
            )
        return text
    end = ending(benchmark)
    if end is not None:
        return f"{'succeeded' if end.succeeded else 'failed'}: {end.text}"
    text = (status.progress.current if status.progress else "") or status.reason or "starting"
    left = remaining(benchmark, now)
    return f"{text} (about {left} left)" if left else text


def result_line(found: Comparison) -> str:
    """One comparison in one line."""
    where = f"{found.workload}/{found.cell}" if found.cell else found.workload
    bounds = _bounds(found)
    sure = f", {level(float(found.confidence_interval.level))} interval {interval(bounds)}" if (
        found.confidence_interval and bounds
    ) else ""  # fmt: skip
    emulated = ", emulated: not representative" if found.emulated else ""
    blocks = f"{found.blocks} block{'' if found.blocks == 1 else 's'}"
    return (
        f"{found.target}/{where}: slowdown {percent(float(found.slowdown))}{sure} "
        f"({found.verdict.value}, {blocks}{emulated})"
    )


def tested_line(found: Confirmation) -> str:
    """What came of the test of a cause, in one line."""
    where = f"{found.workload}/{found.cell}" if found.cell else found.workload
    return f"{found.target}/{where}, cause tested: {found.message}"


class LineView:
    """Prints a line whenever something has changed; warnings and tests of causes once each."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""
        self._results: dict[str, int] = {}
        self._said: set[str] = set()

    def show(self, benchmark: DBBenchmark, now: datetime, waited: float) -> None:
        """The state when it differs from the last one, and results of new blocks."""
        text = state(benchmark, now, waited)
        count = _count(benchmark)
        # The time that is left changes all the time and is no news by itself.
        news = f"{count} {text.split(' (about ')[0]}"
        if news != self._last:
            self._last = news
            self._print(now, f"{count} {text}".strip())
        for warning in _warnings(benchmark):
            self._once(now, warning)
        for found in benchmark.status.comparisons:
            key = f"{found.target}/{found.workload}/{found.cell}"
            if self._results.get(key) != found.blocks:
                self._results[key] = found.blocks
                self._print(now, f"  {result_line(found)}")
        for test in benchmark.status.confirmations:
            self._once(now, f"  {tested_line(test)}")

    def notice(self, text: str) -> None:
        """A line out of order, once."""
        if text != self._last:
            self._last = text
            self._console.print(escape(text))

    def _once(self, now: datetime, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._print(now, text)

    def _print(self, now: datetime, text: str) -> None:
        self._console.print(escape(f"{now.astimezone():%H:%M:%S} {text}"), soft_wrap=True)


def _results(benchmark: DBBenchmark, width: int) -> Table:
    """Without the values where there is no room for them: the slowdown is what counts."""
    with_values = width >= _WIDTH_WITH_VALUES
    view = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Results so far", title_justify="left")
    # Where the terminal is narrow, names are folded rather than cut: their ends tell them apart.
    for name in ("workload", "target"):
        view.add_column(name, overflow="fold")
    values = (escape(benchmark.spec.baseline), "on target") if with_values else ()
    for name in (*values, "slowdown", "95 % interval"):
        view.add_column(name, justify="right", no_wrap=True)
    view.add_column("verdict", no_wrap=True)
    view.add_column("blocks", justify="right")
    for found in benchmark.status.comparisons:
        row = [
            escape(f"{found.workload}/{found.cell}" if found.cell else found.workload),
            escape(f"{found.target} (emulated)" if found.emulated else found.target),
        ]
        if with_values:
            row.append(quantity(float(found.baseline_value), found.unit))
            row.append(quantity(float(found.target_value), found.unit))
        row += [
            percent(float(found.slowdown)),
            interval(_bounds(found)),
            f"[{STYLES[found.verdict]}]{found.verdict.value}[/]",
            str(found.blocks),
        ]
        view.add_row(*row)
    causes = [
        f"{found.workload} on {found.target}: {found.cause}"
        for found in benchmark.status.comparisons
        if found.cause
    ] + [tested_line(found) for found in benchmark.status.confirmations]
    if causes:
        view.caption = escape("\n".join(causes))
        view.caption_justify = "left"
    return view


def _bounds(found: Comparison) -> tuple[float, float] | None:
    if found.confidence_interval is None:
        return None
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _count(benchmark: DBBenchmark) -> str:
    progress = benchmark.status.progress
    if progress is None:
        return ""
    text = f"{progress.trials_done}/{progress.trials_planned} trials, {progress.percent} %"
    if progress.trials_invalid:
        text += f", {progress.trials_invalid} not usable"
    if progress.trials_contaminated:
        text += f", {progress.trials_contaminated} contaminated"
    return text


def remaining(benchmark: DBBenchmark, now: datetime) -> str:
    """The time that is left, as expected; empty where nothing is expected yet."""
    progress = benchmark.status.progress
    if progress is None or progress.estimated_completion_time is None:
        return ""
    seconds = (datetime.fromisoformat(progress.estimated_completion_time) - now).total_seconds()
    minutes, rest = divmod(max(round(seconds), 0), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{rest} s"


def _warnings(benchmark: DBBenchmark) -> list[str]:
    """Findings about the measurements that a reader must know."""
    found = []
    for kind in (ConditionType.REPRESENTATIVE, ConditionType.FAIRNESS_VERIFIED):
        condition = _condition(benchmark, kind)
        if condition is not None and condition.status is ConditionStatus.FALSE:
            found.append(f"{kind.value}=False: {_told(condition)}")
    return found


def _current(benchmark: DBBenchmark) -> bool:
    return benchmark.status.observed_generation == benchmark.metadata.generation


def _condition(benchmark: DBBenchmark, kind: ConditionType) -> Condition | None:
    for condition in benchmark.status.conditions:
        if condition.type == kind.value:
            return condition
    return None


def _told(condition: Condition) -> str:
    return f"{condition.reason}: {condition.message}" if condition.message else condition.reason
