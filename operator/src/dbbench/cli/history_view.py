"""A history for people."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dbbench import stats
from dbbench.api.status import ConditionStatus, ConditionType
from dbbench.cli.comparison_view import STYLES
from dbbench.cli.history_document import Findings, answer, span
from dbbench.results.figures import interval, level, percent, quantity
from dbbench.results.history import History, Series, news
from dbbench.stats.interval import slowdown_bounds, slowdown_of
from dbbench.stats.trend import Step, Trend, TrendVerdict, fewest_values

_STYLES = {
    TrendVerdict.REGRESSED: "red",
    TrendVerdict.IMPROVED: "green",
    TrendVerdict.UNCHANGED: "cyan",
    TrendVerdict.INCONCLUSIVE: "yellow",
    TrendVerdict.TOO_FEW: "yellow",
}
_MOST_NAMED = 5


def render(found: Findings, console: Console) -> None:
    """Prints the series of benchmarks, a verdict for each series, and what changed."""
    if found.history:
        for series, trend in zip(found.series, found.trends, strict=True):
            console.print(_points(found.history, series, trend))
    console.print(answer(found), markup=False)
    console.print(_verdicts(found))
    for note in _notes(found):
        console.print(note, style="dim", markup=False)
    if any(trend.steps for trend in found.trends):
        console.print(_changes(found))
    if found.history:
        _reservations(found, found.history, console)


def _points(history: History, series: Series, trend: Trend) -> Table:
    of = f" compared with {history.baseline}" if series.unit is None else ""
    view = _table(f"{series.target}{of}: {series.cell}")
    view.add_column("started")
    view.add_column("run", overflow="fold")
    view.add_column("slowdown" if series.unit is None else "value", justify="right")
    if series.unit is None:
        view.add_column(f"{level(stats.CONFIDENCE)} interval", justify="right")
    view.add_column("change")
    steps = {step.index: step for step in trend.steps}
    for index, point in enumerate(series.points):
        step = steps.get(index)
        row = [history.runs[point.trial].started or "-", escape(point.trial)]
        if series.unit is None:
            row += [percent(point.value), interval(point.interval)]
        else:
            row += [quantity(point.value, series.unit.value)]
        view.add_row(*row, _styled(step) if step else "")
    return view


def _styled(step: Step) -> str:
    text = f"{percent(slowdown_of(step.estimate.mean))} {step.verdict.value}"
    return f"[{STYLES[step.verdict]}]{text}[/]"


def _verdicts(found: Findings) -> Table:
    view = _table("")
    view.add_column("target", overflow="fold")
    view.add_column("cell", overflow="fold")
    view.add_column("values", justify="right")
    view.add_column("verdict")
    view.add_column("change", justify="right")
    view.add_column(f"{level(stats.CONFIDENCE)} interval", justify="right")
    view.add_column("compared", overflow="fold")
    for series, trend in zip(found.series, found.trends, strict=True):
        row = [escape(series.target), escape(series.cell), str(len(series.points))]
        row.append(f"[{_STYLES[trend.verdict]}]{trend.verdict.value}[/]")
        if trend.estimate is None:
            row += ["-", "-", "-"]
        else:
            row.append(percent(slowdown_of(trend.estimate.mean)))
            row.append(interval(slowdown_bounds(trend.estimate.bounds(stats.CONFIDENCE))))
            now, then = (span(series, one) for one in (trend.current, trend.reference))
            row.append(escape(f"{now} with {then}"))
        view.add_row(*row)
    return view


def _changes(found: Findings) -> Table:
    view = _table("")
    for name in ("target", "cell", "from trial"):
        view.add_column(name, overflow="fold")
    view.add_column("slowdown", justify="right")
    view.add_column(f"{level(stats.CONFIDENCE)} interval", justify="right")
    view.add_column("verdict")
    view.add_column("p", justify="right")
    for series, step in found.changes():
        view.add_row(
            escape(series.target),
            escape(series.cell),
            escape(series.points[step.index].trial),
            percent(slowdown_of(step.estimate.mean)),
            interval(slowdown_bounds(step.estimate.bounds(stats.CONFIDENCE))),
            f"[{STYLES[step.verdict]}]{step.verdict.value}[/]",
            f"{step.p:.3g}",
        )
    view.caption = "Slowdown: what came after, up to the next change, against what was before."
    view.caption_justify = "left"
    return view


def _notes(found: Findings) -> Iterator[str]:
    verdicts = {trend.verdict for trend in found.trends}
    if TrendVerdict.TOO_FEW in verdicts:
        fewest = fewest_values(found.significance)
        yield f"TooFew: at --significance {found.significance:g} a change needs {fewest} values."
    if TrendVerdict.UNCHANGED in verdicts:
        yield (
            f"Unchanged: no change was found, or one whose interval is within "
            f"±{stats.MARGIN * 100:g} %."
        )


def _reservations(found: Findings, history: History, console: Console) -> None:
    """What came with a change, what cannot be relied on, and what is not in it."""
    for trial in dict.fromkeys(series.points[step.index].trial for series, step in found.changes()):
        lines = news(history, trial)
        title = (
            "Otherwise than before"
            if lines
            else "Nothing that is recorded is otherwise than before"
        )
        console.print(f"{title} in {trial}{':' if lines else '.'}", markup=False)
        for line in lines:
            console.print(f"  {line}", markup=False)
    for kind, words in (
        (ConditionType.REPRESENTATIVE, "Not representative"),
        (ConditionType.FAIRNESS_VERIFIED, "Measured under unequal conditions"),
    ):
        concerned = [
            label
            for label, run in history.runs.items()
            if run.condition(kind) is ConditionStatus.FALSE
        ]
        if concerned:
            text = f"{words} ({kind.value} is False): {_some(concerned)}"
            console.print(text, style="yellow", markup=False)
    for source, reason in history.left_out[:_MOST_NAMED]:
        console.print(f"Left out: {source} {reason}", style="dim", markup=False)
    if len(history.left_out) > _MOST_NAMED:
        more = len(history.left_out) - _MOST_NAMED
        console.print(f"Left out: {more} more; -o json names them all", style="dim")
    console.print(f"Fingerprint {history.fingerprint}, {len(history.runs)} runs", style="dim")


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    return shown + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


def _table(title: str) -> Table:
    return Table(
        title=escape(title) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
