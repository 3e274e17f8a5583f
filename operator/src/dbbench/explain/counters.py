"""Reading the agents' counters out of the driver's result documents. No I/O.

A counter that is absent is one that the kernel does not tell: what is read is then empty or None.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeGuard

Document = Mapping[str, Any]


def seconds_between(before: Document, after: Document) -> float:
    """Between two readings; 0 where one of them tells no time."""
    try:
        started, ended = (datetime.fromisoformat(str(end["takenAt"])) for end in (before, after))
    except (KeyError, ValueError):
        return 0.0
    return (ended - started).total_seconds()


def growth(before: Document, after: Document) -> dict[str, Any]:
    """What grew between two readings. A counter that fell belongs to a process that ended."""
    found: dict[str, Any] = {}
    for name, end in after.items():
        start = before.get(name)
        if isinstance(end, Mapping) and isinstance(start, Mapping):
            found[name] = growth(start, end)
        elif is_number(start) and is_number(end) and end >= start:
            found[name] = end - start
    return found


def part(document: Document, name: str) -> Document:
    """The object of that name; empty where it is absent."""
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def parts(document: Document, name: str) -> list[Document]:
    """The list of objects of that name; empty where it is absent."""
    value = document.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def number(document: Document, name: str) -> float | None:
    """The finite number of that name."""
    value = document.get(name)
    return float(value) if is_number(value) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is one, and finite."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
