"""Change points on series whose changes are known, and on one that the field knows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.stats.history import FEWEST_IN_SEGMENT, change_points, energy

# The Nile's flow at Aswan, 1871-1970 (Cobb 1978): it fell in 1899, when the first dam was begun.
NILE = [
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845,
    864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649,
    846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923, 975, 815,
    1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
]  # fmt: skip


def series(seed, *levels, noise=0.01):
    """Some values of noise around each (level, count)."""
    random = np.random.default_rng(seed)
    return [
        level * math.exp(value)
        for level, count in levels
        for value in random.normal(0, noise, count)
    ]


def test_the_nile_changed_in_1899():
    (found,) = change_points(NILE, seed=1)
    assert 1871 + found.index == 1899
    assert found.p == 0.0001
    low, high = found.change.bounds(0.95)
    assert low < math.log(850 / 1098) < high


def test_each_of_several_changes_is_found_where_it_is():
    false_alarms = 0
    for seed in range(10):
        values = series(seed, (100, 15), (110, 15), (104, 15))
        found = {one.index: one for one in change_points(values, seed=3, permutations=199)}
        assert {15, 30} <= found.keys()
        false_alarms += len(found) - 2
    # Ten times three stretches without a change, at 1 % each.
    assert false_alarms <= 2


def test_a_change_has_an_interval():
    (found,) = change_points(series(1, (100, 15), (110, 15)), seed=3, permutations=199)
    low, high = found.change.bounds(0.95)
    assert low < math.log(1.1) < high
    assert high - low < 0.03


def test_the_same_seed_finds_the_same():
    values = series(4, (100, 10), (101, 10))
    assert change_points(values, seed=5) == change_points(values, seed=5)


def test_series_without_a_change_have_one_as_rarely_as_the_test_says():
    alarms = sum(
        bool(change_points(series(seed, (100, 12)), seed, significance=0.05, permutations=99))
        for seed in range(200)
    )
    # Binomial: 5 % of 200 is 10, and 20 is three standard deviations more.
    assert alarms <= 20


@pytest.mark.parametrize("seed", range(5))
def test_the_clearest_change_that_so_few_values_can_have_is_found(seed):
    # 3 of 12 values are the last ones in 1 of 220 orders, or the first ones in as many: 0.9 %.
    values = [100, 101, 100, 101, 100, 101, 100, 101, 100, 120, 121, 120]
    (found,) = change_points(values, seed)
    assert found.index == 9
    assert found.p == pytest.approx(2 / 220, abs=0.003)


def test_a_single_outlier_is_no_change():
    values = series(6, (100, 20))
    values[10] *= 2
    assert change_points(values, seed=7) == []


@pytest.mark.parametrize("count", range(2 * FEWEST_IN_SEGMENT))
def test_short_series_have_no_change(count):
    assert change_points([1.0 + index for index in range(count)], seed=1) == []


def test_equal_values_have_no_change():
    assert change_points([5.0] * 20, seed=1) == []


@given(st.lists(st.floats(0.5, 2), min_size=6, max_size=12))
def test_the_fast_sums_are_those_of_the_definition(values):
    distances = np.abs(np.subtract.outer(values, values))
    order = np.arange(len(values))[None, :]
    for offset, found in enumerate(energy(distances, order)[0]):
        left = offset + FEWEST_IN_SEGMENT
        right = len(values) - left
        across = distances[:left, left:].mean()
        one = distances[:left, :left].sum() / (left * (left - 1))
        other = distances[left:, left:].sum() / (right * (right - 1))
        expected = (2 * across - one - other) * left * right / len(values)
        assert found == pytest.approx(expected, abs=1e-9)


def test_an_order_has_the_splits_of_the_values_in_that_order():
    values = np.array(series(9, (1, 10), (2, 5), noise=0.3))
    order = np.random.default_rng(1).permutation(len(values))
    distances = np.abs(np.subtract.outer(values, values))
    shuffled = np.abs(np.subtract.outer(values[order], values[order]))
    natural = np.arange(len(values))
    found = energy(distances, np.array([natural, order]))
    assert found[0] == pytest.approx(energy(distances, natural[None, :])[0])
    assert found[1] == pytest.approx(energy(shuffled, natural[None, :])[0])


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_what_is_no_measurement_is_refused(value):
    with pytest.raises(ValueError, match="positive"):
        change_points([1.0, value], seed=1)
