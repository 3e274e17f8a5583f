"""The CRD is generated from the types, and obeys the rules of structural schemas and of kstatus."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbbench.api.crd import custom_resource_definition, schema_of, structural
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import ConditionType, DBBenchmarkStatus

PROJECT = Path(__file__).parents[3]
FILE = PROJECT / "crds" / "dbbench.io_dbbenchmarks.yaml"
CHART_COPY = PROJECT / "charts" / "dbbench-operator" / "files" / FILE.name


def version() -> dict[str, Any]:
    (only,) = custom_resource_definition()["spec"]["versions"]
    return only


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema below this one with its path; `[]` is an item, `{}` a value of a map."""
    yield path, schema
    for name, field in schema.get("properties", {}).items():
        yield from nodes(field, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from nodes(schema["additionalProperties"], f"{path}{{}}")


SPEC = dict(nodes(schema_of(DBBenchmarkSpec), "spec"))
STATUS = dict(nodes(schema_of(DBBenchmarkStatus), "status"))


def test_the_committed_crd_is_what_the_types_yield() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "dbbench.api.crd"], check=True, capture_output=True, text=True
    ).stdout
    assert FILE.read_text() == printed, "run: make generate"
    assert yaml.safe_load(printed) == custom_resource_definition()


def test_the_chart_installs_the_very_same_crd() -> None:
    assert CHART_COPY.read_bytes() == FILE.read_bytes(), "run: make generate"


@pytest.mark.parametrize("path", SPEC)
def test_every_string_list_and_map_of_the_spec_is_bounded(path: str) -> None:
    schema = SPEC[path]
    kind = schema["type"]
    if kind == "string":
        assert "enum" in schema or "maxLength" in schema
    elif kind == "array":
        assert "maxItems" in schema
    elif "additionalProperties" in schema:
        assert "maxProperties" in schema


@pytest.mark.parametrize("path", STATUS)
def test_every_list_of_the_status_is_bounded(path: str) -> None:
    schema = STATUS[path]
    assert schema["type"] != "array" or "maxItems" in schema
    assert schema["type"] != "string" or "enum" in schema or "maxLength" in schema


@pytest.mark.parametrize("path", [*SPEC, *STATUS])
def test_the_schema_is_structural_and_closed(path: str) -> None:
    schema = {**SPEC, **STATUS}[path]
    assert "type" in schema
    assert schema["type"] != "number", "no floats: decimal strings, or integers with a unit"
    assert not schema.keys() & {"$ref", "anyOf", "allOf", "oneOf", "title", "nullable"}
    assert "x-kubernetes-preserve-unknown-fields" not in schema
    assert schema.get("additionalProperties") is not True


@pytest.mark.parametrize(
    "path", [path for path in SPEC if "x-kubernetes-validations" in SPEC[path]]
)
def test_every_rule_has_a_message_that_stands_without_cel(path: str) -> None:
    for rule in SPEC[path]["x-kubernetes-validations"]:
        assert rule["message"].strip() == rule["message"] != ""
        assert rule.get("fieldPath", ".").startswith(".")


# Words of Kubernetes and KubeVirt: their users know the field by them.
VARIED_WORDS = (
    "resources.hugepages.pageSize",
    "virtualMachine.dataDisk.bus",
    "virtualMachine.dataDisk.cache",
    "virtualMachine.dataDisk.io",
    "virtualMachine.ioThreadsPolicy",
    "virtualMachine.machine",
)
FOREIGN_WORDS = {
    "spec.targets[].cloudNativePG.synchronous.method",
    *(f"spec.sweep.variants[].values[].{path}" for path in VARIED_WORDS),
    *(
        f"spec.{path}" if path.startswith("resources") else f"spec.targets[].{path}"
        for path in VARIED_WORDS
    ),
}


def test_words_of_other_apis_are_enumerated() -> None:
    assert all("enum" in SPEC[path] for path in FOREIGN_WORDS)


@pytest.mark.parametrize(
    "path",
    [path for path, schema in SPEC.items() if "enum" in schema and path not in FOREIGN_WORDS],
)
def test_enum_values_are_camel_case(path: str) -> None:
    for value in SPEC[path]["enum"]:
        assert value[0].isupper()
        assert value.isalnum()


def test_a_new_object_does_not_read_as_current() -> None:
    status = version()["schema"]["openAPIV3Schema"]["properties"]["status"]
    assert status["default"] == {"observedGeneration": -1}
    assert "required" not in status


def test_conditions_are_a_map_keyed_by_type() -> None:
    assert STATUS["status.conditions"]["x-kubernetes-list-map-keys"] == ["type"]
    assert STATUS["status.conditions[].reason"]["minLength"] == 1
    assert {"Ready", "Reconciling", "Stalled", "Succeeded"} <= {
        kind.value for kind in ConditionType
    }


def test_only_what_steers_a_run_can_change_during_it() -> None:
    root = version()["schema"]["openAPIV3Schema"]
    (rule,) = [r for r in root["x-kubernetes-validations"] if "oldSelf" in r["rule"]]
    fields = set(root["properties"]["spec"]["properties"])
    assert {field for field in fields if f"self.spec.{field} " not in rule["rule"]} == {
        "suspend",
        "cleanupPolicy",
        "ttlAfterFinished",
    }


def test_an_optional_field_becomes_one_that_may_be_absent() -> None:
    optional = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "maxLength": 3}
    assert structural(optional, {}) == {"type": "string", "maxLength": 3}


def test_a_union_of_types_is_refused() -> None:
    with pytest.raises(ValueError, match="not expressible in a structural schema"):
        structural({"anyOf": [{"type": "string"}, {"type": "integer"}]}, {})


def test_rules_of_a_referenced_type_reach_the_field() -> None:
    rule = {"rule": "true", "message": "holds"}
    definitions = {"T": {"type": "string", "x-kubernetes-validations": [rule]}}
    schema = structural({"$ref": "#/$defs/T", "description": "a field"}, definitions)
    assert schema == {
        "type": "string",
        "description": "a field",
        "x-kubernetes-validations": [rule],
    }
