"""Signs that something else than the database under test shaped a trial. No I/O.

They are read on the node: from the pod's own agent, and from the one beside the hypervisor for a
guest. What a guest sees of waiting for its CPUs is a cost of virtualization, and no disturbance.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dbbench.explain.counters import Document, growth, number, part, parts, seconds_between


@dataclass(frozen=True)
class Limits:
    """Greatest shares of the measured window, 0 to 1, that are no disturbance yet."""

    steal: float
    throttling: float
    memory_stall: float


def disturbances(
    document: Document, limits: Limits, *, guest: bool, exclusive_cpus: bool
) -> Iterator[str]:
    """What was beyond its limit, in words; nothing where no agent tells.

    Throttling counts only on exclusive CPUs, which have no quota: elsewhere it is how the limit
    that was asked for works.
    """
    target = part(document, "target")
    node = part(target, "host") if guest else target
    before, after = part(node, "before"), part(node, "after")
    window = seconds_between(before, after)
    if not window > 0:
        return
    grown = growth(before, after)
    allowed = part(node, "facts").get("cpusAllowed")
    cpus = len(allowed) if isinstance(allowed, list) and allowed else 1
    cpu = part(grown, "cpu")
    shares = [
        ("of the time, the node's CPUs were taken away from it (steal)",
         number(cpu, "stealSeconds"), window * cpus, limits.steal),
        ("of the time, what runs the database was stalled for memory",
         number(part(part(grown, "pressure"), "memory"), "fullSeconds"), window,
         limits.memory_stall),
    ]  # fmt: skip
    if exclusive_cpus:
        shares.append(
            ("of the time, exclusive CPUs were throttled",
             number(cpu, "throttledSeconds"), window, limits.throttling)
        )  # fmt: skip
    for what, seconds, whole, limit in shares:
        if seconds is not None and seconds > limit * whole:
            yield f"{100 * seconds / whole:.1f} % {what}; {100 * limit:g} % are allowed"


def changed_plans(before: Document, after: Document) -> list[str]:
    """Names of the operations whose plan is another one than in an earlier trial.

    Queries with other parameters may have other plans: nothing is said of them.
    """
    drawn = part(after, "parameters").get("parameters") != "validation"
    if drawn and before.get("seed") != after.get("seed"):
        return []
    known = _fingerprints(before)
    return [name for name, plan in _fingerprints(after).items() if known.get(name, plan) != plan]


def _fingerprints(document: Document) -> dict[str, str]:
    return {
        str(operation.get("name")): fingerprint
        for operation in parts(document, "operations")
        if isinstance(fingerprint := operation.get("planFingerprint"), str)
    }
