"""What is missing before anything is deployed. No I/O.

Each problem names the field, the object and the way out.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from dbbench.api.machine import DiskVolume, Network, Runtime
from dbbench.api.placement import NodePlacement
from dbbench.api.quantities import cpus, quantity
from dbbench.api.resources import Medium
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.target import Target
from dbbench.evaluate.duet_preflight import duet_problems
from dbbench.evaluate.external_preflight import external_problems
from dbbench.evaluate.machine_preflight import machine_problems
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.scripts import script_problems
from dbbench.evaluate.state import Manifest, Served, State, labels_of
from dbbench.plan.deployment import at_point, deployment_points, largest_first, point_name
from dbbench.plan.sweep import Point
from dbbench.targets.placement import DRIVER_MILLICPUS, exclusive_cpus, hugepages_in

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def problems(state: State) -> tuple[Problem, ...]:
    """Everything that keeps the benchmark from starting; empty when nothing does."""
    spec = state.benchmark.spec
    return (
        *(() if state.nodes is None else _nodes(spec, state.nodes)),
        *_at_points(state, _deployments),
        *_runtimes(spec, state.kubevirt),
        *_cloud_native_pg(spec, state.cloud_native_pg),
        *external_problems(state),
        *(() if state.scripts is None else script_problems(state.benchmark, state.scripts)),
    )


def _at_points(
    state: State, of: Callable[[State, DBBenchmarkSpec], Iterator[Problem]]
) -> Iterator[Problem]:
    """Problems of what is deployed at the points of a sweep: each once, with one of its points.

    One that there is at all points is that of the spec itself, and has none.
    """
    points = deployment_points(state.benchmark.spec)
    found: dict[Problem, list[Point]] = {}
    for point in points:
        spec = at_point(state.benchmark.spec, point)
        here = replace(state, benchmark=state.benchmark.model_copy(update={"spec": spec}))
        for problem in of(here, spec):
            found.setdefault(problem, []).append(point)
    for problem, there in found.items():
        everywhere = len(there) == len(points)
        at = "" if everywhere else f"at {point_name(there[0])} of spec.sweep: "
        yield Problem(problem.reason, at + problem.message)


def _deployments(state: State, spec: DBBenchmarkSpec) -> Iterator[Problem]:
    """What no target of the spec can be deployed without."""
    if state.storage_classes is not None:
        yield from _storage(spec, state.storage_classes)
    yield from machine_problems(state, _only_node(spec, state.nodes))
    if not state.privileged_targets:
        yield from _privileged(spec)


def matching(placement: NodePlacement, nodes: tuple[Manifest, ...]) -> list[Manifest]:
    """Nodes that the placement's selector matches."""
    return [node for node in nodes if placement.node_selector.items() <= labels_of(node).items()]


def _only_node(spec: DBBenchmarkSpec, nodes: tuple[Manifest, ...] | None) -> Manifest | None:
    """The database's node; None where it is unknown or not one."""
    found = matching(spec.placement.database, nodes or ())
    return found[0] if len(found) == 1 else None


def _nodes(spec: DBBenchmarkSpec, nodes: tuple[Manifest, ...]) -> Iterator[Problem]:
    for role, placement in (
        ("database", spec.placement.database),
        ("driver", spec.placement.of_driver),
    ):
        field = f"spec.placement.{role}.nodeSelector"
        wanted = ", ".join(f"{key}={value}" for key, value in placement.node_selector.items())
        found = matching(placement, nodes)
        if not found:
            names = ", ".join(sorted(node["metadata"]["name"] for node in nodes)) or "none"
            yield Problem(
                "NodeNotFound",
                f"{field}: no node has the labels {wanted}; the cluster's nodes are: {names}. "
                "Correct the selector or label a node with `kubectl label node`.",
            )
        elif role == "database":
            yield from _database_node(spec, field, wanted, found)


def _database_node(
    spec: DBBenchmarkSpec, field: str, wanted: str, found: list[Manifest]
) -> Iterator[Problem]:
    if len(found) > 1:
        names = ", ".join(sorted(node["metadata"]["name"] for node in found))
        yield Problem(
            "NodeNotUnique",
            f"{field}: {wanted} matches {len(found)} nodes ({names}), so targets could be measured "
            "on different machines. Select one, for example with kubernetes.io/hostname.",
        )
        return
    allocatable = found[0]["status"]["allocatable"]
    name = found[0]["metadata"]["name"]
    kept: dict[str, Problem] = {}
    for point in largest_first(deployment_points(spec)):
        at = f"at {point_name(point)} of spec.sweep: " if point else ""
        for problem in _room(at_point(spec, point), name, allocatable):
            key = problem.reason if point else problem.message
            kept.setdefault(key, Problem(problem.reason, at + problem.message))
    yield from kept.values()


