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
        low, high = interval.paired(list(target - baseline), 0.95).interval
        covered += low <= TRUTH <= high
    assert 0.93 <= covered / EXPERIMENTS <= 0.97


@pytest.mark.parametrize(("first", "second"), [(5, 5), (4, 12), (30, 6)])
def test_independent_intervals_cover_the_truth_in_95_percent(first, second):
    generator = np.random.default_rng(1908 + first)
    covered = 0
    for _ in range(EXPERIMENTS):
        baseline = generator.normal(0, 0.02, first)
        target = generator.normal(TRUTH, 0.05, second)
        low, high = interval.independent(list(target), list(baseline), 0.95).interval
        covered += low <= TRUTH <= high
    assert 0.93 <= covered / EXPERIMENTS <= 0.97


def test_a_paired_interval_is_that_of_the_textbook():
    # Mean 2, standard deviation 1, n = 3: 2 +- 4.3027 / sqrt(3).
    estimate = interval.paired([1.0, 2.0, 3.0], 0.95)
    assert estimate.mean == 2
    assert estimate.interval == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-5)


def test_welch_is_that_of_the_textbook():
    # Variances 1 and 4, sizes 3 and 3: error sqrt(5/3), degrees 25/9 / ((1/9 + 16/9) / 2).
    estimate = interval.independent([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.95)
    assert estimate.mean == -2
    half = (estimate.interval[1] - estimate.interval[0]) / 2
    # t(0.975, 2.941) = 3.2203 (between 4.303 at 2 and 3.182 at 3 degrees of freedom).
    assert half / math.sqrt(5 / 3) == pytest.approx(3.22, abs=0.01)


@pytest.mark.parametrize(("first", "second"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0])])
def test_a_single_value_has_no_interval(first, second):
    assert interval.independent(first, second, 0.95).interval is None
    assert interval.paired([0.5], 0.95).interval is None


def test_values_without_noise_have_an_interval_without_width():
    assert interval.paired([0.1, 0.1, 0.1], 0.95).interval == pytest.approx((0.1, 0.1))
    assert interval.independent([2.0, 2.0], [1.0, 1.0], 0.95).interval == (1.0, 1.0)


def test_no_value_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        interval.paired([], 0.95)
    with pytest.raises(ValueError, match="at least one"):
        interval.independent([], [1.0], 0.95)
