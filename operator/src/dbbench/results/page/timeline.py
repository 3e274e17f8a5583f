"""Every attempt at a trial in the order of time: value, block, whether it counts. No I/O."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from dbbench.results import driver_result
from dbbench.results.driver_result import ResultError
from dbbench.results.figures import quantity
from dbbench.results.page.axis import grid, labels
from dbbench.results.page.forest import at
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.scale import (
    Logarithmic,
    Scale,
    linear_ticks,
    logarithmic_ticks,
)
from dbbench.results.page.series import Targets
from dbbench.results.page.tables import table
from dbbench.results.record import Outcome, TrialRecord
from dbbench.results.wording import label

_HEIGHT = 190
_TOP = 18
_CROSS = "M-5 -5 L5 5 M-5 5 L5 -5"
_RATIO_FOR_LOGARITHM = 4


def charts(
    comparisons: Sequence[Mapping[str, Any]], records: Sequence[TrialRecord], targets: Targets
) -> list[Child]:
    """One for each workload and cell, of its primary metric."""
    metrics = {
        (found["workload"], found["cell"]): (found["metric"], found["unit"])
        for found in comparisons
        if found["primary"]
    }
    first = min((moment(one.started).timestamp() for one in records), default=0.0)
    own = {
        place: [one for one in records if (one.workload, one.cell) == place] for place in metrics
    }
    return [
        _chart(place, metric, unit, own[place], targets, first)
        for place, (metric, unit) in metrics.items()
        if own[place]
    ]


def attempts(records: Sequence[TrialRecord], first: datetime, emulated: Collection[str]) -> Safe:
    """The same as a table, and why those that do not count do not."""
    rows: list[Sequence[Child]] = [
        (
            f"{record.trial}.{record.attempt}",
            str(record.block),
            label(record.target, record.target in emulated),
            f"{record.workload}/{record.cell}" if record.cell else record.workload,
            record.outcome.value,
            record.message or "-",
            _after(first, record.started),
            _after(first, record.finished),
        )
        for record in in_time(records)
    ]
    header = ("trial", "block", "target", "workload", "outcome", "why not", "started", "ended")
    return table("Attempts in the order of time", header, rows, texts=range(6))


def in_time(records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """By the time of their start."""
    return sorted(records, key=lambda one: (moment(one.started), one.trial, one.attempt))


def moment(text: str) -> datetime:
    """An RFC 3339 time; one without a zone is UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _after(first: datetime, text: str) -> str:
    seconds = round((moment(text) - first).total_seconds())
    return f"+{seconds // 60}:{seconds % 60:02d}"


def _chart(
    place: tuple[str, str],
    metric: str,
    unit: str,
    records: Sequence[TrialRecord],
    targets: Targets,
    first: float,
) -> Safe:
    found = in_time(records)
    values = {id(one): value for one in found if (value := _value(one, metric)) is not None}
    middle = {id(one): (moment(one.started).timestamp() + moment(one.finished).timestamp()) / 2
              for one in found}  # fmt: skip
    low, high = min(middle.values()), max(middle.values())
    pad = 0.04 * (high - low) or 30.0
    across = Scale(low - pad, high + pad)
    down, ticks = _vertical([*values.values()])
    minutes = linear_ticks((across.low - first) / 60, (across.high - first) / 60, most=4)
    where = f"{place[0]}/{place[1]}" if place[1] else place[0]
    words = ", ".join(
        f"{sum(one.outcome is outcome for one in found)} {outcome.value}" for outcome in Outcome
    )

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - 10) * (1 - down.at(value) / 100)

    def drawn(record: TrialRecord) -> Safe:
        value = values.get(id(record))
        x = across.at(middle[id(record)])
        height = _HEIGHT - 6 if value is None else y(value)
        good = record.outcome is Outcome.MEASURED and value is not None
        shown = "no result" if value is None else quantity(value, unit)
        label = f"{record.trial}, attempt {record.attempt}: {record.outcome.value}, {shown}"
        shape = targets.mark(record.target)
        cross = element("path", d=_CROSS, class_="cross")
        return at(x, height, element("title", label), shape if value is not None else None,
                  None if good else cross)  # fmt: skip

    return element(
        "figure",
        element("figcaption", element("strong", where), f" {metric}"),
        element(
            "div",
            labels(ticks, lambda tick: quantity(tick, unit), y, _HEIGHT),
            element(
                "svg",
                element("title", f"{metric} of {where} in the order of time"),
                element("desc", f"{words}. The table below lists every attempt."),
                _blocks(found, middle, across),
                grid(ticks, y),
                (element("text", f"+{minute:g} min", x=f"{across.at(first + 60 * minute):.2f}%",
                         y=_HEIGHT + 14, text_anchor="middle", class_="tick")
                 for minute in minutes if 8 < across.at(first + 60 * minute) < 92),
                (drawn(record) for record in found),
                width="100%",
                height=_HEIGHT + 20,
                role="img",
            ),
            class_="chart",
        ),
    )  # fmt: skip


def _vertical(values: Sequence[float]) -> tuple[Scale | Logarithmic, list[float]]:
    """From 0, unless that would press the smaller values together."""
    if values and max(values) > _RATIO_FOR_LOGARITHM * min(values):
        low, high = min(values) / 1.3, max(values) * 1.3
        return Logarithmic(low, high), logarithmic_ticks(low, high, most=6)
    high = max(values, default=1.0) * 1.1
    return Scale(0, high), linear_ticks(0, high, most=6)


def _blocks(
    records: Sequence[TrialRecord], middle: Mapping[int, float], across: Scale
) -> list[Child]:
    """A shaded stripe with its number for each block; where blocks mix in time, from its first."""
    starts: dict[int, float] = {}
    for record in records:
        starts.setdefault(record.block, across.at(middle[id(record)]))
    edges = sorted((x, block) for block, x in starts.items())
    places = [(0.0 if not index else (_before(records, block, middle, across) + x) / 2, block)
              for index, (x, block) in enumerate(edges)]  # fmt: skip
    ends = [x for x, _ in places[1:]] + [100.0]
    drawn: list[Child] = []
    every = max(1, len(places) // 12)
    for index, ((x, block), end) in enumerate(zip(places, ends, strict=True)):
        if index % 2 == 0:
            drawn.append(element("rect", x=f"{x:.2f}%", width=f"{max(end - x, 0):.2f}%", y=0,
                                 height=_HEIGHT, class_="stripe"))  # fmt: skip
        if index % every == 0:
            text = f"block {block}" if len(places) < 7 else str(block)
            drawn.append(element("text", text, x=f"{(x + end) / 2:.2f}%", y=12,
                                 text_anchor="middle", class_="tick"))  # fmt: skip
    return drawn


def _before(
    records: Sequence[TrialRecord], block: int, middle: Mapping[int, float], across: Scale
) -> float:
    """Place of the last attempt before a block's first one."""
    first = next(index for index, one in enumerate(records) if one.block == block)
    return across.at(middle[id(records[first - 1])])


def _value(record: TrialRecord, metric: str) -> float | None:
    try:
        found = driver_result.read(record.result).metrics.get(metric)
    except ResultError:
        return None
    return None if found is None else found.value
