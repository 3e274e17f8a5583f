"""Why something that was asked for does not come up. No I/O.

Reads pods, events and the statuses of owners as a person would with `kubectl describe`, and
answers with a reason, and a message that names the object and the way out. Log text is never
pasted into messages: they say where the log is.
"""

from collections.abc import Iterable, Iterator

from dbbench.evaluate.pods import container_statuses
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import Manifest, State

# These do not heal by waiting.
_HOPELESS = {"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"}
_BROKEN_MACHINE = {"CrashLoopBackOff", "DataVolumeError"}
_CREATE = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
_USUAL_CAUSES = (
    "a wrong value in spec.database.config or too little spec.resources.memory are the usual causes"
)
_IMAGE = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
_CHECK_IMAGE = (
    "Check the name (for the database: spec.database.image), the registry and its credentials."
)


def hopeless(pods: Iterable[Manifest], namespace: str) -> Problem | None:
    """A problem that waiting cannot cure; None while there is hope."""
    for problem, reason in _waiting_problems(pods, namespace):
        if reason in _HOPELESS:
            return problem
    return None


def explain(
    state: State, what: str, pods: list[Manifest], owners: Iterable[str], fallback: Problem
) -> Problem:
    """The most telling problem of these pods and of the objects named `owners`.

    `what` says what was being waited for; `fallback` is the answer when nothing is to be seen.
    """
    namespace = state.benchmark.metadata.namespace
    for problem, _ in _waiting_problems(pods, namespace):
        return Problem(problem.reason, f"{what}: {problem.message}")
    for problem in (
        *_pulls(state, pods),
        *_unscheduled(pods),
        *_ended(pods, namespace),
        *_volumes(state),
        *_machines(state, owners),
        *_warnings(state, pods, owners),
        # CloudNativePG only tells at which of its steps it is.
        *_clusters(state, owners),
        *_not_ready(pods, namespace),
    ):
        return Problem(problem.reason, f"{what}: {problem.message}")
    return fallback


def _waiting_problems(pods: Iterable[Manifest], namespace: str) -> Iterator[tuple[Problem, str]]:
    for pod in pods:
        name = pod["metadata"]["name"]
        for container in container_statuses(pod):
            waiting = container.get("state", {}).get("waiting") or {}
            reason = waiting.get("reason", "")
            if reason in _IMAGE:
                yield (
                    Problem(
                        "ImagePullFailed",
                        f"image {container['image']!r} of container {container['name']} in pod "
                        f"{name} cannot be pulled ({reason}). {_CHECK_IMAGE}",
                    ),
                    reason,
                )
            elif reason in _CREATE:
                detail = waiting.get("message", "")
                yield (
                    Problem(
                        "ContainerNotStarted",
                        f"container {container['name']} in pod {name} cannot be started ({reason}: "
                        f"{_short(detail)}). See `kubectl describe pod -n {namespace} {name}`.",
                    ),
                    reason,
                )
            elif reason == "CrashLoopBackOff":
                yield (
                    Problem(
                        "ContainerCrashing",
                        f"container {container['name']} in pod {name} ends again and again"
                        f"{_exit_of(container)}. See `kubectl logs -n {namespace} {name} "
                        f"-c {container['name']} --previous`; {_USUAL_CAUSES}.",
                    ),
                    reason,
                )


def _exit_of(container: Manifest) -> str:
    ended = container.get("lastState", {}).get("terminated") or {}
    if not ended:
        return ""
    return f" (exit code {ended.get('exitCode')}, {ended.get('reason', 'no reason')})"


def _pulls(state: State, pods: Iterable[Manifest]) -> Iterator[Problem]:
    """Pulls that failed, as events tell: a kubelet may be late to write it into the pod."""
    pending = {
        pod["metadata"]["name"] for pod in pods if pod.get("status", {}).get("phase") == "Pending"
    }
    for event in reversed(_about(state.warnings, pending)):
        message = event.get("message", "")
        if event.get("reason") == "Failed" and message.startswith("Failed to pull image"):
            name = event["involvedObject"]["name"]
            yield Problem("ImagePullFailed", f"pod {name}: {_short(message)} {_CHECK_IMAGE}")


def _unscheduled(pods: Iterable[Manifest]) -> Iterator[Problem]:
    for pod in pods:
        for condition in pod.get("status", {}).get("conditions") or []:
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                yield Problem(
                    "Unschedulable",
                    f"pod {pod['metadata']['name']} fits on no node: "
                    f"{_short(condition.get('message', ''))} Lower spec.resources, free the node, "
                    "or correct spec.placement.",
                )


