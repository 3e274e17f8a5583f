"""Whether a benchmark has its nodes, and what it waits for while it has not. No I/O."""

from dataclasses import dataclass

from dbbench.api.status import DBBenchmarkStatus, QueuePlace

QUEUED = "Queued"
SUSPENDED = "Suspended"
# A run that has begun and has one of these reasons has given its nodes back.
_RELEASED = (QUEUED, SUSPENDED)
_LONGEST = 1024


@dataclass(frozen=True)
class Wait:
    """Why a benchmark waits. `position` 1 is next; `holds`: it has the node, else it is before."""

    position: int
    node: str
    benchmark: str
    holds: bool

    @property
    def message(self) -> str:
        """One sentence for people."""
        why = "is held by" if self.holds else "was asked for earlier by"
        return f"position {self.position} in the queue: {self.node} {why} {self.benchmark}"

    @property
    def place(self) -> QueuePlace:
        """As the status has it."""
        node = self.node[:_LONGEST]
        return QueuePlace(position=self.position, node=node, benchmark=self.benchmark)


def holds(status: DBBenchmarkStatus) -> bool:
    """Whether a benchmark has its nodes: from its admission until it ends or is suspended."""
    return (
        status.start_time is not None
        and status.completion_time is None
        and status.reason not in _RELEASED
    )
