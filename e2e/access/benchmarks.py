"""A DBBenchmark in the cluster: waits for it, reads what it left, deletes it."""

import base64
import gzip
import json
from dataclasses import dataclass
from typing import Any

from access.kubectl import Kubectl, Manifest, wait

LABEL = "dbbench.io/benchmark"
# Kinds that Kubernetes itself puts into every namespace.
_BUILT_IN = {("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")}
# Reports about objects; events outlive them and expire by themselves.
_REPORTS = {"events", "events.events.k8s.io", "pods.metrics.k8s.io"}


class Stalled(AssertionError):  # noqa: N818 - it is what the condition says
    """The benchmark says that it cannot go on."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark; `kubectl` is bound to its namespace."""

    kubectl: Kubectl
    name: str

    def exists(self) -> bool:
        """Whether the object is in the cluster."""
        return self.kubectl.get("dbb", self.name) is not None

    def body(self) -> Manifest:
        """The object as it is now; AssertionError when it is gone."""
        found = self.kubectl.get("dbb", self.name)
        assert found is not None, f"dbb/{self.name} is gone"
        return found

    @property
    def status(self) -> Manifest:
        status: Manifest = self.body().get("status") or {}
        return status

    def condition(self, kind: str) -> Manifest:
        """A condition; empty before it is reported."""
        found = [c for c in self.status.get("conditions", []) if c["type"] == kind]
        return found[0] if found else {}

    def step(self) -> str:
        """Machine-readable name of what runs now, such as `load:vm/orders/1`."""
        step: str = (self.status.get("progress") or {}).get("step", "")
        return step

    def wait_for_step(self, prefix: str, *, limit: float) -> str:
        """Until a step with that prefix runs; its full name. Stalled if it never will."""
        return wait(
            f"{self.name} reaches {prefix}", lambda: self._step_with(prefix), limit=limit, pause=0.2
        )

    def _step_with(self, prefix: str) -> str | None:
        self._fail_if_ended(wanted="Stalled")
        step = self.step()
        return step if step.startswith(prefix) else None

    def wait_until_succeeded(self, *, limit: float) -> None:
        """Until Succeeded=True; Stalled, with the message, if the benchmark gives up."""

        def succeeded() -> bool:
            self._fail_if_ended(wanted="Stalled")
            return self.condition("Succeeded").get("status") == "True"

        wait(f"{self.name} succeeds", succeeded, limit=limit, pause=1)

    def wait_until_seen(self, *, limit: float) -> None:
        """Until the status is that of the present spec: before, it is that of an older one."""

        def seen() -> bool:
            body = self.body()
            generation = body["metadata"]["generation"]
            return bool((body.get("status") or {}).get("observedGeneration") == generation)

        wait(f"the operator sees the present {self.name}", seen, limit=limit, pause=0.2)

    def wait_until_stalled(self, *, limit: float) -> Manifest:
        """Until Stalled=True; that condition."""

        def stalled() -> Manifest | None:
            assert self.condition("Succeeded").get("status") != "True", "it must not succeed"
            condition = self.condition("Stalled")
            return condition if condition.get("status") == "True" else None

        return wait(f"{self.name} stalls", stalled, limit=limit)

    def _fail_if_ended(self, wanted: str) -> None:
        condition = self.condition(wanted)
        if condition.get("status") == "True":
            raise Stalled(f"{self.name}: {condition['reason']}: {condition['message']}")

    def records(self, content: str = "trials") -> dict[str, Any]:
        """Raw records of trials or loads: key of the ConfigMap to decoded document."""
        found = {}
        selector = f"{LABEL}={self.name},dbbench.io/content={content}"
        for config_map in self.kubectl.list("configmaps", selector):
            for key, value in (config_map.get("binaryData") or {}).items():
                assert key not in found, f"{key} is stored twice"
                found[key] = json.loads(gzip.decompress(base64.b64decode(value)))
        return found

    def results(self) -> dict[str, str]:
        """Data of the results ConfigMap that the status names."""
        name = self.status["resultsRef"]["configMap"]
        found = self.kubectl.get("configmap", name)
        assert found is not None, f"status.resultsRef names {name}, which does not exist"
        data: dict[str, str] = found["data"]
        return data

    def children(self) -> set[str]:
        """Everything of a namespaced kind that carries the benchmark's label: `kind/name`."""
        return {f"{kind}/{name}" for kind, name in objects(self.kubectl, f"{LABEL}={self.name}")}

    def delete(self, *, limit: float = 180) -> None:
        """Delete it and wait until it is gone."""
        self.kubectl.delete("dbb", self.name)
        wait(
            f"{self.name} is gone",
            lambda: not self.exists(),
            limit=limit,
        )


def objects(kubectl: Kubectl, selector: str = "") -> set[tuple[str, str]]:
    """Kind and name of every object in the namespace that the selector matches."""
    kinds = kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name").split()
    wanted = ",".join(kind for kind in kinds if kind not in _REPORTS)
    text = kubectl("get", wanted, "--selector", selector, "-o", "name", "--ignore-not-found")
    found = set()
    for line in text.split():
        kind, name = line.split("/", 1)
        found.add((kind, name))
    return found


def leftovers(kubectl: Kubectl) -> set[str]:
    """What is in the namespace that Kubernetes does not put there, and its PersistentVolumes."""
    found = {
        f"{kind}/{name}" for kind, name in objects(kubectl) if (f"{kind}s", name) not in _BUILT_IN
    }
    for volume in kubectl.list("persistentvolumes"):
        claim = volume["spec"].get("claimRef") or {}
        if claim.get("namespace") == kubectl.namespace:
            found.add(f"persistentvolume/{volume['metadata']['name']}")
    return found
