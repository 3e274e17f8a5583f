"""Cells: the points of the experiment. No I/O."""

from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Intervention
from dbbench.api.workload import CacheState, Connection, TpchWorkload, Workload
from dbbench.plan.sweep import Point, swept

# The axes, in the order in which they stand in a cell's name; those of the sweep come last.
CACHE = "cache"
CONNECTION = "connection"
CONFIRM = "confirm"
"""Axis of what is measured after the trials, to test a cause: its value is the intervention."""

_NOT_SWEPT = (CACHE, CONNECTION, CONFIRM)


@dataclass(frozen=True, order=True)
class Cell:
    """One point of the experiment: a workload and the values of its axes.

    `point` holds (axis, value) pairs in a fixed order; it is empty for a workload with one point.
    """

    workload: str
    point: Point = ()

    @property
    def name(self) -> str:
        """The point alone, such as `connection=PerQuery`; empty when the workload has one point."""
        return ",".join(f"{axis}={value}" for axis, value in self.point)

    @property
    def key(self) -> str:
        """Workload and point: unique within a benchmark."""
        return f"{self.workload}/{self.name}" if self.point else self.workload

    @property
    def swept(self) -> bool:
        """Whether the cell is a point of the sweep."""
        return any(axis not in _NOT_SWEPT for axis, _ in self.point)

    @property
    def intervention(self) -> Intervention | None:
        """What is changed here to test a cause; None in the cells of the spec."""
        value = dict(self.point).get(CONFIRM)
        return None if value is None else Intervention(value)

    def value(self, axis: str, default: str) -> str:
        """The cell's value on an axis, or the default where the workload has no such axis."""
        return dict(self.point).get(axis, default)


def cells(spec: DBBenchmarkSpec) -> tuple[Cell, ...]:
    """All cells, in the order of the spec: the points of the sweep within those of a workload."""
    return tuple(
        Cell(workload.name, point + at)
        for workload in spec.workloads
        for point in _points(workload)
        for at in swept(spec, workload)
    )


def confirms(name: str) -> bool:
    """Whether a cell of that name tests a cause, and is none of the spec."""
    return any(part.startswith(f"{CONFIRM}=") for part in name.split(","))


def _points(workload: Workload) -> list[Point]:
    """The points of a workload without the sweep; only what has several values is an axis.

    A cold query has a connection of its own whatever `connection` says: Cold is one cell.
    """
    if workload.tpch is None:
        return [()]
    states, connections = workload.tpch.cache or [], workload.tpch.connection
    by_connection: list[Point] = (
        [((CONNECTION, connection.value),) for connection in connections]
        if len(connections) > 1
        else [()]
    )
    if len(states) < 2:
        return [()] if states == [CacheState.COLD] else by_connection
    return [
        ((CACHE, state.value), *point)
        for state in states
        for point in ([()] if state is CacheState.COLD else by_connection)
    ]


def cache_state(workload: Workload, cell: Cell) -> CacheState | None:
    """What the caches must hold in this cell; None where nothing is asked for."""
    return _state(workload.tpch, cell) if workload.tpch else None


def _state(tpch: TpchWorkload, cell: Cell) -> CacheState | None:
    return CacheState(cell.value(CACHE, tpch.cache[0].value)) if tpch.cache else None


def connection(tpch: TpchWorkload, cell: Cell) -> Connection:
    """How the queries of this cell reach the server; a cold one has a connection of its own."""
    if _state(tpch, cell) is CacheState.COLD:
        return Connection.PER_QUERY
    if cell.intervention is Intervention.SHARED_CONNECTION:
        return Connection.SHARED
    return Connection(cell.value(CONNECTION, tpch.connection[0].value))
