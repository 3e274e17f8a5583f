"""What intervals allow to say, one comparison or many together. No I/O.

With many comparisons, some interval misses the truth by chance. The verdicts of a family of
comparisons are therefore held to one error rate together (Holm's step-down procedure, which needs
no assumption about how comparisons depend on each other).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.api.status import Verdict
from dbbench.stats.interval import LogEstimate, slowdown_bounds, slowdown_of


@dataclass(frozen=True)
class Judgement:
    """A verdict, and the family's error rate from which on it is definite.

    `adjusted_p` is Holm's: at most 1 - confidence where the intervals allow a verdict, 1 where no
    error rate would. A noise floor does not enter it.
    """

    verdict: Verdict
    adjusted_p: float


def verdict(bounds: tuple[float, float] | None, margin: float) -> Verdict:
    """What an interval of a slowdown allows to say.

    Equivalent: the whole interval lies within plus or minus `margin` (the margin included). Else
    Slower: the interval lies above 0. Faster: it lies below 0. Else, and without an interval,
    Inconclusive. A slowdown that is real but smaller than the margin is thus Equivalent.
    """
    if bounds is None:
        return Verdict.INCONCLUSIVE
    low, high = bounds
    if -margin <= low and high <= margin:
        return Verdict.EQUIVALENT
    if low > 0:
        return Verdict.SLOWER
    if high < 0:
        return Verdict.FASTER
    return Verdict.INCONCLUSIVE


def above_floor(found: Verdict, slowdown: float, margin: float, floor: float) -> Verdict:
    """The verdict, where the noise floor permits one; Inconclusive elsewhere.

    `floor` is how far from 0 the interval of the control reaches, that is of the baseline compared
    with itself. A slowdown that is no greater is not told from noise; and a margin that is smaller
    than the noise is none.
    """
    if found is Verdict.EQUIVALENT:
        return found if floor <= margin else Verdict.INCONCLUSIVE
    return found if abs(slowdown) > floor else Verdict.INCONCLUSIVE


def reach(control: tuple[float, float] | None) -> float:
    """The noise floor: how far from 0 the control's interval reaches; infinite without one."""
    return math.inf if control is None else max(abs(control[0]), abs(control[1]))


def judge(estimates: Sequence[LogEstimate], *, confidence: float, margin: float) -> list[Judgement]:
    """Verdicts of a family: the chance that any of them is wrong is at most 1 - confidence.

    The comparisons with an interval are taken in the order of their certainty; the k-th of m has
    to reach its verdict with an interval of level 1 - (1 - confidence) / (m - k + 1), and the
    first that does not ends it. A family of one is judged by its interval itself. That a verdict
    has the wrong sign is bounded as well if comparisons are independent; else by calibration.
    """
    error = 1 - confidence
    order = sorted(
        (_p_value(estimate, margin), index)
        for index, estimate in enumerate(estimates)
        if estimate.error is not None
    )
    found = [Judgement(Verdict.INCONCLUSIVE, 1.0)] * len(estimates)
    running = 0.0
    for rank, (p, index) in enumerate(order):
        weight = len(order) - rank
        running = min(max(running, weight * p), 1.0)
        decided = Verdict.INCONCLUSIVE
        if running <= error:
            bounds = slowdown_bounds(estimates[index].bounds(1 - error / weight))
            decided = verdict(bounds, margin)
        found[index] = Judgement(decided, running)
    return found


def _p_value(estimate: LogEstimate, margin: float) -> float:
    """The smallest error rate at which the interval gives a verdict."""
    if estimate.error == 0:
        point = slowdown_of(estimate.mean)
        return 1.0 if verdict((point, point), margin) is Verdict.INCONCLUSIVE else 0.0
    inside = min(
        math.log1p(margin) - estimate.mean,
        estimate.mean - (math.log1p(-margin) if margin < 1 else -math.inf),
    )
    return min(estimate.two_sided_p(abs(estimate.mean)), estimate.two_sided_p(inside))
