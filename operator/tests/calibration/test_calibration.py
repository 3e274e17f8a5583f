"""The statistics keep their promises on simulated runs. `make calibrate` does all of it, at length.

The bounds are those of the promise, 93 to 97 %, widened by what 400 runs leave to chance: three
standard errors of a share of 95 % are 3.3 %. Seeds are fixed: a test passes always or never.
"""

import math

import numpy as np
import pytest

from calibration import methods
from calibration.checks import (
    TRUTH,
    calibrate,
    controlled_false_verdicts,
    covered,
    family_false_verdicts,
    stopping,
)
from calibration.experiments import (
    NOISE,
    SETTINGS,
    SKEWED,
    Setting,
    by_deployment,
    deployed,
    simulate,
)
from calibration.history import alarms_by_night, false_alarms, planted
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block
from dbbench.results import latency
from dbbench.results.operations import quantile_slowdown

RUNS = 400
CHANCE = 3 * math.sqrt(0.95 * 0.05 / RUNS)
# Where fewer blocks than FEWEST_FOR_DRIFT drift, the interval is too wide: never too narrow.
DRIFTING = {setting.name for setting in SETTINGS if setting.drift}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("blocks", [3, 5, 10])
def test_intervals_hold_the_truth_as_often_as_they_say(setting, blocks):
    found = calibrate(setting, blocks, RUNS, np.random.default_rng([7, blocks]))
    assert found.coverage >= 0.93 - CHANCE
    if blocks >= 5 or setting.name not in DRIFTING:
        assert found.coverage <= 0.97 + CHANCE
    assert found.false_verdicts <= 0.05 + CHANCE


@pytest.mark.parametrize("setting", SETTINGS[:2], ids=lambda setting: setting.name)
@pytest.mark.parametrize("blocks", [6, 12])
def test_where_deployments_differ_intervals_hold_the_truth_if_they_are_over_deployments(
    setting, blocks
):
    random = np.random.default_rng([11, blocks])
    measured = simulate(setting, blocks, RUNS, TRUTH, random)
    for each in (1, 2, 3):
        found = deployed(measured, NOISE, random, each=each)
        share = covered(methods.product(by_deployment(found, each)), TRUTH)
        assert share >= 0.93 - CHANCE
        if setting.name not in DRIFTING or blocks // each >= 5:
            assert share <= 0.97 + CHANCE
        # Over blocks that share deployments they would be too narrow.
        assert each < 3 or covered(methods.product(found), TRUTH) < 0.93 - CHANCE
    once = deployed(measured, NOISE, random, each=0)
    assert covered(methods.product(once), TRUTH) < 0.8


@pytest.mark.parametrize("blocks", [10, 30])
def test_under_drift_intervals_are_half_as_wide_as_those_of_sequential_runs(blocks):
    drift = next(setting for setting in SETTINGS if setting.drift == 0.3)
    found = calibrate(drift, blocks, 200, np.random.default_rng(3))
    assert found.half_width <= found.sequential_half_width / 2


def test_runs_that_stop_early_still_hold_the_truth():
    found = stopping(SETTINGS[0], (3, 30), 0.01, RUNS, np.random.default_rng(4))
    assert 0.93 - CHANCE <= found.coverage <= 0.97 + CHANCE
    assert found.blocks < 30


@pytest.mark.parametrize("cells", [1, 22])
def test_a_family_of_comparisons_with_itself_has_few_false_verdicts(cells):
    share = family_false_verdicts(cells, 5, RUNS, np.random.default_rng([5, cells]))
    assert share <= 0.05 + CHANCE


