"""Installs the operator with Helm, as the docs tell a user to."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from access.kubectl import Kubectl, run, wait
from access.paths import CHART, program

NAMESPACE = "dbbench-system"
RELEASE = "dbbench"
DEPLOYMENT = "dbbench-operator"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:{DEPLOYMENT}"
"""The operator's, as the API server names it."""
READY_SECONDS = 180
SETTINGS = ("logLevel=DEBUG", "crds.enabled=true")
"""With which it runs in the tests."""


@dataclass(frozen=True)
class Helm:
    """The release of the operator in one cluster."""

    kubectl: Kubectl
    namespace: str = NAMESPACE

    def __call__(self, *arguments: str | Path) -> str:
        return run(
            [program("helm"), "--namespace", self.namespace, *arguments],
            env=self.kubectl.environment,
        )

    def install(self, *settings: str) -> str:
        """Install or upgrade, and wait until the operator answers its probes; Helm's notes."""
        arguments: list[str | Path] = ["upgrade", "--install", RELEASE, CHART]
        # The CRD may be there already, applied by hand or by an earlier installation.
        arguments += ["--create-namespace", "--take-ownership"]
        for setting in settings:
            arguments += ["--set", setting]
        notes = self(*arguments)
        wait("the operator is ready", self.ready, limit=READY_SECONDS)
        return notes

    def ready(self) -> bool:
        """Whether the Deployment of this generation has its pod ready."""
        found = self.kubectl.within(self.namespace).get("deployment", DEPLOYMENT)
        status = (found or {}).get("status", {})
        return (
            found is not None
            and status.get("observedGeneration") == found["metadata"]["generation"]
            and status.get("readyReplicas") == 1
            and status.get("updatedReplicas") == 1
            and status.get("replicas") == 1
        )

    def uninstall(self) -> None:
        """Remove the release; the CRD stays (crds.keep)."""
        self("uninstall", RELEASE, "--ignore-not-found", "--wait")

    def pods(self) -> list[str]:
        """Names of the operator's pods that are not being deleted."""
        found = self.kubectl.within(self.namespace).list(
            "pods", f"app.kubernetes.io/name={DEPLOYMENT}"
        )
        return [
            pod["metadata"]["name"] for pod in found if "deletionTimestamp" not in pod["metadata"]
        ]

    def kill(self) -> str:
        """End its pod without grace, as a crash of its node would; its name, empty when none is."""
        pods = self.pods()
        if pods:
            self.kubectl.within(self.namespace)(
                "delete", "pod", pods[0], "--grace-period=0", "--force", "--ignore-not-found"
            )
        return pods[0] if pods else ""


@dataclass(frozen=True)
class Refusals:
    """Since when nothing may be refused to the operator, and when something was meant to be."""

    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    _meant: list[tuple[datetime, datetime]] = field(default_factory=list)

    @contextmanager
    def meant(self) -> Iterator[None]:
        """A test in which the operator has fewer rights than it asks for, or loses some."""
        began = datetime.now(UTC)
        try:
            yield
        finally:
            self._meant.append((began, datetime.now(UTC)))

    def wrong_at(self, moment: datetime) -> bool:
        """Whether a refusal at that time was not meant."""
        return moment >= self.since and not any(a <= moment <= b for a, b in self._meant)
