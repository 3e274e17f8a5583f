"""All fields of a DBBenchmark, from the schema that the API server enforces."""

from collections.abc import Iterator
from typing import Any

from dbbench.api import GROUP, KIND, VERSION
from dbbench.api.base import LABEL_KEY_PATTERN
from dbbench.api.crd import custom_resource_definition, schema_of
from dbbench.api.quantities import (
    DECIMAL_PATTERN,
    DURATION_PATTERN,
    PERCENT_PATTERN,
    QUANTITY_PATTERN,
)
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import DBBenchmarkStatus
from reference.tables import header, prose, table

Schema = dict[str, Any]

KINDS = {
    QUANTITY_PATTERN: ("quantity", "an amount as Kubernetes writes it, above 0", "`512Mi`, `2Gi`"),
    DURATION_PATTERN: (
        "duration",
        "hours, minutes and seconds, at most ten years",
        "`90s`, `1h30m`",
    ),
    PERCENT_PATTERN: ("percentage", "a share of 100", '`"1%"`, `"2.5%"`'),
    DECIMAL_PATTERN: (
        "decimal",
        "a number as text, so that nothing is rounded",
        '`"0.01"`, `"10"`',
    ),
    LABEL_KEY_PATTERN: ("label key", "as Kubernetes allows it", "`kubernetes.io/hostname`"),
}
NAMES = {
    20: ("name", "small letters, digits and dashes; at most 20", "`pod`, `vm-2`"),
    253: ("object name", "of an object of Kubernetes", "`fast-local`"),
}
_NAME_START = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_ABOUT = f"""\
# Fields of a {KIND}

`{GROUP}/{VERSION}`, kind `{KIND}`, short name `dbb`. Every field that there is, with what the API
server fills in and what it refuses. Unknown fields are refused, too. On a cluster
`kubectl explain dbb.spec` tells the same. Samples are in `manifests/samples/`.
"""


def page() -> str:
    """The page docs/reference/api.md."""
    kinds = [(f"**{name}**", what, examples) for name, what, examples in _all_kinds()]
    whole = custom_resource_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    parts = [
        header("operator/src/dbbench/api") + _ABOUT,
        table(("kind of text", "is", "for example"), kinds),
        _rules(whole).lstrip(),
        *_sections("spec", schema_of(DBBenchmarkSpec), defaults=True),
        *_sections("status", schema_of(DBBenchmarkStatus), defaults=False),
    ]
    return "\n".join(part for part in parts if part)


def _all_kinds() -> list[tuple[str, str, str]]:
    return [*KINDS.values(), *NAMES.values()]


def _sections(path: str, schema: Schema, *, defaults: bool) -> Iterator[str]:
    """A section for the object at `path`, then those of the objects in it."""
    required = schema.get("required", [])
    rows = []
    for name, field in schema["properties"].items():
        cells = [f"`{name}`", type_of(field)]
        if defaults:
            cells.append(_default(field, required=name in required))
        rows.append([*cells, prose(field.get("description", ""))])
    columns = ("field", "type", "default", "meaning") if defaults else ("field", "type", "meaning")
    about = f"{prose(schema['description'])}\n\n" if schema.get("description") else ""
    yield f"## `{path}`\n\n{about}{table(columns, rows)}{_rules(schema)}"
    for name, field in schema["properties"].items():
        for suffix, inner in _inner(field):
            if inner.get("properties"):
                yield from _sections(f"{path}.{name}{suffix}", inner, defaults=defaults)


def _inner(field: Schema) -> Iterator[tuple[str, Schema]]:
    """The objects that a field holds, with what follows its name in a path."""
    if "properties" in field:
        yield "", field
    if "items" in field:
        yield "[]", field["items"]


def type_of(schema: Schema) -> str:
    """A type in words, with its bounds."""
    kind = schema["type"]
    if kind == "array":
        return f"list of {_plural(type_of(schema['items']))}{_count(schema, 'Items', '')}"
    if "additionalProperties" in schema:
        return f"map of {_plural(type_of(schema['additionalProperties']))}" + _count(
            schema, "Properties", "entries"
        )
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if kind == "integer":
        return f"integer{_range(schema)}"
    if kind == "string":
        return _text(schema)
    return {"boolean": "`true` or `false`", "object": "object"}[kind]


def _plural(kind: str) -> str:
    for one, many in (("object", "objects"), ("integer", "integers"), ("text", "texts")):
        if kind.startswith(one) and not kind.startswith("object name"):
            return many + kind.removeprefix(one)
    return kind


def _text(schema: Schema) -> str:
    pattern, longest = schema.get("pattern", ""), schema.get("maxLength")
    if pattern in KINDS:
        return KINDS[pattern][0]
    if pattern.startswith(_NAME_START) and longest in NAMES:
        return NAMES[longest][0]
    bound = f", at most {longest} characters" if longest else ""
    return f"text{bound}" + (f", matches `{pattern}`" if pattern else "")


def _range(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    if low is not None:
        return f", at least {low}"
    return f", at most {high}" if high is not None else ""


def _count(schema: Schema, of: str, noun: str) -> str:
    low, high = schema.get(f"min{of}"), schema.get(f"max{of}")
    if low and high:
        text = f", {low} to {high}"
    elif high:
        text = f", at most {high}"
    else:
        return f", at least {low}" if low else ""
    return f"{text} {noun}".rstrip()


def _default(field: Schema, *, required: bool) -> str:
    if required:
        return "**required**"
    if "default" not in field:
        return ""
    value = field["default"]
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, dict | list):
        return "its fields' defaults" if field.get("properties") else f"`{value}`"
    return f"`{value}`"


def _rules(schema: Schema) -> str:
    """What the API server asks of several fields together, in the words of its refusals."""
    lines = []
    for rule in schema.get("x-kubernetes-validations", []):
        place = rule.get("fieldPath", "").lstrip(".")
        lines.append(f"- {f'`{place}`: ' if place else ''}{prose(rule['message'])}")
    if not lines:
        return ""
    return "\nRefused otherwise:\n\n" + "\n".join(dict.fromkeys(lines)) + "\n"
