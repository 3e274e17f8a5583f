"""What all API types share: camelCase names, no unknown fields, and CEL rules beside the type."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

from dbbench.api.quantities import (
    DECIMAL_PATTERN,
    DURATION_PATTERN,
    PERCENT_PATTERN,
    QUANTITY_PATTERN,
)


def rule(
    expression: str, message: str = "", *, message_expression: str = "", field_path: str = ""
) -> dict[str, str]:
    """One CEL validation rule as the API server reads it.

    `message_expression` is CEL that yields the text; `message` stands in where it fails.
    """
    entry = {"rule": expression}
    if message:
        entry["message"] = message
    if message_expression:
        entry["messageExpression"] = message_expression
    if field_path:
        entry["fieldPath"] = field_path
    return entry


def literal(text: str) -> str:
    """A text, such as a pattern, as CEL writes it in a rule."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def rules(*entries: dict[str, str]) -> dict[str, Any]:
    """JSON schema extension that carries CEL rules."""
    return {"x-kubernetes-validations": list(entries)}


# The API server fills an absent object, then the defaults of its fields.
DEFAULTED: JsonDict = {"default": {}}


class ApiModel(BaseModel):
    """Base of every type of the API."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True
    )

    def document(self) -> dict[str, Any]:
        """The object as JSON-compatible data with the API's names, absent fields left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


Name = Annotated[
    str,
    Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", min_length=1, max_length=20),
]
# Names that Kubernetes gives to what is not a part of other names: DNS subdomains.
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
ObjectName = Annotated[str, Field(pattern=rf"^{_SUBDOMAIN}$", min_length=1, max_length=253)]
LABEL_KEY_PATTERN = rf"^({_SUBDOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?$"
LABEL_KEY_LENGTH = 317
LabelValue = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)
]
Quantity = Annotated[
    str,
    Field(
        pattern=QUANTITY_PATTERN,
        max_length=20,
        json_schema_extra=rules(
            rule(
                "!isQuantity(self) || quantity(self).isGreaterThan(quantity('0'))",
                "must be greater than 0, for example 512Mi or 2Gi",
            )
        ),
    ),
]
# What CEL's own duration can hold, which is 292 years. Rules are also evaluated on what the pattern
# refuses, and then must hold: else its answer stands beside one in CEL's words.
_HOLDABLE = "self != '' && self.matches('^([0-9]{1,5}h)?([0-9]{1,8}m)?([0-9]{1,9}s)?$')"
_AT_MOST = rule(
    f"({_HOLDABLE}) ? duration(self) <= duration('87600h') : "
    f"(self == '' || !self.matches('{DURATION_PATTERN}'))",
    "must be at most 87600h, ten years; for example 30s, 5m or 24h",
)
Duration = Annotated[
    str,
    Field(
        pattern=DURATION_PATTERN,
        min_length=2,
        max_length=20,
        json_schema_extra=rules(
            rule(
                f"!({_HOLDABLE}) || duration(self) > duration('0s')",
                "must be longer than 0s, for example 30s or 5m",
            ),
            _AT_MOST,
        ),
    ),
]
OptionalWait = Annotated[
    str,
    Field(pattern=DURATION_PATTERN, min_length=2, max_length=20, json_schema_extra=rules(_AT_MOST)),
]
Percent = Annotated[str, Field(pattern=PERCENT_PATTERN, max_length=10)]
DecimalString = Annotated[str, Field(pattern=DECIMAL_PATTERN, max_length=20)]
