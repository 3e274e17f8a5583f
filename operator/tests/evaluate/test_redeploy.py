"""Whole runs that deploy every target anew for each block, on a model of the cluster."""

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.evaluate.contamination import signs
from dbbench.evaluate.decide import decide
from dbbench.evaluate.state import Ref, labels_of, timestamp
from dbbench.plan import Trial, block, trial_of
from dbbench.plan.cells import confirms
from dbbench.results.record import Outcome, TrialRecord
from dbbench.targets.names import LABEL_DEPLOYMENT

from .model_cluster import ModelCluster, deployment_of, spec
from .model_records import loads, measured, planned
from .test_confirmation import BLOCKS, Explained, confirming

TATP = [{"name": "telecom", "tatp": {"subscribers": 1000, "clients": 2}}]
WORKLOADS = ("analytics", "telecom")
DEPLOYMENTS = [f"{target}@block{index}" for target in ("pod", "vm") for index in (1, 2)]


def redeploying(**changes: Any) -> dict[str, Any]:
    trials = {"min": 2, "redeploy": True} | changes.pop("trials", {})
    return spec(trials=trials, **changes)


@dataclass
class Finalizing(ModelCluster):
    """Volumes take time to go, as they do while a pod uses them. Sees how many there are at once.

    `stuck_volumes`: none of them ever goes.
    """

    stuck_volumes: bool = False
    deployed_at_once: set[frozenset[str]] = field(default_factory=set)

    def _delete(self, ref: Ref) -> None:
        if ref.kind == "PersistentVolumeClaim" and ref in self.objects:
            self.objects[ref]["metadata"].setdefault("deletionTimestamp", timestamp(self.now))
        else:
            super()._delete(ref)

    def pass_time(self, seconds: float = 5) -> None:
        super().pass_time(seconds)
        volumes = {ref: one for ref, one in self.objects.items() if ref.kind.endswith("Claim")}
        self.deployed_at_once.add(frozenset(map(deployment_of, volumes.values())))
        for ref, volume in volumes.items():
            gone = volume["metadata"].get("deletionTimestamp")
            if gone and not self.stuck_volumes and timestamp(self.now) > gone:
                del self.objects[ref]


def test_every_block_has_deployments_of_its_own_which_are_removed_after_their_turn():
    cluster = Finalizing(redeploying())
    cluster.run()
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert sorted(cluster.starts) == sorted(DEPLOYMENTS)
    assert sorted((one.deployed, one.workload) for one in loads(cluster)) == [
        (name, workload) for name in DEPLOYMENTS for workload in WORKLOADS
    ]
    assert cluster.most_targets_at_once == 1
    # What the earlier ones had is gone before anything of the next is made.
    assert cluster.deployed_at_once == {frozenset()} | {frozenset({one}) for one in DEPLOYMENTS}
    assert cluster.condition("Succeeded")["status"] == "True"
    assert cluster.condition("FairnessVerified")["status"] == "True"
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


def test_several_blocks_share_deployments_which_are_removed_when_all_are_measured():
    cluster = Finalizing(redeploying(trials={"min": 4, "blocksPerDeployment": 2}))
    cluster.run(1000)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    first, second = ([f"{target}@block{index}" for target in ("pod", "vm")] for index in (1, 3))
    # Each starts once in each of its blocks, and is loaded once.
    assert sorted(cluster.starts) == sorted(2 * (first + second))
    assert sorted((one.deployed, one.workload) for one in loads(cluster)) == [
        (name, workload) for name in sorted(first + second) for workload in WORKLOADS
    ]
    assert cluster.most_targets_at_once == 1
    # The first two have gone before anything of the next two is made.
    for there in cluster.deployed_at_once:
        assert there <= set(first) or there <= set(second)
    assert frozenset(first) in cluster.deployed_at_once
    assert cluster.condition("Succeeded")["status"] == "True"
    assert cluster.condition("FairnessVerified")["status"] == "True"
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=80))
def test_killed_anywhere_several_blocks_still_share_deployments(deaths):
    trials = {"min": 4, "blocksPerDeployment": 2}
    cluster = Finalizing(redeploying(trials=trials, workloads=TATP))
    cluster.run_killed(deaths)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert sorted(one.deployed for one in loads(cluster)) == [
        "pod@block1", "pod@block3", "vm@block1", "vm@block3"
    ]  # fmt: skip
    for _ in range(3):
        cluster.step()
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


