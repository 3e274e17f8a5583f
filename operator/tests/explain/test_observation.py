"""Counters of a result document become an observation; what is absent stays unknown."""

import copy

import pytest

from dbbench.explain import Cause, Events, IoBytes, Plan, observe, observe_queries

BEFORE = {
    "takenAt": "2026-11-21T08:00:00.000Z",
    "uptimeSeconds": 10.0,
    "cpu": {"userSeconds": 1.0, "systemSeconds": 1.0, "stealSeconds": 0.5, "throttledSeconds": 0.0},
    "processes": {
        "userSeconds": 100.0,
        "systemSeconds": 10.0,
        "minorFaults": 1000,
        "majorFaults": 1,
        "voluntaryContextSwitches": 5,
        "involuntaryContextSwitches": 5,
        "runQueueSeconds": 3.0,
        "count": 7,
    },
    "io": {"readBytes": 1000, "writeBytes": None},
    "memory": {"usedBytes": 1, "fileBytes": 2},
    "pressure": {"io": {"someSeconds": 1.0, "fullSeconds": 1.0}},
}
AFTER = {
    **BEFORE,
    "takenAt": "2026-11-21T08:00:20.000Z",
    "cpu": {"userSeconds": 9.0, "systemSeconds": 3.0, "stealSeconds": 1.5, "throttledSeconds": 0.0},
    "processes": {
        **BEFORE["processes"],
        "userSeconds": 112.0,
        "systemSeconds": 14.0,
        "minorFaults": 51000,
        "voluntaryContextSwitches": 105,
        "involuntaryContextSwitches": 25,
        "runQueueSeconds": 3.5,
    },
    "io": {"readBytes": 9000, "writeBytes": None},
    "pressure": {"io": {"someSeconds": 3.0, "fullSeconds": 2.0}},
}
FACTS = {
    "unitCosts": [
        {"name": "PAGE_FAULT_4K", "cost": {"meanSeconds": 2e-6}},
        {"name": "SYSTEM_CALL", "cost": {"meanSeconds": 1e-7}},
        {"name": "CONTEXT_SWITCH", "unavailable": "only 3 switches"},
    ]
}


def document(**more):
    return copy.deepcopy(
        {
            "parameters": {"clients": 4, "processes": 2},
            "server": {"engine": "PostgreSQL"},
            "operations": [],
            "target": {"facts": FACTS, "before": BEFORE, "after": AFTER},
            **more,
        }
    )


def test_counters_are_what_grew_in_the_window():
    found = observe(document())
    assert (found.window_seconds, found.clients, found.client_seconds) == (20, 8, 160)
    assert found.seconds == {
        Cause.USER: 12,
        Cause.SYSTEM: 4,
        Cause.RUN_QUEUE: 0.5,
        Cause.STEAL: 1,
        Cause.THROTTLING: 0,
        Cause.IO_WAIT: 2,
    }
    assert found.io == IoBytes(database=None, target=8000, host=None)


def test_events_need_a_count_and_a_cost():
    found = observe(document())
    assert found.events == {Cause.PAGE_FAULTS: Events(50_000, 2e-6)}
    assert found.unit_costs == {"PAGE_FAULT_4K": 2e-6, "SYSTEM_CALL": 1e-7}


def test_without_counters_there_is_no_observation():
    assert observe(document(target={})) is None
    assert observe(document(target={"before": BEFORE})) is None
    assert observe({"metrics": []}) is None


def test_a_counter_that_fell_is_unknown():
    changed = document()
    changed["target"]["after"]["processes"]["runQueueSeconds"] = 1.0
    assert Cause.RUN_QUEUE not in observe(changed).seconds


def test_counters_of_threads_are_unknown_where_connections_end_during_the_measurement():
    found = observe(document(parameters={"connection": "per-query"}))
    assert Cause.RUN_QUEUE not in found.seconds
    assert found.seconds[Cause.USER] == 12


