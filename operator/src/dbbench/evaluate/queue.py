"""Which benchmarks may have their nodes now: one on each node, in the order of creation. No I/O.

Everything follows from the DBBenchmarks and the nodes that there are, so an operator that starts
anew finds the same queue. A benchmark takes all of its nodes at once, so that no two ever wait for
each other, and never before one that was created earlier and waits for one of the same nodes, so
that many small ones cannot keep a large one waiting for ever.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import Any

from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.placement import NodePlacement, Occupancy, Placement
from dbbench.api.status import ConditionStatus, ConditionType, DBBenchmarkStatus
from dbbench.evaluate.state import Manifest, labels_of
from dbbench.evaluate.tenure import Wait, holds

# Sorts after every time that an API server writes.
_LATEST = "~"


class Standing(StrEnum):
    """What a benchmark is to the others. `BLOCKED` cannot start yet, and keeps nobody waiting."""

    HOLDS = "Holds"
    WAITS = "Waits"
    BLOCKED = "Blocked"


@dataclass(frozen=True)
class Claim:
    """Nodes that one role of a benchmark may be put on; `selector` as sorted pairs."""

    selector: tuple[tuple[str, str], ...]
    shared: bool


@dataclass(frozen=True)
class Contender:
    """A benchmark that has its nodes or wants them. `name` is namespace/name."""

    name: str
    created: str
    standing: Standing
    claims: tuple[Claim, ...]


def contender(body: Manifest) -> Contender | None:
    """The part that a DBBenchmark plays; None where it wants no node, or cannot be read.

    What cannot be read is not run by this version either.
    """
    metadata = body["metadata"]
    try:
        placement = Placement.model_validate(body["spec"]["placement"])
        status = DBBenchmarkStatus.model_validate(_brief(body.get("status") or {}))
    except (ValidationError, LookupError):
        return None
    if metadata.get("deletionTimestamp") or status.completion_time is not None:
        return None
    if holds(status):
        standing = Standing.HOLDS
    elif body["spec"].get("suspend"):
        return None
    elif _is_blocked(status, metadata.get("generation", 0)):
        standing = Standing.BLOCKED
    else:
        standing = Standing.WAITS
    return Contender(
        f"{metadata['namespace']}/{metadata['name']}",
        metadata["creationTimestamp"],
        standing,
        tuple(_claim(role) for role in (placement.database, placement.of_driver)),
    )


def newcomer(
    benchmark: DBBenchmark, others: Iterable[Manifest], nodes: Sequence[Manifest] | None
) -> Wait | None:
    """What a benchmark that is created now would wait for; one of its own name is passed over."""
    name = f"{benchmark.metadata.namespace}/{benchmark.metadata.name}"
    roles = (benchmark.spec.placement.database, benchmark.spec.placement.of_driver)
    last = Contender(name, _LATEST, Standing.WAITS, tuple(_claim(role) for role in roles))
    found = [one for one in map(contender, others) if one is not None and one.name != name]
    return queue([*found, last], nodes).get(name)


def _brief(status: Manifest) -> Manifest:
    """Without the results: a queue of a thousand need not read them."""
    wanted = ("startTime", "completionTime", "reason", "conditions", "observedGeneration")
    return {key: status[key] for key in wanted if key in status}


def _is_blocked(status: DBBenchmarkStatus, generation: int) -> bool:
    stalled = any(
        condition.type == ConditionType.STALLED and condition.status is ConditionStatus.TRUE
        for condition in status.conditions
    )
    return stalled and status.observed_generation == generation


def _claim(role: NodePlacement) -> Claim:
    return Claim(tuple(sorted(role.node_selector.items())), role.occupancy is Occupancy.SHARED)


@dataclass
class _Line:
    """Who has one node and who waits for it. Sets of waiting benchmarks are bits of integers."""

    holders: list[tuple[str, bool]] = field(default_factory=list)
    waiting: list[tuple[str, bool]] = field(default_factory=list)
    before_exclusive: int = 0
    before_shared: int = 0

    def before(self, shared: bool) -> int:
        """Those that one who comes now waits for, and those that they wait for."""
        return self.before_shared if shared else self.before_exclusive

    def blocker(self, shared: bool) -> tuple[str, bool] | None:
        """Whom one who comes now waits for, and whether that one has the node."""
        held = ((name, True, other) for name, other in self.holders)
        asked = ((name, False, other) for name, other in reversed(self.waiting))
        for name, has_it, other in chain(held, asked):
            if not (shared and other):
                return name, has_it
        return None

    def join(self, name: str, shared: bool, ahead: int) -> None:
        """Wait in this line, behind `ahead`; the bit of `name` is in it."""
        self.waiting.append((name, shared))
        self.before_exclusive |= ahead
        if not shared:
            self.before_shared |= ahead


def queue(contenders: Iterable[Contender], nodes: Sequence[Manifest] | None) -> dict[str, Wait]:
    """What each benchmark waits for, by its name; those that may run now are not in it.

    `nodes` None: unknown, because the operator may not read them. Two selectors then mean the same
    node unless they ask for different values of one label.
    """
    ordered = sorted(contenders, key=lambda one: (one.created, one.name))
    where = _places({claim.selector for one in ordered for claim in one.claims}, nodes)
    lines: dict[str, _Line] = {}
    for one in ordered:
        if one.standing is Standing.HOLDS:
            for place, shared in _wanted(one, where).items():
                lines.setdefault(place, _Line()).holders.append((one.name, shared))
    found: dict[str, Wait] = {}
    for index, one in enumerate(ordered):
        if one.standing is Standing.HOLDS:
            continue
        wanted = _wanted(one, where)
        there = [(place, lines.setdefault(place, _Line()), wanted[place]) for place in wanted]
        ahead = 0
        blockers = []
        for place, line, shared in there:
            ahead |= line.before(shared)
            if (blocker := line.blocker(shared)) is not None:
                blockers.append((place, *blocker))
        if blockers:
            place, name, held = next((b for b in blockers if b[2]), blockers[0])
            found[one.name] = Wait(ahead.bit_count() + 1, place, name, held)
        if one.standing is Standing.WAITS:
            for _, line, shared in there:
                line.join(one.name, shared, ahead | 1 << index)
    return found


def _wanted(one: Contender, where: Mapping[Any, tuple[str, ...]]) -> dict[str, bool]:
    """The places that a benchmark wants, and whether it shares them: if all its roles there do."""
    wanted: dict[str, bool] = {}
    for claim in one.claims:
        for place in where[claim.selector]:
            wanted[place] = wanted.get(place, True) and claim.shared
    return wanted


def _places(
    selectors: set[tuple[tuple[str, str], ...]], nodes: Sequence[Manifest] | None
) -> dict[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Places by selector, so that two selectors have one in common if they may mean one node."""
    if nodes is not None:
        return {
            selector: tuple(
                f"node {node['metadata']['name']}"
                for node in nodes
                if dict(selector).items() <= labels_of(node).items()
            )
            for selector in selectors
        }
    found: dict[tuple[tuple[str, str], ...], tuple[str, ...]] = {}
    for one in sorted(selectors):
        found[one] = tuple(
            "a node with " + " and ".join(_written(s) for s in sorted({one, other}))
            for other in sorted(selectors)
            if _may_meet(dict(one), dict(other))
        )
    return found


def _may_meet(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(other.get(key, value) == value for key, value in one.items())


def _written(selector: tuple[tuple[str, str], ...]) -> str:
    return ", ".join(f"{key}={value}" for key, value in selector)
