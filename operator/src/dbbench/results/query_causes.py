"""What each cause adds to each query of a comparison, as a table. No I/O."""

from dbbench.explain import Cause
from dbbench.explain.cause import WHOLES
from dbbench.results.causes import LABELS
from dbbench.results.figures import time
from dbbench.results.wording import Document, where

QUERIES = (
    "The same of each query, as differences: counters were read around each of its runs. Page "
    "faults are a part of the system time."
)
"""What the table shows."""

_COLUMNS = tuple(
    column
    for cause in WHOLES
    for column in ((cause, Cause.PAGE_FAULTS) if cause is Cause.SYSTEM else (cause,))
)


def header(document: Document, found: Document) -> list[str]:
    """Of the queries of `found`, which is a comparison of the document."""
    return [
        "query",
        "difference",
        *(LABELS[cause] for cause in _causes(document, found)),
        "largest",
    ]


def rows(document: Document, found: Document) -> list[list[str]]:
    """A row for each query that has an account; none where no query has."""
    causes = _causes(document, found)
    return [
        [
            query["query"],
            time(query["account"]["seconds"]),
            *(time(terms[cause]) if cause in terms else "-" for cause in causes),
            query["cause"].partition(":")[0] or "-",
        ]
        for query in _queries(document, found)
        for terms in [_terms(query)]
    ]


def _causes(document: Document, found: Document) -> list[Cause]:
    """Those of any query, in the order in which accounts have them."""
    known = {cause for query in _queries(document, found) for cause in _terms(query)}
    return [cause for cause in _COLUMNS if cause in known]


def _queries(document: Document, found: Document) -> list[Document]:
    return [
        query
        for query in document["queries"]
        if (where(query), query["target"]) == (where(found), found["target"])
        if found["primary"] and query.get("account")
    ]


def _terms(query: Document) -> dict[Cause, float]:
    return {Cause(term["cause"]): term["seconds"] for term in query["account"]["terms"]}
