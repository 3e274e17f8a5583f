"""What is kept of each attempt at a trial or a load, whether it succeeded or not. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SCHEMA_VERSION = 1

CONTAMINATED = "Contaminated"
"""Reason of a trial that something else disturbed; `message` has the signs. Its outcome is Invalid
where it is run again, and Measured where it counts because no repetition is left."""


class Outcome(StrEnum):
    MEASURED = "Measured"
    """The driver measured, and calls its result valid. Only these count in a comparison."""

    INVALID = "Invalid"
    """The driver measured, but under conditions that make the figures worthless."""

    FAILED = "Failed"
    """There is no result: the job failed, timed out or vanished."""


class RecordError(ValueError):
    """A stored document that is not a record of this version."""


@dataclass(frozen=True)
class TrialRecord:
    """One attempt at a trial.

    `trial` is the plan's Trial.id, `cell` its Cell.name (empty for a workload with one point),
    `attempt` counts from 1. `reason` is a CamelCase word and `message` a sentence; of a measurement
    that nothing disturbed they are Measured and empty. `started` and `finished` are RFC 3339 times
    in UTC. `result` is the driver's result document, word for word; None when there is none. Of a
    target with several instances it is the result of all of them, and `instances` has a document of
    each (results.instances).
    """

    trial: str
    block: int
    target: str
    workload: str
    cell: str
    attempt: int
    outcome: Outcome
    reason: str
    message: str
    started: str
    finished: str
    result: Mapping[str, Any] | None
    instances: tuple[Mapping[str, Any], ...] = ()

    @property
    def counts_though_contaminated(self) -> bool:
        """Whether it is a disturbed measurement that counts all the same."""
        return self.outcome is Outcome.MEASURED and self.reason == CONTAMINATED

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...]:
        """What was reported of each instance: one document where the target is one database."""
        return _documents(self)

    def to_document(self) -> dict[str, Any]:
        """The record as JSON-compatible data."""
        return {
            "kind": "TrialRecord",
            "schemaVersion": SCHEMA_VERSION,
            "trial": self.trial,
            "block": self.block,
            "target": self.target,
            "workload": self.workload,
            "cell": self.cell,
            **_attempt_document(self),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "TrialRecord":
        """The inverse of to_document; RecordError names the field that is missing or wrong."""
        fields = _Fields(document, "TrialRecord")
        return cls(
            trial=fields.text("trial"),
            block=fields.number("block"),
            target=fields.text("target"),
            workload=fields.text("workload"),
            cell=fields.text("cell"),
            attempt=fields.number("attempt"),
            outcome=fields.outcome(),
            reason=fields.text("reason"),
            message=fields.text("message"),
            started=fields.text("started"),
            finished=fields.text("finished"),
            result=fields.result(),
            instances=fields.instances(),
        )


@dataclass(frozen=True)
class LoadRecord:
    """One attempt at loading a workload's data into a target; the fields as in TrialRecord.

    `deployment` tells the deployments of a target apart, as the label dbbench.io/deployment does;
    empty where it has only one.
    """

    target: str
    workload: str
    attempt: int
    outcome: Outcome
    reason: str
    message: str
    started: str
    finished: str
    result: Mapping[str, Any] | None
    instances: tuple[Mapping[str, Any], ...] = ()
    deployment: str = ""

    @property
    def deployed(self) -> str:
        """Name of the deployment that was loaded."""
        return f"{self.target}@{self.deployment}" if self.deployment else self.target

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...]:
        """What was reported of each instance: one document where the target is one database."""
        return _documents(self)

    def to_document(self) -> dict[str, Any]:
        """The record as JSON-compatible data."""
        return {
            "kind": "LoadRecord",
            "schemaVersion": SCHEMA_VERSION,
            "target": self.target,
            **({"deployment": self.deployment} if self.deployment else {}),
            "workload": self.workload,
            **_attempt_document(self),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "LoadRecord":
        """The inverse of to_document; RecordError names the field that is missing or wrong."""
        fields = _Fields(document, "LoadRecord")
        return cls(
            target=fields.text("target"),
            workload=fields.text("workload"),
            attempt=fields.number("attempt"),
            outcome=fields.outcome(),
            reason=fields.text("reason"),
            message=fields.text("message"),
            started=fields.text("started"),
            finished=fields.text("finished"),
            result=fields.result(),
            instances=fields.instances(),
            deployment=fields.text("deployment", ""),
        )


Record = TrialRecord | LoadRecord


def from_document(document: Mapping[str, Any]) -> Record:
    """The record of either kind; RecordError when the document is none."""
    if document.get("kind") == "LoadRecord":
        return LoadRecord.from_document(document)
    return TrialRecord.from_document(document)


def _attempt_document(record: Record) -> dict[str, Any]:
    return {
        "attempt": record.attempt,
        "outcome": record.outcome.value,
        "reason": record.reason,
        "message": record.message,
        "started": record.started,
        "finished": record.finished,
        "result": None if record.result is None else dict(record.result),
        **({"instances": [dict(one) for one in record.instances]} if record.instances else {}),
    }


def _documents(record: Record) -> tuple[Mapping[str, Any], ...]:
    if record.instances or record.result is None:
        return record.instances
    return (record.result,)


class _Fields:
    """Typed access to a document's fields."""

    def __init__(self, document: Mapping[str, Any], kind: str) -> None:
        self._document = document
        if document.get("kind") != kind:
            raise RecordError(f"kind is {document.get('kind')!r}, not {kind!r}")
        if document.get("schemaVersion") != SCHEMA_VERSION:
            raise RecordError(
                f"schemaVersion is {document.get('schemaVersion')!r}; "
                f"this version of dbbench reads {SCHEMA_VERSION}"
            )

    def text(self, name: str, absent: str | None = None) -> str:
        value = self._document.get(name, absent)
        if not isinstance(value, str):
            raise RecordError(f"{name} is {value!r}, not a text")
        return value

    def number(self, name: str) -> int:
        value = self._document.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise RecordError(f"{name} is {value!r}, not a whole number")
        return value

    def outcome(self) -> Outcome:
        value = self.text("outcome")
        try:
            return Outcome(value)
        except ValueError:
            raise RecordError(f"outcome is {value!r}, not one of {', '.join(Outcome)}") from None

    def result(self) -> Mapping[str, Any] | None:
        value = self._document.get("result")
        if value is not None and not isinstance(value, Mapping):
            raise RecordError(f"result is a {type(value).__name__}, not an object")
        return value

    def instances(self) -> tuple[Mapping[str, Any], ...]:
        value = self._document.get("instances", [])
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise RecordError("instances is not a list of objects")
        return tuple(value)
