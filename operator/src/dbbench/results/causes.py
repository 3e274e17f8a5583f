"""Accounts of slowdowns: from trials, in one sentence, and as part of summary.json. No I/O."""

from collections.abc import Callable, Sequence
from typing import Any

from dbbench import stats
from dbbench.api.status import Verdict
from dbbench.explain import Account, Cause, Evidence, Pair, Side, Term, account
from dbbench.explain.cause import EVENTS
from dbbench.results.figures import bounds, level, three_digits, time
from dbbench.results.operations import MeasuredTrial
from dbbench.stats import Slowdown, Unit

LABELS = {
    Cause.DIFFERENT_WORK: "different plans",
    Cause.USER: "user time",
    Cause.SYSTEM: "system time",
    Cause.PAGE_FAULTS: "page faults",
    Cause.SYSTEM_CALLS: "system calls",
    Cause.CONTEXT_SWITCHES: "context switches",
    Cause.OTHER_SYSTEM: "other system time",
    Cause.IO_WAIT: "waiting for I/O",
    Cause.CPU_WAIT: "waiting for a CPU",
    Cause.RUN_QUEUE: "waiting in the run queue",
    Cause.THROTTLING: "throttling",
    Cause.STEAL: "steal",
    Cause.MEMORY: "memory stalls",
    Cause.DRIVER: "the driver",
    Cause.UNEXPLAINED: "unexplained",
}
"""What people call the causes."""

_DEFINITE = (Verdict.SLOWER, Verdict.FASTER)


def explained(
    baseline: Sequence[MeasuredTrial], target: Sequence[MeasuredTrial], slowdown: Slowdown
) -> Account | None:
    """The account of a primary metric's slowdown; None without counters on both sides.

    A unit of work is one pass of the queries where the metric is a time, and one transaction of one
    client, or one read of one work process, where it is a rate.
    """
    return _explained(baseline, target, slowdown, lambda trial: _side(trial, slowdown))


def explained_query(
    baseline: Sequence[MeasuredTrial], target: Sequence[MeasuredTrial], slowdown: Slowdown
) -> Account | None:
    """The account of one query's slowdown, whose `cell` is its name; a unit of work is one run.

    None where a trial of either side has no counters around each run of the query.
    """
    return _explained(baseline, target, slowdown, lambda trial: _query_side(trial, slowdown.cell))


def _explained(
    baseline: Sequence[MeasuredTrial],
    target: Sequence[MeasuredTrial],
    slowdown: Slowdown,
    side: Callable[[MeasuredTrial], Side | None],
) -> Account | None:
    before = {trial.block: trial for trial in baseline}
    both = [(before[one.block], one) for one in target if one.block in before]
    pairs, clients = [], 1.0
    # In the order in which the slowdown's estimate takes them.
    for base, other in sorted(both, key=lambda sides: (sides[1].deployment, sides[1].block)):
        sides = [side(trial) for trial in (base, other)]
        if sides[0] is None or sides[1] is None:
            return None
        pairs.append(Pair(sides[0], sides[1], other.started - base.started, other.unit))
        clients = sides[0].observation.clients
    if not pairs:
        return None
    values = slowdown.baseline_value, slowdown.target_value
    return account(
        pairs, *(clients / value if slowdown.unit.is_rate else value for value in values)
    )


def _side(trial: MeasuredTrial, slowdown: Slowdown) -> Side | None:
    name = "totalRuntime" if slowdown.unit is Unit.SECONDS else "throughput"
    value, observation = trial.result.metrics[name].value, trial.observation
    if observation is None:
        return None
    return Side(observation.clients / value if slowdown.unit.is_rate else value, observation)


def _query_side(trial: MeasuredTrial, query: str) -> Side | None:
    seconds, observation = trial.runtimes().get(query), trial.queries.get(query)
    return None if seconds is None or observation is None else Side(seconds, observation)


def named(found: Account | None, verdict: Verdict) -> Cause | None:
    """The largest cause where `cause` names one; None where there is none, or it is unexplained."""
    if verdict not in _DEFINITE or found is None:
        return None
    largest = found.largest()
    known = largest.cause is not Cause.UNEXPLAINED and largest.is_certain
    return largest.cause if known else None


def cause(found: Account | None, verdict: Verdict, emulated: bool) -> str:
    """The largest cause in one sentence; empty where there is no slowdown to explain.

    It begins with `unexplained` when most is in the rest, or when the largest cause cannot be told
    from none.
    """
    if verdict not in _DEFINITE:
        return ""
    if found is None:
        return "unexplained: the trials have no counters of both targets"
    largest = found.largest()
    what = "slowdown" if found.seconds > 0 else "speed-up"
    amount = f"{_percent(found.share(largest))} of the {what}"
    figures = _figures(found, largest)
    label = LABELS[largest.cause]
    if largest.cause is Cause.UNEXPLAINED:
        text = f"unexplained: {amount} is in none of the measured causes ({figures})"
    elif not largest.is_certain:
        text = f"unexplained: most is {label}, {amount}, but that cannot be told from 0 ({figures})"
    else:
        text = f"{label}: {_of_system_time(found, largest)}{amount} ({figures})"
    return f"{text}; under software emulation" if emulated else text


def _of_system_time(found: Account, term: Term) -> str:
    """`83 % of the extra system time, `; empty for other terms, and where it did not grow."""
    whole = found.term(Cause.SYSTEM)
    if term.part_of is not Cause.SYSTEM or whole is None or whole.seconds * found.seconds <= 0:
        return ""
    kind = "extra" if whole.seconds > 0 else "saved"
    return f"{_percent(found.share(term, whole.seconds))} of the {kind} system time, "


def _figures(found: Account, term: Term) -> str:
    parts = [f"{time(term.seconds)} of {time(found.seconds)}"]
    if term.interval is not None:
        low, high = term.interval
        parts[0] += f", {level(stats.CONFIDENCE)} interval {time(low)} to {time(high)}"
    sides = [
        side.events.get(term.cause) for side in (found.baseline_evidence, found.target_evidence)
    ]
    if sides[0] and sides[1]:
        before, after = (f"{three_digits(e.count)} at {time(e.unit_seconds)}" for e in sides if e)
        parts.append(f"{after} against {before}")
    return "; ".join(parts)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.0f} %"


def account_document(found: Account | None) -> dict[str, Any] | None:
    """`account` of a comparison in summary.json."""
    if found is None:
        return None
    return {
        "baselineSeconds": found.baseline_seconds,
        "targetSeconds": found.target_seconds,
        "seconds": found.seconds,
        "terms": [
            {
                "cause": term.cause.value,
                "partOf": term.part_of and term.part_of.value,
                "baselineSeconds": term.baseline_seconds,
                "targetSeconds": term.target_seconds,
                "seconds": term.seconds,
                "interval": bounds(term.interval),
                "share": found.share(term),
            }
            for term in found.terms
        ],
        "notMeasured": [one.value for one in found.not_measured],
        "evidence": {
            "baseline": _evidence(found.baseline_evidence),
            "target": _evidence(found.target_evidence),
        },
    }


def _evidence(side: Evidence) -> dict[str, Any]:
    return {
        "events": {
            name.value: {
                "count": side.events[name].count,
                "unitSeconds": side.events[name].unit_seconds,
            }
            for name in EVENTS
            if name in side.events
        },
        "unitCostSeconds": dict(side.unit_costs),
        "readBytes": {
            "database": side.io.database,
            "target": side.io.target,
            "host": side.io.host,
        },
        "magnification": side.magnification,
        "hypervisorCpuSeconds": side.hypervisor_seconds,
    }
