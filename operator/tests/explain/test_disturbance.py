"""Signs that something else disturbed a trial."""

import pytest

from dbbench.explain.disturbance import Limits, changed_plans, disturbances

LIMITS = Limits(steal=0.05, throttling=0.01, memory_stall=0.01)


def side(cpus=(2, 3), seconds=10, **grown):
    """An agent's readings at both ends of a window, in which those counters grew."""
    cpu = {"stealSeconds": grown.get("steal", 0.0), "throttledSeconds": grown.get("throttled", 0.0)}
    after = {"cpu": {name: 100 + value for name, value in cpu.items()}}
    before = {"cpu": dict.fromkeys(cpu, 100.0)}
    if "memory" in grown:
        after["pressure"] = {"memory": {"fullSeconds": 7 + grown["memory"]}}
        before["pressure"] = {"memory": {"fullSeconds": 7.0}}
    return {
        "before": {"takenAt": "2026-01-01T00:00:00Z", **before},
        "after": {"takenAt": f"2026-01-01T00:00:{seconds:02d}Z", **after},
        "facts": {"cpusAllowed": list(cpus)},
    }


def found(target, *, guest=False, exclusive_cpus=True):
    return list(
        disturbances({"target": target}, LIMITS, guest=guest, exclusive_cpus=exclusive_cpus)
    )


def test_an_undisturbed_trial_has_no_sign():
    assert found(side(steal=0.9, throttled=0.09, memory=0.09)) == []


def test_steal_counts_by_the_time_of_all_cpus_of_the_database():
    (sign,) = found(side(steal=1.1))
    assert sign.startswith("5.5 % of the time, the node's CPUs were taken away")
    assert "5 % are allowed" in sign
    assert found(side(steal=1.1, cpus=(0, 1, 2))) == []


def test_throttling_is_a_sign_on_exclusive_cpus_alone():
    (sign,) = found(side(throttled=3.0))
    assert sign.startswith("30.0 % of the time, exclusive CPUs were throttled")
    assert found(side(throttled=3.0), exclusive_cpus=False) == []


def test_waiting_for_memory_is_a_sign():
    (sign,) = found(side(memory=0.2))
    assert sign.startswith("2.0 % of the time, what runs the database was stalled for memory")


def test_a_guest_is_judged_by_what_its_node_says():
    guest = side(steal=9.0)
    assert found(guest, guest=True) == []
    (sign,) = found(guest | {"host": side(steal=9.0)}, guest=True)
    assert "steal" in sign


@pytest.mark.parametrize("document", [{}, {"target": {}}, {"target": {"before": {}, "after": {}}}])
def test_what_no_agent_tells_is_no_sign(document):
    assert list(disturbances(document, LIMITS, guest=False, exclusive_cpus=True)) == []


def plans(seed=1, parameters="validation", **fingerprints):
    operations = [{"name": name, "planFingerprint": plan} for name, plan in fingerprints.items()]
    return {"seed": seed, "parameters": {"parameters": parameters}, "operations": operations}


def test_a_changed_plan_is_named():
    assert changed_plans(plans(Q1="a", Q2="b"), plans(seed=2, Q1="a", Q2="c", Q3="d")) == ["Q2"]


def test_plans_of_other_parameters_are_not_compared():
    before, after = plans(parameters="random", Q1="a"), plans(parameters="random", Q1="b")
    assert changed_plans(before, after) == ["Q1"]
    assert changed_plans(before, after | {"seed": 2}) == []
