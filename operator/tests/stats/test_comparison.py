"""Slowdowns, verdicts and aggregates: the definitions, and what must not change them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.status import Verdict
from dbbench.stats import Sample, Unit, compare, verdict

VALUES = st.floats(1e-6, 1e6)
# Cells of a table of measurements: for each cell the (baseline, target) values of its blocks.
TABLES = st.lists(
    st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5), min_size=1, max_size=5
)

# The same with targets within a factor of two: no interval then comes so near to -1 that its last
# digits are lost.
SIMILAR = st.lists(
    st.lists(
        st.builds(lambda base, ratio: (base, base * ratio), VALUES, st.floats(0.5, 2)),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=5,
)


def samples_of(table, unit=Unit.SECONDS, names=("base", "vm")):
    return [
        Sample(name, f"c{cell}", f"t{trial}", value, unit)
        for cell, blocks in enumerate(table)
        for trial, pair in enumerate(blocks)
        for name, value in zip(names, pair, strict=True)
    ]


def by_cell(table):
    return {(slowdown.cell, slowdown.target): slowdown for slowdown in table.slowdowns}


def one(baseline, target, unit=Unit.SECONDS):
    return compare(samples_of([[(baseline, target)]], unit), "base").slowdowns[0]


def test_slowdown_of_a_time_is_target_by_baseline_minus_one():
    found = one(10.0, 12.5)
    assert found.relative == pytest.approx(0.25)
    assert found.absolute == 2.5


def test_slowdown_of_a_rate_is_baseline_by_target_minus_one():
    found = one(100.0, 80.0, Unit.PER_SECOND)
    assert found.relative == pytest.approx(0.25)
    assert found.absolute == -20


def test_a_single_trial_shows_its_own_values_and_has_no_interval():
    found = one(0.1, 0.3)
    assert (found.baseline_value, found.target_value) == (0.1, 0.3)
    assert found.interval is None
    assert found.verdict is Verdict.INCONCLUSIVE


def test_values_shown_have_the_ratio_that_is_estimated():
    found = compare(samples_of([[(1.0, 2.0), (4.0, 4.0), (2.0, 3.0)]]), "base").slowdowns[0]
    assert found.baseline_value == pytest.approx(2.0)
    assert found.target_value == pytest.approx(24 ** (1 / 3))
    assert found.target_value / found.baseline_value - 1 == pytest.approx(found.relative)
    assert found.trials == 3


def test_drift_that_both_targets_share_leaves_the_interval_narrow():
    drift = [1.0, 1.5, 2.5, 4.0]
    paired = compare(samples_of([[(d, d * 1.1) for d in drift]]), "base").slowdowns[0]
    assert paired.interval == pytest.approx((0.1, 0.1))
    assert paired.verdict is Verdict.SLOWER


def test_trials_without_a_partner_are_left_out_and_counted():
    samples = [
        Sample("base", "c", "1", 1.0, Unit.SECONDS),
        Sample("vm", "c", "1", 2.0, Unit.SECONDS),
        Sample("base", "c", "2", 50.0, Unit.SECONDS),
    ]
    found = compare(samples, "base").slowdowns[0]
    assert (found.trials, found.unpaired, found.paired) == (1, 1, True)
    assert found.baseline_value == 1.0


def test_trials_of_different_names_are_independent_samples():
    samples = [
        Sample("base", "c", name, value, Unit.SECONDS)
        for name, value in (("a", 1.0), ("b", 1.1), ("c", 0.9))
    ] + [Sample("vm", "c", name, value, Unit.SECONDS) for name, value in (("x", 2.0), ("y", 2.1))]
    found = compare(samples, "base").slowdowns[0]
    assert (found.paired, found.trials, found.unpaired) == (False, 2, 0)
    assert found.interval[0] < found.relative < found.interval[1]


def test_cells_that_a_side_lacks_are_listed():
    samples = samples_of([[(1.0, 2.0)], [(1.0, 2.0)]])
    without = [s for s in samples if not (s.target == "vm" and s.cell == "c1")]
    table = compare(without, "base")
    assert [(gap.target, gap.cell) for gap in table.gaps] == [("vm", "c1")]
    assert [slowdown.cell for slowdown in table.slowdowns] == ["c0"]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (None, Verdict.INCONCLUSIVE),
        ((0.02, 0.05), Verdict.SLOWER),
        ((0.001, 0.05), Verdict.SLOWER),
        ((-0.05, -0.02), Verdict.FASTER),
        ((-0.01, 0.01), Verdict.EQUIVALENT),
        ((0.002, 0.008), Verdict.EQUIVALENT),
        ((-0.005, 0.02), Verdict.INCONCLUSIVE),
        ((-0.02, 0.0), Verdict.INCONCLUSIVE),
        ((0.0, 0.02), Verdict.INCONCLUSIVE),
    ],
)
def test_verdicts(bounds, expected):
    assert verdict(bounds, 0.01) is expected


def test_the_three_aggregates_can_differ_in_sign():
    table = compare(samples_of([[(1.0, 1.5)], [(100.0, 98.0)]]), "base")
    found = table.aggregate("vm", Unit.SECONDS)
    assert found.mean_of_slowdowns == pytest.approx(0.24)
    assert found.slowdown_of_total == pytest.approx(99.5 / 101 - 1)
    assert found.geometric_mean == pytest.approx(math.sqrt(1.5 * 0.98) - 1)
    assert [share.of_baseline for share in found.shares] == pytest.approx([1 / 101, 100 / 101])
    assert [share.contribution for share in found.shares] == pytest.approx([0.5 / 101, -2 / 101])


def test_units_are_aggregated_apart():
    samples = [
        *samples_of([[(1.0, 2.0)]]),
        Sample("base", "rate", "1", 10.0, Unit.PER_SECOND),
        Sample("vm", "rate", "1", 8.0, Unit.PER_SECOND),
    ]
    table = compare(samples, "base")
    assert [(found.unit, found.cells) for found in table.aggregates] == [
        (Unit.SECONDS, 1),
        (Unit.PER_SECOND, 1),
    ]


def test_aggregates_have_intervals_over_the_blocks_that_all_cells_share():
    table = compare(samples_of([[(1.0, 1.1), (1.0, 1.2), (1.0, 1.15)]] * 2), "base")
    found, single = table.aggregate("vm", Unit.SECONDS), table.slowdowns[0]
    for bounds in (found.mean_interval, found.total_interval, found.geometric_interval):
        assert bounds == pytest.approx(single.interval)
    alone = compare(samples_of([[(1.0, 1.1)], [(1.0, 1.2)]]), "base").aggregates[0]
    assert alone.mean_interval is alone.total_interval is alone.geometric_interval is None


def test_deployments_are_what_the_interval_counts():
    def samples(deployments):
        return [
            Sample(target, "c", f"t{trial}", value, Unit.SECONDS, deployment=deployment)
            for deployment, blocks in deployments.items()
            for trial, pair in enumerate(blocks)
            for target, value in zip(("base", "vm"), pair, strict=True)
        ]

    # Within a deployment nothing varies: three blocks of it are one piece of evidence.
    many = compare(
        samples({"a": [(1.0, 1.1)] * 3, "b": [(1.0, 1.3)] * 3, "c": [(1.0, 1.2)] * 3}), "base"
    ).slowdowns[0]
    one = compare(
        samples({"a": [(1.0, 1.1)], "b": [(1.0, 1.3)], "c": [(1.0, 1.2)]}), "base"
    ).slowdowns[0]
    assert (many.trials, many.deployments) == (9, 3)
    assert many.interval == pytest.approx(one.interval)
    assert many.relative == pytest.approx(one.relative)


def test_values_shown_are_those_at_the_middle_of_the_block():
    places = [(0, 1), (1, 0), (0, 1), (1, 0), (0, 1)]
    samples = [
        Sample(target, "c", str(trial), 1.1**place * factor, Unit.SECONDS, position=place)
        for trial, pair in enumerate(places)
        for target, place, factor in zip(("base", "vm"), pair, (1.0, 1.5), strict=True)
    ]
    found = compare(samples, "base").slowdowns[0]
    assert found.relative == pytest.approx(0.5)
    assert found.baseline_value == pytest.approx(1.1**0.5)
    assert found.target_value == pytest.approx(1.5 * 1.1**0.5)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_a_value_that_is_no_time_or_rate_is_refused(value):
    with pytest.raises(ValueError, match="not a positive number"):
        compare([Sample("base", "c", "1", value, Unit.SECONDS)], "base")


def test_two_units_in_a_cell_and_two_values_of_a_trial_are_refused():
    first = Sample("base", "c", "1", 1.0, Unit.SECONDS)
    with pytest.raises(ValueError, match="per_second"):
        compare([first, Sample("vm", "c", "1", 1.0, Unit.PER_SECOND)], "base")
    with pytest.raises(ValueError, match="second value"):
        compare([first, Sample("base", "c", "1", 2.0, Unit.SECONDS)], "base")


def test_impossible_settings_are_refused():
    with pytest.raises(ValueError, match="confidence"):
        compare([], "base", confidence=1.0)
    with pytest.raises(ValueError, match="margin"):
        compare([], "base", margin=-0.1)


def test_an_interval_of_absurd_noise_stays_finite():
    found = compare(samples_of([[(1e-300, 1e300), (1e300, 1e-300)]]), "base").slowdowns[0]
    assert all(math.isfinite(bound) for bound in found.interval)


@given(SIMILAR)
def test_swapping_target_and_baseline_inverts_every_ratio(table):
    forth = by_cell(compare(samples_of(table), "base"))
    back = by_cell(compare(samples_of(table), "vm"))
    for (cell, _), slowdown in forth.items():
        inverse = back[cell, "base"]
        assert (1 + slowdown.relative) * (1 + inverse.relative) == pytest.approx(1)
        if slowdown.interval:
            low, high = slowdown.interval
            assert (1 + low) * (1 + inverse.interval[1]) == pytest.approx(1)
            assert (1 + high) * (1 + inverse.interval[0]) == pytest.approx(1)


@given(TABLES, st.floats(1e-3, 1e3))
def test_a_change_of_scale_changes_no_slowdown(table, factor):
    scaled = [[(base * factor, vm * factor) for base, vm in blocks] for blocks in table]
    before, after = compare(samples_of(table), "base"), compare(samples_of(scaled), "base")
    for one_, other in zip(before.slowdowns, after.slowdowns, strict=True):
        assert 1 + other.relative == pytest.approx(1 + one_.relative)
    aggregate, scaled_aggregate = before.aggregates[0], after.aggregates[0]
    for name in ("mean_of_slowdowns", "slowdown_of_total", "geometric_mean"):
        assert 1 + getattr(aggregate, name) == pytest.approx(1 + getattr(scaled_aggregate, name))


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_no_figure(table, random):
    samples = samples_of(table)
    shuffled = list(samples)
    random.shuffle(shuffled)
    assert by_cell(compare(samples, "base")) == by_cell(compare(shuffled, "base"))


@given(TABLES)
def test_a_rate_is_as_slow_as_the_time_of_one_unit_of_work(table):
    inverse = [[(1 / base, 1 / vm) for base, vm in blocks] for blocks in table]
    times = compare(samples_of(table), "base")
    rates = compare(samples_of(inverse, Unit.PER_SECOND), "base")
    for time, rate in zip(times.slowdowns, rates.slowdowns, strict=True):
        assert 1 + rate.relative == pytest.approx(1 + time.relative)
    aggregate, of_rates = times.aggregates[0], rates.aggregates[0]
    assert 1 + of_rates.slowdown_of_total == pytest.approx(1 + aggregate.slowdown_of_total)


@given(TABLES)
def test_shares_add_up(table):
    found = compare(samples_of(table), "base").aggregates[0]
    assert math.fsum(share.of_baseline for share in found.shares) == pytest.approx(1)
    total = math.fsum(share.contribution for share in found.shares)
    assert 1 + total == pytest.approx(1 + found.slowdown_of_total)


@given(TABLES)
def test_the_geometric_mean_is_never_above_the_arithmetic_one(table):
    found = compare(samples_of(table), "base").aggregates[0]
    assert 1 + found.geometric_mean <= (1 + found.mean_of_slowdowns) * (1 + 1e-9)


@given(SIMILAR)
def test_an_interval_holds_its_estimate(table):
    for slowdown in compare(samples_of(table), "base").slowdowns:
        if slowdown.interval:
            low, high = slowdown.interval
            assert low <= slowdown.relative + 1e-12
            assert high >= slowdown.relative - 1e-12
