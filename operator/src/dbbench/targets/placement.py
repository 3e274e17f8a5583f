"""Where pods run and what they may use there. No I/O."""

from collections.abc import Mapping

from dbbench.api.placement import NodePlacement
from dbbench.api.quantities import quantity
from dbbench.api.resources import Resources
from dbbench.api.target import Target
from dbbench.targets.context import Manifest

# Of the init containers: they copy a few files.
_INIT = {"cpu": "100m", "memory": "128Mi"}
_MIB = 2**20

# What QEMU needs beside the guest's memory: its own code and heap, device models, the page tables
# of the guest, and, where the guest's code is translated in software, the translation cache.
QEMU_OVERHEAD_MIB = 512

STOP_SECONDS = 120

DRIVER_MILLICPUS = 250


def on_node(placement: NodePlacement) -> Manifest:
    """Node selector and tolerations of a pod or of a virtual machine."""
    found: Manifest = {"nodeSelector": dict(placement.node_selector)}
    if placement.tolerations:
        found["tolerations"] = [toleration.document() for toleration in placement.tolerations]
    return found


def memory_mib(resources: Resources) -> int:
    """Memory of the guest, in whole MiB."""
    return max(1, quantity(resources.memory) // _MIB)


def hugepages_mib(resources: Resources) -> int:
    """Huge pages of the database, in MiB; 0 without."""
    return quantity(resources.hugepages.size) // _MIB if resources.hugepages else 0


def hugepages_in(resources: Resources, target: Target) -> str:
    """What of the node's huge pages an instance takes: a guest all of its memory; "0" without."""
    if resources.hugepages is None:
        return "0"
    return resources.memory if target.virtual_machine else resources.hugepages.size


def database(
    resources: Resources, target: Target, memory: str, others: Mapping[str, str]
) -> Manifest:
    """Requests and limits of what runs the database, in whole CPUs, and of `others`."""
    limits = {"cpu": str(resources.cpu), "memory": memory, **others}
    return {"requests": limits | {"cpu": requested_cpus(resources, target)}, "limits": limits}


def of_pod(resources: Resources, target: Target) -> Manifest:
    """CPUs and memory: huge pages, which Kubernetes counts apart, are a part of the memory."""
    if resources.hugepages is None:
        return database(resources, target, resources.memory, {})
    huge = hugepages_mib(resources)
    ordinary = memory_mib(resources) - huge
    return database(resources, target, f"{ordinary}Mi", of_hugepages(resources, huge))


def requested_cpus(resources: Resources, target: Target) -> str:
    """CPUs that an instance asks the scheduler for.

    Instances that share CPUs ask together for what one would, so that more vCPUs than the node has
    CPUs can be scheduled; all have the same weight.
    """
    if has_exclusive_cpus(resources, target) or target.databases == 1:
        return str(resources.cpu)
    return f"{resources.cpu * 1000 // target.databases}m"


def of_hugepages(resources: Resources, mib: int) -> dict[str, str]:
    """So many MiB as the Kubernetes resource of that page size; nothing without huge pages."""
    if resources.hugepages is None:
        return {}
    return {f"hugepages-{resources.hugepages.page_size.value}": f"{mib}Mi"}


def has_exclusive_cpus(resources: Resources, target: Target) -> bool:
    """Whether the target's CPUs are its own: as all targets', unless it says otherwise."""
    machine = target.virtual_machine
    own = machine.cpu.dedicated_cpu_placement if machine and machine.cpu else None
    return resources.dedicated_cpus if own is None else own


def exclusive_cpus(resources: Resources, target: Target) -> int:
    """CPUs of the node that nobody else may use while an instance runs; 0 where all are shared.

    KubeVirt gives a guest more than its vCPUs: one for an isolated emulator thread, and one for
    each thread of a supplemental pool.
    """
    if not has_exclusive_cpus(resources, target):
        return 0
    cpus, machine = resources.cpu, target.virtual_machine
    if machine is not None:
        cpus += 1 if machine.cpu and machine.cpu.isolate_emulator_thread else 0
        cpus += machine.io_threads.supplemental_pool_thread_count if machine.io_threads else 0
    return cpus


def init(dedicated: bool) -> Manifest:
    """Of an init container.

    The pod's QoS class counts init containers too. With dedicated CPUs they have limits, so that
    the pod is Guaranteed and the static CPU manager pins the main container. Without, they have
    none: the pod is Burstable and shares the node's CPUs, up to the main container's limit.
    """
    if dedicated:
        return {"requests": dict(_INIT), "limits": dict(_INIT)}
    return {"requests": dict(_INIT)}


def driver() -> Manifest:
    """Of the client program: no CPU limit, so that it is never throttled.

    Its pod is Burstable, so that the static CPU manager keeps it on CPUs that are nobody's own.
    """
    cpu = f"{DRIVER_MILLICPUS}m"
    return {"requests": {"cpu": cpu, "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
