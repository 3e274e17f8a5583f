"""An additive account of a slowdown: what each cause adds to the time of one unit of work. No I/O.

The time of a unit of work on a side, t, is the sum over the causes of x_k, the unexplained rest
among them. Within a block, the logarithm of the ratio of two times divides exactly among the causes
by the logarithmic mean L (Ang 2004, "Decomposition analysis for policymaking in energy", LMDI):

    log(t_target / t_baseline) = sum over k of (x_k,target - x_k,baseline) / L(t_target, t_baseline)

These parts are estimated over the blocks, or over deployments with the mean of their blocks, as the
slowdown itself is (`stats.interval.paired`), which is linear, so that their estimates add up to
that of the slowdown; times L of the two values shown they are seconds that add up to the difference
shown.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbbench.explain.cause import EVENTS, PARTS, WAITS, WHOLES, Cause
from dbbench.explain.evidence import Evidence, evidence
from dbbench.explain.observation import Observation
from dbbench.stats import CONFIDENCE
from dbbench.stats.interval import LogEstimate, paired


@dataclass(frozen=True)
class Side:
    """One trial: seconds of one unit of work, and what was observed."""

    seconds: float
    observation: Observation


@dataclass(frozen=True)
class Pair:
    """One block. `gap` says how much later the target was measured; None where it is not known.

    `unit` names what is sampled at random that it belongs to, such as a deployment that several
    blocks share; empty where that is the block itself.
    """

    baseline: Side
    target: Side
    gap: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Term:
    """What one cause adds.

    `seconds` and `interval` are of the difference between the sides, for one unit of work.
    `baseline_seconds` and `target_seconds` are what the cause takes on each side, means over the
    blocks. `part_of` names the cause that it is a part of.
    """

    cause: Cause
    part_of: Cause | None
    baseline_seconds: float
    target_seconds: float
    seconds: float
    interval: tuple[float, float] | None

    @property
    def is_certain(self) -> bool:
        """Whether its interval excludes 0; also where one block gives no interval."""
        return self.interval is None or not self.interval[0] <= 0 <= self.interval[1]


@dataclass(frozen=True)
class Account:
    """The terms of one comparison.

    `baseline_seconds` and `target_seconds` are the times of one unit of work, as the comparison
    shows them. Terms that are no part of another add up to their difference, and parts to their
    whole. The evidence is what the terms rest on, or stands beside them.
    """

    baseline_seconds: float
    target_seconds: float
    terms: tuple[Term, ...]
    baseline_evidence: Evidence
    target_evidence: Evidence

    @property
    def seconds(self) -> float:
        """The slowdown, in seconds for one unit of work."""
        return self.target_seconds - self.baseline_seconds

    def term(self, cause: Cause) -> Term | None:
        """None where it was not measured on both sides of all blocks."""
        return next((term for term in self.terms if term.cause is cause), None)

    def share(self, term: Term, whole: float | None = None) -> float | None:
        """Of the slowdown, or of the seconds `whole`; None of nothing."""
        whole = self.seconds if whole is None else whole
        return term.seconds / whole if whole else None

    def largest(self) -> Term:
        """The term that adds most in the direction of the slowdown, the finest ones compared."""
        divided = {term.part_of for term in self.terms}
        finest = [term for term in self.terms if term.cause not in divided]
        sign = math.copysign(1.0, self.seconds)
        return max(finest, key=lambda term: term.seconds * sign)

    @property
    def not_measured(self) -> tuple[Cause, ...]:
        """Causes without a term, so that what they took is in the rest or in their whole."""
        return tuple(cause for cause in (*WHOLES, *EVENTS, *WAITS) if self.term(cause) is None)


def account(pairs: Sequence[Pair], baseline_seconds: float, target_seconds: float) -> Account:
    """Of at least one block; the two values are what the comparison shows for the same blocks.

    A cause that is not known on both sides of every block has no term. Raises ValueError for no
    block, and for a time that is not positive.
    """
    if not pairs:
        raise ValueError("an account needs at least one block")
    known = frozenset.intersection(
        *(_known(side.observation) for pair in pairs for side in (pair.baseline, pair.target))
    )
    sides = [_pair_times(pair, known) for pair in pairs]
    means = [logarithmic_mean(pair.baseline.seconds, pair.target.seconds) for pair in pairs]
    units: dict[str, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        units[pair.unit or f"{index}"].append(index)
    gaps = [pair.gap for pair in pairs if pair.gap is not None]
    scale = logarithmic_mean(baseline_seconds, target_seconds)

    def term(cause: Cause, part_of: Cause | None = None) -> Term:
        parts = [
            (after[cause] - before[cause]) / mean
            for (before, after), mean in zip(sides, means, strict=True)
        ]
        estimate = paired(
            _means(parts, units.values()),
            _means(gaps, units.values()) if len(gaps) == len(pairs) else None,
        )
        return Term(
            cause,
            part_of,
            math.fsum(before[cause] for before, _ in sides) / len(sides),
            math.fsum(after[cause] for _, after in sides) / len(sides),
            estimate.mean * scale,
            _interval(estimate, scale),
        )

    found: list[Term] = []
    measured = sides[0][0]
    for whole in WHOLES:
        if whole in measured:
            found.append(term(whole))
            found += [term(part, whole) for part in PARTS.get(whole, ()) if part in measured]
    return Account(
        baseline_seconds,
        target_seconds,
        tuple(found),
        evidence([(pair.baseline.observation, pair.baseline.seconds) for pair in pairs]),
        evidence([(pair.target.observation, pair.target.seconds) for pair in pairs]),
    )


def _means(values: Sequence[float], groups: Iterable[Sequence[int]]) -> list[float]:
    """Of each group of indices."""
    return [math.fsum(values[index] for index in group) / len(group) for group in groups]


def logarithmic_mean(one: float, other: float) -> float:
    """(one - other) / log(one / other); the value itself where both are equal.

    Raises ValueError for a value that is not positive.
    """
    if not (one > 0 and other > 0):
        raise ValueError(f"times must be positive, not {one} and {other}")
    # By the symmetric form sinh(x) / x: the plain quotient loses all digits where both are near.
    half = math.log(one / other) / 2
    if half == 0:
        return one
    return math.sqrt(one) * math.sqrt(other) * math.sinh(half) / half


def _interval(estimate: LogEstimate, scale: float) -> tuple[float, float] | None:
    bounds = estimate.bounds(CONFIDENCE)
    return None if bounds is None else (bounds[0] * scale, bounds[1] * scale)


def _known(observation: Observation) -> frozenset[Cause]:
    return frozenset(observation.seconds) | frozenset(observation.events)


def _pair_times(
    pair: Pair, known: frozenset[Cause]
) -> tuple[dict[Cause, float], dict[Cause, float]]:
    """Seconds of each cause for one unit of work, on both sides, with all sums and rests."""
    ours, theirs = pair.baseline.observation.plans, pair.target.observation.plans
    common = ours.keys() & theirs.keys()
    different = sorted(
        name for name in common if ours[name].fingerprint != theirs[name].fingerprint
    )
    return (
        _times(pair.baseline, known, math.fsum(ours[name].seconds for name in different), common),
        _times(pair.target, known, math.fsum(theirs[name].seconds for name in different), common),
    )


def _times(
    side: Side, known: frozenset[Cause], different: float, planned: set[str]
) -> dict[Cause, float]:
    observation = side.observation
    found: dict[Cause, float] = {}
    if planned:
        found[Cause.DIFFERENT_WORK] = different
    # Counters do not tell queries apart: those with another plan have a share of each by their
    # time.
    same = max(side.seconds - different, 0.0)
    # Waits, and work of processes that run at once, can be more than the clients' own time: then
    # each second counts for its share of that.
    spent = _spent(observation.seconds, known)
    each = same / max(math.fsum(spent.values()), observation.client_seconds)
    found |= {cause: seconds * each for cause, seconds in spent.items()}
    for cause in EVENTS:
        if cause in known and Cause.SYSTEM in found:
            events = observation.events[cause]
            found[cause] = events.count * events.unit_seconds * each
    _add_whole(found, Cause.CPU_WAIT)
    if any(cause in found for cause in EVENTS):
        events_seconds = math.fsum(found[cause] for cause in EVENTS if cause in found)
        found[Cause.OTHER_SYSTEM] = found[Cause.SYSTEM] - events_seconds
    explained = math.fsum(found[cause] for cause in WHOLES if cause in found)
    found[Cause.UNEXPLAINED] = side.seconds - explained
    return found


def _spent(seconds: Mapping[Cause, float], known: frozenset[Cause]) -> dict[Cause, float]:
    """Seconds of the window that no other cause has."""
    found = {cause: value for cause, value in seconds.items() if cause in known}
    # A thread of a throttled group waits in its run queue as well; a page that comes back from the
    # device after it was reclaimed stalls memory and I/O.
    for inner, outer in ((Cause.THROTTLING, Cause.RUN_QUEUE), (Cause.MEMORY, Cause.IO_WAIT)):
        if inner in found and outer in found:
            found[outer] = max(found[outer] - found[inner], 0.0)
    return found


def _add_whole(found: dict[Cause, float], whole: Cause) -> None:
    parts = [found[cause] for cause in PARTS[whole] if cause in found]
    if parts:
        found[whole] = math.fsum(parts)
