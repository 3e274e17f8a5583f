"""The page of a history: each series run by run, where it changed, and the verdicts. No I/O."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from dbbench.results.figures import interval, level, percent, quantity
from dbbench.results.page.axis import grid, labels
from dbbench.results.page.forest import SHAPES, at, verdict
from dbbench.results.page.frame import framed
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.scale import Scale, linear_ticks
from dbbench.results.page.tables import table
from dbbench.results.wording import Document, bounds_of

Series = Mapping[str, Any]
"""An entry of `trends` in the document."""

_HEIGHT = 220
_TOP = 14
_POINT = "M0 -4 A4 4 0 1 1 0 4 A4 4 0 1 1 0 -4 Z"
_MOST_NAMES = 6
# Colours of the verdicts on changes, which mean the same.
_KINDS = {"Regressed": "slower", "Improved": "faster", "Unchanged": "equivalent"}


def history_to_html(document: Document) -> str:
    """The page of what `dbbench history -o json` prints."""
    series: Sequence[Series] = document["trends"]
    main: list[Child] = [
        element("header", element("h1", document["answer"]), _warning(document), _facts(document)),
        element("section", element("h2", "Verdicts"), _verdicts(document, series)),
        element(
            "section",
            element("h2", "Run by run"),
            element("p", _legend(document), class_="note"),
            element("div", (_chart(one, _changes(document, one)) for one in series),
                    class_="grid two"),
        ),
        element("section", element("h2", "Changes"), _all_changes(document))
        if document["changes"]
        else None,
        element("section", element("h2", "Runs"), _runs(document)) if "runs" in document else None,
    ]  # fmt: skip
    return framed(
        f"History: {document['answer']}", main, "Words and figures as in docs/history.md."
    )


def _facts(document: Document) -> Safe:
    facts = {"series": str(document["series"])}
    if "runs" in document:
        facts |= {
            "runs": str(len(document["runs"])),
            "baseline": document["baseline"],
            "fingerprint": document["fingerprint"],
        }
    facts |= {
        "false alarms": f"at most {level(document['significance'])} of stretches",
        "seed": str(document["seed"]),
    }
    return element(
        "dl",
        (element("div", element("dt", name), element("dd", text)) for name, text in facts.items()),
    )


def _warning(document: Document) -> Safe | None:
    """What of the runs is no evidence."""
    found = []
    for field, words in (
        ("representative", "Not representative"),
        ("fairnessVerified", "Measured under unequal conditions"),
    ):
        names = [run["trial"] for run in document.get("runs", []) if run[field] == "False"]
        if names:
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            found.append(f"{words}: {', '.join(names[:_MOST_NAMES])}{more}. ")
    return element("div", found, class_="warning", role="note") if found else None


def _verdicts(document: Document, series: Sequence[Series]) -> Safe:
    rows: list[Sequence[Child]] = [
        (
            f"{one['cell']}: {one['target']}",
            str(len(one["points"])),
            element("span", one["verdict"], class_=_KINDS.get(one["verdict"])),
            "-" if one["slowdown"] is None else percent(one["slowdown"]),
            interval(bounds_of(one)),
            _span(one["current"]),
            _span(one["reference"]) if one["reference"] else "-",
        )
        for one in series
    ]
    within = f"{level(document['confidence'])} interval"
    header = ("series", "values", "verdict", "change", within, "now", "compared with")
    return table("How it stands now", header, rows, texts={0, 2, 5, 6})


def _span(stretch: Mapping[str, str]) -> str:
    first, last = stretch["first"], stretch["last"]
    return first if first == last else f"{first} to {last}"


def _legend(document: Document) -> str:
    return (
        "Marks: the runs in the order of time. Line through a mark, of slowdowns alone: its "
        f"{level(document['confidence'])} interval. Level line: the mean of a stretch, which ends "
        "where the series changed, at the dashed line, with a mark for the direction."
    )


def _changes(document: Document, series: Series) -> dict[int, Mapping[str, Any]]:
    """The changes of a series, by the index of the first value after each."""
    return {
        one["index"]: one
        for one in document["changes"]
        if (one["target"], one["cell"]) == (series["target"], series["cell"])
    }


def _chart(series: Series, changes: Mapping[int, Mapping[str, Any]]) -> Safe:
    points = series["points"]
    written = _written(series)
    down = _vertical(series)
    ticks = linear_ticks(down.low, down.high, most=6)
    across = Scale(-0.7, len(points) - 0.3)

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP) * (1 - down.within(value) / 100)

    where = f"{series['cell']}: {series['target']}"
    what = "slowdown" if series["unit"] is None else "value"
    every = math.ceil(len(points) / _MOST_NAMES)
    edges = [0, *sorted(changes), len(points)]
    return element(
        "figure",
        element("figcaption", element("strong", where), f" {what}, {series['verdict']}"),
        element(
            "div",
            labels(ticks, written, y, _HEIGHT),
            element(
                "svg",
                element("title", f"{what} of {where} in the order of time"),
                element("desc", "; ".join(_words(one, written) for one in points)),
                grid(ticks, y),
                (_mean(series, stretch, across, y) for stretch in pairwise(edges)),
                (_changed(across.at(index - 0.5), one) for index, one in changes.items()),
                (_marked(one, across.at(index), y, written) for index, one in enumerate(points)),
                (element("text", _short(one["trial"]), x=f"{across.at(index):.2f}%",
                         y=_HEIGHT + 16, text_anchor="middle", class_="tick")
                 for index, one in enumerate(points) if index % every == 0),
                width="100%",
                height=_HEIGHT + 22,
                role="img",
            ),
            class_="chart",
        ),
    )  # fmt: skip


def _written(series: Series) -> Callable[[float], str]:
    if series["unit"] is None:
        return percent
    return lambda value: quantity(value, series["unit"])


def _vertical(series: Series) -> Scale:
    """What the values span, and no more: a change of some percent is to be seen.

    A hopelessly wide interval is cut off where the values go on by as much as they span.
    """
    values = [point["value"] for point in series["points"]]
    least, most = min(values), max(values)
    room = (most - least) or 0.01 * abs(most) or 0.01
    ends = [end for point in series["points"] for end in bounds_of(point) or ()]
    low, high = max(min([least, *ends]), least - room), min(max([most, *ends]), most + room)
    return Scale(low - 0.08 * room, high + 0.08 * room)


def _mean(
    series: Series, stretch: tuple[int, int], across: Scale, y: Callable[[float], float]
) -> Safe:
    """The geometric mean of a stretch, by which changes are judged: of slowdowns, of the ratios."""
    shift = 1.0 if series["unit"] is None else 0.0
    logs = [math.log(shift + point["value"]) for point in series["points"][slice(*stretch)]]
    height = y(math.exp(math.fsum(logs) / len(logs)) - shift)
    left, right = (across.at(end - 0.5) for end in stretch)
    return element("line", x1=f"{left:.2f}%", x2=f"{right:.2f}%", y1=height, y2=height,
                   class_="line s1")  # fmt: skip


def _changed(x: float, change: Mapping[str, Any]) -> list[Safe]:
    words = f"from {change['trial']} on {percent(change['slowdown'])}, {change['verdict']}"
    mark = element("path", d=SHAPES[change["verdict"]])
    return [
        element("line", x1=f"{x:.2f}%", x2=f"{x:.2f}%", y1=_TOP, y2=_HEIGHT, class_="floor"),
        at(x, 6, element("g", element("title", words), mark,
                         class_=f"mark {change['verdict'].lower()}")),
    ]  # fmt: skip


def _marked(
    point: Mapping[str, Any], x: float, y: Callable[[float], float], written: Callable[[float], str]
) -> Safe:
    bounds = bounds_of(point)
    return at(
        x,
        0,
        element(
            "g",
            element("title", _words(point, written)),
            element("line", x1=0, x2=0, y1=y(bounds[0]), y2=y(bounds[1]), class_="line s0")
            if bounds
            else None,
            element(
                "g",
                element("path", d=_POINT, class_="s0"),
                transform=f"translate(0 {y(point['value']):.2f})",
            ),
        ),
    )


def _words(point: Mapping[str, Any], written: Callable[[float], str]) -> str:
    bounds = bounds_of(point)
    within = f", {written(bounds[0])} to {written(bounds[1])}" if bounds else ""
    return f"{point['trial']}: {written(point['value'])}{within}"


def _short(trial: str) -> str:
    """The end of a name tells it from the others; of a name with its time, the day."""
    name, _, moment = trial.partition("@")
    text = moment.partition("T")[0] or name
    return text if len(text) <= 12 else f"…{text[-11:]}"


def _all_changes(document: Document) -> Safe:
    """Of a file of results nothing is known but the values."""
    known = "runs" in document
    rows: list[Sequence[Child]] = [
        (
            f"{one['cell']}: {one['target']}",
            one["trial"],
            percent(one["slowdown"]),
            interval(bounds_of(one)),
            verdict(one["verdict"]),
            f"{one['p']:.3g}",
            *([[element("div", line) for line in one["differences"]] or "-"] if known else []),
        )
        for one in document["changes"]
    ]
    header = ["series", "from", "slowdown", f"{level(document['confidence'])} interval", "verdict",
              "p", *(["otherwise than before"] if known else [])]  # fmt: skip
    caption = "What came after, up to the next change, against what was before"
    return table(caption, header, rows, texts={0, 1, 4, 6})


def _runs(document: Document) -> list[Child]:
    rows: list[Sequence[Child]] = [
        (
            run["trial"],
            run["startTime"] or "-",
            run["dbbench"] or "-",
            run["fairnessVerified"],
            run["representative"],
            run["source"],
        )
        for run in document["runs"]
    ]
    header = ("run", "started", "dbbench", "FairnessVerified", "Representative", "from")
    left_out = [element("li", f"{one['source']} {one['reason']}") for one in document["leftOut"]]
    return [
        table("In the order of time", header, rows, texts=range(6)),
        [element("p", "Left out:"), element("ul", left_out)] if left_out else None,
    ]
