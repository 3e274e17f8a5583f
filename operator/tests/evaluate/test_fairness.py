"""Differences between what the targets reported."""

import dataclasses

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.evaluate import fairness
from dbbench.evaluate.fairness import finding
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

from .model_cluster import spec

SPEC = DBBenchmarkSpec.model_validate(spec())


def trial(
    target,
    *,
    settings=None,
    sha="s",
    cpus=(0,),
    outcome=Outcome.MEASURED,
    workload="analytics",
    **facts,
):
    result = {
        "server": {"version": "17", "settings": {"work_mem": "4MB"} | (settings or {})},
        "target": {
            "facts": {"serverExecutable": {"sha256": sha}, "cpusAllowed": list(cpus)} | facts
        },
    }
    return TrialRecord(
        f"b001.{target}.{workload}", 1, target, workload, "", 1, outcome, "", "", "", "", result
    )


def load(target, digest="sha256:1"):
    result = {"data": {"digest": digest}}
    return LoadRecord(target, "analytics", 1, Outcome.MEASURED, "", "", "", "", result)


def all_differences(spec, trials, loads):
    return fairness.differences(spec, fairness.profiles(spec, trials, loads, Environment()))


def differences(spec, trials, loads):
    """Those that make a comparison unfair."""
    found = all_differences(spec, trials, loads)
    return found and tuple(difference for difference in found if not difference.inherent)


def names(found):
    return {difference.name for difference in found}


def test_equal_reports_are_fair():
    found = differences(SPEC, [trial("pod"), trial("vm", cpus=(3,))], [load("pod"), load("vm")])
    assert found == ()
    assert finding(found).status == "True"


def test_every_deliberate_difference_is_found_and_named():
    other = trial("vm", settings={"work_mem": "64MB", "jit": "on"}, sha="t", cpus=(0, 1))
    found = differences(SPEC, [trial("pod"), other], [load("pod"), load("vm", "sha256:2")])
    assert names(found) == {
        "setting work_mem",
        "setting jit",
        "sha256 of the server",
        "number of CPUs",
        "data of analytics",
    }
    assert finding(found).status == "False"
    assert "setting work_mem: 4MB / vm 64MB" in finding(found).message


def test_a_query_with_another_plan_is_a_difference():
    def planned(target, fingerprint):
        record = trial(target)
        operations = [
            {"name": "Q1", "planFingerprint": "sha256:1"},
            {"name": "Q2", "planFingerprint": fingerprint},
        ]
        return dataclasses.replace(record, result=record.result | {"operations": operations})

    reports = [planned("pod", "sha256:2"), planned("vm", "sha256:3")]
    found = differences(SPEC, reports, [])
    assert names(found) == {"plan of analytics Q2"}
    assert "plan of analytics Q2: sha256:2 / vm sha256:3" in finding(found).message
    assert differences(SPEC, [reports[0], planned("vm", "sha256:2")], []) == ()


def test_an_instance_that_differs_from_the_others_is_a_difference():
    other = dataclasses.replace(
        trial("vm"), instances=(trial("vm").result, trial("vm", sha="t").result)
    )
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "instances": 2, "pod": {}}]
    two = DBBenchmarkSpec.model_validate(spec(targets=targets))
    found = differences(two, [trial("pod"), other], [])
    assert {(d.name, d.baseline_value, d.target_value) for d in found} == {
        ("instances", "1", "2"),
        ("sha256 of the server", "s", "s and t"),
    }


def test_nothing_is_said_before_every_target_has_reported():
    assert differences(SPEC, [trial("pod")], []) is None
    failed = trial("vm", outcome=Outcome.FAILED)
    assert differences(SPEC, [trial("pod"), failed], []) is None
    assert finding(None).status == "Unknown"


def test_settings_of_a_session_are_compared_within_one_workload():
    first = [trial(name, settings={"search_path": "analytics"}) for name in ("pod", "vm")]
    ahead = trial("pod", settings={"search_path": "telecom"}, workload="telecom")
    assert differences(SPEC, [*first, ahead], []) == ()


def with_machine(machine, **resources):
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
    return DBBenchmarkSpec.model_validate(spec(targets=targets, resources=resources))


def exclusive(machine, **resources):
    found = differences(with_machine(machine, **resources), [trial("pod"), trial("vm")], [])
    return [(d.baseline_value, d.target_value) for d in found if d.name == "exclusive CPUs"]


