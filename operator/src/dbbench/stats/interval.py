"""Confidence intervals of a log ratio, from blocks or from independent samples. No I/O.

Ratios are compared on the logarithmic scale: there a slowdown and its inverse are symmetric, the
noise of runtimes is nearer to a normal distribution, and the interval of a ratio never reaches
below zero. All figures here are natural logarithms. docs/methodology.md has the study that these
methods were chosen by; `make calibrate` repeats it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.stats import student

# exp() of more than about 709 is no longer a number: an interval is cut off there.
_LARGEST_EXPONENT = 700.0

FEWEST_FOR_DRIFT = 5
"""Blocks from which on drift within blocks is estimated: with fewer, the degree of freedom that it
costs would widen the interval more than the drift does."""


@dataclass(frozen=True)
class LogEstimate:
    """A mean log ratio, its standard error, and the degrees of freedom of that error.

    `error` is None where there are too few values for one.
    """

    mean: float
    error: float | None = None
    degrees: float = 0

    def bounds(self, confidence: float) -> tuple[float, float] | None:
        """Student's interval; None without a standard error."""
        if self.error is None:
            return None
        half = student.quantile((1 + confidence) / 2, self.degrees) * self.error
        return self.mean - half, self.mean + half

    def two_sided_p(self, distance: float) -> float:
        """The probability, if the truth were `distance` away, of an estimate as far from it.

        It is 1 minus the confidence at which the interval ends at that distance from the mean; 1
        for a distance of 0 or less, and without a standard error.
        """
        if self.error is None or not distance > 0:
            return 1.0
        if self.error == 0:
            return 0.0
        return student.two_sided_tail(distance / self.error, self.degrees)


def paired(log_ratios: Sequence[float], gaps: Sequence[float] | None = None) -> LogEstimate:
    """From one log ratio for each block.

    What a block's targets share (the time of day, a warm node) cancels in its ratio. `gaps` says
    how much later than the baseline the target was measured, in any unit, negative where it came
    first: a drift that is steady within blocks adds to the ratio in proportion. With both signs
    among the gaps and at least FEWEST_FOR_DRIFT blocks, it is estimated and taken out (a straight
    line through the ratios; the estimate is its height at gap 0). Else the estimate is the mean.
    Without an error below two blocks. Raises ValueError for no block.
    """
    if gaps is not None and len(gaps) != len(log_ratios):
        raise ValueError(f"{len(log_ratios)} blocks, but {len(gaps)} gaps")
    if gaps is not None and len(gaps) >= FEWEST_FOR_DRIFT and min(gaps) < 0 < max(gaps):
        return _at_gap_zero(log_ratios, gaps)
    mean = _mean(log_ratios)
    count = len(log_ratios)
    if count < 2:
        return LogEstimate(mean)
    return LogEstimate(mean, math.sqrt(_variance(log_ratios) / count), count - 1)


def _at_gap_zero(log_ratios: Sequence[float], gaps: Sequence[float]) -> LogEstimate:
    """Least squares: the intercept of log ratio = intercept + slope * gap, and its error."""
    # As parts of the greatest gap, so that no unit is too small or too large to be squared.
    largest = max(abs(gap) for gap in gaps)
    scaled = [gap / largest for gap in gaps]
    count, mean, middle = len(gaps), _mean(log_ratios), _mean(scaled)
    spread = math.fsum((gap - middle) ** 2 for gap in scaled)
    slope = (
        math.fsum(
            (gap - middle) * (ratio - mean) for gap, ratio in zip(scaled, log_ratios, strict=True)
        )
        / spread
    )
    rest = math.fsum(
        (ratio - mean - slope * (gap - middle)) ** 2
        for gap, ratio in zip(scaled, log_ratios, strict=True)
    )
    error = math.sqrt(rest / (count - 2) * (1 / count + middle**2 / spread))
    return LogEstimate(mean - slope * middle, error, count - 2)


def jackknife(
    whole: float, without_each: Sequence[float], gaps: Sequence[float] | None = None
) -> LogEstimate:
    """For a log ratio that is no mean of blocks, such as that of quantiles of all trials together.

    `whole` is the figure from all blocks, `without_each` the same without one block at a time.
    Its pseudo-values (Tukey) stand for the blocks, and `paired` does the rest; the estimate itself
    stays `whole`. For a mean of blocks the pseudo-values are the blocks.
    """
    count = len(without_each)
    if count < 2:
        return LogEstimate(whole)
    spread = paired([count * whole - (count - 1) * rest for rest in without_each], gaps)
    return LogEstimate(whole, spread.error, spread.degrees)


def independent(numerator: Sequence[float], denominator: Sequence[float]) -> LogEstimate:
    """From two samples of log values that do not belong together in pairs: Welch's error.

    Degrees of freedom by Welch and Satterthwaite. Without an error when either side has fewer
    than two values. Raises ValueError when either side has none.
    """
    mean = _mean(numerator) - _mean(denominator)
    if len(numerator) < 2 or len(denominator) < 2:
        return LogEstimate(mean)
    parts = [(_variance(side) / len(side), len(side) - 1) for side in (numerator, denominator)]
    total = math.fsum(part for part, _ in parts)
    if total == 0:
        return LogEstimate(mean, 0.0, len(numerator) + len(denominator) - 2)
    # As weights of the total, so that the squares of tiny variances do not vanish.
    degrees = 1 / math.fsum((part / total) ** 2 / freedom for part, freedom in parts)
    return LogEstimate(mean, math.sqrt(total), degrees)


def difference(one: LogEstimate, other: LogEstimate) -> LogEstimate:
    """Of two log ratios that were estimated from different blocks, such as two slowdowns.

    Their errors are independent: Welch's, with degrees of freedom by Welch and Satterthwaite.
    Without an error where either has none.
    """
    mean = one.mean - other.mean
    if one.error is None or other.error is None:
        return LogEstimate(mean)
    total = math.hypot(one.error, other.error)
    if total == 0:
        return LogEstimate(mean, 0.0, one.degrees + other.degrees)
    degrees = 1 / math.fsum(
        (side.error / total) ** 4 / side.degrees for side in (one, other) if side.error
    )
    return LogEstimate(mean, total, degrees)


def ratio_of(log_ratio: float) -> float:
    """A log ratio as a ratio: a number above 0, however far the logarithm is from 0."""
    return math.exp(max(-_LARGEST_EXPONENT, min(log_ratio, _LARGEST_EXPONENT)))


def slowdown_of(log_ratio: float) -> float:
    """A log ratio as a slowdown: the ratio minus 1."""
    return math.expm1(min(log_ratio, _LARGEST_EXPONENT))


def slowdown_bounds(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval of a log ratio as one of a slowdown."""
    return None if bounds is None else (slowdown_of(bounds[0]), slowdown_of(bounds[1]))


def _mean(values: Sequence[float]) -> float:
    if not values:
        raise ValueError("a mean needs at least one value")
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    # The statistics module computes in fractions: the same to the last digits, fifty times slower.
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