def test_trials_are_called_and_ordered_as_without_it():
    fresh, kept = ModelCluster(redeploying()), ModelCluster(spec())
    fresh.run()
    kept.run()
    assert measured(fresh) == measured(kept)
    found = fresh.benchmark().spec
    trial = trial_of(found, 7, "b002.vm.telecom")
    assert (trial.deployment, trial.target) == ("vm@block2", "vm")
    assert trial_of(kept.benchmark().spec, 7, trial.id).deployment == "vm"


def test_each_guest_has_a_root_disk_of_its_own():
    cluster = ModelCluster(redeploying())
    disks = set()
    while "completionTime" not in cluster.status:
        cluster.step()
        disks |= {
            deployment_of(manifest)
            for ref, manifest in cluster.objects.items()
            if labels_of(manifest).get("dbbench.io/job") == "disk"
        }
    assert disks == {"vm@block1", "vm@block2"}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=80))
def test_killed_anywhere_the_run_ends_with_the_same_trials_and_leaves_nothing(deaths):
    cluster = Finalizing(redeploying(workloads=TATP))
    cluster.run_killed(deaths)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert sorted(one.deployed for one in loads(cluster)) == DEPLOYMENTS
    assert len(cluster.stored) == len(set(cluster.stored))
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert cluster.most_targets_at_once == 1
    assert all(len(there) <= 1 for there in cluster.deployed_at_once)
    for _ in range(3):
        cluster.step()
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


@pytest.mark.parametrize("looks", range(4, 31, 4))
def test_a_suspended_run_goes_on_with_the_deployment_that_it_had(looks):
    cluster = ModelCluster(redeploying())
    for _ in range(looks):
        cluster.step()
    before = {ref for ref in cluster.objects if ref.kind == "PersistentVolumeClaim"}
    cluster.spec = redeploying(suspend=True)
    for _ in range(6):
        cluster.step()
    assert cluster.pods == {}
    assert cluster.status["reason"] == "Suspended"
    assert before <= cluster.objects.keys()
    cluster.spec = redeploying()
    cluster.run()
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert sorted({one.deployed for one in loads(cluster)}) == DEPLOYMENTS
    assert len(loads(cluster)) == 4 * 2


def test_points_of_a_sweep_are_deployed_anew_for_each_block_too():
    resources = {"cpu": 1, "dedicatedCPUs": False}
    sweep = {"cpu": [1, 2], "clients": [1, 4]}
    cluster = Finalizing(redeploying(sweep=sweep, resources=resources, workloads=TATP))
    cluster.run(1000)
    names = [
        f"{target}@cpu{cpu}-block{index}"
        for target in ("pod", "vm")
        for cpu in (1, 2)
        for index in (1, 2)
    ]
    assert sorted(cluster.starts) == sorted(names)
    assert sorted(one.deployed for one in loads(cluster)) == sorted(names)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert all(len(there) <= 1 for there in cluster.deployed_at_once)
    assert cluster.condition("FairnessVerified")["status"] == "True"
    assert {one["cell"] for one in cluster.status["comparisons"]} == {
        f"clients={clients},cpu={cpu}" for clients in (1, 4) for cpu in (1, 2)
    }


def test_instances_and_the_control_are_deployed_anew():
    targets = [{"name": "pod", "pod": {}}, {"name": "two", "instances": 2, "pod": {}}]
    changes = {"targets": targets, "trials": {"control": True}, "workloads": TATP}
    cluster = ModelCluster(redeploying(**changes))
    cluster.run()
    names = ["control", "pod", "two", "two"]
    assert sorted(cluster.starts) == sorted(f"{name}@block{n}" for name in names for n in (1, 2))
    assert cluster.condition("Succeeded")["status"] == "True"


def test_tests_of_causes_are_on_deployments_of_their_own_blocks():
    trials = {"min": BLOCKS, "redeploy": True}
    cluster = Explained(confirming(trials=trials))
    cluster.run(1000)
    (found,) = cluster.status["confirmations"]
    assert (found["verdict"], found["blocks"]) == ("Confirmed", BLOCKS)
    tests = [one for one in loads(cluster) if "confirm" in one.deployment]
    assert sorted(one.deployed for one in tests) == sorted(
        f"{target}@confirmDataDiskCacheNone-block{index}"
        for target in ("pod", "vm")
        for index in range(BLOCKS + 1, 2 * BLOCKS + 1)
    )
    assert sum(confirms(one.cell) for one in cluster.records.values() if hasattr(one, "cell")) == (
        2 * BLOCKS
    )
    assert cluster.condition("FairnessVerified")["status"] == "True"


