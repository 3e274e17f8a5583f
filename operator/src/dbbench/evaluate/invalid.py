"""Status of an object whose spec this version cannot read, as after a change of the CRD. No I/O."""

from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from dbbench.api.status import Condition
from dbbench.evaluate.conditions import Phase, phase_findings, updated


def invalid_spec_status(body: dict[str, Any], error: ValidationError) -> dict[str, Any]:
    """The object's status with conditions that name the fields that cannot be read."""
    before = body.get("status") or {}
    places = "; ".join(
        f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)[:5]
    )
    message = f"this version of dbbench cannot read the object: {places}"
    generation = body["metadata"].get("generation", 0)
    previous = [Condition.model_validate(item) for item in before.get("conditions", [])]
    conditions = updated(
        previous,
        phase_findings(Phase.STALLED, "InvalidSpec", message),
        generation,
        datetime.now(UTC),
    )
    return before | {
        "observedGeneration": generation,
        "reason": "InvalidSpec",
        "conditions": [condition.document() for condition in conditions],
    }
