"""Finds the driver's documents in a pod's log, where both of its streams are merged. No I/O."""

import json
from dataclasses import dataclass
from typing import Any

_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class DriverOutput:
    """What the driver said: its result, its error and how far it was, each None when not said.

    `truncated` is True when a result began but its line is not whole JSON: the log was cut.
    """

    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    last_progress: dict[str, Any] | None = None
    truncated: bool = False


def parse(log: str) -> DriverOutput:
    """Picks the last document of each kind; whatever else is in the log is passed over.

    A line of one stream can start in the middle of the other's, so a document is looked for
    anywhere in a line, and read to its own end.
    """
    result = error = last_progress = None
    truncated = False
    for line in log.split("\n"):
        found, cut = _document(line, "Result")
        if found is not None:
            result, truncated = found, False
        truncated = truncated or cut
        error = _document(line, "Error")[0] or error
        last_progress = _document(line, "Progress")[0] or last_progress
    return DriverOutput(result, error, last_progress, truncated and result is None)


def _document(line: str, kind: str) -> tuple[dict[str, Any] | None, bool]:
    """The line's document of that kind, and whether one began that is not whole.

    Within a text of another document the quotes of the mark are escaped, so that it is not found.
    """
    mark = line.find(f'"kind":"{kind}"')
    if mark < 0:
        return None, False
    start = line.find("{", 0, mark)
    while start >= 0:
        try:
            document, end = _DECODER.raw_decode(line, start)
        except (ValueError, RecursionError):
            document, end = None, start
        if isinstance(document, dict) and document.get("kind") == kind:
            return document, False
        # Either noise, or a document that ends before the mark.
        start = line.find("{", max(end, start + 1), mark)
    return None, True
