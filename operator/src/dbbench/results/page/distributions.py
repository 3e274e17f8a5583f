"""Latencies of each operation, all quantiles of all trials together, for every target. No I/O.

The horizontal axis is that of "nines": each tenfold rarer latency takes the same room.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench.results import driver_result
from dbbench.results.driver_result import ResultError
from dbbench.results.figures import milliseconds
from dbbench.results.latency import (
    FEWEST_FOR_QUANTILES,
    QUANTILES,
    Counts,
    HistogramError,
    decode,
)
from dbbench.results.operations import natural
from dbbench.results.page.forest import at
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.scale import Logarithmic, Scale, logarithmic_ticks
from dbbench.results.page.series import Targets
from dbbench.results.record import Outcome, TrialRecord

_HEIGHT = 170
_POINTS = 60
_NINES = {0.5: "50 %", 0.9: "90 %", 0.99: "99 %", 0.999: "99.9 %", 0.9999: "99.99 %"}


@dataclass(frozen=True)
class Distribution:
    """Counts of one operation of one workload and cell, by target."""

    workload: str
    cell: str
    operation: str
    counts: Mapping[str, Counts]


def distributions(records: Sequence[TrialRecord]) -> list[Distribution]:
    """Of all measured trials; operations with too few values for quantiles are left out.

    So are histograms that cannot be read: summary.json shows their latencies as unknown as well.
    """
    found: dict[tuple[str, str, str], dict[str, list[Counts]]] = {}
    for record, operation, histogram in _histograms(records):
        key = (record.workload, record.cell, operation)
        try:
            counts = decode(histogram)
        except HistogramError:
            continue
        found.setdefault(key, defaultdict(list))[record.target].append(counts)
    merged = [
        Distribution(*key, {name: Counts.sum(parts) for name, parts in targets.items()})
        for key, targets in sorted(
            found.items(), key=lambda item: (item[0][:2], natural(item[0][2]))
        )
    ]
    return [
        one
        for one in merged
        if all(counts.total >= FEWEST_FOR_QUANTILES for counts in one.counts.values())
    ]


def plot(found: Distribution, targets: Targets) -> Safe:
    """Quantiles of one operation as lines, with marks at those that the tables show."""
    curves = {name: _curve(counts) for name, counts in found.counts.items()}
    values = [value for curve in curves.values() for _, value in curve]
    vertical = Logarithmic(min(values) / 1.15, max(values) * 1.15)
    horizontal = Scale(0, max(nines for curve in curves.values() for nines, _ in curve))
    words = "; ".join(
        f"{name}: "
        + ", ".join(f"{quantile} {milliseconds(counts.at(part))}" for quantile, part in
                    QUANTILES.items())
        for name, counts in found.counts.items()
    )  # fmt: skip
    ticks = [quantile for quantile in _NINES if _nines(quantile) <= horizontal.high]
    where = f"{found.workload}/{found.cell}" if found.cell else found.workload
    return element(
        "figure",
        element("figcaption", element("strong", found.operation), f" {where}"),
        element(
            "div",
            _values(vertical),
            element(
                "svg",
                element("title", f"Latency of {found.operation} by quantile"),
                element("desc", words),
                _grid(vertical, horizontal, ticks),
                (_line(name, curves[name], vertical, horizontal, targets) for name in curves),
                (_marks(name, counts, vertical, horizontal, targets)
                 for name, counts in found.counts.items()),
                (_quantile(quantile, horizontal) for quantile in ticks),
                width="100%",
                height=_HEIGHT + 24,
                role="img",
            ),
            class_="chart",
        ),
        class_="small",
    )  # fmt: skip


def _histograms(records: Iterable[TrialRecord]) -> Iterable[tuple[TrialRecord, str, str]]:
    for record in latest(records):
        try:
            result = driver_result.read(record.result)
        except ResultError:
            continue
        for operation in result.operations:
            if operation.histogram:
                yield record, operation.name, operation.histogram


def latest(records: Iterable[TrialRecord]) -> list[TrialRecord]:
    """One measured record for each trial: of several attempts the last, as the analysis counts."""
    found: dict[str, TrialRecord] = {}
    for record in sorted(records, key=lambda one: (one.block, one.trial, one.attempt)):
        if record.outcome is Outcome.MEASURED:
            found[record.trial] = record
    return list(found.values())


def _curve(counts: Counts) -> list[tuple[float, float]]:
    """Nines and seconds, as far as the number of values goes."""
    most = math.log10(counts.total)
    return [
        (nines, counts.smooth(1 - 10**-nines))
        for nines in (most * step / _POINTS for step in range(1, _POINTS + 1))
    ]


def _nines(quantile: float) -> float:
    return -math.log10(1 - quantile)


def _line(
    name: str,
    curve: Sequence[tuple[float, float]],
    vertical: Logarithmic,
    horizontal: Scale,
    targets: Targets,
) -> Safe:
    points = " ".join(
        f"{horizontal.at(nines):.2f},{100 - vertical.at(value):.2f}" for nines, value in curve
    )
    return element(
        "svg",
        element(
            "polyline",
            points=points,
            stroke_dasharray=targets.dashes(name),
            class_=f"line {targets.colour(name)}",
        ),
        viewBox="0 0 100 100",
        preserveAspectRatio="none",
        width="100%",
        height=_HEIGHT,
    )


def _marks(
    name: str, counts: Counts, vertical: Logarithmic, horizontal: Scale, targets: Targets
) -> list[Child]:
    return [
        at(
            horizontal.at(_nines(quantile)),
            _HEIGHT * (1 - vertical.at(counts.smooth(quantile)) / 100),
            targets.mark(name),
        )
        for quantile in QUANTILES.values()
        if _nines(quantile) <= math.log10(counts.total)
    ]


def _grid(vertical: Logarithmic, horizontal: Scale, ticks: Sequence[float]) -> list[Any]:
    across = [
        element("line", x1="0", x2="100%", y1=y, y2=y, class_="grid")
        for y in (_down(vertical, value) for value in _ticks(vertical))
    ]
    down = [
        element("line", x1=x, x2=x, y1=0, y2=_HEIGHT, class_="grid")
        for x in (f"{horizontal.at(_nines(quantile)):.2f}%" for quantile in ticks)
    ]
    return [across, down]


def _values(vertical: Logarithmic) -> Safe:
    """The vertical axis, in a column of its own."""
    return element(
        "svg",
        (
            element("text", milliseconds(value), x=60, y=_down(vertical, value) + 4,
                    text_anchor="end")
            for value in _ticks(vertical)
        ),
        width=64,
        height=_HEIGHT + 24,
        aria_hidden="true",
        class_="ticks",
    )  # fmt: skip


def _ticks(vertical: Logarithmic) -> list[float]:
    return logarithmic_ticks(vertical.low, vertical.high, most=6)


def _down(vertical: Logarithmic, value: float) -> float:
    return _HEIGHT * (1 - vertical.at(value) / 100)


def _quantile(quantile: float, horizontal: Scale) -> Safe:
    place = horizontal.at(_nines(quantile))
    anchor = "end" if place > 92 else "middle"
    return element(
        "text",
        _NINES[quantile],
        x=f"{place:.2f}%",
        y=_HEIGHT + 18,
        text_anchor=anchor,
        class_="tick",
    )
