"""Whole runs that measure both targets at the same time, on a model of the cluster."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.evaluate.decide import decide
from dbbench.evaluate.harvest import identities, record_identity
from dbbench.evaluate.state import Ref, labels_of
from dbbench.results.record import CONTAMINATED, Outcome, TrialRecord

from .model_cluster import ModelCluster, node, spec
from .model_records import measured, planned

WORKLOADS = [
    {"name": "telecom", "tatp": {"subscribers": 1000, "clients": 2}},
    {"name": "orders", "tpcc": {"warehouses": 1}},
]
BROKEN = '{"kind":"Error","exitCode":4,"reason":"CheckFailed","message":"rows are missing"}'
LEFT = '{"kind":"Error","exitCode":3,"reason":"ProcessLost","message":"process 0 has gone"}'
UNREACHABLE = '{"kind":"Error","exitCode":3,"reason":"DatabaseLost","message":"no answer"}'


def duet(**changes: Any) -> dict[str, Any]:
    trials = {"min": 2, "mode": "Duet"} | changes.pop("trials", {})
    return spec(**{"workloads": WORKLOADS} | changes, trials=trials)


def trials(cluster: ModelCluster) -> list[TrialRecord]:
    return [record for record in cluster.records.values() if isinstance(record, TrialRecord)]


def pairs(cluster: ModelCluster) -> dict[tuple[Any, ...], list[TrialRecord]]:
    """Records of the trials that ran at the same time."""
    found: dict[tuple[Any, ...], list[TrialRecord]] = {}
    for one in trials(cluster):
        found.setdefault((one.block, one.workload, one.cell, one.attempt), []).append(one)
    return found


def in_pairs(cluster: ModelCluster) -> bool:
    """Whether every attempt was of both targets, at the same time, and counts for both or none."""
    return all(
        {one.target for one in pair} == {"pod", "vm"}
        and len({(one.started, one.finished) for one in pair}) == 1
        and len({one.outcome is Outcome.MEASURED for one in pair}) == 1
        for pair in pairs(cluster).values()
    )


def test_each_block_starts_both_targets_and_measures_each_cell_on_both_at_once():
    cluster = ModelCluster(duet())
    cluster.run()
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert in_pairs(cluster)
    assert cluster.most_targets_at_once == 2
    # Once for each block, in an order that the next block turns round: so CPUs change hands.
    assert len(cluster.starts) == 4
    assert cluster.starts[2:] == cluster.starts[1::-1]
    assert len([name for name in cluster.jobs_run if name.startswith("bench-b")]) == 4
    assert cluster.condition("Succeeded")["status"] == "True"
    assert cluster.condition("FairnessVerified")["status"] == "True"
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


def test_what_is_published_says_that_it_is_of_a_duet():
    cluster = ModelCluster(duet())
    cluster.run()
    data = cluster.objects[Ref("ConfigMap", "bench-results")]["data"]
    summary = json.loads(data["summary.json"])
    assert summary["mode"] == "Duet"
    assert summary["answer"].startswith("Compared with pod at the same time (duet), vm is ")
    assert "A duet (trials.mode: Duet)" in data["report.md"]
    # The model's noise is of the job, and so of both: it cancels.
    (found,) = [one for one in summary["comparisons"] if one["workload"] == "orders"]
    assert found["slowdown"] == pytest.approx(0.5)


def test_both_drivers_are_in_one_pod_and_begin_together_apart():
    cluster = ModelCluster(duet())
    while not any(name.startswith("bench-b001") for name in cluster.jobs_run):
        cluster.step()
    job = next(one for ref, one in cluster.objects.items() if ref.name.startswith("bench-b001"))
    labels = labels_of(job)
    assert identities(job) == {
        ("trial", labels["dbbench.io/trial"], "1"), ("trial", labels["dbbench.io/partner"], "1")
    }  # fmt: skip
    first, second = (one["args"] for one in job["spec"]["template"]["spec"]["containers"])
    assert "--apart" in first
    assert "--barrier-listen" in first
    assert "--apart" in second
    assert "--barrier" in second
    hosts = {args[args.index("--url") + 1] for args in (first, second)}
    assert {url.partition("@")[2].partition(":")[0] for url in hosts} == {"bench-pod", "bench-vm"}


def test_it_goes_with_a_sweep_and_with_deployments_of_each_block():
    cluster = ModelCluster(
        duet(sweep={"cpu": [1, 2], "clients": [1, 2]}, trials={"redeploy": True})
    )
    cluster.run(limit=800)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert in_pairs(cluster)
    assert cluster.most_targets_at_once == 2
    assert len(cluster.starts) == len(set(cluster.starts)) == 8


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=80), st.integers(0, 3))
def test_killed_anywhere_no_trial_is_lost_counted_twice_or_without_its_partner(deaths, lost):
    ended = []

    def fail(job: dict[str, Any]) -> list[str | None] | None:
        if labels_of(job).get("dbbench.io/job") != "trial":
            return None
        ended.append(job)
        return [UNREACHABLE, LEFT] if len(ended) == lost else None

    cluster = ModelCluster(duet(), fail=fail)
    cluster.run_killed(deaths)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    assert in_pairs(cluster)
    assert len(cluster.stored) == len(set(cluster.stored))
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert len(trials(cluster)) == len(planned(cluster)) + (2 if lost else 0)


def of_first_trial(*logs: str | None) -> Any:
    """Ends the first attempt of each driver of block 1's orders so."""

    def fail(job: dict[str, Any]) -> list[str | None] | None:
        first = job["metadata"]["name"].startswith("bench-b001") and "orders-1" in str(job)
        return list(logs) if first else None

    return fail


