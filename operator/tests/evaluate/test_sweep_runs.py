"""Whole runs of sweeps on a model of the cluster, and what is compared with what."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.evaluate.preflight import problems
from dbbench.evaluate.state import Ref, labels_of
from dbbench.evaluate.sweep_fairness import differences_by_point, profiles_by_point
from dbbench.plan import block
from dbbench.results.record import LoadRecord, Outcome, TrialRecord, from_document
from dbbench.results.storage import record_key

from .model_cluster import ModelCluster, deployment_of, node, spec
from .model_records import loads, measured, planned

WORKLOADS = [
    {"name": "analytics", "tpch": {"scaleFactor": "0.01"}},
    {"name": "telecom", "tatp": {"subscribers": 1000, "clients": 2}},
]
TATP = WORKLOADS[1:]


def swept(sweep, **changes):
    resources = {"cpu": 1, "dedicatedCPUs": False}
    return spec(sweep=sweep, resources=resources, **{"workloads": TATP} | changes)


def test_clients_are_swept_on_one_deployment_of_each_target():
    cluster = ModelCluster(swept({"clients": [1, 4, 16]}))
    cluster.run()
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert len(measured(cluster)) == 2 * 2 * 3
    assert len(loads(cluster)) == 2
    assert sorted(cluster.starts) == ["pod", "pod", "vm", "vm"]
    cells = {one["cell"] for one in cluster.status["comparisons"]}
    assert cells == {"clients=1", "clients=4", "clients=16"}


def test_each_point_of_cpu_is_deployed_loaded_and_measured_by_itself():
    cluster = ModelCluster(swept({"cpu": [1, 2]}, workloads=WORKLOADS))
    limits = set()
    while "completionTime" not in cluster.status:
        cluster.step()
        for ref, manifest in cluster.objects.items():
            if ref.kind == "StatefulSet":
                (container,) = [
                    one
                    for one in manifest["spec"]["template"]["spec"]["containers"]
                    if "cpu" in (one["resources"].get("limits") or {})
                ]
                limits.add((deployment_of(manifest), container["resources"]["limits"]["cpu"]))
    deployments = ["pod@cpu1", "pod@cpu2", "vm@cpu1", "vm@cpu2"]
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert cluster.most_targets_at_once == 1
    assert sorted(cluster.starts) == sorted(deployments * 2)
    assert sorted((one.deployed, one.workload) for one in loads(cluster)) == [
        (name, workload) for name in deployments for workload in ("analytics", "telecom")
    ]
    assert {name: cpu for name, cpu in limits if name.startswith("pod")} == {
        "pod@cpu1": "1",
        "pod@cpu2": "2",
    }
    assert len(limits) == 4
    assert cluster.condition("FairnessVerified")["status"] == "True"
    compared = {
        (one["workload"], one["cell"], one["target"]) for one in cluster.status["comparisons"]
    }
    assert compared == {
        (workload, cell, "vm")
        for workload in ("analytics", "telecom")
        for cell in ("cpu=1", "cpu=2")
    }


def test_points_of_instances_have_as_many_databases_and_drivers():
    cluster = ModelCluster(
        swept({"instances": [1, 3]}, trials={"min": 1}), nodes=(node("a"), node("b"))
    )
    cluster.run()
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    starts = [name for name in cluster.starts if name.startswith("pod")]
    assert sorted(starts) == ["pod@instances1"] + ["pod@instances3"] * 3
    document = json.loads(
        cluster.objects[Ref("ConfigMap", "bench-results")]["data"]["summary.json"]
    )
    curve = next(one for one in document["curves"] if one["target"] == "pod")
    assert (curve["axis"], curve["fixed"]) == ("instances", "")
    # The model's instances get 1, 2 and 3 times as much.
    assert [round(point["speedup"]) for point in curve["points"]] == [1, 6]
    assert [point["overcommitment"] for point in curve["points"]] == [0.25, 0.75]
    (shares, *_) = document["instances"]
    assert (shares["cell"], shares["overcommitment"]) == ("instances=3", 0.75)
    targets = cluster.status["environment"]["targets"]
    assert {(one["instances"], one["overcommitment"]) for one in targets} == {(3, "75%")}


def test_one_at_a_time_deploys_the_base_and_each_axis_alone():
    sweep = {"design": "OneAtATime", "cpu": [1, 2], "instances": [1, 2], "clients": [1, 8]}
    cluster = ModelCluster(swept(sweep, trials={"min": 1}))
    cluster.run()
    assert {deployment for deployment in cluster.starts if deployment.startswith("vm")} == {
        "vm@cpu1-instances1",
        "vm@cpu2-instances1",
        "vm@cpu1-instances2",
    }
    cells = {one["cell"] for one in cluster.status["comparisons"]}
    assert cells == {
        "clients=2,cpu=1,instances=1",
        "clients=1,cpu=1,instances=1",
        "clients=8,cpu=1,instances=1",
        "clients=2,cpu=2,instances=1",
        "clients=2,cpu=1,instances=2",
    }


VARIANTS = [
    {
        "name": "diskCache",
        "values": [
            {"name": "none", "virtualMachine": {"dataDisk": {"cache": "none"}}},
            {"name": "writeThrough", "virtualMachine": {"dataDisk": {"cache": "writethrough"}}},
        ],
    }
]
FAST = {"metadata": {"name": "fast"}}
STORAGE = {
    "name": "storage",
    "values": [
        {"name": "standard", "storage": {"storageClassName": "standard"}},
        {"name": "fast", "storage": {"storageClassName": "fast"}},
    ],
}


def test_each_variant_is_deployed_loaded_and_measured_by_itself_and_compared_with_the_first():
    cluster = ModelCluster(swept({"variants": VARIANTS}))
    caches = set()
    while "completionTime" not in cluster.status:
        cluster.step()
        for ref, manifest in cluster.objects.items():
            if ref.kind == "ConfigMap" and "launcher.json" in manifest.get("data", {}):
                disks = json.loads(manifest["data"]["launcher.json"])["disks"]
                caches.add((deployment_of(manifest), disks[-1]["cache"]))
    assert caches == {
        ("vm@diskCachenone", "None"),
        ("vm@diskCachewriteThrough", "WriteThrough"),
    }
    deployments = [f"{t}@diskCache{v}" for t in ("pod", "vm") for v in ("none", "writeThrough")]
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert cluster.most_targets_at_once == 1
    assert sorted(cluster.starts) == sorted(deployments * 2)
    assert sorted(one.deployed for one in loads(cluster)) == deployments
    assert cluster.condition("FairnessVerified")["status"] == "True"
    compared = {(one["cell"], one["target"]) for one in cluster.status["comparisons"]}
    assert compared == {("diskCache=none", "vm"), ("diskCache=writeThrough", "vm")}
    data = cluster.objects[Ref("ConfigMap", "bench-results")]["data"]
    document = json.loads(data["summary.json"])
    assert document["curves"] == []
    assert [(one["axis"], one["target"]) for one in document["variants"]] == [
        ("diskCache", "pod"),
        ("diskCache", "vm"),
    ]
    assert "| diskCache=writeThrough |" in data["report.md"]


def test_every_target_has_the_storage_of_its_variant():
    cluster = ModelCluster(swept({"variants": [STORAGE]}, trials={"min": 1}))
    cluster.storage_classes += (FAST,)
    classes = set()
    while "completionTime" not in cluster.status:
        cluster.step()
        for ref, manifest in cluster.objects.items():
            if ref.kind == "PersistentVolumeClaim" and ref.name.split("-")[-2] == "data":
                classes.add((deployment_of(manifest), manifest["spec"]["storageClassName"]))
    assert classes == {
        (f"{target}@storage{name}", name)
        for target in ("pod", "vm")
        for name in ("standard", "fast")
    }


def test_what_a_variant_needs_is_missed_before_anything_is_deployed():
    tap = {"name": "tap", "virtualMachine": {"network": "Tap"}}
    user = {"name": "user", "virtualMachine": {"network": "User"}}
    axes = [STORAGE, {"name": "path", "values": [user, tap]}]
    cluster = ModelCluster(swept({"variants": axes}))
    found = {problem.reason: problem.message for problem in problems(cluster.state())}
    assert set(found) == {"StorageClassNotFound", "PrivilegedTargetsDisabled"}
    assert found["StorageClassNotFound"].startswith(
        "at storage=fast,path=user of spec.sweep: spec.database.storage.storageClassName: "
    )
    assert found["PrivilegedTargetsDisabled"].startswith(
        "at storage=standard,path=tap of spec.sweep: spec.targets[1].virtualMachine.network: "
    )
    assert cluster.step().apply == ()


def test_what_all_points_miss_is_a_problem_of_the_spec_and_names_none():
    cluster = ModelCluster(swept({"cpu": [1, 2]}))
    cluster.storage_classes = ()
    (problem,) = problems(cluster.state())
    assert problem.reason == "StorageClassNotFound"
    assert "of spec.sweep" not in problem.message


@settings(max_examples=4, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=60))
def test_killed_anywhere_a_sweep_of_variants_goes_on_and_repeats_no_finished_trial(deaths):
    cluster = ModelCluster(swept({"variants": VARIANTS, "clients": [1, 4]}, trials={"min": 2}))
    cluster.run_killed(deaths)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert len(cluster.stored) == len(set(cluster.stored))
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert len(loads(cluster)) == 4
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=60))
def test_killed_anywhere_a_sweep_goes_on_and_repeats_no_finished_trial(deaths):
    cluster = ModelCluster(swept({"cpu": [1, 2], "clients": [1, 4]}, trials={"min": 2}))
    cluster.run_killed(deaths)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert len(cluster.stored) == len(set(cluster.stored))
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert len(loads(cluster)) == 4
    assert cluster.most_targets_at_once == 1
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


def test_a_load_that_fails_is_tried_again_on_its_deployment_alone():
    def fail(job):
        labels = labels_of(job)
        first = (labels["dbbench.io/job"], labels.get("dbbench.io/attempt")) == ("load", "1")
        return "no result" if first and deployment_of(job) == "vm@cpu2" else None

    cluster = ModelCluster(swept({"cpu": [1, 2]}), fail=fail)
    cluster.run()
    attempts = {(one.deployed, one.attempt, one.outcome) for one in loads(cluster)}
    assert ("vm@cpu2", 1, Outcome.FAILED) in attempts
    assert len(attempts) == 5
    assert cluster.condition("Succeeded")["status"] == "True"


def test_a_suspended_sweep_stops_whatever_runs():
    cluster = ModelCluster(swept({"cpu": [1, 2]}))
    while not cluster.starts:
        cluster.step()
    cluster.spec["suspend"] = True
    for _ in range(6):
        cluster.step()
    assert cluster.pods == {}


def test_a_load_record_says_which_deployment_and_keeps_the_form_of_those_without():
    load = LoadRecord("vm", "orders", 1, Outcome.MEASURED, "", "", "", "", None)
    assert "deployment" not in load.to_document()
    assert record_key(load) == "vm.orders.1.json.gz"
    deployed = dataclasses.replace(load, deployment="cpu2")
    assert from_document(deployed.to_document()) == deployed
    assert record_key(deployed) == "vm.cpu2.orders.1.json.gz"
    assert (load.deployed, deployed.deployed) == ("vm", "vm@cpu2")


SPEC = DBBenchmarkSpec.model_validate(swept({"cpu": [1, 2]}))


def reported(target, cpu, *, cpus=None, setting="4MB"):
    facts = {"cpusAllowed": list(range(cpus or cpu))}
    result = {
        "server": {"version": "17", "settings": {"work_mem": setting}},
        "target": {"facts": facts},
    }
    return TrialRecord(
        f"b001.{target}.telecom.{cpu}", 1, target, "telecom", f"cpu={cpu}", 1,
        Outcome.MEASURED, "", "", "", "", result,
    )  # fmt: skip


def unfair(*trials, loaded=()):
    found = differences_by_point(SPEC, profiles_by_point(SPEC, trials, loaded, Environment()))
    return found and [str(one) for one in found if not one.inherent]


EQUAL = [reported(target, cpu) for target in ("pod", "vm") for cpu in (1, 2)]


def test_what_differs_between_points_is_no_unfairness():
    assert (
        differences_by_point(SPEC, profiles_by_point(SPEC, EQUAL[:-1], [], Environment())) is None
    )
    assert unfair(*EQUAL) == []


def test_a_difference_at_one_point_is_named_with_the_point_and_one_at_all_points_once():
    here = [*EQUAL[:-1], reported("vm", 2, cpus=1)]
    (found,) = unfair(*here)
    assert found == "number of CPUs (at cpu=2): 2 / vm 1"
    everywhere = [*EQUAL[:2], *(reported("vm", cpu, setting="64MB") for cpu in (1, 2))]
    (found,) = unfair(*everywhere)
    assert found == "setting work_mem: 4MB / vm 64MB"


def test_data_are_compared_on_the_deployments_of_a_point():
    def load(target, deployment, digest):
        result = {"data": {"digest": digest}}
        return LoadRecord(
            target, "telecom", 1, Outcome.MEASURED, "", "", "", "", result, (), deployment
        )

    same = [load(t, d, f"sha256:{d}") for t in ("pod", "vm") for d in ("cpu1", "cpu2")]
    assert unfair(*EQUAL, loaded=same) == []
    other = [*same[:3], load("vm", "cpu2", "sha256:other")]
    (found,) = unfair(*EQUAL, loaded=other)
    assert found.startswith("data of telecom (at cpu=2): sha256:cpu2 / vm sha256:other")


@pytest.mark.parametrize("design", ["Full", "OneAtATime"])
def test_a_node_that_is_too_small_for_a_point_is_named_before_anything_is_deployed(design):
    cluster = ModelCluster(swept({"cpu": [1, 16], "instances": [1, 2], "design": design}))
    (problem,) = problems(cluster.state())
    assert problem.reason == "InsufficientCPU"
    assert "cpu=16,instances=" in problem.message
    assert "of spec.sweep: " in problem.message
    assert cluster.step().apply == ()


def test_the_plan_of_a_benchmark_without_a_sweep_is_what_it_was():
    """A run that began under an older operator goes on with the same trials in the same order."""
    body = {"metadata": {"name": "b", "namespace": "n", "uid": "u"}, "spec": spec()}
    found = [(trial.id, trial.seed) for trial in block(DBBenchmark.parse(body).spec, 7, 3).trials]
    assert found == [
        ("b003.vm.analytics", 3377244915),
        ("b003.vm.telecom", 633716127),
        ("b003.pod.analytics", 3377244915),
        ("b003.pod.telecom", 633716127),
    ]
