"""What a benchmark does with its nodes, and without them, over whole runs on a model cluster."""

from dataclasses import replace

from dbbench.evaluate.decide import decide
from dbbench.evaluate.tenure import Wait, holds

from .model_cluster import ModelCluster, spec


def test_a_benchmark_waits_with_its_place_deploys_nothing_and_can_still_be_changed():
    cluster = ModelCluster(spec())
    decision = decide(replace(cluster.state(), wait=Wait(1, "node a", "ns/other", True)))
    cluster.carry_out(decision)
    assert not holds(decision.status)
    assert cluster.objects == {}
    assert "startTime" not in cluster.status
    assert cluster.status["queue"] == {"position": 1, "node": "node a", "benchmark": "ns/other"}
    for kind, status in (("Succeeded", "Unknown"), ("Reconciling", "True"), ("Ready", "False")):
        assert cluster.condition(kind)["status"] == status
        assert cluster.condition(kind)["reason"] == "Queued"
    assert cluster.condition("Reconciling")["message"].endswith("node a is held by ns/other")
    cluster.run()
    assert "queue" not in cluster.status
    assert cluster.condition("Succeeded")["status"] == "True"


def test_a_suspended_run_has_its_nodes_until_nothing_of_it_runs_there():
    cluster = ModelCluster(spec())
    while not cluster.pods:
        cluster.step()
    cluster.spec = spec(suspend=True)
    while cluster.pods:
        decision = cluster.step()
        assert holds(decision.status)
        assert cluster.condition("Reconciling")["status"] == "True"
        assert cluster.status["reason"] in ("Running", "Suspending")
    cluster.step()
    assert not holds(cluster.benchmark().status)
    assert cluster.condition("Reconciling")["status"] == "False"


def test_a_run_takes_its_nodes_before_it_puts_anything_there_and_again_when_it_goes_on():
    cluster = ModelCluster(spec())
    assert holds(cluster.step().status)
    assert cluster.objects == {}
    while not cluster.jobs_run:
        cluster.step()
    cluster.spec = spec(suspend=True)
    while cluster.status["reason"] != "Suspended":
        cluster.step()
    cluster.spec = spec()
    objects = set(cluster.objects)
    waiting = replace(cluster.state(), wait=Wait(2, "node a", "ns/other", True))
    cluster.carry_out(decide(waiting))
    assert cluster.status["reason"] == "Queued"
    assert cluster.status["startTime"]
    assert decide(waiting).apply == ()
    assert holds(cluster.step().status)
    assert set(cluster.objects) == objects
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"
