"""A bill of materials in CycloneDX 1.6 (ECMA-424), as JSON. No I/O."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from supply.parts import Part


def document(name: str, version: str, kind: str, parts: Sequence[Part]) -> str:
    """The bill of `name`, which is an `application` or a `container`.

    The same parts give the same bytes: its serial number follows from them, and it has no date.
    """
    subject = {"type": kind, "bom-ref": name, "name": name, "version": version}
    components = [_component(part) for part in parts]
    content = json.dumps([subject, components], sort_keys=True)
    body = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": [part.purl for part in parts]}],
    }
    return json.dumps(body, indent=2) + "\n"


def _component(part: Part) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": part.purl,
        "name": part.name,
        "version": part.version,
        "purl": part.purl,
    }
    if part.sha256:
        component["hashes"] = [{"alg": "SHA-256", "content": part.sha256}]
    return component
