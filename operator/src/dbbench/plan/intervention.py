"""Interventions: the single changes that test the cause of a slowdown. No I/O.

docs/decisions/0010-causes-are-tested-after-the-trials.md says why these.
"""

from collections.abc import Mapping

from dbbench.api.machine import DiskCache, Runtime
from dbbench.api.quantities import quantity
from dbbench.api.resources import Medium
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Intervention
from dbbench.api.target import Target
from dbbench.api.workload import CacheState, Connection
from dbbench.plan.cells import CONFIRM, Cell, cache_state, cells, connection
from dbbench.plan.variant import varied

CHANGES = {
    Intervention.SHARED_CONNECTION: "connection: Shared",
    Intervention.DATA_DISK_CACHE_NONE: "virtualMachine.dataDisk.cache: none",
    Intervention.DATA_DISK_READ_AHEAD_ZERO: 'virtualMachine.dataDisk.readAhead: "0"',
}
"""What each of them changes, as a spec writes it."""

_OF_DISKS: Mapping[Intervention, Mapping[str, object]] = {
    Intervention.DATA_DISK_CACHE_NONE: {"cache": DiskCache.NONE},
    Intervention.DATA_DISK_READ_AHEAD_ZERO: {"read_ahead": "0"},
}

REDEPLOYED = frozenset((CONFIRM, intervention.value) for intervention in _OF_DISKS)
"""Values of the axis that need deployments of their own; the others are only other arguments."""


def interventions(spec: DBBenchmarkSpec, cell: Cell, target: str) -> tuple[Intervention, ...]:
    """Those that change something for the target in a cell of the spec."""
    spec = varied(spec, cell.point)
    workload, changed = spec.workload(cell.workload), spec.target(target)
    warm = cache_state(workload, cell) is not CacheState.COLD
    found = []
    if workload.tpch and warm and connection(workload.tpch, cell) is Connection.PER_QUERY:
        found.append(Intervention.SHARED_CONNECTION)
    if workload.local is None and spec.target(spec.baseline).deployed:
        found += [one for one in _OF_DISKS if _changes(spec, changed, one)]
    return tuple(found)


def confirming(cell: Cell, intervention: Intervention) -> Cell:
    """The cell that tests the cause of a slowdown in a cell of the spec."""
    return Cell(cell.workload, (*cell.point, (CONFIRM, intervention.value)))


def confirming_places(spec: DBBenchmarkSpec) -> dict[Cell, list[str]]:
    """All cells that may be measured after those of the spec, each with the targets that may be.

    The baseline is the first of them. Empty without `confirm`.
    """
    found: dict[Cell, list[str]] = {}
    for cell in cells(spec) if spec.confirm else ():
        for target in spec.targets:
            if target.name != spec.baseline:
                for intervention in interventions(spec, cell, target.name):
                    places = found.setdefault(confirming(cell, intervention), [spec.baseline])
                    places.append(target.name)
    return found


def intervened(spec: DBBenchmarkSpec, intervention: Intervention) -> DBBenchmarkSpec:
    """The spec with one thing changed in every target that has it: no other change is needed."""
    targets = [
        _with_disk(target, intervention) if _changes(spec, target, intervention) else target
        for target in spec.targets
    ]
    return spec.model_copy(update={"targets": targets})


def _changes(spec: DBBenchmarkSpec, target: Target, intervention: Intervention) -> bool:
    """Whether the target's data disk is otherwise without it."""
    machine = target.virtual_machine
    if machine is None or spec.database.storage.medium is not Medium.DISK:
        return False
    disk = machine.data_disk
    if intervention is Intervention.DATA_DISK_READ_AHEAD_ZERO:
        return disk.read_ahead is None or quantity(disk.read_ahead) != 0
    if intervention is not Intervention.DATA_DISK_CACHE_NONE:
        return False
    if machine.runtime is Runtime.QEMU:
        return disk.cache is not DiskCache.NONE
    # KubeVirt's own choice is none, and so is dbbench's where there are cold cells.
    return disk.cache not in (None, DiskCache.NONE) and not spec.has_cold_cells


def _with_disk(target: Target, intervention: Intervention) -> Target:
    machine = target.virtual_machine
    if machine is None:
        return target
    disk = machine.data_disk.model_copy(update=_OF_DISKS[intervention])
    changed = machine.model_copy(update={"data_disk": disk})
    return target.model_copy(update={"virtual_machine": changed})
