"""What each cause adds to a slowdown: bars that add up to the difference. No I/O."""

from collections.abc import Sequence

from dbbench.explain import Cause
from dbbench.results import query_causes
from dbbench.results.causes import LABELS
from dbbench.results.figures import level, share, time
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.scale import Scale
from dbbench.results.page.tables import table
from dbbench.results.wording import Document, bounds_of, label, where

_HEIGHT = 26


def accounts(document: Document) -> list[Child]:
    """One for each comparison that has an account, with the largest cause in a sentence."""
    return [
        [
            _heading(found),
            _sentence(found),
            _account(document, found),
            _not_measured(found),
            _of_queries(document, found),
        ]
        for found in document["comparisons"]
        if found.get("account")
    ]


def _heading(found: Document) -> Safe:
    return element("h3", f"{where(found)}: {label(found['target'], found['emulated'])}")


def _sentence(found: Document) -> Safe | None:
    text = found["cause"]
    return element("p", element("strong", f"{text[:1].upper()}{text[1:]}.")) if text else None


def _not_measured(found: Document) -> Safe | None:
    names = [LABELS[Cause(name)] for name in found["account"]["notMeasured"]]
    text = f"Not measured on both sides: {', '.join(names)}."
    return element("p", text, class_="note") if names else None


def _of_queries(document: Document, found: Document) -> list[Child] | None:
    rows = query_causes.rows(document, found)
    header = query_causes.header(document, found)
    return (
        [
            element("p", query_causes.QUERIES),
            table("What each cause adds to each query", header, rows, texts={0, len(header) - 1}),
        ]
        if rows
        else None
    )


def _account(document: Document, found: Document) -> Safe:
    account = found["account"]
    # An interval may reach far beyond all terms; their own sizes make the axis.
    ends = [0.0, account["seconds"], *(term["seconds"] for term in account["terms"])]
    low, high = min(ends), max(ends)
    pad = 0.08 * (high - low) or 1.0
    axis = Scale(low - pad, high + pad)
    rows: list[Sequence[Child]] = [
        _row(axis, LABELS[Cause(term["cause"])], term, part=term["partOf"] is not None)
        for term in account["terms"]
    ]
    whole = account | {"interval": None, "share": 1.0}
    rows.append(_row(axis, element("strong", "together"), whole, part=False))
    header = (
        "cause",
        document["baseline"],
        found["target"],
        "adds →",
        "difference",
        f"{level(document['confidence'])} interval",
        "share",
    )
    return table("What each cause adds", header, rows, wide={3}, kind="forest")


def _row(axis: Scale, name: Child, term: Document, *, part: bool) -> Sequence[Child]:
    bounds = bounds_of(term)
    return (
        element("span", name, class_="part") if part else name,
        time(term["baselineSeconds"]),
        time(term["targetSeconds"]),
        _bar(axis, term["seconds"], bounds, part=part),
        element("strong", time(term["seconds"])),
        f"{time(bounds[0])} to {time(bounds[1])}" if bounds else "-",
        "-" if term["share"] is None else share(term["share"]),
    )


def _bar(axis: Scale, seconds: float, bounds: tuple[float, float] | None, *, part: bool) -> Safe:
    left, right = sorted((axis.at(0), axis.at(seconds)))
    height = 8 if part else 14
    middle = _HEIGHT / 2
    whisker = None
    if bounds:
        whisker = element(
            "line",
            x1=f"{axis.within(bounds[0]):.2f}%",
            x2=f"{axis.within(bounds[1]):.2f}%",
            y1=middle,
            y2=middle,
            class_="interval",
        )
    zero = f"{axis.at(0):.2f}%"
    return element(
        "svg",
        element("title", f"adds {time(seconds)}"),
        element(
            "rect",
            x=f"{left:.2f}%",
            width=f"{right - left:.2f}%",
            y=middle - height / 2,
            height=height,
            class_="term part" if part else "term",
        ),
        whisker,
        element("line", x1=zero, x2=zero, y1=0, y2=_HEIGHT, class_="zero"),
        width="100%",
        height=_HEIGHT,
        role="img",
    )
