"""The rules of clusters of CloudNativePG on a real API server: what it accepts, what it refuses."""

from typing import Any

import pytest
from access.documents import benchmark, check, refusal
from access.kubectl import Kubectl, Manifest

POD = {"name": "pod", "pod": {}}
DATABASE = {"engine": "PostgreSQL", "image": "postgres:17"}
TPCH = {"scaleFactor": "1", "cache": ["Cold"]}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def with_cluster(cluster: dict[str, Any], **spec: object) -> Manifest:
    """A benchmark of a pod and a cluster of CloudNativePG with these options."""
    targets = [POD, {"name": "cnpg", "cloudNativePG": cluster}]
    document = benchmark("checked", targets=targets, database=DATABASE)
    document["spec"] |= spec
    return document


@pytest.mark.parametrize(
    ("cluster", "spec"),
    [
        ({}, {}),
        ({"instances": 3, "synchronous": {"method": "any", "number": 1}}, {}),
        ({"instances": 3, "synchronous": {"number": 2}}, {}),
        ({}, {"database": DATABASE | {"image": "localhost:5000/a/postgres:15.7-bookworm"}}),
        ({}, {"database": DATABASE | {"image": f"postgres:17@sha256:{'0' * 64}"}}),
        (
            {},
            {"database": DATABASE | {"config": {"work_mem": "1GB", "log_statement": "all"}}},
        ),
        ({}, {"sweep": {"cpu": [1, 2], "instances": [1, 2]}}),
    ],
    ids=str,
)
def test_accepted(server: Kubectl, cluster: dict[str, Any], spec: dict[str, Any]) -> None:
    check(server, with_cluster(cluster, **spec))


@pytest.mark.parametrize(
    ("cluster", "spec", "field", "says"),
    [
        ({"instances": 0}, {}, "cloudNativePG.instances", "greater than or equal to 1"),
        (
            {"instances": 2, "synchronous": {"number": 2}},
            {},
            "cloudNativePG.synchronous.number",
            "must be less than instances",
        ),
        ({"synchronous": {}}, {}, "cloudNativePG.synchronous.number", "must be less than"),
        (
            {"instances": 3, "synchronous": {"method": "all"}},
            {},
            "synchronous.method",
            'supported values: "any", "first"',
        ),
        (
            {},
            {"database": {"engine": "MySQL", "image": "mysql:84"}},
            "spec.targets",
            "cloudNativePG runs PostgreSQL alone",
        ),
        *(
            (
                {},
                {"database": DATABASE | {"image": image}},
                "spec.database.image",
                "reads the version of PostgreSQL from the image's tag",
            )
            for image in ("postgres", "postgres:latest", "a:17/postgres", "postgres@sha256:17")
        ),
        *(
            (
                {},
                {"database": DATABASE | {"config": {name: "x"}}},
                "spec.database.config",
                "CloudNativePG keeps to itself",
            )
            for name in ("archive_command", "ssl", "ssl_ciphers", "shared_preload_libraries")
        ),
        (
            {},
            {"database": DATABASE | {"storage": {"size": "64Mi", "medium": "Memory"}}},
            "spec.database.storage.medium",
            "cloudNativePG has its data on a volume",
        ),
        ({}, {"workloads": [{"name": "q", "tpch": TPCH}]}, "spec.workloads", "external and cloud"),
    ],
    ids=str,
)
def test_refused(
    server: Kubectl, cluster: dict[str, Any], spec: dict[str, Any], field: str, says: str
) -> None:
    said = refusal(server, with_cluster(cluster, **spec))
    assert field in said
    assert says in said
