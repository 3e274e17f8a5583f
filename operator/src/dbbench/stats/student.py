"""Quantiles of Student's t distribution, for any positive degrees of freedom. No I/O.

The distribution function comes from the regularised incomplete beta function (DLMF 8.17, by its
continued fraction 8.17.22); the quantile is found by bisection. scipy would be the only reason to
ship 100 MB more, for one number.
"""

import math
from functools import lru_cache

_TINY = 1e-300
_EPSILON = 1e-16


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 <= x <= 1."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # The fraction converges fast on this side of the mean only; the symmetry gives the other.
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, 1 - x) / b


def _continued_fraction(a: float, b: float, x: float) -> float:
    """DLMF 8.17.22 by the modified Lentz method."""
    c = 1.0
    d = _reciprocal(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = _reciprocal(1 + even * d)
        c = _nonzero(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = _reciprocal(1 + odd * d)
        c = _nonzero(1 + odd / c)
        step = d * c
        value *= step
        if abs(step - 1) < _EPSILON * 8:
            return value
    raise ArithmeticError(f"incomplete beta function does not converge for a={a}, b={b}, x={x}")


def _nonzero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _reciprocal(value: float) -> float:
    return 1 / _nonzero(value)


def distribution(t: float, degrees: float) -> float:
    """P(T <= t) for Student's t with `degrees` > 0 degrees of freedom."""
    tail = _upper_tail(abs(t), degrees)
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=1024)
def quantile(probability: float, degrees: float) -> float:
    """The t with P(T <= t) = probability.

    Raises ValueError unless 0 < probability < 1 and degrees > 0.
    """
    if not 0 < probability < 1:
        raise ValueError(f"probability must be between 0 and 1, not {probability}")
    if not degrees > 0:
        raise ValueError(f"degrees of freedom must be greater than 0, not {degrees}")
    if probability < 0.5:
        return -quantile(1 - probability, degrees)
    upper_tail = 1 - probability
    low, high = 0.0, 1.0
    while _upper_tail(high, degrees) > upper_tail:
        low, high = high, high * 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _upper_tail(middle, degrees) > upper_tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def two_sided_tail(t: float, degrees: float) -> float:
    """P(|T| > t) for t >= 0, without the cancellation of 1 - P(T <= t)."""
    return 2 * _upper_tail(t, degrees)


def _upper_tail(t: float, degrees: float) -> float:
    """P(T > t) for t >= 0, without the cancellation of 1 - P(T <= t)."""
    square = t * t
    if square < degrees:
        # Near the centre, where the argument of the other form would be 1 less next to nothing.
        return (1 - incomplete_beta(0.5, degrees / 2, square / (degrees + square))) / 2
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square)) / 2
