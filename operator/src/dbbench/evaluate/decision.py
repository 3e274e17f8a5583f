"""Decision: what is to be done about a benchmark now. A closed vocabulary of plain data. No I/O."""

from dataclasses import dataclass
from typing import Any

from dbbench.api.status import DBBenchmarkStatus
from dbbench.evaluate.state import Ref
from dbbench.results.record import LoadRecord, TrialRecord

Manifest = dict[str, Any]

# How long to wait before looking again, in seconds, when no event wakes the reconciler earlier.
SOON = 1.0
WAITING = 5.0
# While a load or trial runs: its job tells of its end, and has a deadline.
RUNNING = 30.0
BLOCKED = 15.0
# The next one is told when a node is given back; the others learn their new positions.
QUEUED = 30.0


@dataclass(frozen=True)
class Decision:
    """Carried out in this order: store, then create, then apply and delete, then the status.

    `store` comes first so that a job is never deleted before its result is safe. What is applied
    and deleted is sent at once: policies first, passwords last. `create` holds objects that are
    made once and never overwritten (and `create_credentials` a password).
    `expired`: the benchmark itself is deleted, and nothing else is done.
    """

    status: DBBenchmarkStatus
    store: tuple[TrialRecord | LoadRecord, ...] = ()
    create_credentials: bool = False
    create: tuple[Manifest, ...] = ()
    apply: tuple[Manifest, ...] = ()
    delete: tuple[Ref, ...] = ()
    expired: bool = False
    requeue_after: float | None = WAITING
