"""Cells: the points of the experiment. No I/O."""

from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec


@dataclass(frozen=True, order=True)
class Cell:
    """One point of the experiment: a workload and the values of its axes.

    `point` holds (axis, value) pairs in a fixed order; it is empty for a workload with one point.
    """

    workload: str
    point: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The point alone, such as `connection=PerQuery`; empty when the workload has one point."""
        return ",".join(f"{axis}={value}" for axis, value in self.point)

    @property
    def key(self) -> str:
        """Workload and point: unique within a benchmark."""
        return f"{self.workload}/{self.name}" if self.point else self.workload

    def value(self, axis: str, default: str) -> str:
        """The cell's value on an axis, or the default where the workload has no such axis."""
        return dict(self.point).get(axis, default)


def cells(spec: DBBenchmarkSpec) -> tuple[Cell, ...]:
    """All cells, in the order of the spec."""
    found: list[Cell] = []
    for workload in spec.workloads:
        connections = workload.tpch.connection if workload.tpch else []
        if len(connections) > 1:
            found += [
                Cell(workload.name, (("connection", connection.value),))
                for connection in connections
            ]
        else:
            found.append(Cell(workload.name))
    return tuple(found)
