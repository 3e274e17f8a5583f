"""Where repetitions tell most: at which level, and how many (Kalibera and Jones 2013). No I/O."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Variances:
    """Of one value at a level: `within` groups, and what groups differ by themselves.

    `between` is 0 where the groups differ no more than the values within them explain.
    """

    between: float
    within: float


def variances(groups: Sequence[Sequence[float]]) -> Variances:
    """Unbiased estimates (section 6.2) from at least two groups of at least two values each.

    With unequal groups, by the harmonic mean of their sizes. Raises ValueError for fewer.
    """
    if len(groups) < 2 or any(len(group) < 2 for group in groups):
        raise ValueError("variances need at least two groups of at least two values each")
    means = [math.fsum(group) / len(group) for group in groups]
    within = math.fsum(
        math.fsum((value - mean) ** 2 for value in group) / (len(group) - 1)
        for group, mean in zip(groups, means, strict=True)
    ) / len(groups)
    middle = math.fsum(means) / len(means)
    of_means = math.fsum((mean - middle) ** 2 for mean in means) / (len(means) - 1)
    share = math.fsum(1 / len(group) for group in groups) / len(groups)
    return Variances(max(of_means - within * share, 0.0), within)


def best_within(found: Variances, cost_between: float, cost_within: float, most: int) -> int:
    """How many values to take in each group, so that a given time tells most (their equation 6).

    `cost_between` is what a new group costs before its first value, `cost_within` one value, both
    in the same unit and greater than 0. Between 1 and `most`.
    """
    if not (cost_between > 0 and cost_within > 0):
        raise ValueError("costs must be greater than 0")
    if found.within == 0:
        return 1
    if found.between == 0:
        return most
    best = math.sqrt(cost_between / cost_within * (found.within / found.between))
    return min(max(math.ceil(best), 1), most)
