"""The level-triggered loop: looks at everything, and does one step for each object."""

import copy
import datetime
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kubernetes_asyncio.client.exceptions import ApiException

from standin import instance_status, machine_status
from standin.cluster import CONFLICT, NOT_FOUND, Cluster
from standin.kubevirt import (
    API_VERSION,
    INSTANCE_FINALIZER,
    INSTANCES,
    LABEL_MACHINE,
    LABEL_NODE,
    MACHINE_FINALIZER,
    MACHINES,
    Object,
    Phase,
    RunStrategy,
    UntranslatableError,
    controlled_by,
    owner,
)
from standin.launcher_pod import launcher_pod
from standin.machine_status import Action, timestamp
from standin.translation import Machine, translate


@dataclass(frozen=True)
class Controller:
    """Carries out machines and instances with pods of the launcher's image."""

    cluster: Cluster
    launcher_image: str

    async def reconcile(self) -> None:
        """One step for every object. What conflicts is done in the next round."""
        machines = await self.cluster.machines()
        instances = await self.cluster.instances()
        pods = await self.cluster.pods()
        for instance in instances:
            mine = [pod for pod in pods if controlled_by(pod, instance["metadata"]["uid"])]
            await self._guarded(self._instance, instance, next(iter(mine), None))
        for machine in machines:
            uid = machine["metadata"]["uid"]
            own = [instance for instance in instances if controlled_by(instance, uid)]
            await self._guarded(self._machine, machine, next(iter(own), None))

    async def _guarded(
        self,
        step: Callable[[Object, Object | None], Awaitable[None]],
        object_: Object,
        child: Object | None,
    ) -> None:
        try:
            await step(object_, child)
        except ApiException as error:
            # Another writer was faster, or the object has gone: the next round sees that.
            if error.status not in (CONFLICT, NOT_FOUND):
                raise

    # ---- VirtualMachine ----------------------------------------------------------------------

    async def _machine(self, machine: Object, instance: Object | None) -> None:
        metadata = machine["metadata"]
        deleting = "deletionTimestamp" in metadata
        finalizers = metadata.get("finalizers", [])
        if deleting and instance is None:
            await self._drop_finalizer(MACHINES, machine, MACHINE_FINALIZER)
            return
        if not deleting and MACHINE_FINALIZER not in finalizers:
            changed = copy.deepcopy(machine)
            changed["metadata"]["finalizers"] = [*finalizers, MACHINE_FINALIZER]
            await self.cluster.replace(MACHINES, changed)
            return
        now = datetime.datetime.now(datetime.UTC)
        strategy, problem = self._check(machine)
        # The status first: it holds the count of failures, which goes with the instance.
        status = machine_status.next_status(machine, strategy, instance, problem, now)
        if status != machine.get("status"):
            await self.cluster.replace_machine_status(machine | {"status": status})
        wanted = RunStrategy.HALTED if strategy is None else strategy
        match machine_status.action(machine | {"status": status}, wanted, instance, now):
            case Action.START if problem is None:
                await self.cluster.create_instance(_instance_of(machine))
            case Action.STOP if instance and "deletionTimestamp" not in instance["metadata"]:
                await self.cluster.delete_instance(instance)

    def _check(self, machine: Object) -> tuple[RunStrategy | None, tuple[str, str] | None]:
        """The run strategy, and why the machine cannot be started."""
        spec = machine["spec"]
        text = spec.get("runStrategy")
        if text not in list(RunStrategy):
            strategies = ", ".join(RunStrategy)
            return None, (
                "FailedCreate",
                f"spec.runStrategy: {text!r} is not translated by the stand-in, only {strategies}",
            )
        try:
            translate(spec["template"]["spec"])
        except UntranslatableError as error:
            return RunStrategy(text), ("FailedCreate", f"spec.template.{error}")
        return RunStrategy(text), None

    # ---- VirtualMachineInstance --------------------------------------------------------------

    async def _instance(self, instance: Object, pod: Object | None) -> None:
        if "deletionTimestamp" in instance["metadata"]:
            if pod is None:
                await self._drop_finalizer(INSTANCES, instance, INSTANCE_FINALIZER)
                return
            if "deletionTimestamp" not in pod["metadata"]:
                await self.cluster.delete_pod(pod)
        try:
            machine = translate(instance["spec"])
        except UntranslatableError as error:
            # Of a VirtualMachine this was found before; this one was made by itself.
            print(f"{instance['metadata']['name']}: {error}", flush=True)
            return
        problem = None
        phase = instance_status.phase_of(instance)
        starts = phase in (None, Phase.PENDING) and "deletionTimestamp" not in instance["metadata"]
        if pod is None and starts:
            problem = await self._start(instance, machine)
        now = timestamp(datetime.datetime.now(datetime.UTC))
        changed = copy.deepcopy(instance)
        changed["status"] = instance_status.next_status(instance, machine, pod, problem, now)
        node = pod["spec"].get("nodeName") if pod is not None else None
        if pod is not None and node and pod["metadata"]["labels"].get(LABEL_NODE) != node:
            await self.cluster.label_pod(pod, {LABEL_NODE: node})
            changed["metadata"].setdefault("labels", {})[LABEL_NODE] = node
        if changed != instance:
            await self.cluster.replace(INSTANCES, changed)

    async def _start(self, instance: Object, machine: Machine) -> tuple[str, str] | None:
        """Makes the pod; else the reason and message why not."""
        namespace = instance["metadata"]["namespace"]
        sizes: dict[str, str] = {}
        for claim in (disk.claim for disk in machine.disks if disk.claim is not None):
            found = await self.cluster.claim(namespace, claim)
            if found is None:
                return "FailedPvcNotFound", f"PVC {namespace}/{claim} does not exist"
            sizes[claim], mode = found
            if mode != "Filesystem":
                return (
                    "FailedCreate",
                    f"PVC {namespace}/{claim}: the stand-in has no {mode} volumes",
                )
        body = launcher_pod(instance, machine, self.launcher_image, sizes)
        try:
            await self.cluster.create_pod(body)
        except ApiException as error:
            return "FailedCreate", f"virtual machine instance pod create fails: {error.reason}"
        return None

    async def _drop_finalizer(self, plural: str, object_: Object, finalizer: str) -> None:
        finalizers = object_["metadata"].get("finalizers", [])
        if finalizer not in finalizers:
            return
        changed = copy.deepcopy(object_)
        changed["metadata"]["finalizers"] = [name for name in finalizers if name != finalizer]
        await self.cluster.replace(plural, changed)


def _instance_of(machine: Object) -> Object:
    """The VirtualMachineInstance of a VirtualMachine."""
    metadata, template = machine["metadata"], machine["spec"]["template"]
    described = template.get("metadata", {})
    return {
        "apiVersion": API_VERSION,
        "kind": "VirtualMachineInstance",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {**described.get("labels", {}), LABEL_MACHINE: metadata["name"]},
            "annotations": described.get("annotations", {}),
            "ownerReferences": owner("VirtualMachine", machine),
            "finalizers": [INSTANCE_FINALIZER],
        },
        "spec": template["spec"],
    }
