"""Confidence intervals of the mean log ratio, from blocks or from independent samples. No I/O.

Ratios are compared on the logarithmic scale: there a slowdown and its inverse are symmetric, the
noise of runtimes is nearer to a normal distribution, and the interval of a ratio never reaches
below zero. All figures here are natural logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.stats import student


@dataclass(frozen=True)
class LogEstimate:
    """A mean log ratio and, where at least two values allow it, its confidence interval."""

    mean: float
    interval: tuple[float, float] | None


def paired(log_ratios: Sequence[float], confidence: float) -> LogEstimate:
    """From one log ratio for each block: Student's t with n - 1 degrees of freedom.

    What a block's targets share (the time of day, a warm node) cancels in its ratio. Without an
    interval below two blocks. Raises ValueError for no block.
    """
    mean = _mean(log_ratios)
    count = len(log_ratios)
    if count < 2:
        return LogEstimate(mean, None)
    error = math.sqrt(_variance(log_ratios) / count)
    return LogEstimate(mean, _around(mean, error, count - 1, confidence))


def independent(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float
) -> LogEstimate:
    """From two samples of log values that do not belong together in pairs: Welch's interval.

    Degrees of freedom by Welch and Satterthwaite. Without an interval when either side has fewer
    than two values. Raises ValueError when either side has none.
    """
    mean = _mean(numerator) - _mean(denominator)
    if len(numerator) < 2 or len(denominator) < 2:
        return LogEstimate(mean, None)
    parts = [(_variance(side) / len(side), len(side) - 1) for side in (numerator, denominator)]
    total = math.fsum(part for part, _ in parts)
    if total == 0:
        return LogEstimate(mean, (mean, mean))
    # As weights of the total, so that the squares of tiny variances do not vanish.
    degrees = 1 / math.fsum((part / total) ** 2 / freedom for part, freedom in parts)
    return LogEstimate(mean, _around(mean, math.sqrt(total), degrees, confidence))


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("a mean needs at least one value")
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    # The statistics module computes in fractions: the same to the last digits, fifty times slower.
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _around(mean: float, error: float, degrees: float, confidence: float) -> tuple[float, float]:
    half = student.quantile((1 + confidence) / 2, degrees) * error
    return mean - half, mean + half