@pytest.mark.parametrize("logs", [(UNREACHABLE, None), (None, UNREACHABLE), (LEFT, UNREACHABLE)])
def test_a_pair_of_which_one_failed_is_kept_and_made_again(logs):
    cluster = ModelCluster(duet(), fail=of_first_trial(*logs))
    cluster.run()
    assert in_pairs(cluster)
    assert sorted(measured(cluster)) == sorted(planned(cluster))
    (failed,) = [pair for pair in pairs(cluster).values() if pair[0].outcome != Outcome.MEASURED]
    assert {one.reason for one in failed} == {"DatabaseLost"}
    assert all("no answer" in one.message for one in failed)
    for one in failed:
        # What was measured is kept, and marked.
        assert one.outcome is (Outcome.FAILED if one.result is None else Outcome.INVALID)
    assert sum(one.result is not None for one in failed) == logs.count(None)
    assert cluster.status["progress"]["trialsInvalid"] == 2


def test_what_can_end_no_other_way_ends_the_run_at_once_whichever_target_it_was():
    for logs in ((BROKEN, None), (None, BROKEN), (LEFT, BROKEN)):
        cluster = ModelCluster(duet(), fail=of_first_trial(*logs))
        cluster.run()
        assert cluster.condition("Stalled")["reason"] == "ConsistencyCheckFailed"
        assert "rows are missing" in cluster.condition("Stalled")["message"]


class Disturbed(ModelCluster):
    """The pod's CPUs are taken away for 20 % of the time in the first `times` trials."""

    times: int = 0

    def _log(self, job: dict[str, Any], index: int, drivers: int) -> str:
        text = super()._log(job, index, drivers)
        labels = labels_of(job)
        own = labels.get("dbbench.io/partner" if index else "dbbench.io/trial", "")
        if not own.startswith("b001.pod.") or int(labels["dbbench.io/attempt"]) > self.times:
            return text
        progress, result = text.splitlines()
        document = json.loads(result)
        document["target"] |= {
            "before": {"takenAt": "2026-01-01T00:00:00Z", "cpu": {"stealSeconds": 0}},
            "after": {"takenAt": "2026-01-01T00:00:10Z", "cpu": {"stealSeconds": 2}},
        }
        return f"{progress}\n{json.dumps(document, separators=(',', ':'))}\n"


