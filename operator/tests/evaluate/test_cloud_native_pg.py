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
