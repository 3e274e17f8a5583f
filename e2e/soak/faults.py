"""Kinds of fault, what a run may make of each, and when which one happens. Pure."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What is broken. The names are those of `--only`."""

    OPERATOR = "operator"
    API_SERVER = "apiserver"
    ETCD = "etcd"
    KUBELET = "kubelet"
    NODE = "node"
    DRIVER = "driver"
    DRIVER_POD = "driver-pod"
    DATABASE = "database"
    DATABASE_POD = "database-pod"
    GUEST_KILLED = "guest-killed"
    GUEST_HUNG = "guest-hung"
    CONFIG_MAP = "configmap"
    CHILD = "child"
    IMAGE = "image"
    DISK_FULL = "disk-full"


LEFT_OUT = {
    "clock stepped": "every process of the machine, and other people's work, shares its clock; "
    "Linux has no namespace for it",
}
"""What is not injected, and why."""

# These cost time and nothing else: whoever ran goes on, or is run again.
_HARMLESS = (Kind.OPERATOR, Kind.API_SERVER, Kind.ETCD, Kind.CONFIG_MAP)
_DATABASE_LOST = frozenset({
    "DatabaseLost", "DatabaseUnreachable", "AgentUnreachable", "DatabaseError", "NoResult",
    "ResultLost", "DeadlineExceeded", "ContainerCrashing", "ContainerFailed", "NotReady",
    "TargetNotReady", "SchemaMissing", "SchemaLocked", "CheckFailed",
    # A server that is killed while its image makes the users has none.
    "AuthenticationFailed",
})  # fmt: skip
_DRIVER_LOST = frozenset({"NoResult", "ResultLost", "JobFailed", "SchemaLocked"})
_AWAY = frozenset({
    "JobNotStarted", "TargetNotReady", "TargetNotStopped", "Unschedulable", "ContainerNotStarted",
    "DiskNotMade", "FailedMount", "NodeNotReady", "FailedScheduling",
})  # fmt: skip

ALLOWED: dict[Kind, frozenset[str]] = {
    **dict.fromkeys(_HARMLESS, frozenset()),
    Kind.KUBELET: _DATABASE_LOST | _DRIVER_LOST | _AWAY,
    Kind.NODE: _DATABASE_LOST | _DRIVER_LOST | _AWAY,
    Kind.DRIVER: _DRIVER_LOST,
    Kind.DRIVER_POD: _DRIVER_LOST,
    Kind.DATABASE: _DATABASE_LOST,
    Kind.DATABASE_POD: _DATABASE_LOST,
    Kind.GUEST_KILLED: _DATABASE_LOST | {"GuestEnded"},
    Kind.GUEST_HUNG: _DATABASE_LOST | {"TargetNotStopped"},
    # What somebody deletes or scales down is made anew; only the password cannot be.
    Kind.CHILD: (_DATABASE_LOST | _DRIVER_LOST | _AWAY | {"SecretNotFound"}) - {"TargetNotReady"},
    Kind.IMAGE: frozenset({"ImagePullFailed", "ErrImageNeverPull", "ErrImagePull"}),
    Kind.DISK_FULL: _DATABASE_LOST | {"DatabaseOutOfSpace", "LoadFailed"},
}
"""Reasons with which a run may fail after a fault; none: it must succeed."""

GUESTS = frozenset({Kind.GUEST_KILLED, Kind.GUEST_HUNG})


class Shape(StrEnum):
    """What a run is made of."""

    PODS = "pods"
    GUEST = "guest"
    MEMORY = "memory"


@dataclass(frozen=True)
class Fault:
    """A fault, and when: the share of an undisturbed run's time that has passed."""

    kind: Kind
    instant: float


@dataclass(frozen=True)
class Plan:
    """One run with the faults in it, in order."""

    shape: Shape
    faults: tuple[Fault, ...]

    @property
    def allowed(self) -> frozenset[str]:
        """Reasons with which it may fail."""
        return frozenset().union(*(ALLOWED[fault.kind] for fault in self.faults))


def plans(seed: int, count: int, kinds: Sequence[Kind], most: int = 2) -> Iterator[Plan]:
    """Runs with `count` faults together, at most `most` in each; every kind comes in its turn.

    The same seed gives the same runs.
    """
    chance = random.Random(seed)
    order: list[Kind] = []
    left = count
    while left:
        number = min(left, chance.choice((1, *range(1, most + 1))))
        chosen: list[Kind] = []
        for _ in range(number):
            if not order:
                order = chance.sample(list(kinds), len(kinds))
            chosen.append(order.pop())
        instants = sorted(chance.uniform(0.02, 0.95) for _ in chosen)
        left -= number
        yield Plan(
            _shape(chosen, chance),
            tuple(Fault(kind, at) for kind, at in zip(chosen, instants, strict=True)),
        )


def _shape(chosen: Sequence[Kind], chance: random.Random) -> Shape:
    if GUESTS & set(chosen):
        return Shape.GUEST
    if Kind.DISK_FULL in chosen:
        return Shape.MEMORY
    return chance.choice((Shape.PODS, Shape.PODS, Shape.PODS, Shape.GUEST))
