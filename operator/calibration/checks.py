"""What is measured of a method: coverage, false verdicts, width; also when runs stop early."""

from dataclasses import dataclass

import numpy as np

from calibration.experiments import Setting, simulate
from calibration.methods import CONFIDENCE, Bounds, product, sequential
from dbbench.api.status import Verdict
from dbbench.stats import MARGIN, interval, judge, reach
from dbbench.stats.interval import LogEstimate, slowdown_bounds, slowdown_of
from dbbench.stats.stopping import looks, narrow_enough
from dbbench.stats.verdict import above_floor

TRUTH = float(np.log(1.08))


@dataclass(frozen=True)
class Calibration:
    """Of many runs: how often the interval holds the truth, how often a comparison of a target with
    itself ends in Slower or Faster, the median half-width, and that of sequential runs.
    """

    coverage: float
    false_verdicts: float
    half_width: float
    sequential_half_width: float


def calibrate(setting: Setting, blocks: int, runs: int, random: np.random.Generator) -> Calibration:
    """The intervals and verdicts of dbbench in one setting."""
    measured = simulate(setting, blocks, runs, TRUTH, random)
    low, high = product(measured)
    same = simulate(setting, blocks, runs, 0.0, random)
    estimates = [
        interval.paired(ratios, gaps)
        for ratios, gaps in zip(same.ratios.tolist(), same.gaps.tolist(), strict=True)
    ]
    return Calibration(
        coverage=covered((low, high), TRUTH),
        false_verdicts=_false_verdicts([[estimate] for estimate in estimates]),
        half_width=half_width((low, high)),
        sequential_half_width=half_width(sequential(measured)),
    )


def covered(bounds: Bounds, truth: float) -> float:
    """Share of the intervals that hold the truth."""
    low, high = bounds
    return float(((low <= truth) & (truth <= high)).mean())


def half_width(bounds: Bounds) -> float:
    """Median of half the widths."""
    low, high = bounds
    return float(np.median(high - low) / 2)


def family_false_verdicts(cells: int, blocks: int, runs: int, random: np.random.Generator) -> float:
    """Share of A/A runs with a false verdict on any of several cells that share their blocks."""
    families = []
    for _ in range(runs):
        shared = random.normal(0, 0.01, (blocks, 1))
        ratios = shared + random.normal(0, 0.01, (blocks, cells))
        families.append([interval.paired(column.tolist()) for column in ratios.T])
    return _false_verdicts(families)


def controlled_false_verdicts(
    setting: Setting, blocks: int, runs: int, random: np.random.Generator
) -> float:
    """Share of A/A runs with a false verdict where a control gives the noise floor.

    Control and target are compared with the same baseline, whose luck they share.
    """
    target = simulate(setting, blocks, runs, 0.0, random)
    control = simulate(setting, blocks, runs, 0.0, random)
    # The baseline is half of the noise of both ratios: their correlation is 1/2.
    twin = 0.5 * target.ratios + np.sqrt(0.75) * control.ratios
    wrong = 0
    for ratios, other, gaps in zip(
        target.ratios.tolist(), twin.tolist(), target.gaps.tolist(), strict=True
    ):
        estimate = interval.paired(ratios, gaps)
        floor = reach(slowdown_bounds(interval.paired(other).bounds(CONFIDENCE)))
        (found,) = judge([estimate], confidence=CONFIDENCE, margin=MARGIN)
        verdict = above_floor(found.verdict, slowdown_of(estimate.mean), MARGIN, floor)
        wrong += verdict in (Verdict.SLOWER, Verdict.FASTER)
    return wrong / runs


@dataclass(frozen=True)
class Stopped:
    """Runs that end as soon as the interval is narrow enough."""

    coverage: float
    false_verdicts: float
    blocks: float


def stopping(
    setting: Setting,
    limits: tuple[int, int],
    target: float,
    runs: int,
    random: np.random.Generator,
) -> Stopped:
    """Coverage and A/A verdicts of runs of `limits` blocks at least and at most."""
    ends = _stop(setting, TRUTH, limits, target, runs, random)
    same = _stop(setting, 0.0, limits, target, runs, random)
    bounds = np.array([estimate.bounds(CONFIDENCE) for estimate, _ in ends])
    return Stopped(
        coverage=covered((bounds[:, 0], bounds[:, 1]), TRUTH),
        false_verdicts=_false_verdicts([[estimate] for estimate, _ in same]),
        blocks=float(np.mean([count for _, count in ends])),
    )


def _stop(
    setting: Setting,
    truth: float,
    limits: tuple[int, int],
    target: float,
    runs: int,
    random: np.random.Generator,
) -> list[tuple[LogEstimate, int]]:
    """The estimate that each run ends with, and its number of blocks."""
    fewest, most = limits
    measured = simulate(setting, most, runs, truth, random)
    ends = []
    for ratios, gaps in zip(measured.ratios.tolist(), measured.gaps.tolist(), strict=True):
        estimates = {
            count: interval.paired(ratios[:count], gaps[:count]) for count in range(2, most + 1, 2)
        }
        narrow = {
            count: narrow_enough([slowdown_bounds(estimate.bounds(CONFIDENCE))], target)
            for count, estimate in estimates.items()
        }
        end = next(
            (
                count
                for count in range(fewest, most)
                if looks(count) and all(narrow[look] for look in looks(count))
            ),
            most,
        )
        ends.append((interval.paired(ratios[:end], gaps[:end]), end))
    return ends


def _false_verdicts(families: list[list[LogEstimate]]) -> float:
    wrong = 0
    for estimates in families:
        found = judge(estimates, confidence=CONFIDENCE, margin=MARGIN)
        wrong += any(one.verdict in (Verdict.SLOWER, Verdict.FASTER) for one in found)
    return wrong / len(families)
