"""Variances of two levels, and the number of repetitions that follows from them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.stats.repetitions import Variances, best_within, variances

COSTS = st.floats(1e-3, 1e3)


def test_variances_are_those_of_the_textbook():
    # Means 2, 4 and 9; within 1, 1 and 1; the means vary by 13, of which 1/3 is from within.
    found = variances([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0], [8.0, 9.0, 10.0]])
    assert found == Variances(between=pytest.approx(13 - 1 / 3), within=pytest.approx(1))


def test_variances_are_found_again_in_simulated_groups():
    random = np.random.default_rng(4)
    groups = random.normal(0, 3, (4000, 1)) + random.normal(0, 2, (4000, 4))
    found = variances(groups.tolist())
    assert found.between == pytest.approx(9, rel=0.1)
    assert found.within == pytest.approx(4, rel=0.1)


def test_groups_that_differ_by_chance_have_no_variance_of_their_own():
    assert variances([[1.0, 3.0], [3.0, 1.0]]).between == 0


@pytest.mark.parametrize("groups", [[], [[1.0, 2.0]], [[1.0, 2.0], [1.0]]])
def test_too_few_values_are_refused(groups):
    with pytest.raises(ValueError, match="at least two"):
        variances(groups)


def test_the_best_number_is_that_of_the_formula():
    # A block costs 100, a run 4; runs vary nine times as much as blocks: sqrt(25 x 9) = 15.
    assert best_within(Variances(between=1, within=9), 100, 4, most=100) == 15


@given(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3), COSTS, COSTS)
def test_no_other_number_tells_more_in_the_same_time(between, within, block, run):
    found = Variances(between, within)
    best = best_within(found, block, run, most=10**9)

    def variance_for_a_given_time(runs):
        return (between + within / runs) * (block + runs * run)

    # The formula is for real numbers: rounded up, it is next to the best whole number at most.
    lower = max(best - 1, 1)
    smallest = min(variance_for_a_given_time(best), variance_for_a_given_time(lower))
    for other in {max(lower - 1, 1), best + 1, 2 * best, 1, math.ceil(best / 2)}:
        assert smallest <= variance_for_a_given_time(other) * (1 + 1e-9)


def test_the_ends_of_the_range():
    assert best_within(Variances(1, 0), 10, 1, most=50) == 1
    assert best_within(Variances(0, 1), 10, 1, most=50) == 50
    assert best_within(Variances(1e-9, 1), 10, 1, most=50) == 50
    with pytest.raises(ValueError, match="greater than 0"):
        best_within(Variances(1, 1), 0, 1, most=50)
