"""Makes the CustomResourceDefinition from the types. `python -m dbbench.api.crd` prints it."""

import sys
from typing import Any

import yaml

from dbbench.api import GROUP, KIND, PLURAL, VERSION
from dbbench.api.base import rule
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import DBBenchmarkStatus

# Kept by the structural schema; everything else that pydantic emits is dropped or rewritten.
_KEPT = {
    "type", "description", "default", "enum", "pattern", "format", "minLength", "maxLength",
    "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties", "required",
    "x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
}  # fmt: skip

_MUTABLE_WHILE_RUNNING = ("suspend", "cleanupPolicy", "ttlAfterFinished")


def structural(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A pydantic JSON schema as a Kubernetes structural schema.

    References are inlined, `null` alternatives dropped (an absent field is enough), titles left
    out, and CEL rules of a referenced type are kept beside those of the field.
    """
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[1]]
        merged = structural(target, definitions)
        return merged | structural({k: v for k, v in schema.items() if k != "$ref"}, definitions)
    if "anyOf" in schema:
        branches = [branch for branch in schema["anyOf"] if branch.get("type") != "null"]
        if len(branches) != 1:
            raise ValueError(f"not expressible in a structural schema: {schema}")
        rest = {k: v for k, v in schema.items() if k != "anyOf" and (k, v) != ("default", None)}
        return structural(branches[0], definitions) | structural(rest, definitions)
    result = {key: schema[key] for key in schema if key in _KEPT}
    if "properties" in schema:
        result["properties"] = {
            name: structural(field, definitions) for name, field in schema["properties"].items()
        }
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = structural(schema["additionalProperties"], definitions)
    if "items" in schema:
        result["items"] = structural(schema["items"], definitions)
    if result.get("type") == "integer":
        result["format"] = "int64"
    return result


def schema_of(model: type[DBBenchmarkSpec] | type[DBBenchmarkStatus]) -> dict[str, Any]:
    """The structural schema of spec or status."""
    schema = model.model_json_schema(by_alias=True, mode="validation")
    return structural(schema, schema.get("$defs", {}))


def _immutability(spec: dict[str, Any]) -> dict[str, str]:
    """Forbids changes of the spec after the start, but for the fields made to be changed."""
    compared = []
    for name in sorted(set(spec["properties"]) - set(_MUTABLE_WHILE_RUNNING)):
        new, old = f"self.spec.{name}", f"oldSelf.spec.{name}"
        if name in spec["required"] or "default" in spec["properties"][name]:
            compared.append(f"{new} == {old}")
        else:
            compared.append(f"has({new}) == has({old}) && (!has({new}) || {new} == {old})")
    unchanged = " && ".join(f"({expression})" for expression in compared)
    return rule(
        f"!has(oldSelf.status) || !has(oldSelf.status.startTime) || ({unchanged})",
        "the run has started: only suspend, cleanupPolicy and ttlAfterFinished can be changed; "
        "create a new DBBenchmark for another experiment",
        field_path=".spec",
    )


def _column(name: str, path: str, kind: str = "string", priority: int = 0) -> dict[str, Any]:
    column: dict[str, Any] = {"name": name, "type": kind, "jsonPath": path}
    if priority:
        column["priority"] = priority
    return column


def custom_resource_definition() -> dict[str, Any]:
    """The CRD as it is installed."""
    spec = schema_of(DBBenchmarkSpec)
    status = schema_of(DBBenchmarkStatus)
    status.pop("required", None)
    status["default"] = {"observedGeneration": -1}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{PLURAL}.{GROUP}",
            "labels": {"app.kubernetes.io/name": "dbbench"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": "dbbenchmark",
                "shortNames": ["dbb"],
                "categories": ["dbbench"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        _column("Engine", ".spec.database.engine"),
                        _column("Done", ".status.progress.trialsDone", "integer"),
                        _column("Planned", ".status.progress.trialsPlanned", "integer"),
                        _column("Worst-Slowdown", ".status.worstSlowdown"),
                        _column("Succeeded", '.status.conditions[?(@.type=="Succeeded")].status'),
                        _column("Reason", ".status.reason"),
                        _column("Now", ".status.progress.current", priority=1),
                        _column("Age", ".metadata.creationTimestamp", "date"),
                    ],
                    "schema": {
                        "openAPIV3Schema": {
                            "description": "Compares a database in virtual machines with the same "
                            "database in pods.",
                            "type": "object",
                            "required": ["spec"],
                            "properties": {
                                "apiVersion": {"type": "string"},
                                "kind": {"type": "string"},
                                # Named for the path of the rule below.
                                "metadata": {
                                    "type": "object",
                                    "properties": {"name": {"type": "string"}},
                                },
                                "spec": spec,
                                "status": status,
                            },
                            "x-kubernetes-validations": [
                                rule(
                                    "self.metadata.name.size() <= 40",
                                    "the name must have at most 40 characters: names of "
                                    "everything that belongs to it are made from it",
                                    field_path=".metadata.name",
                                ),
                                _immutability(spec),
                            ],
                        }
                    },
                }
            ],
        },
    }


class _Dumper(yaml.SafeDumper):
    """Writes every value in full: anchors are legal YAML, but hard to read and to diff."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def main() -> None:
    """Print the CRD as YAML."""
    sys.stdout.write("# Generated by `make generate` from operator/src/dbbench/api. Do not edit.\n")
    yaml.dump(custom_resource_definition(), sys.stdout, Dumper=_Dumper, sort_keys=False, width=100)


if __name__ == "__main__":
    main()