def test_the_driver_has_its_own_part():
    usage = {"userSeconds": 3.0, "systemSeconds": 1.0, "runQueueSeconds": 0.5, "wallSeconds": 20.0}
    assert observe(document(driverUsage=usage)).seconds[Cause.DRIVER] == 4.5
    # Inside the target, its time is in the target's own counters.
    inside = document(driverUsage=usage, parameters={"atTarget": True})
    assert Cause.DRIVER not in observe(inside).seconds


def test_the_hypervisor_is_seen_from_outside():
    changed = document(blocksRead=3)
    changed["target"]["host"] = {"facts": {}, "before": BEFORE, "after": AFTER}
    found = observe(changed)
    assert found.hypervisor_seconds == 10
    assert found.io == IoBytes(database=3 * 8192, target=8000, host=8000)


def test_plans_are_those_of_the_queries_with_their_median():
    operations = [{"name": "Q1", "planFingerprint": "ab", "runtimesSeconds": [3.0, 1.0, 2.0]}]
    assert observe(document(operations=operations)).plans == {"Q1": Plan("ab", 2.0)}


def test_counters_around_each_query_are_used_where_all_have_them():
    def execution(seconds):
        return {"target": {"processes": {"userSeconds": seconds, "systemSeconds": 0.0}}}

    operations = [
        {"name": name, "runtimesSeconds": [2.0, 3.0], "executions": [execution(1), execution(2)]}
        for name in ("Q1", "Q2")
    ]
    found = observe(document(operations=operations, parameters={}))
    assert found.window_seconds == 10
    assert found.seconds == {Cause.USER: 6, Cause.SYSTEM: 0}
    del operations[1]["executions"]
    assert observe(document(operations=operations)).seconds[Cause.USER] == 12


def test_each_query_has_its_own_counters_blocks_and_plan():
    def execution(seconds, blocks):
        counted = {"processes": {"userSeconds": seconds, "minorFaults": 100 * seconds}}
        read = {"io": {"readBytes": 8192 * blocks}}
        return {"blocksRead": blocks, "target": counted | read, "host": read}

    operations = [
        {
            "name": "Q1", "planFingerprint": "ab", "runtimesSeconds": [2.0, 3.0],
            "executions": [execution(1.0, 2), execution(2.0, 3)],
        },
        {"name": "Q2", "runtimesSeconds": [1.0], "executions": [execution(0.5, 0)]},
        {"name": "Q3", "runtimesSeconds": [1.0, 1.0], "executions": [execution(0.5, 0)]},
        {"name": "Q4", "runtimesSeconds": [1.0], "executions": [{"blocksRead": 1}]},
        {"name": "Q5", "runtimesSeconds": [1.0]},
    ]  # fmt: skip
    found = observe_queries(document(operations=operations, parameters={}))
    assert list(found) == ["Q1", "Q2"]
    assert found["Q1"].window_seconds == 5
    assert found["Q1"].seconds == {Cause.USER: 3}
    assert found["Q1"].events == {Cause.PAGE_FAULTS: Events(300, 2e-6)}
    assert found["Q1"].io == IoBytes(database=5 * 8192, target=5 * 8192, host=5 * 8192)
    assert found["Q1"].plans == {"Q1": Plan("ab", 2.5)}
    assert found["Q2"].io.database == 0
    assert observe_queries(document()) == {}


@pytest.mark.parametrize("broken", [{"before": []}, {"after": {"takenAt": "now"}}, {"facts": 3}])
def test_a_malformed_answer_of_an_agent_is_no_counter(broken):
    changed = document()
    changed["target"] |= broken
    found = observe(changed)
    assert found is None or not found.events


def test_work_processes_are_the_clients_of_a_run_without_a_database():
    found = observe(document(parameters={"workProcesses": 3, "tableBytes": 32_000_000}))
    assert (found.clients, found.client_seconds) == (3, 60)
