"""Clusters of CloudNativePG: started, measured, hibernated, and what is not known of them."""

from typing import Any

import pytest

from dbbench.evaluate.preflight import problems
from dbbench.evaluate.state import Ref, Served

from .model_cluster import ModelCluster, node, spec


def cluster(cnpg: dict[str, Any] | None = None, **changes: Any) -> ModelCluster:
    targets = [{"name": "pod", "pod": {}}, {"name": "cnpg", "cloudNativePG": cnpg or {}}]
    return ModelCluster(spec(**({"targets": targets} | changes)))


@pytest.mark.parametrize(
    ("served", "reason", "command"),
    [
        (Served.NO, "CloudNativePGNotInstalled", "kubectl apply --server-side -f cnpg-VERSION"),
        (Served.FORBIDDEN, "CloudNativePGNotAllowed", "--set cloudNativePG.enabled=true"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_fixes_it(
    served: Served, reason: str, command: str
) -> None:
    model = cluster()
    model.cloud_native_pg = served
    model.step()
    stalled = model.condition("Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", reason)
    assert "spec.targets[1].cloudNativePG: target 'cnpg'" in stalled["message"]
    assert command in stalled["message"]


def test_standbys_need_room_on_the_node_too() -> None:
    model = cluster({"instances": 3}, resources={"cpu": 2, "memory": "1Gi"})
    (problem,) = problems(model.state())
    assert problem.reason == "InsufficientCPU"
    assert "cloudNativePG.instances: 3 instances of 'cnpg' need 6 exclusive CPUs" in problem.message
    model.nodes = (node("a", "6"), node("b"))
    assert problems(model.state()) == ()


@pytest.mark.parametrize("instances", [1, 3])
def test_a_cluster_takes_turns_with_the_other_targets(instances: int) -> None:
    model = cluster({"instances": instances}, trials={"min": 4})
    model.run()
    assert model.condition("Succeeded")["status"] == "True"
    assert model.most_targets_at_once == 1
    assert model.starts.count("cnpg") == 4
    loads = [name for name in model.jobs_run if name.startswith("bench-load-cnpg")]
    assert len(loads) == 2
    assert not [ref for ref in model.objects if ref.kind == "Cluster"]


def test_no_trial_begins_before_every_standby_is_ready() -> None:
    model = cluster({"instances": 3})
    seen = set()
    for _ in range(200):
        model.step()
        if any(name.startswith("bench-load-cnpg") for name in model.jobs_run):
            live = model.objects[Ref("Cluster", "bench-cnpg")]
            seen.add(live["status"]["readyInstances"])
            break
    assert seen == {3}


def test_the_service_of_the_primary_is_measured_and_no_agent_is_asked() -> None:
    model = cluster()
    for _ in range(200):
        model.step()
        jobs = [ref for ref in model.objects if ref.kind == "Job" and "load-cnpg" in ref.name]
        if jobs:
            break
    (container,) = model.objects[jobs[0]]["spec"]["template"]["spec"]["containers"]
    args = container["args"]
    assert args[args.index("--url") + 1] == "postgres://dbbench@bench-cnpg-rw:5432/dbbench"
    assert "--agent" not in args
    assert "--replace" in args


def test_a_cluster_that_does_not_come_up_is_explained_by_its_own_status() -> None:
    model = cluster(timeouts={"ready": "1m"})
    model.stuck = frozenset({"bench-cnpg"})
    model.run()
    stalled = model.condition("Stalled")
    assert stalled["reason"] == "CloudNativePGNotReady"
    assert "no volume" in stalled["message"]


def job_pod(number: int, state: dict[str, Any], role: str = "initdb") -> dict[str, Any]:
    """The pod of an attempt of CloudNativePG's job that makes or joins the first instance."""
    job = f"bench-cnpg-1-{role}"
    ended = state.get("terminated")
    return {
        "metadata": {
            "name": f"{job}-{number}",
            "labels": {
                "dbbench.io/benchmark": "bench",
                "dbbench.io/target": "cnpg",
                "cnpg.io/cluster": "bench-cnpg",
                "cnpg.io/jobRole": role,
                "job-name": job,
            },
            "creationTimestamp": f"2026-01-01T00:00:0{number}Z",
        },
        "status": {
            "phase": "Pending" if ended is None else "Failed" if ended["exitCode"] else "Succeeded",
            "containerStatuses": [{"name": role, "image": "postgres:17", "state": state}],
        },
    }


def ended(code: int) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": "Error" if code else "Completed"}}


def stalled_with(*pods: dict[str, Any], events: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """How a run ends whose cluster never gets beyond these pods."""
    model = cluster(timeouts={"ready": "1m"})
    model.stuck = frozenset({"bench-cnpg"})
    model.warnings = events
    for _ in range(400):
        model.step()
        if Ref("Cluster", "bench-cnpg") in model.objects:
            model.pods |= {pod["metadata"]["name"]: pod for pod in pods}
        if "completionTime" in model.status:
            return model.condition("Stalled")
    raise AssertionError(model.status["progress"])


def test_an_initdb_that_fails_is_told_by_its_last_pod_and_where_its_log_is() -> None:
    stalled = stalled_with(job_pod(1, ended(1)), job_pod(2, ended(127)))
    assert stalled["reason"] == "ContainerFailed"
    assert "target 'cnpg' is not ready after 1m: container initdb in pod" in stalled["message"]
    assert "bench-cnpg-1-initdb-2 ended with exit code 127 (Error)" in stalled["message"]
    assert "kubectl logs -n ns bench-cnpg-1-initdb-2 -c initdb" in stalled["message"]


def test_an_attempt_that_failed_before_one_that_did_not_explains_nothing() -> None:
    stalled = stalled_with(job_pod(1, ended(1)), job_pod(2, ended(0)))
    assert stalled["reason"] == "CloudNativePGNotReady"
    assert "no volume" in stalled["message"]


def test_an_initdb_that_cannot_begin_is_told_by_its_event() -> None:
    pod = job_pod(1, {"waiting": {"reason": "ContainerCreating"}})
    event = {
        "involvedObject": {"kind": "Pod", "name": pod["metadata"]["name"]},
        "reason": "FailedMount",
        "message": 'MountVolume.SetUp failed for volume "app"',
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    stalled = stalled_with(pod, events=(event,))
    assert stalled["reason"] == "FailedMount"
    assert (
        'Pod bench-cnpg-1-initdb-1: MountVolume.SetUp failed for volume "app".'
        in (stalled["message"])
    )


@pytest.mark.parametrize("role", ["initdb", "join"])
def test_an_image_that_no_time_will_bring_ends_the_run_at_once(role: str) -> None:
    pod = job_pod(1, {"waiting": {"reason": "InvalidImageName"}}, role)
    stalled = stalled_with(pod)
    assert stalled["reason"] == "ImagePullFailed"
    assert f"container {role} in pod bench-cnpg-1-{role}-1" in stalled["message"]
    assert "not ready after" not in stalled["message"]


def test_silence_is_no_proof_of_fairness_nor_of_hardware() -> None:
    model = cluster()
    model.run()
    fair, representative = model.condition("FairnessVerified"), model.condition("Representative")
    assert (fair["status"], fair["reason"]) == ("False", "NotComparable")
    listed = fair["message"].partition("cnpg: ")[2].split(", ")
    assert {"kernel", "number of CPUs", "memory"} <= set(listed)
    # From the spec, from its pod, and from the server.
    assert not {"CPU limit", "instances", "server version"} & set(listed)
    assert (representative["status"], representative["reason"]) == ("Unknown", "NotReported")
    (target,) = [t for t in model.status["environment"]["targets"] if t["name"] == "cnpg"]
    assert (target["runtime"], target["serverVersion"]) == ("CloudNativePG", "PostgreSQL 17")
    assert target["imageDigest"] == "postgres@sha256:1"
