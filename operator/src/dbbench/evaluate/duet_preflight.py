"""What the node is too small for when both targets run at the same time. No I/O."""

from collections.abc import Iterator, Mapping

from dbbench.api.machine import DiskVolume
from dbbench.api.quantities import cpus, quantity
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.evaluate.problem import Problem
from dbbench.targets.placement import DRIVER_MILLICPUS, exclusive_cpus, hugepages_in


def duet_problems(
    spec: DBBenchmarkSpec, node: str, allocatable: Mapping[str, str]
) -> Iterator[Problem]:
    """What both need together, where the node has enough for each alone."""
    if not spec.duet:
        return
    both = f"spec.trials.mode: Duet: {' and '.join(target.name for target in spec.targets)}"
    needed = float(sum(exclusive_cpus(spec.resources, target) for target in spec.targets))
    drivers = ""
    if spec.placement.driver.colocation:
        needed += len(spec.targets) * DRIVER_MILLICPUS / 1000
        drivers = " with their drivers"
    there = cpus(allocatable["cpu"])
    if needed > there:
        yield Problem(
            "InsufficientCPU",
            f"{both}{drivers} need {needed:g} exclusive CPUs at the same time, but node {node} has "
            f"{there:g} allocatable. Lower spec.resources.cpu, select a larger node, or write "
            "mode: Sequential.",
        )
    yield from _beyond(
        "InsufficientMemory",
        f"{both} need {len(spec.targets)} x {spec.resources.memory} (spec.resources.memory)",
        len(spec.targets) * quantity(spec.resources.memory),
        (node, "memory", allocatable.get("memory")),
    )
    if spec.resources.hugepages:
        page = spec.resources.hugepages.page_size.value
        huge = [hugepages_in(spec.resources, target) for target in spec.targets]
        yield from _beyond(
            "InsufficientHugepages",
            f"{both} need {' + '.join(huge)} in pages of {page} (spec.resources.hugepages)",
            sum(map(quantity, huge)),
            (node, f"hugepages-{page}", allocatable.get(f"hugepages-{page}", "0")),
        )
    on_node = [one for one in spec.targets if one.data_volume is DiskVolume.EMPTY_DISK]
    size = spec.database.storage.size
    yield from _beyond(
        "InsufficientDisk",
        f"{both} need {len(on_node)} x {size} (spec.database.storage.size) for their EmptyDisk",
        len(on_node) * quantity(size),
        (node, "ephemeral-storage", allocatable.get("ephemeral-storage")),
    )


def _beyond(
    reason: str, what: str, needed: int, there: tuple[str, str, str | None]
) -> Iterator[Problem]:
    node, resource, amount = there
    if amount is not None and needed > quantity(amount):
        yield Problem(
            reason,
            f"{what} at the same time, but node {node} has {amount} of {resource} allocatable. "
            "Select a larger node, or write mode: Sequential.",
        )
