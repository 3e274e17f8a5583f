"""Families of comparisons: the error rate that they share, and the noise floor."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.status import Verdict
from dbbench.stats import interval, judge, verdict
from dbbench.stats.interval import LogEstimate, slowdown_bounds
from dbbench.stats.verdict import above_floor

ESTIMATES = st.lists(
    st.builds(LogEstimate, st.floats(-0.1, 0.1), st.floats(1e-4, 0.1), st.integers(1, 30)),
    min_size=1,
    max_size=8,
)


def verdicts(estimates, margin=0.01):
    return [found.verdict for found in judge(estimates, confidence=0.95, margin=margin)]


@given(ESTIMATES, st.floats(0, 0.2))
def test_a_family_of_one_is_judged_by_its_interval(estimates, margin):
    for estimate in estimates:
        alone = verdict(slowdown_bounds(estimate.bounds(0.95)), margin)
        assert verdicts([estimate], margin) == [alone]


@given(ESTIMATES)
def test_more_comparisons_never_make_a_verdict_definite(estimates):
    together = verdicts(estimates)
    for estimate, found in zip(estimates, together, strict=True):
        if verdicts([estimate]) == [Verdict.INCONCLUSIVE]:
            assert found is Verdict.INCONCLUSIVE


@given(ESTIMATES)
def test_a_verdict_is_definite_exactly_at_the_adjusted_p(estimates):
    for found in judge(estimates, confidence=0.95, margin=0.01):
        assert 0 <= found.adjusted_p <= 1
        if abs(found.adjusted_p - 0.05) > 1e-9:
            assert (found.verdict is not Verdict.INCONCLUSIVE) == (found.adjusted_p < 0.05)


@given(ESTIMATES, st.randoms(use_true_random=False))
def test_the_order_of_comparisons_changes_no_verdict(estimates, random):
    order = list(range(len(estimates)))
    random.shuffle(order)
    shuffled = verdicts([estimates[index] for index in order])
    straight = verdicts(estimates)
    assert shuffled == [straight[index] for index in order]


def test_holm_is_that_of_the_textbook():
    # With so many degrees of freedom t is normal: these p values are exact enough.
    wanted = [0.01, 0.04, 0.03, 0.005]
    estimates = [LogEstimate(NormalDist().inv_cdf(1 - p / 2) * 0.1, 0.1, 1e9) for p in wanted]
    found = judge(estimates, confidence=0.95, margin=0.0)
    # 4 x 0.005, then 3 x 0.01, 2 x 0.03, and never less than before it.
    assert [one.adjusted_p for one in found] == pytest.approx([0.03, 0.06, 0.06, 0.02], rel=1e-4)
    inconclusive = Verdict.INCONCLUSIVE
    assert [one.verdict for one in found] == [
        Verdict.SLOWER,
        inconclusive,
        inconclusive,
        Verdict.SLOWER,
    ]


def test_comparisons_without_an_interval_weigh_nothing():
    sure = LogEstimate(0.1, 0.04, 100)
    assert verdicts([sure, LogEstimate(0.2)]) == [Verdict.SLOWER, Verdict.INCONCLUSIVE]


def test_a_slowdown_without_noise_is_certain():
    assert verdicts([LogEstimate(0.1, 0.0, 2)]) == [Verdict.SLOWER]
    assert verdicts([LogEstimate(0.0, 0.0, 2)]) == [Verdict.EQUIVALENT]
    assert verdicts([LogEstimate(0.0, 0.0, 2)], margin=0.0) == [Verdict.EQUIVALENT]


@pytest.mark.parametrize(
    ("found", "slowdown", "floor", "expected"),
    [
        (Verdict.SLOWER, 0.05, 0.02, Verdict.SLOWER),
        (Verdict.SLOWER, 0.05, 0.05, Verdict.INCONCLUSIVE),
        (Verdict.FASTER, -0.05, 0.02, Verdict.FASTER),
        (Verdict.FASTER, -0.05, 0.06, Verdict.INCONCLUSIVE),
        (Verdict.EQUIVALENT, 0.001, 0.01, Verdict.EQUIVALENT),
        (Verdict.EQUIVALENT, 0.001, 0.011, Verdict.INCONCLUSIVE),
        (Verdict.INCONCLUSIVE, 0.5, 0.0, Verdict.INCONCLUSIVE),
    ],
)
def test_no_verdict_is_given_below_the_noise_floor(found, slowdown, floor, expected):
    assert above_floor(found, slowdown, 0.01, floor) is expected


def test_a_family_of_dependent_comparisons_errs_in_5_percent_at_most():
    """22 queries of the same blocks, half of them with a slowdown, all sharing the block's luck."""
    generator = np.random.default_rng(1979)
    truths = np.where(np.arange(22) % 2, 0.0, math.log(1.03))
    experiments, wrong = 600, 0
    for _ in range(experiments):
        shared = generator.normal(0, 0.01, (8, 1))
        blocks = truths + shared + generator.normal(0, 0.01, (8, 22))
        found = verdicts([interval.paired(list(column)) for column in blocks.T])
        mistakes = (
            (truth == 0 and one in (Verdict.SLOWER, Verdict.FASTER))
            or (truth > 0 and one in (Verdict.FASTER, Verdict.EQUIVALENT))
            for truth, one in zip(truths, found, strict=True)
        )
        wrong += any(mistakes)
    # Binomial: 5 % of 600 is 30, and 46 is three standard deviations more.
    assert wrong <= 46
