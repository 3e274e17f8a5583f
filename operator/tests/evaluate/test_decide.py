"""decide() over whole runs on a model of the cluster."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.evaluate.decide import decide
from dbbench.evaluate.decision import RUNNING, SOON, WAITING
from dbbench.evaluate.state import Ref
from dbbench.plan import block
from dbbench.results.record import LoadRecord, Outcome, TrialRecord
from dbbench.targets.names import LABEL_JOB

from .model_cluster import ModelCluster, node, spec
from .model_records import measured

PLANNED = 2 * 2 * 2  # blocks x targets x workloads


def every_load(job):
    return "no result" if job["metadata"]["labels"]["dbbench.io/job"] == "load" else None


def test_run_measures_every_planned_trial_once_and_succeeds():
    cluster = ModelCluster(spec())
    cluster.run()
    assert len(measured(cluster)) == len(set(measured(cluster))) == PLANNED
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert cluster.condition("Succeeded")["status"] == "True"
    assert cluster.condition("Ready")["status"] == "True"
    assert cluster.status["progress"]["percent"] == 100


def test_targets_take_turns():
    cluster = ModelCluster(spec())
    cluster.run()
    assert cluster.most_targets_at_once == 1


def loads(cluster: ModelCluster) -> list[str]:
    return [name for name in cluster.jobs_run if name.startswith("bench-load-")]


def test_data_on_disk_are_loaded_in_a_target_s_first_turn_alone():
    cluster = ModelCluster(spec(trials={"min": 4}))
    cluster.run()
    assert len(loads(cluster)) == 2 * 2


def test_a_workload_without_data_is_measured_without_a_load():
    workloads = [
        {"name": "memory", "zachmann": {"tableSize": "32M"}},
        {"name": "telecom", "tatp": {"subscribers": 1000}},
    ]
    cluster = ModelCluster(spec(workloads=workloads, sweep={"workProcesses": [1, 2]}))
    cluster.run()
    assert len(measured(cluster)) == 2 * 2 * 3
    assert sorted("memory" in name for name in loads(cluster)) == [False, False]
    assert cluster.condition("Succeeded")["status"] == "True"


def test_data_in_memory_are_loaded_in_every_turn():
    database = spec()["database"] | {"storage": {"size": "512Mi", "medium": "Memory"}}
    cluster = ModelCluster(spec(database=database, trials={"min": 4}))
    cluster.run()
    assert len(cluster.starts) == 4 * 2
    for target in ("pod", "vm"):
        found = [name for name in loads(cluster) if f"-{target}-" in name]
        assert len(found) == 2 * cluster.starts.count(target)
    assert cluster.condition("Succeeded")["status"] == "True"
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))


def test_an_empty_disk_is_loaded_in_every_turn_of_its_own_target():
    machine = {"runtime": "KubeVirt", "dataDisk": {"volume": "EmptyDisk"}}
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
    cluster = ModelCluster(spec(targets=targets, trials={"min": 4}), kubevirt=True)
    cluster.run()
    found = {
        name: len([load for load in loads(cluster) if f"-{name}-" in load])
        for name in ("pod", "vm")
    }
    assert found == {"pod": 2, "vm": 2 * cluster.starts.count("vm")}
    assert cluster.condition("Succeeded")["status"] == "True"


def test_a_load_into_memory_that_fails_has_its_attempts_anew_in_each_turn():
    failures = {"bench-load-vm-analytics-1", "bench-load-vm-analytics-2"}
    failures |= {"bench-load-vm-analytics-4", "bench-load-vm-analytics-5"}
    database = spec()["database"] | {"storage": {"size": "512Mi", "medium": "Memory"}}

    def fail(job):
        return "no result" if job["metadata"]["name"] in failures else None

    cluster = ModelCluster(spec(database=database, trials={"min": 4}), fail=fail)
    cluster.run()
    assert failures < set(cluster.jobs_run)
    assert cluster.condition("Succeeded")["status"] == "True"


def test_a_target_starts_anew_in_every_block():
    cluster = ModelCluster(spec(trials={"min": 4, "seed": 3}))
    cluster.run()
    blocks = [block(cluster.benchmark().spec, 3, index) for index in (1, 2, 3, 4)]
    order = [turn.target for found in blocks for turn in found.turns]
    assert order[1] == order[2]
    assert cluster.starts == order


def test_a_control_gives_the_noise_floor_and_is_no_comparison():
    cluster = ModelCluster(spec(trials={"min": 3, "control": True}))
    cluster.run()
    assert len(measured(cluster)) == 3 * 3 * 2
    assert cluster.most_targets_at_once == 1
    assert {found["target"] for found in cluster.status["comparisons"]} == {"vm"}
    # The noise of the model is 2 % at most, and the vm takes half as long again.
    for found in cluster.status["comparisons"]:
        assert 0 < float(found["noiseFloor"]) < 0.4
        assert found["verdict"] == "Slower"
    results = cluster.objects[Ref("ConfigMap", "bench-results")]["data"]
    assert "## Noise floor" in results["report.md"]
    controls = json.loads(results["summary.json"])["controls"]
    assert [found["target"] for found in controls] == ["control", "control"]


def test_emulation_is_flagged_and_slowdowns_are_reported():
    cluster = ModelCluster(spec())
    cluster.run()
    assert cluster.condition("Representative")["status"] == "False"
    assert cluster.condition("FairnessVerified")["status"] == "True"
    comparisons = {entry["workload"]: entry for entry in cluster.status["comparisons"]}
    assert comparisons.keys() == {"analytics", "telecom"}
    for entry in comparisons.values():
        assert entry["emulated"] is True
        assert 0.4 < float(entry["slowdown"]) < 0.6
        assert entry["confidenceInterval"]["low"] <= entry["slowdown"]


def side_by_side(**changes):
    targets = [
        {"name": "pod", "instances": 3, "pod": {}},
        {"name": "vm", "instances": 3, "virtualMachine": {"runtime": "QEMU"}},
    ]
    shared = {"cpu": 2, "dedicatedCPUs": False}
    return spec(targets=targets, resources=shared, **changes)


def test_instances_run_side_by_side_and_their_sum_is_compared():
    cluster = ModelCluster(side_by_side(), nodes=(node("a", cpu="4"), node("b")))
    cluster.run()
    assert len(measured(cluster)) == PLANNED
    assert cluster.most_targets_at_once == 1
    # Every instance of a target starts in each of its turns.
    assert sorted(cluster.starts) == sorted(["pod", "vm"] * 2 * 3)
    found = {(one["workload"], one["target"]): one for one in cluster.status["instances"]}
    assert found.keys() == {(w, t) for w in ("analytics", "telecom") for t in ("pod", "vm")}
    pod = found["telecom", "pod"]
    assert [round(float(value) / 100) for value in pod["values"]] == [1, 2, 3]
    assert round(float(pod["total"]) / 100) == 6
    # (1 + 2 + 3)^2 / (3 x 14)
    assert float(pod["fairnessIndex"]) == pytest.approx(36 / 42, abs=1e-4)
    times = found["analytics", "pod"]
    assert float(times["total"]) == pytest.approx(2 * (1 + 1 / 2 + 1 / 3) / 3, rel=0.03)
    assert float(times["fairnessIndex"]) == pytest.approx(36 / 42, abs=1e-4)
    compared = {one["workload"]: one for one in cluster.status["comparisons"]}
    assert float(compared["telecom"]["baselineValue"]) == pytest.approx(600, rel=0.03)
    targets = cluster.status["environment"]["targets"]
    assert [(t["instances"], t["overcommitment"]) for t in targets] == [(3, "150%")] * 2
    assert [t["hypervisor"] for t in targets] == ["None", "TCG, QEMU 10.0.2 (Debian)"]
    report = cluster.objects[Ref("ConfigMap", "bench-results")]["data"]["report.md"]
    assert "## Instances side by side" in report
    assert "150%" in report


def test_an_instance_that_fails_is_named_and_the_trial_repeated_as_a_whole():
    lost = '{"kind":"Error","exitCode":3,"reason":"ProcessLost","message":"process 1 has gone"}'
    cause = '{"kind":"Error","exitCode":3,"reason":"DatabaseUnreachable","message":"refused"}'
    cluster = ModelCluster(side_by_side(trials={"min": 1}))
    while not (jobs := [name for name in cluster.jobs_run if name.startswith("bench-b001")]):
        cluster.step()
    cluster.logs[jobs[0]] = (lost, cause, lost)
    cluster.run()
    attempts = [r for r in cluster.records.values() if isinstance(r, TrialRecord)]
    (failed,) = [record for record in attempts if record.outcome is Outcome.FAILED]
    assert (failed.reason, failed.attempt) == ("DatabaseUnreachable", 1)
    assert "instance 1: refused" in failed.message
    assert len(measured(cluster)) == 2 * 2


def test_only_results_are_left_after_success():
    cluster = ModelCluster(spec())
    cluster.run()
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


@pytest.mark.parametrize(("policy", "kept"), [("Never", True), ("Always", False)])
def test_cleanup_policy_after_failure(policy, kept):
    cluster = ModelCluster(spec(cleanupPolicy=policy), fail=every_load)
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "False"
    assert any(ref.kind == "StatefulSet" for ref in cluster.objects) is kept
    assert Ref("ConfigMap", "bench-results") in cluster.objects


def own_statements():
    script = {"text": "SELECT 1"}
    mine = {"name": "mine", "sql": {"setup": script, "scripts": [script | {"name": "one"}]}}
    return spec(workloads=[mine])


@pytest.mark.parametrize("changed", [spec, side_by_side, own_statements])
@settings(max_examples=20, deadline=None)
@given(deaths=st.lists(st.integers(0, 6), max_size=80), seed=st.integers(0, 5))
def test_operator_killed_after_any_action_changes_nothing_but_the_time(changed, deaths, seed):
    undisturbed = ModelCluster(changed(), seed=seed)
    undisturbed.run()
    cluster = ModelCluster(changed(), seed=seed)
    cluster.run_killed(deaths)
    assert sorted(measured(cluster)) == sorted(measured(undisturbed))
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert cluster.condition("Succeeded")["status"] == "True"
    assert cluster.status["comparisons"] == undisturbed.status["comparisons"]
    assert cluster.status.get("instances") == undisturbed.status.get("instances")
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


def test_failed_trials_are_repeated_and_counted():
    failed: set[str] = set()

    def once(job):
        labels = job["metadata"]["labels"]
        if labels["dbbench.io/job"] == "trial" and labels["dbbench.io/trial"] not in failed:
            failed.add(labels["dbbench.io/trial"])
            return "lost"
        return None

    cluster = ModelCluster(spec(), fail=once)
    cluster.run()
    assert sorted(measured(cluster)) == sorted(failed)
    assert cluster.status["progress"]["trialsInvalid"] == PLANNED
    assert cluster.condition("Succeeded")["status"] == "True"


def test_trial_that_never_succeeds_fails_the_run_with_its_reason():
    def always(job):
        if job["metadata"]["labels"]["dbbench.io/job"] == "trial":
            return (
                '{"kind":"Error","exitCode":3,"reason":"DatabaseUnreachable","message":"refused"}'
            )
        return None

    cluster = ModelCluster(spec(), fail=always)
    cluster.run()
    stalled = cluster.condition("Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", "DatabaseUnreachable")
    assert "3 attempts" in stalled["message"]
    assert cluster.condition("Succeeded")["status"] == "False"
    assert cluster.condition("Reconciling")["status"] == "False"


def test_a_cold_trial_without_its_proof_counts_as_invalid_and_is_made_again():
    workloads = [{"name": "analytics", "tpch": {"scaleFactor": "1", "cache": ["Warm", "Cold"]}}]
    unproven = set()

    def warm_once(job):
        args = job["spec"]["template"]["spec"]["containers"][0]["args"]
        trial = job["metadata"]["labels"].get("dbbench.io/trial")
        if "cold" not in args or trial in unproven:
            return None
        unproven.add(trial)
        return '{"kind":"Error","exitCode":5,"reason":"NotCold","message":"not cold: Q1"}'

    cluster = ModelCluster(spec(workloads=workloads), fail=warm_once)
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"
    invalid = [r for r in cluster.records.values() if r.outcome is Outcome.INVALID]
    assert len(unproven) == 4
    assert sorted(r.trial for r in invalid) == sorted(unproven)
    assert {(r.cell, r.reason) for r in invalid} == {("cache=Cold", "NotCold")}
    cells = {(c["cell"], c["target"]) for c in cluster.status["comparisons"]}
    assert cells == {("cache=Warm", "vm"), ("cache=Cold", "vm")}


def test_failed_consistency_check_is_not_repeated():
    error = '{"kind":"Error","exitCode":4,"reason":"ConsistencyCheckFailed","message":"3.3.2.1"}'
    targets = [{"name": "pod", "pod": {}}, {"name": "other", "pod": {}}]
    cluster = ModelCluster(spec(targets=targets), fail=lambda job: error)
    cluster.run()
    assert cluster.condition("Stalled")["reason"] == "ConsistencyCheckFailed"
    assert "the first attempt" in cluster.condition("Stalled")["message"]


def test_target_that_never_gets_ready_fails_within_its_timeout():
    cluster = ModelCluster(
        spec(timeouts={"ready": "1m"}), stuck=frozenset({"bench-pod", "bench-vm"})
    )
    cluster.run()
    assert cluster.condition("Stalled")["reason"] == "TargetNotReady"
    assert "spec.timeouts.ready" in cluster.condition("Stalled")["message"]


def test_nothing_is_deployed_while_preflight_finds_problems_and_it_goes_on_afterwards():
    cluster = ModelCluster(spec(), nodes=(node("other"),), storage_classes=())
    cluster.step()
    assert cluster.objects == {}
    stalled = cluster.condition("Stalled")
    assert stalled["reason"] == "NodeNotFound"
    assert "spec.placement.database.nodeSelector" in stalled["message"]
    assert "StorageClass" in stalled["message"]
    cluster.nodes, cluster.storage_classes = (
        (node("a"), node("b")),
        ModelCluster(spec()).storage_classes,
    )
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"
    assert cluster.condition("Stalled")["status"] == "False"


def test_suspended_run_starts_nothing_and_continues():
    cluster = ModelCluster(spec())
    for _ in range(10):
        cluster.step()
    cluster.spec = spec(suspend=True)
    for _ in range(6):
        cluster.step()
    jobs = list(cluster.jobs_run)
    for _ in range(6):
        cluster.step()
    assert cluster.jobs_run == jobs
    assert cluster.pods == {}
    assert cluster.status["reason"] == "Suspended"
    cluster.spec = spec()
    cluster.run()
    assert len(measured(cluster)) == PLANNED


def test_run_that_is_created_suspended_has_not_started():
    cluster = ModelCluster(spec(suspend=True))
    cluster.step()
    assert "startTime" not in cluster.status
    assert cluster.objects == {}
    cluster.spec = spec()
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"


def test_gate_that_is_missed_fails_the_benchmark_but_keeps_its_results():
    gates = [{"workload": "telecom", "target": "vm", "maxSlowdown": "10%"}]
    cluster = ModelCluster(spec(gates=gates))
    cluster.run()
    assert cluster.condition("GatesPassed")["status"] == "False"
    assert cluster.condition("Succeeded")["status"] == "False"
    assert "telecom" in cluster.condition("GatesPassed")["message"]
    assert len(measured(cluster)) == PLANNED


def test_gate_that_is_met_passes():
    gates = [{"workload": "telecom", "target": "vm", "maxSlowdown": "100%"}]
    cluster = ModelCluster(spec(gates=gates))
    cluster.run()
    assert cluster.condition("GatesPassed")["status"] == "True"
    assert cluster.condition("Succeeded")["status"] == "True"


def test_run_goes_on_until_intervals_are_narrow_or_max_is_reached():
    trials = {"min": 2, "max": 12, "targetHalfWidth": "5%"}
    narrow = ModelCluster(spec(trials=trials), seed=1)
    narrow.run(1000)
    blocks = {record.block for record in narrow.records.values() if isinstance(record, TrialRecord)}
    assert len(blocks) == 10
    assert "TargetHalfWidthReached" in narrow.condition("Succeeded")["message"]
    wide = ModelCluster(spec(trials=trials | {"targetHalfWidth": "0.01%", "max": 3}))
    wide.run(1000)
    assert "MaxBlocksReached" in wide.condition("Succeeded")["message"]


def test_status_is_not_changed_by_looking_again():
    cluster = ModelCluster(spec())
    cluster.run()
    before = cluster.status
    assert decide(cluster.state()).status.document() == before
    assert decide(cluster.state()).requeue_after is None


@pytest.mark.parametrize("looks", [3, 6, 9])
@pytest.mark.parametrize(
    ("kind", "stopped"),
    [("StatefulSet", {"replicas": 0}), ("VirtualMachine", {"runStrategy": "Halted"})],
)
def test_what_somebody_stops_by_hand_is_started_again(kind, stopped, looks):
    machine = {"name": "vm", "virtualMachine": {"runtime": "KubeVirt"}}
    targets = [
        {"name": "pod", "pod": {}},
        machine if kind == "VirtualMachine" else {"name": "other", "pod": {}},
    ]
    cluster = ModelCluster(spec(targets=targets), kubevirt=True)
    while not any(ref.kind == kind for ref in cluster.objects):
        cluster.step()
    for _ in range(looks):
        cluster.step()
    for ref, manifest in cluster.objects.items():
        if ref.kind == kind and manifest["spec"] | stopped != manifest["spec"]:
            manifest["spec"] |= stopped
            cluster.pods.pop(f"{ref.name}-0", None)
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"


@pytest.mark.parametrize("kind", ["Service", "ConfigMap"])
def test_what_somebody_deletes_below_a_running_database_is_made_anew(kind):
    cluster = ModelCluster(spec())
    jobs_begun(cluster, "load")
    ref = min(ref for ref in cluster.objects if ref.kind == kind)
    starts = list(cluster.starts)
    del cluster.objects[ref]
    cluster.step()
    assert ref in cluster.objects
    cluster.stuck = frozenset()
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "True"
    assert len(measured(cluster)) == PLANNED
    assert cluster.starts[: len(starts)] == starts


def test_who_runs_a_job_is_looked_at_less_often_than_who_starts_a_database():
    cluster = ModelCluster(spec())
    waits = {"load": [], "start": []}
    for _ in range(12):
        decision = decide(cluster.state())
        kind = decision.status.progress.step.partition(":")[0]
        waits.setdefault(kind, []).append(decision.requeue_after)
        cluster.carry_out(decision)
        cluster.pass_time()
    assert set(waits["start"]) <= {SOON, WAITING}
    assert set(waits["load"]) == {RUNNING}
    assert waits["start"]


def test_who_waits_for_a_database_is_looked_at_again_after_some_seconds():
    cluster = ModelCluster(spec())
    for _ in range(2):
        cluster.carry_out(decide(cluster.state()))
    cluster.pods.clear()
    assert decide(cluster.state()).requeue_after == WAITING


def test_what_comes_after_a_job_is_done_in_the_look_that_stores_its_record():
    cluster = ModelCluster(spec())
    jobs_begun(cluster, "load")
    cluster.stuck = frozenset()
    cluster.pass_time()
    decision = decide(cluster.state())
    assert [type(one) for one in decision.store] == [LoadRecord]
    assert [one["metadata"]["labels"][LABEL_JOB] for one in decision.apply] == ["load"]
    assert decision.status.progress.step == "load:vm/telecom/1"
    assert [ref.kind for ref in decision.delete] == ["Job"]


def jobs_begun(cluster, kind):
    """Jobs of a kind, none of which ends, once there is one."""
    for _ in range(30):
        decision = decide(cluster.state())
        begun = [one for one in decision.apply if one["metadata"]["labels"].get(LABEL_JOB) == kind]
        cluster.stuck = frozenset(one["metadata"]["name"] for one in begun)
        cluster.carry_out(decision)
        cluster.pass_time()
        if begun:
            return begun
    raise AssertionError(f"no {kind} begins")
