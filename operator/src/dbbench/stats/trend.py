"""Where a series of results stands now, against where it stood: a verdict with an interval. No I/O.

Changes (`stats.history`) divide a series into stretches. Its trend is the last stretch against an
earlier one. All that is said of several series is judged as one family (`stats.judge`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from dbbench.api.status import Verdict
from dbbench.stats import interval
from dbbench.stats.comparison import CONFIDENCE, MARGIN
from dbbench.stats.history import FEWEST_IN_SEGMENT, PERMUTATIONS, SIGNIFICANCE, change_points
from dbbench.stats.interval import LogEstimate
from dbbench.stats.verdict import judge


class TrendVerdict(StrEnum):
    REGRESSED = "Regressed"
    IMPROVED = "Improved"
    UNCHANGED = "Unchanged"
    INCONCLUSIVE = "Inconclusive"
    TOO_FEW = "TooFew"


_VERDICTS = {
    Verdict.SLOWER: TrendVerdict.REGRESSED,
    Verdict.FASTER: TrendVerdict.IMPROVED,
    Verdict.EQUIVALENT: TrendVerdict.UNCHANGED,
    Verdict.INCONCLUSIVE: TrendVerdict.INCONCLUSIVE,
}


@dataclass(frozen=True)
class Step:
    """One change: the stretch that begins at `index` against the one before it.

    `p` is that of the permutation test; `estimate` is a log ratio, above 0 where it got slower.
    """

    index: int
    p: float
    estimate: LogEstimate
    verdict: Verdict


@dataclass(frozen=True)
class Trend:
    """One series: its changes, and its last stretch against an earlier one.

    `reference` and `current` are the indices of the first value of a stretch and of the one after
    its last. Without a change in between they are the same stretch, and there is no `estimate`.
    Unchanged: no change was found, or one whose interval lies within the margin. Inconclusive: the
    values changed, but not certainly in one direction. TooFew: no change could have been found.
    """

    steps: tuple[Step, ...]
    reference: tuple[int, int]
    current: tuple[int, int]
    estimate: LogEstimate | None
    verdict: TrendVerdict


def fewest_values(significance: float) -> int:
    """Values that a series needs before any change can be significant.

    The clearest change parts the values into halves that no order parts better; among all orders,
    2 of n over n/2 have the same halves.
    """
    count = 2 * FEWEST_IN_SEGMENT
    while 2 / math.comb(count, count // 2) > significance:
        count += 1
    return count


def trends(
    series: Sequence[Sequence[float]],
    seed: int,
    *,
    since: Sequence[int | None] = (),
    significance: float = SIGNIFICANCE,
    permutations: int = PERMUTATIONS,
    confidence: float = CONFIDENCE,
    margin: float = MARGIN,
) -> list[Trend]:
    """The trend of each series of times, or of what else is slower when it is greater.

    The reference is the stretch before the latest change, or the stretch with the value whose index
    `since` gives for that series. Raises ValueError for a value that is not a positive finite
    number.
    """
    wanted = [*since, *[None] * (len(series) - len(since))]
    fewest = fewest_values(significance)
    changes = [
        change_points(values, seed, significance=significance, permutations=permutations)
        if len(values) >= fewest
        else []
        for values in series
    ]
    edges = [
        [0, *(one.index for one in found), len(values)]
        for found, values in zip(changes, series, strict=True)
    ]
    references = [_reference(own, index) for own, index in zip(edges, wanted, strict=True)]
    estimates = [
        _against(values, reference, (own[-2], own[-1])) if reference[0] != own[-2] else None
        for values, reference, own in zip(series, references, edges, strict=True)
    ]
    # The latest change is often what the trend is, too: that is one statement, and counts once.
    apart = [
        index
        for index, (reference, own) in enumerate(zip(references, edges, strict=True))
        if estimates[index] is not None and reference[1] != own[-2]
    ]
    family = [one.change for found in changes for one in found]
    family += [one for index in apart if (one := estimates[index]) is not None]
    verdicts = iter([one.verdict for one in judge(family, confidence=confidence, margin=margin)])
    steps = [
        tuple(Step(one.index, one.p, one.change, next(verdicts)) for one in found)
        for found in changes
    ]
    of_trends = {index: next(verdicts) for index in apart}
    found = []
    for index, values in enumerate(series):
        if len(values) < fewest:
            verdict = TrendVerdict.TOO_FEW
        elif estimates[index] is None:
            verdict = TrendVerdict.UNCHANGED
        else:
            verdict = _VERDICTS[of_trends.get(index, steps[index][-1].verdict)]
        current = (edges[index][-2], edges[index][-1])
        found.append(Trend(steps[index], references[index], current, estimates[index], verdict))
    return found


def _reference(edges: Sequence[int], since: int | None) -> tuple[int, int]:
    stretches = list(pairwise(edges))
    if since is None:
        return stretches[max(len(stretches) - 2, 0)]
    return next(one for one in stretches if one[0] <= since < one[1])


def _against(
    values: Sequence[float], reference: tuple[int, int], current: tuple[int, int]
) -> LogEstimate:
    logs = [math.log(value) for value in values]
    return interval.independent(logs[slice(*current)], logs[slice(*reference)])
