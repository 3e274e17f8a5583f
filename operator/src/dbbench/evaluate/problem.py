"""Why a benchmark cannot go on. No I/O."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Why a benchmark cannot go on: a reason for machines and a message for people."""

    reason: str
    message: str