def test_it_goes_on_in_blocks_until_intervals_are_narrow():
    trials = {"min": 2, "max": 12, "targetHalfWidth": "5%"}
    cluster = ModelCluster(redeploying(trials=trials, workloads=TATP), seed=1)
    cluster.run(2000)
    assert len({one.deployment for one in loads(cluster)}) == 10
    assert "TargetHalfWidthReached" in cluster.condition("Succeeded")["message"]


def test_it_goes_on_in_deployments_until_intervals_are_narrow():
    trials = {"min": 2, "max": 24, "targetHalfWidth": "5%", "blocksPerDeployment": 2}
    cluster = ModelCluster(redeploying(trials=trials, workloads=TATP), seed=1)
    cluster.run(4000)
    # Three looks, after 6, 8 and 10 deployments of two blocks.
    assert len({one.deployment for one in loads(cluster)}) == 10
    assert "20 blocks" in cluster.condition("Succeeded")["message"]
    assert "TargetHalfWidthReached" in cluster.condition("Succeeded")["message"]


def test_a_load_that_fails_is_tried_again_on_its_deployment_alone():
    def fail(job):
        labels = labels_of(job)
        first = (labels["dbbench.io/job"], labels.get("dbbench.io/attempt")) == ("load", "1")
        return "no result" if first and deployment_of(job) == "pod@block1" else None

    cluster = ModelCluster(redeploying(workloads=TATP, cleanupPolicy="Never"), fail=fail)
    cluster.run()
    attempts = sorted((one.deployed, one.attempt, one.outcome) for one in loads(cluster))
    assert attempts[:2] == [
        ("pod@block1", 1, Outcome.FAILED),
        ("pod@block1", 2, Outcome.MEASURED),
    ]
    assert len(attempts) == 5
    # The failed job is there to be looked at; else only the last deployment.
    left = {
        deployment_of(one)
        for one in cluster.objects.values()
        if "dbbench.io/target" in labels_of(one)
    }
    last = block(cluster.benchmark().spec, cluster.status["seed"], 2).turns[-1].trials[-1]
    assert left == {"pod@block1", last.deployment}
    (kept,) = [one for one in cluster.objects.values() if labels_of(one).get(LABEL_DEPLOYMENT)
               == "block1"]  # fmt: skip
    assert kept["kind"] == "Job"


def test_what_cannot_be_removed_ends_the_run_with_its_name():
    cluster = Finalizing(redeploying(workloads=TATP), stuck_volumes=True)
    for _ in range(200):
        decision = decide(cluster.state())
        cluster.carry_out(decision)
        cluster.pass_time()
        if "completionTime" in cluster.status:
            break
    stalled = cluster.condition("Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "TargetNotRemoved")
    name = min(ref.name for ref in cluster.objects if ref.kind == "PersistentVolumeClaim")
    assert name in stalled["message"]


def document(plan: str) -> dict[str, Any]:
    return {"operations": [{"name": "Q1", "planFingerprint": plan}]}


def test_another_plan_on_another_deployment_is_no_disturbance():
    """Other statistics of the data, loaded anew, are a part of what a deployment is."""

    def found(body: dict[str, Any]) -> list[str]:
        cluster = ModelCluster(copy.deepcopy(body))
        cluster.run()
        benchmark = cluster.benchmark()
        trial: Trial = trial_of(benchmark.spec, 7, "b002.pod.analytics")
        earlier = next(
            one for one in cluster.records.values()
            if isinstance(one, TrialRecord) and one.trial == "b001.pod.analytics"
        )  # fmt: skip
        earlier.result.update(document("one"))
        return signs(cluster.state(), trial, [document("other")])

    assert found(redeploying()) == []
    assert found(spec()) == ["the plan of Q1 is another one than in block 1"]


def test_data_that_differ_in_one_block_are_named():
    cluster = ModelCluster(redeploying(workloads=TATP, trials={"min": 1}))
    cluster.run()
    assert cluster.condition("FairnessVerified")["status"] == "True"

    @dataclass
    class Other(ModelCluster):
        def _log(self, job: dict[str, Any], index: int, drivers: int) -> str:
            text = super()._log(job, index, drivers)
            return text.replace("sha256:", "sha256:other") if deployment_of(job) == (
                "vm@block1"
            ) else text  # fmt: skip

    other = Other(redeploying(workloads=TATP, trials={"min": 1}))
    other.run()
    found = other.condition("FairnessVerified")
    assert (found["status"], found["reason"]) == ("False", "Different")
    assert "data of telecom" in found["message"]
