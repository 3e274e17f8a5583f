"""The part of a report that says what came of the tests of causes. No I/O."""

from dbbench.api.status import Intervention
from dbbench.explain import Cause
from dbbench.plan.intervention import CHANGES
from dbbench.results.causes import LABELS
from dbbench.results.figures import interval, level, percent
from dbbench.results.tables import table
from dbbench.results.wording import Document, bounds_of, label, where

TESTS = (
    "The cause that is named for a slowdown was taken away by one change, on all targets that have "
    "what is changed; then the slower target and the baseline were measured again. Reduction: by "
    "how much the ratio of their times shrank. Confirmed: its interval lies above 0."
)
"""What the tests are."""

TEXTS = 4
"""Columns of texts: the first two name the slowdown."""


def header(document: Document) -> list[str]:
    """Columns of the table of tests."""
    return [
        "workload",
        "target",
        "cause",
        "change",
        "slowdown",
        "with the change",
        "reduction",
        f"{level(document['confidence'])} interval",
        "verdict",
        "blocks",
    ]


def rows(document: Document) -> list[list[str]]:
    """One for each slowdown; empty without tests."""
    return [
        [
            where(found),
            label(found["target"], found["emulated"]),
            LABELS[Cause(found["cause"])] if found["cause"] else "unexplained",
            CHANGES[Intervention(found["intervention"])] if found["intervention"] else "-",
            percent(found["slowdownBefore"]),
            "-" if found["slowdownAfter"] is None else percent(found["slowdownAfter"]),
            "-" if found["reduction"] is None else percent(found["reduction"]),
            interval(bounds_of(found)),
            found["verdict"],
            str(found["blocks"]),
        ]
        for found in document["confirmations"]
    ]


def sentences(document: Document) -> list[str]:
    """Each test in one sentence."""
    return [
        f"{where(found)} on {label(found['target'], found['emulated'])}: {found['message']}."
        for found in document["confirmations"]
    ]


def causes_tested(document: Document) -> list[str]:
    """The section of report.md; empty without tests."""
    found = rows(document)
    if not found:
        return []
    lines = ["## Causes tested", "", TESTS, "", *table(header(document), found, left=TEXTS), ""]
    return lines + [f"- {sentence}" for sentence in sentences(document)]
