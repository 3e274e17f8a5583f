"""What a run amounts to."""

from soak.faults import Fault, Kind, Plan, Shape
from soak.verdict import Ended, Totals, judge

PLANNED = frozenset({"b001.pod.x", "b001.twin.x"})
KILLED = Plan(Shape.PODS, (Fault(Kind.OPERATOR, 0.5),))
NO_IMAGE = Plan(Shape.PODS, (Fault(Kind.IMAGE, 0.5),))
FORGOTTEN = Plan(Shape.PODS, (Fault(Kind.CONFIG_MAP, 0.5),))


def record(trial, outcome="Measured"):
    return {"trial": trial, "outcome": outcome}


def ended(records, *, succeeded=True, reason="", message="m", seen=None, done=2):
    found = dict(enumerate_keys(records))
    measured = {key: one["trial"] for key, one in found.items() if one["outcome"] == "Measured"}
    return Ended(
        succeeded, reason, message, done, PLANNED, found, measured if seen is None else seen
    )


def enumerate_keys(records):
    return ((f"key{number}", one) for number, one in enumerate(records))


BOTH = [record("b001.pod.x"), record("b001.twin.x")]


def test_every_trial_once_is_as_it_must_be():
    verdict = judge(KILLED, ended([*BOTH, record("b001.pod.x", "Failed")]))
    assert (verdict.lost, verdict.doubled, verdict.wrong) == (0, 0, [])


def test_a_trial_that_is_missing_is_lost_and_one_that_counts_twice_is_doubled():
    verdict = judge(KILLED, ended([record("b001.pod.x"), record("b001.pod.x")]))
    assert (verdict.lost, verdict.doubled) == (1, 1)
    assert len(verdict.wrong) == 2


def test_a_record_that_was_there_and_is_gone_is_lost_unless_somebody_deleted_it():
    seen = {"key0": "b001.pod.x", "key1": "b001.twin.x", "old": "b001.pod.x"}
    assert judge(KILLED, ended(BOTH, seen=seen)).lost == 1
    assert judge(FORGOTTEN, ended(BOTH, seen=seen)).lost == 0


def test_a_failure_needs_a_reason_that_the_fault_explains():
    failed = ended([], succeeded=False, reason="ImagePullFailed")
    assert judge(NO_IMAGE, failed).wrong == []
    (wrong,) = judge(KILLED, failed).wrong
    assert "it must succeed" in wrong


def test_the_count_of_the_status_is_compared_with_the_plan():
    (wrong,) = judge(KILLED, ended(BOTH, done=3)).wrong
    assert wrong == "3 trials done of 2 planned"


def test_the_counts_name_everything_and_one_defect_spoils_them():
    totals = Totals()
    totals.faults[Kind.OPERATOR] += 1
    totals.add(KILLED, ended(BOTH), judge(KILLED, ended(BOTH)), ())
    assert totals.good
    text = totals.text([("clock stepped", "why")])
    assert "1 succeeded, 0 failed" in text
    assert "trials lost 0, trials doubled 0, objects left 0" in text
    assert "left out: clock stepped: why" in text
    totals.add(KILLED, ended(BOTH), judge(KILLED, ended(BOTH)), {"pod/x"})
    assert not totals.good
