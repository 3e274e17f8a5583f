"""What proves the cache states of trials: blocks and bytes that were read meanwhile. No I/O."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.workload import CacheState
from dbbench.plan import Cell, cache_state, cells
from dbbench.results.record import Outcome, TrialRecord

Range = tuple[int, int]


@dataclass(frozen=True)
class CacheEvidence:
    """Of one cell on one target: its measured trials, least and most of each, and of each instance.

    `blocks_read` are those that the server asked its kernel for; `read_bytes` came from the block
    devices of the database's own container or guest, `host_read_bytes` from those of the node
    below a guest. A range is None where nothing counted that.
    """

    cell: Cell
    target: str
    state: CacheState
    trials: int
    blocks_read: Range | None
    read_bytes: Range | None
    host_read_bytes: Range | None


def cache_evidence(
    spec: DBBenchmarkSpec, records: Sequence[TrialRecord]
) -> tuple[CacheEvidence, ...]:
    """For every cell with a cache state, in the order of the spec. Only measured trials count."""
    return tuple(_evidence(spec, records))


def _evidence(spec: DBBenchmarkSpec, records: Sequence[TrialRecord]) -> Iterator[CacheEvidence]:
    for cell in cells(spec):
        state = cache_state(spec.workload(cell.workload), cell)
        if state is None:
            continue
        for target in spec.measured_targets:
            measured = [
                record
                for record in records
                if (record.workload, record.cell) == (cell.workload, cell.name)
                and record.target == target.name
                and record.outcome is Outcome.MEASURED
            ]
            # Of several instances side by side each one has a proof of its own.
            results = [result for record in measured for result in record.documents]
            if results:
                yield CacheEvidence(
                    cell=cell,
                    target=target.name,
                    state=state,
                    trials=len(measured),
                    blocks_read=_range([_count(result.get("blocksRead")) for result in results]),
                    read_bytes=_range([_total(result, "readBytes") for result in results]),
                    host_read_bytes=_range([_total(result, "hostReadBytes") for result in results]),
                )


def _total(result: Mapping[str, Any], name: str) -> int | None:
    """Sum over the executions of all queries; None as soon as one has not been counted."""
    counts = [
        _count(execution.get(name))
        for operation in result.get("operations") or ()
        for execution in operation.get("executions") or ()
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _range(counts: Sequence[int | None]) -> Range | None:
    known = [count for count in counts if count is not None]
    return (min(known), max(known)) if known and len(known) == len(counts) else None