@pytest.mark.parametrize("quantile", [0.5, 0.99])
def test_intervals_of_quantiles_hold_the_truth(quantile):
    """Latencies of 2,000 transactions in each trial; blocks, and sides within them, have luck."""
    random, truth, blocks, runs = np.random.default_rng(9), math.log(1.2), 6, 300
    edges = latency.bucket_edges()
    covered_runs = 0
    for _ in range(runs):
        luck = random.normal(0, 0.05, (blocks, 1, 1)) + random.normal(0, 0.03, (blocks, 2, 1))
        luck[:, 1] += truth
        values = np.exp(luck + random.normal(9, 0.6, (blocks, 2, 2000)))
        trials = [
            [latency.Counts(np.histogram(side, edges)[0].astype(np.int64)) for side in pair]
            for pair in values
        ]
        found = quantile_slowdown("", "", quantile, [(one, two) for one, two in trials], [1] * 6)
        low, high = found.estimate.bounds(0.95)
        covered_runs += low <= truth <= high
    chance = 3 * math.sqrt(0.95 * 0.05 / runs)
    assert 0.93 - chance <= covered_runs / runs <= 0.97 + chance


def test_with_a_control_false_verdicts_are_rare():
    share = controlled_false_verdicts(SETTINGS[3], 10, RUNS, np.random.default_rng(10))
    assert share <= 0.02


def test_percentile_bootstraps_of_few_blocks_promise_too_much():
    measured = simulate(SETTINGS[0], 5, RUNS, TRUTH, np.random.default_rng(6))
    random = np.random.default_rng(7)
    for method in (methods.percentile, methods.bias_corrected):
        assert covered(method(measured.ratios, random), TRUTH) < 0.9
    assert covered(methods.studentised(measured.ratios, random), TRUTH) > 0.9


def test_the_limit_that_the_documentation_names_is_there():
    measured = simulate(SKEWED, 5, 2000, TRUTH, np.random.default_rng(8))
    assert 0.87 < covered(methods.product(measured), TRUTH) < 0.93


@pytest.mark.parametrize("noise", ["normal", "t3", "lognormal"])
def test_noise_has_the_deviation_that_is_said(noise):
    runs = simulate(Setting("", noise=noise), 1, 200_000, 0.0, np.random.default_rng(1))
    assert runs.baseline.mean() == pytest.approx(0, abs=NOISE / 50)
    # The variance of t3's squares is infinite: no more than its order can be asked for.
    assert runs.baseline.std() == pytest.approx(NOISE, rel=0.2)


def test_simulated_runs_have_the_order_of_the_plan():
    node = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
    spec = DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": node, "driver": node},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
            "workloads": [{"name": "orders", "tpcc": {"warehouses": 1}}],
        }
    )
    planned = [
        1.0 if block(spec, 1, index).turns[1].target == "vm" else -1.0 for index in range(1, 101)
    ]
    simulated = simulate(SETTINGS[0], 100, 1, 0.0, np.random.default_rng(1)).gaps[0]
    for gaps in (planned, list(simulated)):
        assert all(gaps[index] == -gaps[index + 1] for index in range(0, 100, 2))
        assert 10 < sum(gap > 0 for gap in gaps[0::2]) < 40


def test_no_noise_has_another_name():
    with pytest.raises(ValueError, match="no noise is called 'pink'"):
        simulate(Setting("", noise="pink"), 3, 1, 0.0, np.random.default_rng(1))


@pytest.mark.parametrize("kind", ["normal", "t3", "lognormal"])
def test_histories_without_a_change_are_seldom_anything_but_unchanged(kind):
    # Binomial: 1 % of 300 is 3, and 8 is three standard deviations more.
    assert false_alarms(kind, 20, 300, np.random.default_rng(6)) <= 8 / 300


def test_who_looks_every_night_sees_every_alarm_of_who_looks_once():
    once = false_alarms("normal", 12, 40, np.random.default_rng(7))
    assert once <= alarms_by_night("normal", 12, 40, np.random.default_rng(7)) <= 0.15


def test_a_planted_step_is_found_where_it_is():
    found = planted("normal", (12, 4), 0.05, 40, np.random.default_rng(8))
    assert found.found >= 0.9
    assert found.exact >= 0.85
    assert found.held >= 0.8
    assert planted("normal", (12, 4), 0.0, 40, np.random.default_rng(8)).found <= 0.1