def test_cpus_beyond_those_of_the_guest_are_a_difference():
    pool = {"ioThreadsPolicy": "supplementalPool", "ioThreads": {"supplementalPoolThreadCount": 2}}
    isolated = {"runtime": "KubeVirt", "cpu": {"isolateEmulatorThread": True}}
    assert exclusive({"runtime": "KubeVirt"}, cpu=4) == []
    assert exclusive(isolated, cpu=4) == [("4", "5")]
    assert exclusive(isolated | pool, cpu=4) == [("4", "7")]
    assert exclusive({"cpu": {"dedicatedCpuPlacement": False}}, cpu=4) == [("4", "none")]
    assert exclusive({"cpu": {"dedicatedCpuPlacement": False}}, dedicatedCPUs=False) == []
    shared = {"cpu": {"dedicatedCpuPlacement": True}}
    assert exclusive(shared, cpu=2, dedicatedCPUs=False) == [("none", "2")]


def test_another_kind_of_data_volume_is_told_as_what_the_target_is():
    reports = [trial("pod"), trial("vm")]
    for volume in ("DataVolume", "HostDisk", "EmptyDisk"):
        found = all_differences(
            with_machine({"runtime": "KubeVirt", "dataDisk": {"volume": volume}}), reports, []
        )
        told = {difference.name: str(difference) for difference in found}
        assert told["data volume"] == f"data volume: PersistentVolumeClaim / vm {volume}"
        assert finding(found).status == "True"
        assert f"data volume: PersistentVolumeClaim / vm {volume}" in finding(found).message
    assert differences(with_machine({"runtime": "KubeVirt"}), reports, []) == ()


def test_huge_pages_are_compared_and_their_use_where_every_target_has_them():
    reports = [
        trial("pod", settings={"huge_pages_status": "on"}, hugePages={"2Mi": 2097152}),
        trial("vm", settings={"huge_pages_status": "off"}, hugePages={}),
    ]
    assert names(differences(SPEC, reports, [])) == {"huge pages of 2Mi"}
    asked = with_machine({}, hugepages={"pageSize": "2Mi", "size": "2Mi"})
    expected = {"huge pages of 2Mi", "setting huge_pages_status"}
    assert names(differences(asked, reports, [])) == expected


def test_settings_that_follow_from_a_target_are_left_out_by_engine():
    named = [
        trial(name, settings={"hostname": name, "in_hot_standby": name}) for name in ("pod", "vm")
    ]
    assert names(differences(SPEC, named, [])) == {"setting hostname"}
    mysql = spec()
    mysql["database"] |= {"engine": "MySQL", "image": "mariadb:11.4"}
    found = differences(DBBenchmarkSpec.model_validate(mysql), named, [])
    assert names(found) == {"setting in_hot_standby"}


def test_another_server_of_the_same_engine_is_a_difference():
    reports = [trial("pod"), trial("vm")]
    reports[0].result["server"] |= {"engine": "MariaDB", "version": "10.11.19-MariaDB"}
    reports[1].result["server"] |= {"engine": "MySQL", "version": "8.4.0"}
    found = differences(SPEC, reports, [])
    told = {(d.name, d.baseline_value, d.target_value) for d in found}
    assert told == {("server version", "10.11.19-MariaDB", "MySQL 8.4.0")}


def test_what_a_target_has_of_its_own_is_told_and_is_no_unfairness():
    reports = [trial("pod", kernel="6.18", cpuModel="Xeon"), trial("vm", kernel="6.1")]
    found = all_differences(SPEC, reports, [])
    assert names(found) == {"kernel", "CPU model", "network path", "CPUs of the node"}
    condition = finding(found)
    assert condition.status == "True"
    assert "kernel: 6.18 / vm 6.1" in condition.message
    both = finding((*found, *differences(SPEC, [trial("pod"), trial("vm", sha="t")], [])))
    assert both.status == "False"
    assert both.message.startswith("1 difference (baseline / target): sha256 of the server")
    assert "CPU model: Xeon / vm not reported" in both.message


def test_a_message_names_what_fits_a_condition_and_counts_the_rest():
    many = [
        fairness.Difference("vm", f"setting {n:03}", "a" * 1000, "b" * 1000, inherent)
        for n in range(200)
        for inherent in (True, False)
    ]
    message = finding(tuple(many)).message
    assert "setting 020: aaa" in message
    assert "aaa... / vm bbb" in message
    assert message.count(" more") == 2
    assert len(message) < 32768
    listed = message.partition(". What a target has")[0]
    assert listed.endswith(f"and {200 - listed.count('setting')} more")


def test_data_of_a_workload_that_not_every_target_has_run_are_not_compared_yet():
    reports = [trial("pod"), trial("vm")]
    ahead = dataclasses.replace(load("pod"), workload="telecom")
    assert differences(SPEC, reports, [load("pod"), load("vm"), ahead]) == ()


def test_a_host_target_without_a_cpu_limit_is_a_difference():
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "host": {}}]
    for dedicated, expected in ((True, set()), (False, {"CPU limit"})):
        changed = spec(targets=targets, resources={"dedicatedCPUs": dedicated})
        host = DBBenchmarkSpec.model_validate(changed)
        assert names(differences(host, [trial("pod"), trial("vm")], [])) == expected