@pytest.mark.parametrize(("repeats", "again"), [(0, 0), (1, 0), (2, 1), (4, 2), (9, 2)])
def test_a_disturbance_of_one_is_one_of_both_and_takes_two_repetitions(repeats, again):
    cluster = Disturbed(
        duet(workloads=WORKLOADS[:1], trials={"contamination": {"maxRepeats": repeats}})
    )
    cluster.times = 9
    cluster.run()
    assert in_pairs(cluster)
    disturbed = [one for one in trials(cluster) if one.reason == CONTAMINATED]
    assert sum(one.outcome is Outcome.INVALID for one in disturbed) == 2 * again
    assert sum(one.counts_though_contaminated for one in disturbed) == 2
    assert all(one.message.startswith("pod: 20.0 % of the time") for one in disturbed)
    assert cluster.condition("Representative")["reason"] == "Emulated"
    assert cluster.status["progress"]["trialsContaminated"] == 2


def test_targets_that_had_cpus_in_common_are_not_representative():
    for theirs, shared in (([2, 3], ""), ([1, 2], "CPUs 1 of the node"), ([0, 1], "CPUs 0, 1 of")):
        cluster = ModelCluster(duet())
        cluster.run()
        for record in trials(cluster):
            allowed = theirs if record.target == "vm" else [0, 1]
            place = record.result["target"]
            if record.target == "vm":
                place["host"] = place = {"facts": {}}
            place["facts"]["cpusAllowed"] = allowed
        cluster.status.pop("completionTime")
        message = decide(cluster.state()).status
        (found,) = [one for one in message.conditions if one.type == "Representative"]
        assert ("both targets of the duet might use" in found.message) is bool(shared)
        assert shared in found.message


def test_the_record_of_one_is_not_made_twice_when_only_the_other_was_stored():
    cluster = ModelCluster(duet())
    while not any(isinstance(record, TrialRecord) for record in cluster.records.values()):
        decision = decide(cluster.state())
        if any(isinstance(record, TrialRecord) for record in decision.store):
            first, second = decision.store
            cluster.records[record_identity(first)] = first
            break
        cluster.carry_out(decision)
        cluster.pass_time()
    (left,) = decide(cluster.state()).store
    assert left == second


@pytest.mark.parametrize(
    ("cpu", "memory", "says"),
    [
        ("1", "8Gi", "pod and vm need 2 exclusive CPUs at the same time, but node a has 1"),
        ("4", "1536Mi", "pod and vm need 2 x 1Gi (spec.resources.memory) at the same time"),
    ],
)
def test_a_node_too_small_for_both_is_named_before_anything_is_deployed(cpu, memory, says):
    cluster = ModelCluster(duet(), nodes=(node("a", cpu, memory), node("b")))
    cluster.step()
    assert says in cluster.condition("Stalled")["message"]
    assert cluster.objects == {}
    cluster = ModelCluster(spec(workloads=WORKLOADS), nodes=(node("a", cpu, memory), node("b")))
    cluster.step()
    assert cluster.condition("Stalled")["status"] == "False"


def test_huge_pages_empty_disks_and_drivers_of_both_are_counted():
    def says(found: dict[str, Any], **allocatable: str) -> str:
        first = node("a")
        first["status"]["allocatable"] |= allocatable
        cluster = ModelCluster(
            found, nodes=(first, node("b")), kubevirt=True, data_volumes=True, kubevirts=()
        )
        cluster.step()
        return str(cluster.condition("Stalled")["message"])

    same_node = spec()["placement"] | {"driver": {"colocation": "SameNode"}}
    wanted = says(duet(placement=same_node, resources={"cpu": 2}), cpu="4")
    assert "pod and vm with their drivers need 4.5 exclusive CPUs" in wanted
    assert "at the same time" not in says(duet(resources={"cpu": 2}), cpu="4")

    huge = {"memory": "1Gi", "hugepages": {"pageSize": "2Mi", "size": "256Mi"}}
    for there, enough in (("1Gi", False), ("1280Mi", True)):
        wanted = says(duet(resources=huge), **{"hugepages-2Mi": there})
        assert ("pod and vm need 256Mi + 1Gi in pages of 2Mi" in wanted) is not enough

    machine = {"runtime": "KubeVirt", "dataDisk": {"volume": "EmptyDisk"}}
    machines = [{"name": name, "virtualMachine": machine} for name in ("one", "two")]
    on_node = duet(targets=machines, baseline="one")
    for there, enough in (("15Gi", False), ("20Gi", True)):
        wanted = says(on_node, **{"ephemeral-storage": there})
        assert ("one and two need 2 x 10Gi" in wanted) is not enough
