"""Finds the driver's lines in a pod's log, where both of its streams are merged. No I/O."""

import json
from dataclasses import dataclass
from typing import Any

_RESULT = '{"kind":"Result",'
_ERROR = '{"kind":"Error",'
_PROGRESS = '{"kind":"Progress",'


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
    """Picks the last line of each kind; whatever else is in the log is passed over.

    A line of one stream can start in the middle of the other's, so a document is looked for
    anywhere in a line, and read to its own end.
    """
    result = error = last_progress = None
    truncated = False
    for line in log.split("\n"):
        found, cut = _document(line, _RESULT)
        if found is not None:
            result, truncated = found, False
        truncated = truncated or cut
        error = _document(line, _ERROR)[0] or error
        last_progress = _document(line, _PROGRESS)[0] or last_progress
    return DriverOutput(result, error, last_progress, truncated and result is None)


def _document(line: str, beginning: str) -> tuple[dict[str, Any] | None, bool]:
    """The document that begins so, and whether one began that is not whole."""
    start = line.find(beginning)
    if start < 0:
        return None, False
    try:
        document, _ = json.JSONDecoder().raw_decode(line, start)
    except ValueError:
        return None, True
    return document, False
