"""Changes in a series of results: E-divisive (Matteson and James 2014). No I/O.

The method looks for the split of a series whose two sides differ most in distribution, by the
energy distance (mean distance across the split, less that within the sides). A permutation test
says how often a series in random order has a split as good; a split that is rare enough is kept,
and both sides are looked at in the same way. It assumes nothing about the noise but that values
without a change could stand in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dbbench.stats import interval
from dbbench.stats.interval import LogEstimate

Array = npt.NDArray[np.float64]

SIGNIFICANCE = 0.01
PERMUTATIONS = 9999
"""At most. Short series have splits that are just rare enough, which fewer orders cannot tell."""
_MOST_DISTANCES = 200_000
FEWEST_IN_SEGMENT = 3
"""Values on each side of a split: the energy distance within a side needs some."""


@dataclass(frozen=True)
class Change:
    """`index` is that of the first value after the change.

    `p` is the share of permutations with a split at least as good. `change` is the log ratio of
    what comes after, up to the next change, to what was before, from the last one on.
    """

    index: int
    p: float
    change: LogEstimate


def change_points(
    values: Sequence[float],
    seed: int,
    *,
    significance: float = SIGNIFICANCE,
    permutations: int = PERMUTATIONS,
) -> list[Change]:
    """The changes of a series of positive values, in order; the same seed finds the same.

    Logarithms are compared, so that a change of 5 % counts alike at any level. The most
    significant split of any segment is taken first. Raises ValueError for a value that is not a
    positive finite number.
    """
    series = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(series) & (series > 0)).all():
        raise ValueError("a history consists of positive numbers")
    logs = np.log(series)
    random = np.random.default_rng(seed)
    found: dict[int, float] = {}
    segments = [(0, len(logs))]
    while segments:
        start, end = segments.pop()
        split, p = _best_split(logs[start:end], random, permutations, significance)
        if split is not None and p <= significance:
            found[start + split] = p
            segments += [(start, start + split), (start + split, end)]
    edges = [0, *sorted(found), len(logs)]
    return [
        Change(
            middle,
            found[middle],
            interval.independent(logs[middle:after].tolist(), logs[before:middle].tolist()),
        )
        for before, middle, after in zip(edges, edges[1:], edges[2:], strict=False)
    ]


def _best_split(
    logs: Array, random: np.random.Generator, permutations: int, significance: float
) -> tuple[int | None, float]:
    """The best split of a segment, and the share of permutations that have one as good.

    Of a share above `significance` only that is known: the rest of the orders is not looked at.
    """
    if len(logs) < 2 * FEWEST_IN_SEGMENT:
        return None, 1.0
    count = len(logs)
    distances = np.abs(logs[:, None] - logs[None, :])
    splits = energy(distances, np.arange(count)[None, :])[0]
    best = int(np.argmax(splits))
    as_good = 1
    # Many orders at once: one at a time, most of the time goes into the calls.
    at_once = max(1, _MOST_DISTANCES // distances.size)
    for first in range(0, permutations, at_once):
        number = min(at_once, permutations - first)
        orders = random.permuted(np.tile(np.arange(count), (number, 1)), axis=1)
        # A hair less counts as equal: sums in another order differ in the last digits.
        found = energy(distances, orders).max(axis=1)
        as_good += int((found >= splits[best] * (1 - 1e-9)).sum())
        if as_good > significance * (permutations + 1):
            break
    return best + FEWEST_IN_SEGMENT, as_good / (permutations + 1)


def energy(distances: Array, orders: npt.NDArray[np.int64]) -> Array:
    """The scaled energy distance of each split of each order of the values: a row for an order.

    `distances` are those between all values. The first entry of a row splits after
    FEWEST_IN_SEGMENT values, the last leaves as many behind.
    """
    count = len(distances)
    shuffled = distances.ravel().take(orders[:, :, None] * count + orders[:, None, :])
    # Of each value to those before it, twice: each pair is there in both directions.
    before = np.einsum("oij,ij->oi", shuffled, np.tri(count, k=-1)) * 2
    left = np.arange(FEWEST_IN_SEGMENT, count - FEWEST_IN_SEGMENT + 1)
    right = count - left
    within_left = before.cumsum(axis=1)[:, left - 1]
    across = distances.sum(axis=1)[orders].cumsum(axis=1)[:, left - 1] - within_left
    within_right = distances.sum() - within_left - 2 * across
    distance = (
        2 * across / (left * right)
        - within_left / (left * (left - 1))
        - within_right / (right * (right - 1))
    )
    return np.asarray(distance * left * right / count)
