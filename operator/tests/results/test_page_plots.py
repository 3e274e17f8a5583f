"""Coordinates of the plots: what stands where on an axis, and what is off it."""

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.results.latency import Counts, bucket_edges
from dbbench.results.page import distributions, timeline
from dbbench.results.page.forest import Row, forest
from dbbench.results.page.scale import (
    Logarithmic,
    Scale,
    linear_ticks,
    logarithmic_ticks,
    slowdown_axis,
    slowdown_ticks,
)
from dbbench.results.page.series import Targets
from dbbench.results.record import Outcome, TrialRecord

SLOWDOWNS = st.floats(-0.95, 50)


def plotted(*rows):
    return forest("c", "f", [], rows, confidence=0.95, margin=0.01)


def across(text, kind):
    """The places in percent of the lines of a class."""
    return [
        tuple(float(x) for x in found)
        for found in re.findall(rf'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]*class="{kind}"', text)
    ]


def test_an_axis_puts_equal_ratios_at_equal_distances():
    axis = Logarithmic(0.1, 10)
    assert [axis.at(ratio) for ratio in (0.1, 1, 10)] == pytest.approx([0, 50, 100])
    assert (axis.within(100), axis.within(0)) == (100, 0)
    assert Scale(2, 6).at(3) == 25


def test_an_interval_stands_on_both_sides_of_its_slowdown():
    text = plotted(Row("Q1", 0.5, (0.25, 0.8), "Slower"))
    (line,) = [(a, b) for a, b in across(text, "interval") if a != b]
    assert line[0] < float(re.search(r'<svg x="([\d.]+)%"', text).group(1)) < line[1]
    (zero,) = across(text, "zero")
    assert zero[0] < line[0]


def test_an_interval_that_leaves_the_axis_ends_in_an_arrow():
    rows = [Row(f"Q{n}", 0.1, (0.05, 0.15), "Slower") for n in range(3)]
    assert "arrow" not in plotted(*rows)
    text = plotted(*rows, Row("Q9", 0.12, (-0.9, 500.0), "Inconclusive"))
    assert text.count('class="arrow"') == 2


def test_a_row_without_an_interval_has_none():
    assert across(plotted(Row("Q1", 0.5, None, "Inconclusive")), "interval") == []


def test_the_noise_floor_and_the_margin_are_bands_around_0():
    text = plotted(Row("Q1", 0.5, (0.2, 0.9), "Slower", noise_floor=0.1))
    (zero, _), *_ = across(text, "zero")
    for kind in ("floor", "margin"):
        band = re.search(rf'<rect x="([\d.]+)%" width="([\d.]+)%"[^>]*class="{kind}"', text)
        left, width = map(float, band.groups())
        assert left < zero < left + width


@given(st.lists(SLOWDOWNS, min_size=1, max_size=30), st.floats(0, 5))
def test_every_slowdown_and_0_are_on_the_axis(slowdowns, width):
    intervals = [((1 + one) / (1 + width) - 1, (1 + one) * (1 + width) - 1) for one in slowdowns]
    axis = slowdown_axis(slowdowns, intervals, 0.01)
    for one in [*slowdowns, 0.0]:
        assert 0 <= axis.at(1 + one) <= 100
    ticks = slowdown_ticks(axis)
    assert 0 in ticks
    places = sorted(axis.at(1 + tick) for tick in ticks)
    assert places[0] >= -1e-6
    assert places[-1] <= 100 + 1e-6
    assert all(b - a > 20 for a, b in itertools.pairwise(places))


def test_one_wide_interval_does_not_press_the_others_together():
    narrow = [(0.05, 0.15)] * 5
    alone = slowdown_axis([0.1] * 5, narrow, 0.01)
    beside = slowdown_axis([0.1] * 6, [*narrow, (-0.99, 1e6)], 0.01)
    assert math.log(beside.high / beside.low) < 4 * math.log(alone.high / alone.low)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(3, 9))
def test_linear_ticks_lie_on_the_axis_and_are_not_too_many(low, span, most):
    ticks = linear_ticks(low, low + span, most)
    assert len(ticks) <= most + 1
    slack = 1e-6 * max(1, abs(low), span)
    assert all(low - slack <= tick <= low + span + slack for tick in ticks)


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e9), st.integers(3, 9))
def test_logarithmic_ticks_lie_on_the_axis_and_are_not_too_many(low, ratio, most):
    ticks = logarithmic_ticks(low, low * ratio, most)
    assert len(ticks) <= most
    assert all(low * 0.999 <= tick <= low * ratio * 1.001 for tick in ticks)


def counts(*microseconds):
    buckets = np.zeros(len(bucket_edges()) - 1, dtype=np.int64)
    for one in microseconds:
        buckets[np.searchsorted(bucket_edges(), one, side="right") - 1] += 1
    return Counts(buckets)


def test_a_slower_target_lies_higher():
    fast, slow = counts(*range(100, 1100)), counts(*range(1000, 11000, 10))
    found = distributions.Distribution("orders", "", "PAYMENT", {"pod": fast, "vm": slow})
    text = distributions.plot(found, Targets(["pod", "vm"]))
    lines = re.findall(r'points="([^"]*)"', text)
    heights = [[float(point.split(",")[1]) for point in line.split()] for line in lines]
    assert len(heights) == 2
    # Downwards, as SVG counts.
    assert all(vm < pod for pod, vm in zip(*heights, strict=True))
    assert all(a >= b for line in heights for a, b in itertools.pairwise(line))
    assert "PAYMENT" in text
    assert "p99" in text


def test_operations_with_few_values_have_no_distribution(records):
    assert {one.operation for one in distributions.distributions(records)} == {"NEW_ORDER"}
    assert distributions.distributions([]) == []


def test_targets_differ_in_shape_and_dashes_up_to_six():
    targets = Targets([f"t{n}" for n in range(6)])
    looks = {(targets.mark(f"t{n}"), targets.dashes(f"t{n}")) for n in range(6)}
    assert len(looks) == 6


def test_attempts_are_in_the_order_of_time():
    first = TrialRecord(
        trial="b001.pod.orders", block=1, target="pod", workload="orders", cell="", attempt=1,
        outcome=Outcome.MEASURED, reason="", message="", started="2026-11-21T08:02:00Z",
        finished="2026-11-21T08:03:00Z", result=None,
    )  # fmt: skip
    earlier = replace(
        first, trial="b002.vm.orders", target="vm", started="2026-11-21T08:00:30+00:00"
    )
    assert timeline.in_time([first, earlier]) == [earlier, first]
    text = timeline.attempts([first, earlier], timeline.moment(earlier.started), {"vm"})
    assert text.index("b002.vm.orders.1") < text.index("b001.pod.orders.1")
    assert "+1:30" in text
    assert "vm (emulated)" in text
