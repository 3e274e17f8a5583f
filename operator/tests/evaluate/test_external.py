"""Databases that exist already: measured like the others, and nothing is said that is not known."""

import base64
import dataclasses
import json
from typing import Any

import pytest

from dbbench.evaluate.connection import Connection, Tls, connection_of
from dbbench.evaluate.preflight import problems
from dbbench.evaluate.state import Ref
from dbbench.plan.duration import Assumptions, expected

from .model_cluster import ModelCluster, spec

EXTERNAL = {"name": "prod", "external": {"connection": {"secretRef": {"name": "orders-app"}}}}
USABLE = {"orders-app": Connection(frozenset({"host", "user", "password"}))}


def cluster(**changes: Any) -> ModelCluster:
    targets = [{"name": "pod", "pod": {}}, EXTERNAL]
    return ModelCluster(spec(**({"targets": targets} | changes)), connections=USABLE)


def secret(**values: str) -> dict[str, Any]:
    """As the API server gives it."""
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"metadata": {"name": "orders-app"}, "data": data}


PEM = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
WHOLE = {"host": "db.example", "username": "reader", "password": "hunter2"}


def test_of_a_secret_no_value_is_kept() -> None:
    found = connection_of(secret(**WHOLE, port="5432", sslmode="require", jdbcUri="x"))
    assert found == Connection(frozenset({"host", "username", "password"}), tls=Tls.ASKED)
    assert not any(value in repr(found) for value in ("db.example", "reader", "hunter2", "5432"))


@pytest.mark.parametrize(
    ("changes", "reason", "says"),
    [
        ({}, "", ""),
        ({"port": "5432\n", "sslmode": "disable"}, "", ""),
        ({"sslmode": "disable", "ca.crt": PEM}, "", ""),
        ({"sslmode": "require\n"}, "", ""),
        ({"sslmode": "verify-ca", "ca.crt": PEM}, "", ""),
        ({"sslmode": "verify-full"}, "", ""),
        ({"sslmode": "verify-full", "ca.crt": PEM}, "", ""),
        ({"port": ""}, "", ""),
        ({"host": ""}, "SecretKeyMissing", "has no value for host."),
        ({"username": "", "password": ""}, "SecretKeyMissing", "for user or username, password."),
        ({"port": "http"}, "SecretValueInvalid", "port in Secret 'orders-app'"),
        ({"port": "65536"}, "SecretValueInvalid", "from 1 to 65535"),
        ({"sslmode": "prefer"}, "SecretValueInvalid", "the server would decide what is measured"),
        ({"sslmode": "allow", "ca.crt": PEM}, "SecretValueInvalid", "write disable, require, "),
        ({"sslmode": "verify_full"}, "SecretValueInvalid", "that is none of disable, require, "),
        ({"sslmode": "verify-ca"}, "SecretKeyMissing", "has sslmode verify-ca and no ca.crt"),
        ({"ca.crt": PEM}, "SecretKeyMissing", "has ca.crt and no sslmode"),
        ({"sslmode": "verify-full", "ca.crt": "http"}, "SecretValueInvalid", "ca.crt without a"),
    ],
    ids=str,
)
def test_a_secret_that_cannot_be_used_is_named(
    changes: dict[str, str], reason: str, says: str
) -> None:
    state = dataclasses.replace(
        cluster().state(), connections={"orders-app": connection_of(secret(**(WHOLE | changes)))}
    )
    found = problems(state)
    assert [problem.reason for problem in found] == ([reason] if reason else [])
    for problem in found:
        assert "spec.targets[1].external.connection.secretRef" in problem.message
        assert says.lower() in problem.message.lower()
        assert not any(value in problem.message for value in (*WHOLE.values(), "http"))


@pytest.mark.parametrize("engine", ["MySQL", "Hyper"])
def test_tls_is_for_postgresql_alone(engine: str) -> None:
    database = spec()["database"] | {"engine": engine}
    tpch = [{"name": "analytics", "tpch": {"scaleFactor": "0.01"}}]
    state = cluster(database=database, workloads=tpch).state()
    whole = WHOLE | {"database": "bench"}
    for mode, reasons in (("disable", []), ("require", ["TLSNotSupported"])):
        found = connection_of(secret(**whole, sslmode=mode))
        usable = dataclasses.replace(state, connections={"orders-app": found})
        assert [problem.reason for problem in problems(usable)] == reasons


