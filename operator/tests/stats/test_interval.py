"""The intervals cover the truth as often as they say, on simulated experiments."""

import math

import numpy as np
import pytest

from dbbench.stats import interval

EXPERIMENTS = 2000
TRUTH = math.log(1.08)


@pytest.mark.parametrize("blocks", [2, 3, 5, 10, 30])
def test_paired_intervals_cover_the_truth_in_95_percent(blocks):
    generator = np.random.default_rng(20261 + blocks)
    covered = 0
    for _ in range(EXPERIMENTS):
        # Blocks differ much more among themselves than targets within a block.
        block = generator.normal(0, 0.3, blocks)
        baseline = block + generator.normal(0, 0.02, blocks)
        target = block + TRUTH + generator.normal(0, 0.03, blocks)
        low, high = interval.paired(list(target - baseline)).bounds(0.95)
        covered += low <= TRUTH <= high
    assert 0.93 <= covered / EXPERIMENTS <= 0.97


@pytest.mark.parametrize(("first", "second"), [(5, 5), (4, 12), (30, 6)])
def test_independent_intervals_cover_the_truth_in_95_percent(first, second):
    generator = np.random.default_rng(1908 + first)
    covered = 0
    for _ in range(EXPERIMENTS):
        baseline = generator.normal(0, 0.02, first)
        target = generator.normal(TRUTH, 0.05, second)
        low, high = interval.independent(list(target), list(baseline)).bounds(0.95)
        covered += low <= TRUTH <= high
    assert 0.93 <= covered / EXPERIMENTS <= 0.97


@pytest.mark.parametrize(("first", "second"), [(3, 3), (10, 3), (30, 6)])
def test_intervals_of_the_difference_of_two_slowdowns_cover_the_truth_in_95_percent(first, second):
    generator = np.random.default_rng(310 + first)
    covered = 0
    for _ in range(EXPERIMENTS):
        before = interval.paired(list(generator.normal(2 * TRUTH, 0.05, first)))
        after = interval.paired(list(generator.normal(TRUTH, 0.03, second)))
        low, high = interval.difference(before, after).bounds(0.95)
        covered += low <= TRUTH <= high
    assert 0.93 <= covered / EXPERIMENTS <= 0.975


def test_the_difference_of_means_is_that_of_independent_samples():
    one, other = [0.1, 0.2, 0.4], [0.05, 0.1, 0.0, 0.3]
    found = interval.difference(interval.paired(one), interval.paired(other))
    expected = interval.independent(one, other)
    assert found.mean == pytest.approx(expected.mean)
    assert found.error == pytest.approx(expected.error)
    assert found.degrees == pytest.approx(expected.degrees)


def test_a_difference_has_no_interval_where_a_side_has_none_and_none_wide_where_both_are_exact():
    one, two = interval.paired([0.2]), interval.paired([0.1, 0.1])
    assert interval.difference(one, two).bounds(0.95) is None
    assert interval.difference(two, two).bounds(0.95) == (0.0, 0.0)
    spread = interval.paired([0.0, 0.1])
    assert interval.difference(two, spread).degrees == spread.degrees


def test_a_paired_interval_is_that_of_the_textbook():
    # Mean 2, standard deviation 1, n = 3: 2 +- 4.3027 / sqrt(3).
    estimate = interval.paired([1.0, 2.0, 3.0])
    assert estimate.mean == 2
    assert estimate.bounds(0.95) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-5)


def test_welch_is_that_of_the_textbook():
    # Variances 1 and 4, sizes 3 and 3: error sqrt(5/3), degrees 25/9 / ((1/9 + 16/9) / 2).
    estimate = interval.independent([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert estimate.mean == -2
    half = (estimate.bounds(0.95)[1] - estimate.bounds(0.95)[0]) / 2
    # t(0.975, 2.941) = 3.2203 (between 4.303 at 2 and 3.182 at 3 degrees of freedom).
    assert half / math.sqrt(5 / 3) == pytest.approx(3.22, abs=0.01)


@pytest.mark.parametrize(("first", "second"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0])])
def test_a_single_value_has_no_interval(first, second):
    assert interval.independent(first, second).bounds(0.95) is None
    assert interval.paired([0.5]).bounds(0.95) is None


def test_values_without_noise_have_an_interval_without_width():
    assert interval.paired([0.1, 0.1, 0.1]).bounds(0.95) == pytest.approx((0.1, 0.1))
    assert interval.independent([2.0, 2.0], [1.0, 1.0]).bounds(0.95) == (1.0, 1.0)


def test_no_value_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        interval.paired([])
    with pytest.raises(ValueError, match="at least one"):
        interval.independent([], [1.0])


def test_steady_drift_within_blocks_is_taken_out():
    gaps = [1.0, -1.0, 1.0, -1.0, 1.0]
    estimate = interval.paired([0.05 + 0.02 * gap for gap in gaps], gaps)
    assert estimate.mean == pytest.approx(0.05)
    assert estimate.error == pytest.approx(0, abs=1e-9)
    assert estimate.degrees == 3


def test_the_line_through_the_blocks_is_that_of_the_textbook():
    # Anscombe (1973), first data set, moved by 9 so that the gap 0 is at x = 9:
    # y = 3.0001 + 0.5001 x, residual standard deviation 1.2366 with 9 degrees of freedom.
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    estimate = interval.paired(y, [value - 9 for value in x])
    assert estimate.mean == pytest.approx(3.0001 + 9 * 0.5001, abs=1e-3)
    assert estimate.error == pytest.approx(1.2366 / math.sqrt(11), abs=1e-4)
    assert estimate.degrees == 9


@pytest.mark.parametrize(
    ("ratios", "gaps"),
    [
        ([0.1, 0.2, 0.3, 0.4], [1, -1, 1, -1]),
        ([0.1, 0.2, 0.3, 0.4, 0.5], [1, 2, 1, 2, 1]),
        ([0.1, 0.2, 0.3, 0.4, 0.5], [0, 0, 0, 0, 0]),
    ],
)
def test_drift_stays_in_with_few_blocks_or_one_order_alone(ratios, gaps):
    assert interval.paired(ratios, gaps) == interval.paired(ratios)


def test_the_unit_of_the_gaps_changes_nothing():
    ratios, gaps = [0.1, 0.3, 0.2, 0.5, 0.4, 0.1], [1.0, -1.0, 2.0, -2.0, 1.0, -1.0]
    small = interval.paired(ratios, [gap * 1e-200 for gap in gaps])
    large = interval.paired(ratios, [gap * 1e200 for gap in gaps])
    assert small.mean == pytest.approx(large.mean)
    assert small.error == pytest.approx(large.error)
    with pytest.raises(ValueError, match="6 blocks, but 2 gaps"):
        interval.paired(ratios, [1, -1])


def test_the_jackknife_of_a_mean_is_the_mean():
    ratios = [0.1, 0.25, 0.2, 0.5, 0.4]
    without = [(sum(ratios) - one) / 4 for one in ratios]
    found, plain = interval.jackknife(sum(ratios) / 5, without), interval.paired(ratios)
    assert found.mean == pytest.approx(plain.mean)
    assert found.error == pytest.approx(plain.error)
    assert found.degrees == plain.degrees
    assert interval.jackknife(0.3, [0.3]).bounds(0.95) is None
