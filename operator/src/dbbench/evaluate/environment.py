"""What the figures were measured on, from what agents and nodes reported. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dbbench.api.quantities import cpus
from dbbench.api.status import Environment, TargetEnvironment
from dbbench.evaluate.conditions import FALSE, TRUE, UNKNOWN, Finding
from dbbench.evaluate.preflight import matching
from dbbench.evaluate.state import State
from dbbench.plan.deployment import (
    at_point,
    deployment_points,
    largest_first,
    overcommitment,
)
from dbbench.results.driver_result import server_name
from dbbench.results.record import Outcome, TrialRecord
from dbbench.targets.build import runtime_of

_SHOWN = 5


def environment(state: State) -> Environment:
    """Nodes as found at the start (kept from then on), targets as their agents reported them."""
    spec, before = state.benchmark.spec, state.benchmark.status.environment
    facts = {
        target.name: latest_facts(state.trials, target.name) for target in spec.measured_targets
    }
    native = [one for found in facts.values() for one in found if not _emulated([one])]
    base = before or Environment()
    nodes = matching(spec.placement.database, state.nodes or ())
    if nodes:
        info = nodes[0]["status"]["nodeInfo"]
        drivers = matching(spec.placement.of_driver, state.nodes or ())
        base = base.model_copy(
            update={
                "database_node": nodes[0]["metadata"]["name"],
                "driver_node": ", ".join(n["metadata"]["name"] for n in drivers)[:253],
                "node_kernel": info["kernelVersion"],
                "container_runtime": info["containerRuntimeVersion"],
                "kubernetes_version": state.kubernetes_version or info["kubeletVersion"],
                "node_cpus": _node_cpus(nodes[0]),
            }
        )
    return base.model_copy(
        update={
            "cpu_model": str(native[0].get("cpuModel", "")) if native else base.cpu_model,
            "targets": [
                _target(state, target.name, facts[target.name], base)
                for target in spec.measured_targets
            ],
        }
    )


def _node_cpus(node: Mapping[str, Any]) -> int | None:
    capacity = (node["status"].get("capacity") or {}).get("cpu")
    return None if capacity is None else int(cpus(capacity))


def _target(
    state: State, name: str, facts: Sequence[Mapping[str, Any]], before: Environment
) -> TargetEnvironment:
    spec = state.benchmark.spec
    runtime = runtime_of(state.context, state.benchmark.spec.target(name)).value
    known = {target.name: target for target in before.targets}.get(name)
    current = known or TargetEnvironment(name=name, runtime=runtime)
    # With a sweep, at its largest point.
    point = largest_first(deployment_points(spec))[0]
    share = overcommitment(spec, name, point, before.node_cpus)
    current = current.model_copy(
        update={
            "instances": at_point(spec, point).target(name).instances,
            "overcommitment": "" if share is None else f"{100 * share:.4g}%",
        }
    )
    digest = _image_digest(state, name)
    if digest:
        current = current.model_copy(update={"image_digest": digest})
    if not spec.target(name).has_agent:
        # The server speaks for itself; nobody does for what it runs on.
        version = _server_version(state.trials, name)
        return current.model_copy(update={"server_version": version})
    if not facts:
        return current
    return current.model_copy(
        update={
            "kernel": str(facts[0].get("kernel", "")),
            "hypervisor": _hypervisor(state.trials, name),
            "emulated": _emulated(facts),
            "server_version": _server_version(state.trials, name),
            "server_digest": str((facts[0].get("serverExecutable") or {}).get("sha256", "")),
            "cpus_allowed": "; ".join(
                ",".join(str(cpu) for cpu in one.get("cpusAllowed") or []) for one in facts
            )[:1024],
        }
    )


def with_properties(
    found: Environment, profiles: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> Environment:
    """With each target's value of every property that has one; what was known before stays.

    By name, as the API server gives a map back: so what is computed again from a status is the same
    text.
    """
    targets = []
    for target in found.targets:
        known = target.properties | _scalars(profiles.get(target.name, {}))
        targets.append(target.model_copy(update={"properties": dict(sorted(known.items()))}))
    return found.model_copy(update={"targets": targets})


def _scalars(profile: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {name: values[""][:1024] for name, values in profile.items() if "" in values}


def _hypervisor(records: Iterable[TrialRecord], target: str) -> str:
    """As the CPU names it, and the version of QEMU where the agent beside it tells."""
    record = _latest(records, target)
    found = record.documents[0]["target"] if record else {}
    version = ((found.get("host") or {}).get("facts") or {}).get("qemuVersion")
    named = str((found.get("facts") or {}).get("hypervisor", ""))
    return f"{named}, QEMU {version}"[:253] if version else named


def _image_digest(state: State, target: str) -> str:
    """Digest of the database's image that the node reports: for the pod, or for the disk's Job.

    Of a containerDisk for the container in its virtual machine's pod that hands the disk over.
    """
    spec = state.benchmark.spec
    machine = spec.target(target).virtual_machine
    disk = machine.container_disk if machine else None
    image = disk.image if disk else spec.database.image
    for pod in state.pods_of(target=target):
        status = pod.get("status", {})
        kinds = ("containers", "initContainers")
        asked = {
            one["name"]: one["image"]
            for kind in kinds
            for one in pod.get("spec", {}).get(kind) or []
        }
        kinds = ("containerStatuses", "initContainerStatuses")
        for container in [one for kind in kinds for one in status.get(kind) or []]:
            named = (container.get("image"), asked.get(container.get("name")))
            if container.get("imageID") and image in named:
                return str(container["imageID"])
    return ""


def latest_facts(records: Iterable[TrialRecord], target: str) -> Sequence[Mapping[str, Any]]:
    """What the agent of each instance said in the target's latest valid trial; none before that."""
    record = _latest(records, target)
    if record is None:
        return []
    facts = [(one.get("target") or {}).get("facts") or {} for one in record.documents]
    return facts if all(facts) else []


