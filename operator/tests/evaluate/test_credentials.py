"""The Secret with the password, when somebody deletes it in the middle of a run."""

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.evaluate.connection import Connection
from dbbench.evaluate.decide import decide
from dbbench.evaluate.state import Ref
from dbbench.results.record import Outcome
from dbbench.targets.names import LABEL_JOB

from .model_cluster import PASSWORD, ModelCluster, OperatorKilledError, spec

LOOKS = 40  # of an undisturbed run, at most


def in_memory() -> dict[str, Any]:
    database = {"engine": "PostgreSQL", "image": "postgres:17", "storage": {"medium": "Memory"}}
    return spec(database=database)


def managed() -> dict[str, Any]:
    targets = [{"name": "pod", "pod": {}}, {"name": "cnpg", "cloudNativePG": {}}]
    return spec(targets=targets)


def redeployed() -> dict[str, Any]:
    return spec(trials={"min": 2, "redeploy": True})


def until(cluster: ModelCluster, job: str) -> str:
    """Steps until a job of this kind has begun; none of that kind ends. Its name."""
    for _ in range(LOOKS):
        decision = decide(cluster.state())
        begun = [
            manifest["metadata"]["name"]
            for manifest in decision.apply
            if manifest["metadata"]["labels"].get(LABEL_JOB) == job
        ]
        cluster.stuck = frozenset(begun)
        cluster.carry_out(decision)
        cluster.pass_time()
        if begun:
            return str(begun[0])
    raise AssertionError(f"no {job} begins")


def pod_of(cluster: ModelCluster, job: str, phase: str) -> None:
    labels = cluster.objects[Ref("Job", job)]["metadata"]["labels"]
    cluster._pod(f"{job}-x", labels | {"job-name": job})
    cluster.pods[f"{job}-x"]["status"]["phase"] = phase


@pytest.mark.parametrize("kind", [spec, in_memory, managed, redeployed])
@settings(max_examples=40, deadline=None)
@given(looks=st.integers(0, LOOKS), deaths=st.lists(st.integers(0, 6), max_size=4))
def test_without_its_password_a_run_succeeds_or_names_the_secret(
    kind: Any, looks: int, deaths: list[int]
) -> None:
    cluster = ModelCluster(kind())
    for _ in range(looks):
        cluster.step()
    cluster.objects.pop(PASSWORD, None)
    cluster.run_killed(deaths)
    # No driver ever knocks with a password that is not the database's.
    assert {record.outcome for record in cluster.records.values()} <= {Outcome.MEASURED}
    stalled = cluster.condition("Stalled")
    if stalled["status"] == "True":
        assert stalled["reason"] == "SecretNotFound"
        assert "Secret 'bench-credentials' in namespace ns was deleted" in stalled["message"]
        assert "new DBBenchmark" in stalled["message"]
    else:
        assert cluster.condition("Succeeded")["status"] == "True"


def test_what_was_measured_before_is_kept_and_no_secret_is_made_again() -> None:
    cluster = ModelCluster(spec())
    until(cluster, "trial")
    cluster.stuck = frozenset()
    cluster.step()
    cluster.step()
    measured = len(cluster.records)
    del cluster.objects[PASSWORD]
    cluster.run()
    assert cluster.condition("Stalled")["reason"] == "SecretNotFound"
    assert len(cluster.records) >= measured > 0
    assert cluster.passwords == 1


def test_a_trial_that_runs_has_read_its_password_and_is_recorded() -> None:
    cluster = ModelCluster(spec())
    job = until(cluster, "trial")
    pod_of(cluster, job, "Running")
    before, password = len(cluster.records), cluster.objects.pop(PASSWORD)
    for _ in range(3):
        cluster.step()
        assert cluster.condition("Stalled")["status"] == "False"
    assert cluster.passwords == 1
    # It ends.
    cluster.stuck = frozenset()
    cluster.objects[PASSWORD] = password
    cluster.pass_time()
    del cluster.objects[PASSWORD], cluster.pods[f"{job}-x"]
    cluster.run()
    assert len(cluster.records) == before + 1
    assert cluster.condition("Stalled")["reason"] == "SecretNotFound"


def test_a_trial_that_waits_for_its_password_waits_in_vain() -> None:
    cluster = ModelCluster(spec())
    job = until(cluster, "trial")
    pod_of(cluster, job, "Pending")
    del cluster.objects[PASSWORD]
    cluster.step()
    assert cluster.condition("Stalled")["reason"] == "SecretNotFound"


def test_databases_that_are_all_external_do_not_need_it() -> None:
    targets = [
        {"name": name, "external": {"connection": {"secretRef": {"name": name}}}}
        for name in ("here", "there")
    ]
    usable = Connection(frozenset({"host", "user", "password"}))
    cluster = ModelCluster(
        spec(targets=targets, baseline="here"), connections={"here": usable, "there": usable}
    )
    until(cluster, "trial")
    cluster.stuck = frozenset()
    del cluster.objects[PASSWORD]
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"


def test_who_puts_it_back_in_a_suspended_run_goes_on() -> None:
    cluster = ModelCluster(spec())
    until(cluster, "trial")
    cluster.stuck = frozenset()
    cluster.spec = spec(suspend=True)
    password = cluster.objects.pop(PASSWORD)
    for _ in range(6):
        cluster.step()
    assert cluster.passwords == 1
    cluster.objects[PASSWORD] = password
    cluster.spec = spec()
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"


@settings(max_examples=20, deadline=None)
@given(actions=st.integers(0, 30))
def test_an_operator_killed_while_it_cleans_up_tells_the_same_reason_afterwards(
    actions: int,
) -> None:
    def load_fails(job: dict[str, Any]) -> str | None:
        return "no result" if job["metadata"]["labels"][LABEL_JOB] == "load" else None

    cluster = ModelCluster(spec(cleanupPolicy="Always"), fail=load_fails)
    for _ in range(LOOKS):
        decision = decide(cluster.state())
        if decision.status.completion_time is not None:
            with contextlib.suppress(OperatorKilledError):
                cluster.carry_out(decision, actions)
            break
        cluster.carry_out(decision)
        cluster.pass_time()
    if "completionTime" not in cluster.status:
        cluster.run()
    assert cluster.condition("Stalled")["reason"] == "NoResult"
