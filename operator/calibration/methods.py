"""Ways to get an interval from blocks: the one that dbbench uses, and those it was chosen from.

Each takes log ratios (rows are runs, columns blocks) and gives the lower and upper bounds of 95 %
intervals. The bootstraps resample whole blocks, the highest random level.
"""

from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from calibration.experiments import Array, Runs
from dbbench.stats import interval, student

CONFIDENCE = 0.95
_RESAMPLES = 999
# Runs whose resamples are in memory together.
_CHUNK = 100

Bounds = tuple[Array, Array]


def product(runs: Runs) -> Bounds:
    """The code that dbbench itself runs."""
    found = [
        interval.paired(ratios, gaps).bounds(CONFIDENCE) or (np.nan, np.nan)
        for ratios, gaps in zip(runs.ratios.tolist(), runs.gaps.tolist(), strict=True)
    ]
    bounds = np.array(found)
    return bounds[:, 0], bounds[:, 1]


def sequential(runs: Runs) -> Bounds:
    """Welch's interval of runs that measure one target after the other."""
    found = [
        interval.independent(target, baseline).bounds(CONFIDENCE) or (np.nan, np.nan)
        for target, baseline in zip(runs.target.tolist(), runs.baseline.tolist(), strict=True)
    ]
    bounds = np.array(found)
    return bounds[:, 0], bounds[:, 1]


def plain_student(ratios: Array) -> Bounds:
    """Student's interval around the mean of the blocks, drift left in."""
    count = ratios.shape[1]
    half = student.quantile((1 + CONFIDENCE) / 2, count - 1) * _error(ratios)
    return ratios.mean(axis=1) - half, ratios.mean(axis=1) + half


def percentile(ratios: Array, random: np.random.Generator) -> Bounds:
    """Percentile bootstrap of the mean."""
    return _chunked(ratios, random, lambda chunk, means, errors: _quantiles(means, _tails(chunk)))


def bias_corrected(ratios: Array, random: np.random.Generator) -> Bounds:
    """BCa bootstrap of the mean (Efron 1987)."""

    def bounds(chunk: Array, means: Array, errors: Array) -> Bounds:
        below = (means < chunk.mean(axis=1, keepdims=True)).mean(axis=1)
        bias = _normal_quantile(np.clip(below, 1e-3, 1 - 1e-3))
        centred = chunk - chunk.mean(axis=1, keepdims=True)
        spread = (centred**2).sum(axis=1) ** 1.5
        acceleration = (centred**3).sum(axis=1) / (6 * np.maximum(spread, 1e-300))
        tails = []
        for probability in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2):
            z = bias + NormalDist().inv_cdf(probability)
            tails.append(_normal_cdf(bias + z / (1 - acceleration * z)))
        return _quantiles(means, np.stack(tails, axis=1))

    return _chunked(ratios, random, bounds)


def studentised(ratios: Array, random: np.random.Generator) -> Bounds:
    """Bootstrap-t: quantiles of resampled t statistics in the place of Student's."""

    def bounds(chunk: Array, means: Array, errors: Array) -> Bounds:
        distance = means - chunk.mean(axis=1, keepdims=True)
        # A resample of a single block has no spread: it is as far off as can be.
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(distance / errors, nan=0.0, posinf=1e12, neginf=-1e12)
        low, high = _quantiles(t, _tails(chunk))
        error, mean = _error(chunk), chunk.mean(axis=1)
        return mean - high * error, mean - low * error

    return _chunked(ratios, random, bounds)


def _error(ratios: Array) -> Array:
    return np.asarray(ratios.std(axis=-1, ddof=1) / np.sqrt(ratios.shape[-1]))


def _tails(chunk: Array) -> Array:
    return np.tile([(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], (len(chunk), 1))


def _quantiles(values: Array, tails: Array) -> Bounds:
    """For each row the quantiles at its own two probabilities."""
    ordered = np.sort(values, axis=1)
    places = np.clip(np.round(tails * (values.shape[1] + 1)).astype(int) - 1, 0, None)
    found = np.take_along_axis(ordered, np.minimum(places, values.shape[1] - 1), axis=1)
    return found[:, 0], found[:, 1]


def _chunked(
    ratios: Array,
    random: np.random.Generator,
    bounds: Callable[[Array, Array, Array], Bounds],
) -> Bounds:
    found = []
    for start in range(0, len(ratios), _CHUNK):
        chunk = ratios[start : start + _CHUNK]
        drawn = random.integers(0, chunk.shape[1], (len(chunk), _RESAMPLES, chunk.shape[1]))
        resampled = np.take_along_axis(chunk[:, None, :], drawn, axis=2)
        found.append(bounds(chunk, resampled.mean(axis=2), _error(resampled)))
    return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])


_normal_quantile = np.vectorize(NormalDist().inv_cdf, otypes=[float])
_normal_cdf = np.vectorize(NormalDist().cdf, otypes=[float])
