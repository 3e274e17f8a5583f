"""Terms add up, and each cause is found where it was put."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.explain import Cause, Events, IoBytes, Observation, Pair, Plan, Side, account
from dbbench.explain.account import logarithmic_mean
from dbbench.explain.cause import PARTS
from dbbench.stats import Sample, Unit, compare

TIMES = st.floats(1e-4, 1e4)
PARTS_OF_TIME = st.floats(0, 1e4)
PLANS = st.sampled_from(["one", "other"])
CAUSES = (
    Cause.USER,
    Cause.SYSTEM,
    Cause.IO_WAIT,
    Cause.RUN_QUEUE,
    Cause.STEAL,
    Cause.THROTTLING,
    Cause.MEMORY,
    Cause.DRIVER,
)


@st.composite
def sides(draw):
    seconds = draw(TIMES)
    events = st.builds(Events, st.floats(0, 1e9), st.floats(1e-9, 1e-3))
    observation = Observation(
        window_seconds=draw(TIMES),
        clients=draw(st.integers(1, 64)),
        seconds={cause: draw(PARTS_OF_TIME) for cause in CAUSES if draw(st.integers(0, 9))},
        events={Cause.PAGE_FAULTS: draw(events), Cause.CONTEXT_SWITCHES: draw(events)},
        plans={"Q1": Plan(draw(PLANS), seconds * draw(st.floats(0, 1)))},
    )
    return Side(seconds, observation)


@given(
    st.lists(st.builds(Pair, sides(), sides(), st.floats(-100, 100)), min_size=1, max_size=7),
    st.sampled_from([0, 2, 3]),
)
def test_terms_add_up_to_the_slowdown_and_parts_to_their_whole(pairs, each):
    # Blocks that share a deployment, or that have nothing in common.
    pairs = [
        replace(pair, unit=f"{number // each}" if each else "") for number, pair in enumerate(pairs)
    ]
    samples = [
        Sample(target, "c", str(number), side.seconds, Unit.SECONDS, position, pair.unit)
        for number, pair in enumerate(pairs)
        for target, side, position in (
            ("base", pair.baseline, 0.0),
            ("target", pair.target, pair.gap),
        )
    ]
    slowdown = compare(samples, "base").slowdowns[0]
    found = account(pairs, slowdown.baseline_value, slowdown.target_value)
    magnitude = max(abs(term.seconds) for term in found.terms)
    tolerance = 1e-9 * max(magnitude, slowdown.baseline_value, slowdown.target_value)
    wholes = [term.seconds for term in found.terms if term.part_of is None]
    assert math.fsum(wholes) == pytest.approx(slowdown.absolute, abs=tolerance)
    for whole in PARTS:
        parts = [term.seconds for term in found.terms if term.part_of is whole]
        if parts:
            assert math.fsum(parts) == pytest.approx(found.term(whole).seconds, abs=tolerance)


@given(TIMES, TIMES)
def test_the_logarithmic_mean_turns_a_log_ratio_into_the_difference(one, other):
    mean = logarithmic_mean(one, other)
    assert min(one, other) * (1 - 1e-9) <= mean <= max(one, other) * (1 + 1e-9)
    assert mean * math.log(one / other) == pytest.approx(one - other, abs=1e-9 * max(one, other))


def side(seconds, window=None, **more):
    causes = {cause: more.pop(cause.value) for cause in CAUSES if cause.value in more}
    return Side(seconds, Observation(window or seconds, causes, **more))


def one(pair):
    return account([pair], pair.baseline.seconds, pair.target.seconds)


def seconds_of(found):
    return {term.cause.value: round(term.seconds, 9) for term in found.terms}


def test_what_no_counter_explains_is_the_rest():
    found = one(Pair(side(10.0, user=6.0, system=1.0), side(15.0, user=8.0, system=2.0)))
    assert seconds_of(found) == {"user": 2, "system": 1, "unexplained": 2}
    assert found.not_measured[0] is Cause.DIFFERENT_WORK


def test_a_window_of_several_units_of_work_counts_for_one():
    # Three passes of 10 s, and two clients with 1,000 transactions of 40 ms in 20 s.
    found = one(Pair(side(10.0, window=30.0, user=18.0), side(10.0, window=30.0, user=21.0)))
    assert found.term(Cause.USER).seconds == pytest.approx(1)
    sides = [side(0.04, window=20.0, user=seconds, clients=2) for seconds in (5.0, 10.0)]
    assert one(Pair(*sides)).term(Cause.USER).seconds == pytest.approx(0.005)


def test_page_faults_are_counts_times_the_cost_of_their_own_side():
    sides = [
        side(seconds, system=seconds, events={Cause.PAGE_FAULTS: Events(count, cost)})
        for seconds, count, cost in ((1.0, 100_000, 1e-6), (1.5, 110_000, 3e-6))
    ]
    found = one(Pair(*sides))
    assert seconds_of(found) == {
        "system": 0.5,
        "pageFaults": 0.23,
        "otherSystem": 0.27,
        "unexplained": 0,
    }
    assert found.largest().cause is Cause.OTHER_SYSTEM
    assert found.target_evidence.events[Cause.PAGE_FAULTS] == Events(110_000, 3e-6)


def test_a_cause_that_one_side_does_not_know_stays_in_the_rest():
    found = one(Pair(side(1.0, user=0.5), side(2.0, user=0.5, ioWait=1.0)))
    assert seconds_of(found) == {"user": 0, "unexplained": 1}
    assert Cause.IO_WAIT in found.not_measured


def test_throttling_is_no_run_queue_and_a_memory_stall_no_io_a_second_time():
    base = side(1.0, runQueue=0.0, throttling=0.0, ioWait=0.0, memory=0.0)
    target = side(2.0, runQueue=0.5, throttling=0.4, ioWait=0.3, memory=0.1)
    found = seconds_of(one(Pair(base, target)))
    assert found["cpuWait"] == pytest.approx(0.5)
    assert (found["runQueue"], found["throttling"]) == (0.1, 0.4)
    assert (found["ioWait"], found["memory"]) == (0.2, 0.1)


def test_work_of_processes_that_run_at_once_counts_by_its_share_of_the_time():
    # Four processes all the time; each second of theirs takes a quarter of a second.
    found = one(Pair(side(10.0, user=40.0, system=0.0), side(12.0, user=40.0, system=8.0)))
    assert seconds_of(found) == {"user": 0, "system": 2, "unexplained": 0}


def test_a_query_with_another_plan_is_different_work_with_all_that_it_takes():
    base = side(10.0, user=10.0, plans={"Q1": Plan("a", 5.0), "Q9": Plan("b", 5.0)})
    target = side(17.5, user=17.5, plans={"Q1": Plan("a", 5.0), "Q9": Plan("c", 12.5)})
    found = one(Pair(base, target))
    assert seconds_of(found) == {"differentWork": 7.5, "user": 0, "unexplained": 0}
    assert found.largest().cause is Cause.DIFFERENT_WORK


def test_blocks_give_intervals_and_what_they_share_cancels():
    pairs = [
        Pair(
            side(seconds, user=0.5 * seconds, system=0.5 * seconds),
            side(2 * seconds, user=0.5 * seconds, system=1.5 * seconds),
        )
        for seconds in (1.0, 1.3, 1.7)
    ]
    found = account(pairs, 1.3, 2.6)
    system = found.term(Cause.SYSTEM)
    assert system.seconds == pytest.approx(1.3)
    assert system.interval == pytest.approx((1.3, 1.3))
    assert system.is_certain
    assert not found.term(Cause.USER).is_certain


def test_magnification_is_what_the_host_read_of_what_the_database_needed():
    sides = [
        side(1.0, window=2.0, user=0.1, io=IoBytes(database=100, target=150, host=host))
        for host in (None, 300)
    ]
    found = one(Pair(*sides))
    assert found.baseline_evidence.magnification == 1.5
    assert found.target_evidence.magnification == 3
    assert found.target_evidence.io == IoBytes(database=50, target=75, host=150)


def test_of_a_gain_the_largest_saving_is_named():
    found = one(Pair(side(3.0, user=2.0, ioWait=0.5), side(2.0, user=1.2, ioWait=0.6)))
    assert found.largest().cause is Cause.USER


def test_an_account_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one block"):
        account([], 1.0, 1.0)
