"""Verdicts on series whose truth is known: no more false alarms than promised, steps are found."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.api.status import Verdict
from dbbench.stats.trend import TrendVerdict, fewest_values, trends


def noise(seed, *levels, sigma=0.01, draw="normal"):
    """Some values of noise around each (level, count)."""
    random = np.random.default_rng(seed)
    found = []
    for level, count in levels:
        errors = random.normal(size=count) if draw == "normal" else random.standard_t(3, size=count)
        found += [level * math.exp(sigma * error) for error in errors]
    return found


def trend(values, since=None, **options):
    (found,) = trends([values], 1, since=[since], **{"permutations": 199} | options)
    return found


def test_a_step_up_is_a_regression_with_an_interval_that_holds_it():
    found = trend(noise(1, (100, 12), (105, 8)))
    assert found.verdict is TrendVerdict.REGRESSED
    assert (found.reference, found.current) == ((0, 12), (12, 20))
    low, high = found.estimate.bounds(0.95)
    assert 0 < low < math.log(1.05) < high
    (step,) = found.steps
    assert (step.index, step.verdict, step.estimate) == (12, Verdict.SLOWER, found.estimate)


def test_a_step_down_is_an_improvement():
    found = trend(noise(2, (100, 12), (90, 8)))
    assert found.verdict is TrendVerdict.IMPROVED
    assert found.estimate.bounds(0.95)[1] < 0


def test_without_a_change_the_series_is_one_stretch():
    found = trend(noise(3, (100, 20)))
    assert found.verdict is TrendVerdict.UNCHANGED
    assert (found.steps, found.estimate) == ((), None)
    assert found.reference == found.current == (0, 20)


def test_a_change_within_the_margin_is_none():
    found = trend(noise(4, (100, 20), (100.5, 20), sigma=0.0005))
    assert [step.verdict for step in found.steps] == [Verdict.EQUIVALENT]
    assert found.verdict is TrendVerdict.UNCHANGED


def test_more_noise_is_a_change_without_a_direction():
    values = noise(5, (100, 20), sigma=0.0001) + noise(6, (100, 20), sigma=0.1)
    found = trend(values)
    assert found.steps
    assert found.verdict is TrendVerdict.INCONCLUSIVE


class TestSince:
    VALUES = noise(7, (100, 12), (110, 12), (107, 12))

    def test_by_default_the_latest_change_decides(self):
        found = trend(self.VALUES)
        assert found.verdict is TrendVerdict.IMPROVED
        assert found.reference == (12, 24)

    @pytest.mark.parametrize("since", [0, 5, 11])
    def test_the_stretch_of_a_run_is_what_the_last_one_is_compared_with(self, since):
        found = trend(self.VALUES, since)
        assert (found.reference, found.current) == ((0, 12), (24, 36))
        assert found.verdict is TrendVerdict.REGRESSED
        low, high = found.estimate.bounds(0.95)
        assert low < math.log(1.07) < high

    def test_what_is_as_it_was_then_is_unchanged(self):
        found = trend(self.VALUES, 30)
        assert found.verdict is TrendVerdict.UNCHANGED
        assert len(found.steps) == 2

    def test_each_series_has_its_own(self):
        found = trends([self.VALUES, self.VALUES], 1, since=[0, None], permutations=199)
        assert [one.verdict for one in found] == [TrendVerdict.REGRESSED, TrendVerdict.IMPROVED]


@pytest.mark.parametrize(("significance", "fewest"), [(0.2, 6), (0.05, 8), (0.01, 10)])
def test_fewer_values_than_any_change_needs_are_too_few(significance, fewest):
    assert fewest_values(significance) == fewest
    values = [100.0] * (fewest // 2) + [200.0] * (fewest // 2)
    few = trend(values[:-1], significance=significance)
    assert (few.verdict, few.steps) == (TrendVerdict.TOO_FEW, ())


def test_as_many_values_as_are_needed_can_be_enough():
    values = noise(8, (100, 4), (200, 4))
    assert trend(values, significance=0.05, permutations=999).verdict is TrendVerdict.REGRESSED


@pytest.mark.parametrize("draw", ["normal", "t3"])
def test_series_without_a_change_get_a_verdict_no_more_often_than_the_level(draw):
    runs, level = 300, 0.05
    verdicts = [
        found.verdict
        for seed in range(runs)
        for found in trends(
            [noise(seed, (100, 14), draw=draw)], seed, significance=level, permutations=99
        )
    ]
    alarms = sum(one is not TrendVerdict.UNCHANGED for one in verdicts)
    # Binomial: 5 % of 300 is 15, and 27 is three standard deviations more.
    assert alarms <= 27


def test_planted_steps_are_found_and_their_intervals_hold_them():
    runs, held = 40, 0
    for seed in range(runs):
        found = trend(noise(seed, (100, 12), (104, 6)), permutations=199)
        assert found.verdict is TrendVerdict.REGRESSED
        low, high = found.estimate.bounds(0.95)
        held += low <= math.log(1.04) <= high
    # The split is chosen by the same values: a little less than 95 % of 40.
    assert held >= 34


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.5, 2), min_size=10, max_size=14), st.floats(0.01, 100))
def test_the_verdict_does_not_depend_on_the_unit_and_turns_with_the_direction(values, factor):
    opposite = {
        TrendVerdict.REGRESSED: TrendVerdict.IMPROVED,
        TrendVerdict.IMPROVED: TrendVerdict.REGRESSED,
    }
    found = trend(values, permutations=99)
    scaled = trend([value * factor for value in values], permutations=99)
    inverse = trend([1 / value for value in values], permutations=99, margin=0)
    assert scaled.verdict is found.verdict
    assert [step.index for step in inverse.steps] == [step.index for step in found.steps]
    straight = trend(values, permutations=99, margin=0).verdict
    assert inverse.verdict is opposite.get(straight, straight)


def test_no_series_have_no_trend():
    assert trends([], 1) == []
