"""Differences between what the targets reported."""

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.evaluate.fairness import differences, finding
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

from .model_cluster import spec

SPEC = DBBenchmarkSpec.model_validate(spec())


def trial(
    target, *, settings=None, sha="s", cpus=(0,), outcome=Outcome.MEASURED, workload="analytics"
):
    result = {
        "server": {"version": "17", "settings": {"work_mem": "4MB"} | (settings or {})},
        "target": {"facts": {"serverExecutable": {"sha256": sha}, "cpusAllowed": list(cpus)}},
    }
    return TrialRecord(
        f"b001.{target}.{workload}", 1, target, workload, "", 1, outcome, "", "", "", "", result
    )


def load(target, digest="sha256:1"):
    result = {"data": {"digest": digest}}
    return LoadRecord(target, "analytics", 1, Outcome.MEASURED, "", "", "", "", result)


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


def test_nothing_is_said_before_every_target_has_reported():
    assert differences(SPEC, [trial("pod")], []) is None
    failed = trial("vm", outcome=Outcome.FAILED)
    assert differences(SPEC, [trial("pod"), failed], []) is None
    assert finding(None).status == "Unknown"


def test_settings_of_a_session_are_compared_within_one_workload():
    first = [trial(name, settings={"search_path": "analytics"}) for name in ("pod", "vm")]
    ahead = trial("pod", settings={"search_path": "telecom"}, workload="telecom")
    assert differences(SPEC, [*first, ahead], []) == ()
