"""What comparisons are made from: single measured values and their units. No I/O."""

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    SECONDS = "seconds"
    PER_SECOND = "per_second"
    PER_MINUTE = "per_minute"

    @property
    def is_rate(self) -> bool:
        """True where more is better."""
        return self is not Unit.SECONDS


@dataclass(frozen=True)
class Sample:
    """One measured value.

    `trial` names the block that it belongs to, the same on all targets. `position` says when in
    the block it was measured, in any unit that grows with time (1, 2, ... or seconds); None when
    that is not known. `deployment` names the deployment that the block was measured on, where a
    target was deployed several times: then deployments are what is sampled at random, and the
    blocks of one are no independent evidence.
    """

    target: str
    cell: str
    trial: str
    value: float
    unit: Unit
    position: float | None = None
    deployment: str = ""