def _room(spec: DBBenchmarkSpec, name: str, allocatable: dict[str, str]) -> Iterator[Problem]:
    """What the node is too small for; of a sweep, at one point."""
    alone = [
        *_cpus_and_memory(spec, name, allocatable),
        *_instances(spec, name, allocatable),
        *_hugepages(spec, name, allocatable),
        *_empty_disks(spec, name, allocatable),
    ]
    yield from alone or duet_problems(spec, name, allocatable)


def _cpus_and_memory(
    spec: DBBenchmarkSpec, name: str, allocatable: dict[str, str]
) -> Iterator[Problem]:
    there = cpus(allocatable["cpu"])
    if spec.resources.cpu > there:
        yield Problem(
            "InsufficientCPU",
            f"spec.resources.cpu: {spec.resources.cpu} CPUs are asked for, but node {name} has "
            f"{there:g} allocatable. Lower the number or select a larger node.",
        )
    elif spec.placement.driver.colocation and spec.resources.cpu + DRIVER_MILLICPUS / 1000 > there:
        yield Problem(
            "InsufficientCPU",
            f"spec.placement.driver.colocation: beside the database's {spec.resources.cpu} CPUs "
            f"the driver needs {DRIVER_MILLICPUS}m, but node {name} has {there:g} CPUs "
            "allocatable. Lower spec.resources.cpu, or give the driver a node of its own with "
            "nodeSelector.",
        )
    if quantity(spec.resources.memory) > quantity(allocatable["memory"]):
        yield Problem(
            "InsufficientMemory",
            f"spec.resources.memory: {spec.resources.memory} is asked for, but node {name} has "
            f"{allocatable['memory']} allocatable. Lower it or select a larger node.",
        )


def _instances(spec: DBBenchmarkSpec, node: str, allocatable: dict[str, str]) -> Iterator[Problem]:
    """What several instances, or threads beside a guest, need together.

    CPUs that are shared may be overcommitted.
    """
    resources, there = spec.resources, cpus(allocatable["cpu"])
    for index, target in enumerate(spec.targets):
        exclusive = exclusive_cpus(resources, target)
        if target.databases == 1:
            if exclusive > resources.cpu:
                yield from _threads(spec, target, exclusive, node, there)
            continue
        field = "cloudNativePG.instances" if target.cloud_native_pg else "instances"
        what = f"spec.targets[{index}].{field}: {target.databases} instances of {target.name!r}"
        needed = float(target.databases * exclusive if exclusive else resources.cpu)
        drivers = ""
        if spec.placement.driver.colocation:
            needed += target.databases * DRIVER_MILLICPUS / 1000
            drivers = " with their drivers"
        if needed > there:
            yield Problem(
                "InsufficientCPU",
                f"{what}{drivers} need {needed:g}{' exclusive' if exclusive else ''} CPUs, but "
                f"node {node} has {there:g} allocatable. Lower instances or spec.resources.cpu, "
                "select a larger node, or write spec.resources.dedicatedCPUs: false to overcommit "
                "its CPUs.",
            )
        memory = target.databases * quantity(resources.memory)
        if memory > quantity(allocatable["memory"]):
            yield Problem(
                "InsufficientMemory",
                f"{what} need {target.databases} x {resources.memory}, but node {node} has "
                f"{allocatable['memory']} allocatable. Lower instances or spec.resources.memory, "
                "or select a larger node.",
            )


def _threads(
    spec: DBBenchmarkSpec, target: Target, exclusive: int, node: str, there: float
) -> Iterator[Problem]:
    """A guest whose emulator or I/O threads have CPUs of their own."""
    driver = DRIVER_MILLICPUS / 1000 if spec.placement.driver.colocation else 0
    if spec.resources.cpu + driver <= there < exclusive + driver:
        yield Problem(
            "InsufficientCPU",
            f"virtualMachine of target {target.name!r}: with isolateEmulatorThread and the threads "
            f"of ioThreads{' and the driver' if driver else ''} it needs {exclusive + driver:g} "
            f"CPUs, but node {node} has {there:g} allocatable. Do without them, lower "
            "spec.resources.cpu, or select a larger node.",
        )


def _empty_disks(
    spec: DBBenchmarkSpec, node: str, allocatable: dict[str, str]
) -> Iterator[Problem]:
    """An EmptyDisk grows on the node's ephemeral storage; where that is full, pods are evicted."""
    there = allocatable.get("ephemeral-storage")
    size = spec.database.storage.size
    for index, target in enumerate(spec.targets):
        if target.data_volume is not DiskVolume.EMPTY_DISK or there is None:
            continue
        if target.instances * quantity(size) > quantity(there):
            count = f"{target.instances} x " if target.instances > 1 else ""
            yield Problem(
                "InsufficientDisk",
                f"spec.targets[{index}].virtualMachine.dataDisk.volume: EmptyDisk needs {count}"
                f"{size} (spec.database.storage.size), but node {node} has {there} of ephemeral "
                "storage allocatable. Lower the size, or write another volume.",
            )


