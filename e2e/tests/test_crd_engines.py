"""The rules of the engine Hyper on a real API server: what it accepts, what it refuses."""

from typing import Any

import pytest
from access.documents import benchmark, check, refusal
from access.kubectl import Kubectl, Manifest

POD = {"name": "pod", "pod": {}}
EXTERNAL = {"name": "prod", "external": {"connection": {"secretRef": {"name": "hyper-app"}}}}
HYPER = {"engine": "Hyper", "image": "localhost/dbbench/hyper:0.0.26963"}
ORDERS = {"name": "orders", "tpcc": {"warehouses": 1}}
TELECOM = {"name": "telecom", "tatp": {"subscribers": 100}}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def tpch(*cache: str) -> Manifest:
    caches: Manifest = {"cache": list(cache)} if cache else {}
    return {"name": "analytics", "tpch": {"scaleFactor": "0.01", **caches}}


def with_hyper(config: dict[str, str] | None = None, **spec: object) -> Manifest:
    """A benchmark of Hyper in a pod and in a QEMU VM."""
    database = HYPER | ({"config": config} if config else {})
    return benchmark("checked", **({"database": database, "workloads": [tpch()]} | spec))


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"config": {"memory_limit": "2g", "soft_concurrent_query_thread_limit": "4"}},
        # Settings whose names only begin like one of dbbench's own.
        {"config": {"log_queries": "0", "database_canonicalize_paths": "1"}},
        {"workloads": [tpch("Warm", "Cold")]},
        {"workloads": [tpch(), {"name": "memory", "zachmann": {"tableSize": "1M"}}]},
        {"targets": [POD, {"name": "bare", "host": {}}]},
        {"targets": [POD, EXTERNAL]},
        {"sweep": {"cpu": [1, 2, 4, 8]}},
        {"database": HYPER | {"storage": {"size": "256Mi", "medium": "Memory"}}},
    ],
    ids=str,
)
def test_accepted(server: Kubectl, spec: dict[str, Any]) -> None:
    check(server, with_hyper(**spec))


LACKS = "Hyper has no enforced keys and no row locks, which tpcc and tatp need"


@pytest.mark.parametrize(
    ("spec", "field", "says"),
    [
        ({"workloads": [ORDERS]}, "spec.workloads", LACKS),
        ({"workloads": [tpch(), TELECOM]}, "spec.workloads", "or write another engine"),
        (
            {"targets": [POD, EXTERNAL], "workloads": [tpch("Warm")]},
            "spec.workloads",
            "Hyper does not tell what it reads",
        ),
        (
            {"targets": [POD, {"name": "cnpg", "cloudNativePG": {}}]},
            "spec.targets",
            "cloudNativePG runs PostgreSQL alone",
        ),
        ({"config": {"shared_buffers": "1GB"}}, "spec.database.config", "write memory_limit"),
        ({"config": {"innodb_buffer_pool_size": "1G"}}, "spec.database.config", "for Hyper write"),
        *(
            ({"config": {name: "1"}}, "spec.database.config", "set by dbbench for Hyper; remove")
            for name in ("no_password", "init_user", "log_file_path", "ssl_force", "grpc_threads",
                         "database_directory", "database_dir_whitelist", "log_config", "whitelist")
        ),
        (
            {"database": HYPER | {"engine": "HyPer"}},
            "spec.database.engine",
            'supported values: "PostgreSQL", "MySQL", "Hyper"',
        ),
    ],
    ids=str,
)  # fmt: skip
def test_refused(server: Kubectl, spec: dict[str, Any], field: str, says: str) -> None:
    said = refusal(server, with_hyper(**spec))
    assert field in said
    assert says in said


def test_settings_of_hyper_are_no_matter_of_other_engines(server: Kubectl) -> None:
    config: dict[str, Any] = {"log_file_mode": "0600", "ssl_ciphers": "HIGH"}
    postgres = benchmark("checked")["spec"]["database"] | {"config": config}
    check(server, benchmark("checked", database=postgres))