def test_tls_on_one_side_alone_is_told() -> None:
    model = cluster()
    model.encrypted = {"prod": {"protocol": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384"}}
    model.run()
    message = model.condition("FairnessVerified")["message"]
    assert "TLS: none / prod TLSv1.3 TLS_AES_256_GCM_SHA384" in message


def test_hyper_needs_the_name_of_a_database() -> None:
    hyper = spec()["database"] | {"engine": "Hyper"}
    tpch = [{"name": "analytics", "tpch": {"scaleFactor": "0.01"}}]
    state = cluster(database=hyper, workloads=tpch).state()
    for changes, says in (
        ({}, "has no value for database or dbname"),
        ({"dbname": "bench.hyper"}, None),
        ({"database": "/data/bench.hyper"}, None),
    ):
        found = connection_of(secret(**(WHOLE | changes)))
        usable = dataclasses.replace(state, connections={"orders-app": found})
        (*_, message) = ["", *(problem.message for problem in problems(usable))]
        assert says in message if says else message == ""


def test_a_missing_secret_stalls_the_benchmark_with_the_command_that_makes_it() -> None:
    model = cluster()
    model.connections = {}
    model.step()
    stalled = model.condition("Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "SecretNotFound")
    assert "kubectl create secret generic orders-app -n ns" in stalled["message"]
    model.connections = USABLE
    model.run()
    assert model.condition("Succeeded")["status"] == "True"


def test_secrets_that_may_not_be_read_are_not_judged() -> None:
    assert problems(dataclasses.replace(cluster().state(), connections=None)) == ()


def test_an_external_database_is_loaded_once_and_measured_and_nothing_is_deployed_for_it() -> None:
    model = cluster(trials={"min": 3})
    model.run()
    assert model.condition("Succeeded")["status"] == "True"
    assert set(model.starts) == {"pod"}
    loads = [name for name in model.jobs_run if name.startswith("bench-load-prod")]
    assert loads == ["bench-load-prod-analytics-1", "bench-load-prod-telecom-1"]
    assert model.status["environment"]["targets"][1] | {"properties": {}} == {
        "name": "prod", "runtime": "External", "instances": 1, "overcommitment": "", "kernel": "",
        "hypervisor": "", "emulated": False, "serverVersion": "PostgreSQL 17", "serverDigest": "",
        "imageDigest": "", "cpusAllowed": "", "properties": {},
    }  # fmt: skip


def test_the_others_are_stopped_while_it_is_measured() -> None:
    model = cluster()
    seen = []
    for _ in range(200):
        model.step()
        jobs = [ref.name for ref in model.objects if ref.kind == "Job" and "-prod-" in ref.name]
        if any(name.startswith("bench-b") for name in jobs):
            seen.append(list(model.pods))
        if "completionTime" in model.status:
            break
    assert seen
    assert not any(seen)


def test_silence_is_no_proof_of_fairness_nor_of_hardware() -> None:
    model = cluster()
    model.run()
    fair, representative = model.condition("FairnessVerified"), model.condition("Representative")
    assert (fair["status"], fair["reason"]) == ("False", "NotComparable")
    assert "what both sides report is equal" in fair["message"]
    listed = fair["message"].partition("prod: ")[2].split(", ")
    assert {"image digest", "kernel", "network path", "number of CPUs", "memory"} <= set(listed)
    assert "server version" not in listed
    assert (representative["status"], representative["reason"]) == ("Unknown", "NotReported")


def test_two_that_are_external_are_not_comparable_though_both_are_silent() -> None:
    targets = [{"name": "pod", "pod": {}}, EXTERNAL, EXTERNAL | {"name": "other"}]
    model = cluster(targets=targets, baseline="prod")
    model.run()
    message = model.condition("FairnessVerified")["message"]
    assert "other: " in message
    assert "pod: " in message


def test_the_control_of_an_external_baseline_has_a_schema_of_its_own() -> None:
    model = cluster(baseline="prod", trials={"min": 2, "control": True})
    schemas = set()
    for _ in range(300):
        model.step()
        for ref, job in model.objects.items():
            if ref.kind == "Job" and job["metadata"]["labels"]["dbbench.io/target"] != "pod":
                args = job["spec"]["template"]["spec"]["containers"][0]["args"]
                schemas.add(args[args.index("--schema") + 1])
                assert "--replace" not in args
                assert "--agent" not in args
        if "completionTime" in model.status:
            break
    assert len(schemas) == 4
    assert all(name.startswith("dbbench_") and len(name) < 63 for name in schemas)
    assert model.condition("Succeeded")["status"] == "True"


def test_slowdowns_of_it_have_no_causes() -> None:
    model = cluster()
    model.run()
    causes = {entry["cause"] for entry in model.status["comparisons"]}
    assert causes <= {"", "unexplained: the trials have no counters of both targets"}
    summary = json.loads(model.objects[Ref("ConfigMap", "bench-results")]["data"]["summary.json"])
    assert summary["environment"]["targets"][1]["runtime"] == "External"


def test_an_external_database_costs_no_time_to_start() -> None:
    found = expected(cluster().benchmark().spec, Assumptions())
    pods = [{"name": "pod", "pod": {}}, {"name": "other", "pod": {}}]
    deployed = expected(cluster(targets=pods).benchmark().spec, Assumptions())
    assumed = Assumptions()
    assert deployed.block - found.block == assumed.start + assumed.stop
    assert deployed.preparation == found.preparation