def _hugepages(spec: DBBenchmarkSpec, node: str, allocatable: dict[str, str]) -> Iterator[Problem]:
    """A pod needs the database's huge pages alone, a guest as many as it has memory."""
    wanted = spec.resources.hugepages
    if wanted is None:
        return
    page = wanted.page_size.value
    most = max(
        spec.targets,
        key=lambda target: target.databases * quantity(hugepages_in(spec.resources, target)),
    )
    needed = hugepages_in(spec.resources, most)
    there = allocatable.get(f"hugepages-{page}", "0")
    if most.databases * quantity(needed) <= quantity(there):
        return
    count = -(-most.databases * quantity(needed) // quantity(page))
    kib = quantity(page) // 1024
    what = "a guest's memory" if most.virtual_machine else "the database"
    if most.databases > 1:
        what = f"each of {most.databases} instances of {most.name!r}"
    yield Problem(
        "InsufficientHugepages",
        f"spec.resources.hugepages: {what} needs {needed} in pages of {page}, but node {node} has "
        f"{there} allocatable. Set them aside on the node with `echo {count} > "
        f"/sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages` and restart its kubelet.",
    )


def _storage(spec: DBBenchmarkSpec, classes: tuple[Manifest, ...]) -> Iterator[Problem]:
    if spec.database.storage.medium is Medium.MEMORY and not any(
        target.boots_image for target in spec.targets
    ):
        # Not even a root disk.
        return
    names = sorted(item["metadata"]["name"] for item in classes)
    listed = ", ".join(names) or "none"
    wanted = spec.database.storage.storage_class_name
    if wanted is not None:
        if wanted not in names:
            yield Problem(
                "StorageClassNotFound",
                f"spec.database.storage.storageClassName: StorageClass {wanted!r} does not exist; "
                f"the cluster's classes are: {listed}.",
            )
    elif not any(
        (item["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true" for item in classes
    ):
        yield Problem(
            "StorageClassNotFound",
            "spec.database.storage.storageClassName is not set and the cluster has no default "
            f"StorageClass; set it to one of: {listed}.",
        )


def _runtimes(spec: DBBenchmarkSpec, kubevirt: bool) -> Iterator[Problem]:
    for index, target in enumerate(spec.targets):
        machine = target.virtual_machine
        if machine and machine.runtime is Runtime.KUBEVIRT and not kubevirt:
            yield Problem(
                "KubeVirtNotInstalled",
                f"spec.targets[{index}].virtualMachine.runtime: target {target.name!r} asks for "
                "KubeVirt, but the cluster does not serve kubevirt.io/v1. Install KubeVirt, or "
                "write QEMU or Auto.",
            )


def _cloud_native_pg(spec: DBBenchmarkSpec, served: Served) -> Iterator[Problem]:
    for index, target in enumerate(spec.targets):
        if target.cloud_native_pg is None or served is Served.YES:
            continue
        what = f"spec.targets[{index}].cloudNativePG: target {target.name!r}"
        if served is Served.NO:
            yield Problem(
                "CloudNativePGNotInstalled",
                f"{what} needs CloudNativePG, but the cluster does not serve "
                "postgresql.cnpg.io/v1. Install it with `kubectl apply --server-side -f "
                "cnpg-VERSION.yaml`, the file of a release of cloudnative-pg/cloudnative-pg; or "
                "remove the target.",
            )
        else:
            yield Problem(
                "CloudNativePGNotAllowed",
                f"{what} needs an operator that may make clusters of postgresql.cnpg.io, which "
                "this one may not. Allow it with `helm upgrade ... --set "
                "cloudNativePG.enabled=true`; or remove the target.",
            )


def _privileged(spec: DBBenchmarkSpec) -> Iterator[Problem]:
    for index, target in enumerate(spec.targets):
        if target.host is not None:
            yield Problem(
                "PrivilegedTargetsDisabled",
                f"spec.targets[{index}].host: target {target.name!r} would run in the node's own "
                "namespaces, which this operator does not do. Allow it with the chart's value "
                "privilegedTargets.enabled=true, in a namespace whose Pod Security is privileged; "
                "or remove the target.",
            )
        if target.data_volume is DiskVolume.HOST_DISK:
            yield Problem(
                "PrivilegedTargetsDisabled",
                f"spec.targets[{index}].virtualMachine.dataDisk.volume: target {target.name!r} "
                "would write its data into a folder of the node, which this operator does not do. "
                "Allow it with the chart's value privilegedTargets.enabled=true, in a namespace "
                "whose Pod Security is privileged; or write another volume.",
            )
        if target.virtual_machine and target.virtual_machine.network is Network.TAP:
            yield Problem(
                "PrivilegedTargetsDisabled",
                f"spec.targets[{index}].virtualMachine.network: target {target.name!r} would make "
                "a tap device with the capability NET_ADMIN, which this operator does not allow. "
                "Allow it with the chart's value privilegedTargets.enabled=true, in a namespace "
                "whose Pod Security is privileged; or write User.",
            )
