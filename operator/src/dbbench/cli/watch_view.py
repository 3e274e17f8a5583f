"""What `dbbench watch` shows: a screen on a terminal, lines elsewhere. No cluster access."""

from datetime import datetime

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.status import Comparison
from dbbench.cli.comparison_view import STYLES
from dbbench.cli.run_state import bounds, cell_name, count, line, news, state, tested, warnings
from dbbench.results.figures import interval, level, percent, quantity

_WIDTH_WITH_VALUES = 110


def screen(
    benchmark: DBBenchmark, now: datetime, waited: float, width: int = _WIDTH_WITH_VALUES
) -> RenderableType:
    """Progress bar, what runs now, and the results so far."""
    progress = benchmark.status.progress
    parts: list[RenderableType] = []
    if progress is not None:
        head = Table.grid(padding=(0, 2))
        head.add_row(
            Text(benchmark.metadata.name, style="bold"),
            ProgressBar(total=max(progress.trials_planned, 1), completed=progress.trials_done,
                        width=40),
            count(benchmark),
        )  # fmt: skip
        parts.append(head)
    parts.append(Text(state(benchmark, now, waited)))
    parts += [Text(text, style="yellow") for text in warnings(benchmark)]
    if benchmark.status.comparisons:
        parts.append(_results(benchmark, width))
    return Group(*parts)


def result_line(found: Comparison) -> str:
    """One comparison in one line."""
    sure = found.confidence_interval
    within = f", {level(float(sure.level))} interval {interval(bounds(found))}" if sure else ""
    emulated = ", emulated: not representative" if found.emulated else ""
    blocks = f"{found.blocks} block{'' if found.blocks == 1 else 's'}"
    return (
        f"{found.target}/{cell_name(found)}: slowdown {percent(float(found.slowdown))}{within} "
        f"({found.verdict.value}, {blocks}{emulated})"
    )


class LineView:
    """Prints a line whenever something has changed; warnings and tests of causes once each."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last = ""
        self._results: dict[str, int] = {}
        self._said: set[str] = set()

    def show(self, benchmark: DBBenchmark, now: datetime, waited: float) -> None:
        """The state when it differs from the last one, and results of new blocks."""
        latest = news(benchmark, waited)
        if latest != self._last:
            self._last = latest
            self._print(now, line(benchmark, now, waited))
        for warning in warnings(benchmark):
            self._once(now, warning)
        for found in benchmark.status.comparisons:
            key = f"{found.target}/{found.workload}/{found.cell}"
            if self._results.get(key) != found.blocks:
                self._results[key] = found.blocks
                self._print(now, f"  {result_line(found)}")
        for test in benchmark.status.confirmations:
            self._once(now, f"  {tested(test)}")

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
            escape(cell_name(found)),
            escape(f"{found.target} (emulated)" if found.emulated else found.target),
        ]
        if with_values:
            row.append(quantity(float(found.baseline_value), found.unit))
            row.append(quantity(float(found.target_value), found.unit))
        row += [
            percent(float(found.slowdown)),
            interval(bounds(found)),
            f"[{STYLES[found.verdict]}]{found.verdict.value}[/]",
            str(found.blocks),
        ]
        view.add_row(*row)
    causes = [
        f"{found.workload} on {found.target}: {found.cause}"
        for found in benchmark.status.comparisons
        if found.cause
    ] + [tested(found) for found in benchmark.status.confirmations]
    if causes:
        view.caption = escape("\n".join(causes))
        view.caption_justify = "left"
    return view
