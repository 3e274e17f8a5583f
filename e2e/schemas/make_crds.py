#!/usr/bin/env python3
"""Writes KubeVirt's CRDs and CloudNativePG's from an OpenAPI document on PyPI. See README.md.

Usage: make_crds.py OUTPUT_DIRECTORY [--cache DIRECTORY]
"""

import argparse
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
DOCUMENT = "class_generator/schema/_definitions.json"
OBJECT_META = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
READY = {
    "name": "Ready",
    "type": "string",
    "jsonPath": ".status.conditions[?(@.type=='Ready')].status",
}

# What an OpenAPI document does not say of a CRD. KubeVirt's VirtualMachineInstance has no status
# subresource: its status is written with the object itself.
CRDS: list[dict[str, Any]] = [
    {
        "definition": "kubevirt.io/v1/VirtualMachine",
        "plural": "virtualmachines",
        "shortNames": ["vm", "vms"],
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            AGE,
            {"name": "Status", "type": "string", "jsonPath": ".status.printableStatus"},
            READY,
        ],
    },
    {
        "definition": "kubevirt.io/v1/VirtualMachineInstance",
        "plural": "virtualmachineinstances",
        "shortNames": ["vmi", "vmis"],
        "additionalPrinterColumns": [
            AGE,
            {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
            {"name": "IP", "type": "string", "jsonPath": ".status.interfaces[0].ipAddress"},
            {"name": "NodeName", "type": "string", "jsonPath": ".status.nodeName"},
            READY,
        ],
    },
    {
        "definition": "kubevirt.io/v1/KubeVirt",
        "plural": "kubevirts",
        "shortNames": ["kv", "kvs"],
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            AGE,
            {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        ],
    },
    {
        # Published by an operator that brings CloudNativePG along under a group of its own.
        "definition": "postgresql.cnpg.noobaa.io/v1/Cluster",
        "group": "postgresql.cnpg.io",
        "plural": "clusters",
        "shortNames": [],
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.instances",
                "statusReplicasPath": ".status.instances",
                "labelSelectorPath": ".status.selector",
            },
        },
        "additionalPrinterColumns": [
            AGE,
            {"name": "Instances", "type": "integer", "jsonPath": ".status.instances"},
            {"name": "Ready", "type": "integer", "jsonPath": ".status.readyInstances"},
            {"name": "Status", "type": "string", "jsonPath": ".status.phase"},
            {"name": "Primary", "type": "string", "jsonPath": ".status.currentPrimary"},
        ],
    },
]


def structural(schema: Any, where: str) -> Any:  # noqa: ANN401 (JSON)
    """A published schema as a structural one: ValueError names a part that is not expressible.

    The API server publishes a CRD's schema with the metadata's type put in and with its group,
    version and kind; both are taken out again. Nothing else may refer to another definition.
    """
    if isinstance(schema, list):
        return [structural(item, f"{where}[{index}]") for index, item in enumerate(schema)]
    if not isinstance(schema, dict):
        return schema
    references = [schema, *schema.get("allOf", [])]
    if any(isinstance(entry, dict) and entry.get("$ref") == OBJECT_META for entry in references):
        return {"type": "object"}
    if isinstance(schema.get("$ref"), str):
        raise ValueError(f"{where} refers to {schema['$ref']}, which is not inlined")
    return {key: structural(value, f"{where}.{key}") for key, value in schema.items()}


def crd(entry: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """One CustomResourceDefinition."""
    group, version, kind = entry["definition"].split("/")
    group = entry.get("group", group)
    published = dict(definitions[entry["definition"]])
    for key in ("namespaced", "x-kubernetes-group-version-kind"):
        published.pop(key, None)
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": structural(published, kind)},
        "additionalPrinterColumns": entry["additionalPrinterColumns"],
    }
    if "subresources" in entry:
        served["subresources"] = entry["subresources"]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{entry['plural']}.{group}", "labels": {group: ""}},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "plural": entry["plural"],
                "singular": kind.lower(),
                "shortNames": entry["shortNames"],
                "categories": ["all"],
            },
            "versions": [served],
        },
    }


def sdist(cache: Path) -> Path:
    """The downloaded archive that requirements.txt names; checked against its hash by pip."""
    requirement = next(
        line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#")
    )
    name, version = requirement.rstrip(" \\").split("==")
    archive = cache / f"{name.replace('-', '_')}-{version}.tar.gz"
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        download = [
            sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
            "--no-deps", "--no-binary", ":all:", "--require-hashes",
            "--requirement", str(REQUIREMENTS), "--dest", str(cache),
        ]  # fmt: skip
        subprocess.run(download, check=True)
    return archive


def definitions_of(archive: Path) -> dict[str, Any]:
    """The OpenAPI definitions inside the archive."""
    with tarfile.open(archive) as tar:
        member = next(entry for entry in tar if entry.name.endswith(f"/{DOCUMENT}"))
        content = tar.extractfile(member)
        if content is None:
            raise ValueError(f"{archive}: {member.name} is not a file")
        definitions: dict[str, Any] = json.load(content)["definitions"]
    return definitions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder for <plural>.<group>.json")
    parser.add_argument(
        "--cache",
        type=Path,
        default=HERE.parent.parent / ".state" / "cache" / "schemas",
        help="folder for the downloaded archive",
    )
    arguments = parser.parse_args()
    definitions = definitions_of(sdist(arguments.cache))
    arguments.output.mkdir(parents=True, exist_ok=True)
    for entry in CRDS:
        made = crd(entry, definitions)
        path = arguments.output / f"{made['metadata']['name']}.json"
        path.write_text(json.dumps(made, indent=1) + "\n")
        print(path)


if __name__ == "__main__":
    main()
