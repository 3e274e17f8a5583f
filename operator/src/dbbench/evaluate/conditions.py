"""Conditions of a DBBenchmark as kstatus, Flux and Argo CD read them. No I/O.

Each phase gives the same conditions every time; `lastTransitionTime` moves only when a condition's
status flips (KEP-1623).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from dbbench.api.status import Condition, ConditionStatus, ConditionType
from dbbench.evaluate.state import timestamp

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN


class Phase(StrEnum):
    """Where a benchmark stands, as far as conditions are concerned."""

    RUNNING = "Running"
    SUSPENDED = "Suspended"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"
    GATE_FAILED = "GateFailed"


@dataclass(frozen=True)
class Finding:
    """Status, reason and message of one condition."""

    status: ConditionStatus
    reason: str
    message: str = ""


_TABLE: dict[Phase, dict[ConditionType, ConditionStatus]] = {
    Phase.RUNNING: {
        ConditionType.SUCCEEDED: UNKNOWN,
        ConditionType.RECONCILING: TRUE,
        ConditionType.STALLED: FALSE,
        ConditionType.READY: FALSE,
    },
    Phase.SUSPENDED: {
        ConditionType.SUCCEEDED: UNKNOWN,
        ConditionType.RECONCILING: FALSE,
        ConditionType.STALLED: FALSE,
        ConditionType.READY: FALSE,
    },
    Phase.STALLED: {
        ConditionType.SUCCEEDED: FALSE,
        ConditionType.RECONCILING: FALSE,
        ConditionType.STALLED: TRUE,
        ConditionType.READY: FALSE,
    },
    Phase.SUCCEEDED: {
        ConditionType.SUCCEEDED: TRUE,
        ConditionType.RECONCILING: FALSE,
        ConditionType.STALLED: FALSE,
        ConditionType.READY: TRUE,
    },
    Phase.GATE_FAILED: {
        ConditionType.SUCCEEDED: FALSE,
        ConditionType.RECONCILING: FALSE,
        ConditionType.STALLED: TRUE,
        ConditionType.READY: FALSE,
    },
}


def phase_findings(phase: Phase, reason: str, message: str) -> dict[ConditionType, Finding]:
    """The four conditions that tools wait on."""
    return {kind: Finding(status, reason, message) for kind, status in _TABLE[phase].items()}


def updated(
    previous: Iterable[Condition],
    findings: dict[ConditionType, Finding],
    generation: int,
    now: datetime,
) -> list[Condition]:
    """The new list of conditions: those found now, and those of before that say nothing new."""
    before = {condition.type: condition for condition in previous}
    result = []
    for kind in ConditionType:
        old, finding = before.get(kind), findings.get(kind)
        if finding is None:
            if old is not None:
                result.append(old)
            continue
        flipped = old is None or old.status != finding.status
        result.append(
            Condition(
                type=kind,
                status=finding.status,
                reason=finding.reason,
                message=finding.message,
                last_transition_time=timestamp(now)
                if flipped or old is None
                else old.last_transition_time,
                observed_generation=generation,
            )
        )
    return result
