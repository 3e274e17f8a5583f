"""Whole runs that test the causes of slowdowns, on a model of the cluster."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.evaluate.state import Ref, labels_of
from dbbench.plan.cells import confirms
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

from .model_cluster import ModelCluster, deployment_of, spec

PER_QUERY = {"name": "analytics", "tpch": {"scaleFactor": "0.01", "connection": ["PerQuery"]}}
SHARED = {"name": "analytics", "tpch": {"scaleFactor": "0.01"}}
TELECOM = {"name": "telecom", "tatp": {"subscribers": 1000}}
BLOCKS = 4


@dataclass
class Explained(ModelCluster):
    """The guest takes half as long again, with its counters saying why; in tests, `after`."""

    cause: str = "io"
    after: float = 1.0

    def _log(self, job: dict[str, Any], index: int, drivers: int) -> str:
        progress, text = super()._log(job, index, drivers).splitlines()
        result, labels = json.loads(text), labels_of(job)
        guest = labels["dbbench.io/target"] == "vm"
        if guest and int(labels.get("dbbench.io/trial", "b0.")[1:].split(".")[0]) > BLOCKS:
            for metric in result["metrics"]:
                ratio = self.after / 1.5
                metric["value"] *= ratio if metric["unit"] == "seconds" else 1 / ratio
        spent = dict.fromkeys(("user", "system", "io"), 0.0)
        # Of 10 s: a rest of 1 s on both sides, and what grows in the guest alone.
        spent["user"] = 5.0 if guest else 8.0
        spent[self.cause] += 4.0 if guest else 1.0
        result["target"] |= {"before": reading(0), "after": reading(10, **spent)}
        text = json.dumps(result, separators=(",", ":"))
        return f"{progress}\n{text}\n"


def reading(at: int, user: float = 0.0, system: float = 0.0, io: float = 0.0) -> dict[str, Any]:
    return {
        "takenAt": f"2026-01-01T00:00:{at:02d}.000Z",
        "processes": {"userSeconds": user, "systemSeconds": system},
        "pressure": {"io": {"someSeconds": io}},
    }


def confirming(**changes: Any) -> dict[str, Any]:
    return spec(**{"workloads": [SHARED], "trials": {"min": BLOCKS}, "confirm": True} | changes)


def trials(cluster: ModelCluster, *, tests: bool) -> list[TrialRecord]:
    return [
        record
        for record in cluster.records.values()
        if isinstance(record, TrialRecord) and confirms(record.cell) is tests
    ]


def loads(cluster: ModelCluster) -> list[tuple[str, str]]:
    found = [record for record in cluster.records.values() if isinstance(record, LoadRecord)]
    return sorted((record.deployed, record.workload) for record in found)


def published(cluster: ModelCluster, name: str) -> str:
    return cluster.objects[Ref("ConfigMap", "bench-results")]["data"][name]


def data_disks(cluster: ModelCluster) -> dict[str, dict[str, Any]]:
    """What QEMU is told of the data disk, by deployment."""
    return {
        deployment_of(manifest): json.loads(manifest["data"]["launcher.json"])["disks"][1]
        for ref, manifest in cluster.objects.items()
        if ref.kind == "ConfigMap" and "launcher.json" in (manifest.get("data") or {})
    }


def test_waiting_for_io_is_tested_with_the_data_disk_uncached():
    cluster = Explained(confirming(cleanupPolicy="Never"))
    cluster.run()
    plain = Explained(confirming(confirm=False))
    plain.run()
    assert cluster.status["comparisons"] == plain.status["comparisons"]
    (found,) = cluster.status["confirmations"]
    assert (found["workload"], found["target"], found["cell"]) == ("analytics", "vm", "")
    assert (found["cause"], found["intervention"]) == ("ioWait", "DataDiskCacheNone")
    assert found["verdict"] == "Confirmed"
    assert found["blocks"] == BLOCKS
    assert float(found["slowdownBefore"]) == pytest.approx(0.5, abs=0.05)
    assert float(found["slowdownAfter"]) == pytest.approx(0.0, abs=0.05)
    assert float(found["reduction"]) == pytest.approx(0.5, abs=0.05)
    low, high = (float(found["confidenceInterval"][end]) for end in ("low", "high"))
    assert 0 < low < float(found["reduction"]) < high
    assert cluster.condition("Succeeded")["message"] == (
        "16 trials in 8 blocks are measured; causes of slowdowns: 1 Confirmed"
    )
    assert cluster.condition("FairnessVerified")["status"] == "True"
    tests = trials(cluster, tests=True)
    assert {record.cell for record in tests} == {"confirm=DataDiskCacheNone"}
    assert sorted((record.block, record.target) for record in tests) == [
        (block, target) for block in range(BLOCKS + 1, 2 * BLOCKS + 1) for target in ("pod", "vm")
    ]
    at = "@confirmDataDiskCacheNone"
    assert loads(cluster) == [(name, "analytics") for name in ("pod", f"pod{at}", "vm", f"vm{at}")]
    assert cluster.starts.count(f"vm{at}") == BLOCKS
    assert cluster.most_targets_at_once == 1
    disks = data_disks(cluster)
    assert disks.keys() == {"vm", f"vm{at}"}
    assert disks[f"vm{at}"].items() - disks["vm"].items() == {("cache", "None")}


def test_reports_say_what_came_of_the_tests():
    cluster = Explained(confirming())
    cluster.run()
    document = json.loads(published(cluster, "summary.json"))
    (found,) = document["confirmations"]
    assert found["interval"]["low"] < found["reduction"] < found["interval"]["high"]
    assert found["slowdownBeforeInterval"] == document["comparisons"][0]["interval"]
    report = published(cluster, "report.md")
    section = report[report.index("## Causes tested") :]
    assert "| waiting for I/O | virtualMachine.dataDisk.cache: none |" in section
    assert "- analytics on vm (emulated): waiting for I/O: confirmed; with " in section


def test_a_cause_whose_removal_changes_nothing_is_not_confirmed():
    cluster = Explained(confirming(trials={"min": BLOCKS}), after=1.7)
    cluster.run()
    (found,) = cluster.status["confirmations"]
    assert found["verdict"] == "NotConfirmed"
    assert float(found["reduction"]) < 0
    assert cluster.condition("Succeeded")["status"] == "True"


def test_time_in_the_kernel_is_tested_with_one_connection_on_the_same_deployments():
    cluster = Explained(confirming(workloads=[PER_QUERY, TELECOM]), cause="system")
    arguments: dict[bool, set[str]] = {True: set(), False: set()}
    while "completionTime" not in cluster.status:
        cluster.step()
        for ref, job in cluster.objects.items():
            trial = labels_of(job).get("dbbench.io/trial")
            if ref.kind == "Job" and trial and ".analytics." in f"{trial}.":
                (driver,) = job["spec"]["template"]["spec"]["containers"]
                place = driver["args"].index("--connection") + 1
                arguments[int(trial[1:4]) > BLOCKS].add(driver["args"][place])
    assert arguments == {False: {"per-query"}, True: {"shared"}}
    analytics, telecom = cluster.status["confirmations"]
    assert (analytics["intervention"], analytics["verdict"]) == ("SharedConnection", "Confirmed")
    assert (telecom["cause"], telecom["verdict"]) == ("system", "NotTested")
    assert telecom["message"] == (
        "system time: not tested, because connection: Shared would change nothing here"
    )
    assert len(loads(cluster)) == 4
    assert set(cluster.starts) == {"pod", "vm"}
    assert {record.workload for record in trials(cluster, tests=True)} == {"analytics"}


def test_causes_that_no_change_takes_away_are_named_and_cost_no_trial():
    cluster = Explained(confirming(), cause="user")
    cluster.run()
    (found,) = cluster.status["confirmations"]
    assert (found["cause"], found["verdict"]) == ("user", "NotTested")
    assert "intervention" not in found
    assert found["message"] == "user time: not tested, because no single change removes it"
    assert trials(cluster, tests=True) == []
    assert set(cluster.starts) == {"pod", "vm"}


def test_a_slowdown_without_counters_has_no_cause_to_test():
    cluster = ModelCluster(confirming())
    cluster.run()
    (found,) = cluster.status["confirmations"]
    assert (found["cause"], found["verdict"]) == ("", "NotTested")
    assert found["message"] == "the cause is unexplained, so that there is nothing to test"


def test_a_disk_that_is_uncached_already_is_not_read_ahead_and_that_is_no_unfairness():
    disk = {"cache": "none"}
    vm = {"name": "vm", "virtualMachine": {"runtime": "QEMU", "dataDisk": disk}}
    cluster = Explained(confirming(targets=[{"name": "pod", "pod": {}}, vm]))
    cluster.run()
    (found,) = cluster.status["confirmations"]
    assert found["intervention"] == "DataDiskReadAheadZero"
    assert cluster.condition("FairnessVerified")["status"] == "True"


def test_only_the_slower_target_and_the_baseline_are_measured_at_the_slowdowns_point():
    cluster = Explained(
        confirming(
            targets=[
                {"name": "pod", "pod": {}},
                {"name": "vm", "virtualMachine": {"runtime": "QEMU"}},
                {"name": "other", "pod": {}},
            ],
            sweep={"cpu": [1, 2]},
            resources={"cpu": 1, "dedicatedCPUs": False},
            trials={"min": BLOCKS, "control": True},
        )
    )
    cluster.run(limit=1000)
    assert {(one["cell"], one["verdict"]) for one in cluster.status["confirmations"]} == {
        ("cpu=1", "Confirmed"),
        ("cpu=2", "Confirmed"),
    }
    tests = trials(cluster, tests=True)
    assert {record.target for record in tests} == {"pod", "vm"}
    assert len(tests) == 2 * 2 * BLOCKS
    assert "vm@cpu2-confirmDataDiskCacheNone" in cluster.starts


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 4), max_size=60))
def test_killed_anywhere_no_trial_of_a_test_is_repeated_or_dropped(deaths):
    cluster = Explained(confirming())
    cluster.run_killed(deaths)
    measured = [(one.block, one.target) for one in trials(cluster, tests=True)]
    assert len(measured) == len(set(measured)) == 2 * BLOCKS
    assert all(one.outcome is Outcome.MEASURED for one in trials(cluster, tests=True))
    assert len(cluster.stored) == len(set(cluster.stored))
    assert len(cluster.jobs_run) == len(set(cluster.jobs_run))
    assert len(loads(cluster)) == 4
    assert [one["verdict"] for one in cluster.status["confirmations"]] == ["Confirmed"]
    assert list(cluster.objects) == [Ref("ConfigMap", "bench-results")]


def test_a_test_that_cannot_be_measured_fails_the_run_and_keeps_the_comparison():
    def fail(job):
        return "no result" if deployment_of(job).startswith("vm@confirm") else None

    cluster = Explained(confirming(), fail=fail)
    cluster.run()
    assert cluster.condition("Succeeded")["status"] == "False"
    assert "vm@confirmDataDiskCacheNone" in cluster.condition("Succeeded")["message"]
    assert cluster.status["comparisons"][0]["verdict"] == "Slower"
    assert json.loads(published(cluster, "summary.json"))["comparisons"]