def _latest(records: Iterable[TrialRecord], target: str) -> TrialRecord | None:
    """The target's latest valid trial with a result."""
    found = [
        record
        for record in records
        if record.target == target and record.outcome is Outcome.MEASURED and record.documents
    ]
    return max(found, key=lambda record: record.finished, default=None)


def _shared_cpus(state: State) -> Sequence[int]:
    """CPUs of the node that every target was allowed, as seen outside of guests."""
    allowed = []
    for target in state.benchmark.spec.targets:
        record = _latest(state.trials, target.name)
        for one in record.documents if record else ():
            found = one.get("target") or {}
            node = found.get("host") or {} if target.virtual_machine else found
            allowed.append(frozenset((node.get("facts") or {}).get("cpusAllowed") or ()))
    return sorted(frozenset.intersection(*allowed)) if len(allowed) > 1 else ()


def _server_version(records: Iterable[TrialRecord], target: str) -> str:
    for record in records:
        if record.target == target and (server := (record.result or {}).get("server")):
            return server_name(server)
    return ""


def _emulated(facts: Sequence[Mapping[str, Any]]) -> bool:
    return any(one.get("emulated", False) for one in facts)


def emulated_targets(state: State) -> frozenset[str]:
    """Targets whose guest said that it runs under software emulation."""
    return frozenset(
        target.name
        for target in state.benchmark.spec.measured_targets
        if _emulated(latest_facts(state.trials, target.name))
    )


def representative(state: State) -> Finding:
    """The condition Representative: False with an emulated target or a disturbed trial.

    So it is with a duet whose targets had CPUs in common.
    """
    emulated = sorted(emulated_targets(state))
    disturbed = sorted(record.trial for record in state.trials if record.counts_though_contaminated)
    messages = []
    if emulated:
        messages.append(
            f"no hardware virtualisation: {', '.join(emulated)} ran under software emulation. The "
            "figures show that the experiment works, not what a virtual machine costs; use a "
            "database node whose CPU has vmx or svm."
        )
    if disturbed:
        shown = ", ".join(disturbed[:_SHOWN]) + (", ..." if len(disturbed) > _SHOWN else "")
        messages.append(
            f"{len(disturbed)} of the trials that count were disturbed ({shown}), and no "
            "repetition was left; the report names the signs. Use quieter nodes, or raise "
            "spec.trials.contamination.maxRepeats."
        )
    shared = _shared_cpus(state) if state.benchmark.spec.duet else ()
    if shared:
        messages.append(
            f"both targets of the duet might use CPUs {', '.join(map(str, shared))} of the node, "
            "and took them away from each other. Give its kubelet the static CPU manager "
            "(cpuManagerPolicy: static), or write spec.trials.mode: Sequential."
        )
    if messages:
        reason = "Emulated" if emulated else "Contaminated" if disturbed else "SharedCPUs"
        return Finding(FALSE, reason, " ".join(messages))
    targets = state.benchmark.spec.measured_targets
    if all(latest_facts(state.trials, target.name) for target in targets if target.has_agent):
        silent = ", ".join(target.name for target in targets if not target.has_agent)
        if not silent:
            return Finding(
                TRUE, "NotEmulated", "every target ran on the node's own CPU, and undisturbed"
            )
        return Finding(
            UNKNOWN,
            "NotReported",
            f"nothing of dbbench's runs beside the database of {silent}, so that it is not known "
            "whether it ran under emulation. All other targets ran on the node's own CPU",
        )
    return Finding(UNKNOWN, "NotYetReported", "not every target has been measured yet")