def _ended(pods: Iterable[Manifest], namespace: str) -> Iterator[Problem]:
    for pod in pods:
        name = pod["metadata"]["name"]
        for container in container_statuses(pod):
            ended = (
                container.get("state", {}).get("terminated")
                or container.get("lastState", {}).get("terminated")
                or {}
            )
            if ended and ended.get("exitCode", 0) != 0:
                yield Problem(
                    "ContainerFailed",
                    f"container {container['name']} in pod {name} ended with exit code "
                    f"{ended['exitCode']} ({ended.get('reason', 'Error')}). See `kubectl logs "
                    f"-n {namespace} {name} -c {container['name']}`; {_USUAL_CAUSES}.",
                )


def _volumes(state: State) -> Iterator[Problem]:
    for claim in state.of_kind("PersistentVolumeClaim"):
        if claim.get("status", {}).get("phase") == "Pending":
            name = claim["metadata"]["name"]
            messages = [_short(e.get("message", "")) for e in _about(state.warnings, {name})]
            if messages:
                yield Problem(
                    "VolumeNotProvisioned",
                    f"PersistentVolumeClaim {name} is not bound: {messages[-1]} Check "
                    "spec.database.storage and the StorageClass's provisioner.",
                )


def _machines(state: State, owners: Iterable[str]) -> Iterator[Problem]:
    wanted = set(owners)
    for machine in state.of_kind("VirtualMachine"):
        name = machine["metadata"]["name"]
        status = machine.get("status", {})
        printable = status.get("printableStatus", "")
        if name in wanted and (printable.startswith("Err") or printable in _BROKEN_MACHINE):
            yield Problem(
                "VirtualMachineFailed",
                f"VirtualMachine {name} is {printable}. See `kubectl describe vm {name}`.",
            )
        # With runStrategy RerunOnFailure a guest that switched itself off is not started again.
        if name in wanted and printable == "Stopped" and status.get("created"):
            yield Problem(
                "GuestEnded",
                f"the guest of VirtualMachine {name} switched itself off. Its console, in the log "
                "of container guest-console-log of its virt-launcher pod, says why; its memory is "
                "spec.resources.memory.",
            )
        for condition in status.get("conditions") or []:
            if name in wanted and condition["type"] == "Failure" and condition["status"] == "True":
                yield Problem(
                    "VirtualMachineFailed",
                    f"VirtualMachine {name}: {_short(condition.get('message', ''))}",
                )


def _clusters(state: State, owners: Iterable[str]) -> Iterator[Problem]:
    wanted = set(owners)
    for cluster in state.of_kind("Cluster"):
        name, status = cluster["metadata"]["name"], cluster.get("status", {})
        if name in wanted and status.get("phase"):
            reason = status.get("phaseReason") or status["phase"]
            yield Problem(
                "CloudNativePGNotReady",
                f"Cluster {name} of CloudNativePG: {_short(reason)} See `kubectl describe "
                f"clusters.postgresql.cnpg.io {name}`.",
            )


def _warnings(state: State, pods: Iterable[Manifest], owners: Iterable[str]) -> Iterator[Problem]:
    names = {pod["metadata"]["name"] for pod in pods} | set(owners)
    for event in reversed(_about(state.warnings, names)):
        # A failing readiness probe is a symptom; what it waits for is the cause.
        if event.get("reason") in ("Unhealthy", "BackOff"):
            continue
        involved = event["involvedObject"]
        yield Problem(
            event.get("reason") or "Warning",
            f"{involved['kind']} {involved['name']}: {_short(event.get('message', ''))}",
        )


def _not_ready(pods: Iterable[Manifest], namespace: str) -> Iterator[Problem]:
    for pod in pods:
        running = [c["name"] for c in container_statuses(pod) if "running" in c.get("state", {})]
        if running:
            name = pod["metadata"]["name"]
            yield Problem(
                "NotReady",
                f"pod {name} runs, but its database does not answer. See `kubectl logs "
                f"-n {namespace} {name} -c {running[-1]}`, check spec.database.config, or raise "
                "spec.timeouts.ready.",
            )


def _about(warnings: Iterable[Manifest], names: set[str]) -> list[Manifest]:
    found = [event for event in warnings if event["involvedObject"].get("name") in names]
    return sorted(found, key=lambda event: event.get("lastTimestamp") or "")


def _short(text: str, limit: int = 300) -> str:
    """One line of at most `limit` characters, ending with a full stop."""
    line = " ".join(text.split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return line if line.endswith((".", "…")) else f"{line}."
