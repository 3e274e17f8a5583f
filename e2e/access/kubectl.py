"""kubectl and Helm as a user would call them, against one cluster."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

Manifest = dict[str, Any]
T = TypeVar("T")
# Of one call; what takes longer is waited for by asking again.
CALL_SECONDS = 120


class CallError(RuntimeError):
    """A program ended with an error; `output` is what it wrote to stderr."""

    def __init__(self, command: Sequence[str], code: int, output: str) -> None:
        super().__init__(f"{' '.join(map(str, command))} ended with {code}: {output.strip()}")
        self.output = output


def run(command: Sequence[str | Path], *, env: dict[str, str] | None = None, text: str = "") -> str:
    """Standard output of the program, which gets `text` as its input; CallError if it fails."""
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        timeout=CALL_SECONDS,
        check=False,
        env={**os.environ, **(env or {})},
    )
    if done.returncode != 0:
        raise CallError([str(part) for part in command], done.returncode, done.stderr)
    return done.stdout


@dataclass(frozen=True)
class Kubectl:
    """kubectl for one kubeconfig and one namespace."""

    kubeconfig: Path
    program: Path
    namespace: str = "default"

    def within(self, namespace: str) -> "Kubectl":
        """The same cluster, another namespace."""
        return replace(self, namespace=namespace)

    @property
    def environment(self) -> dict[str, str]:
        """Variables for other clients of the same cluster."""
        return {"KUBECONFIG": str(self.kubeconfig)}

    def __call__(self, *arguments: str, text: str = "") -> str:
        """Output of `kubectl ARGUMENTS`, in this namespace."""
        scope = [] if "--all-namespaces" in arguments else ["--namespace", self.namespace]
        return run([self.program, *scope, *arguments], env=self.environment, text=text)

    def apply(self, *manifests: Manifest) -> None:
        """`kubectl apply` of the manifests; CallError with the server's answer if refused."""
        self("apply", "-f", "-", text="\n---\n".join(map(json.dumps, manifests)))

    def create(self, manifest: Manifest) -> None:
        """`kubectl create`; CallError with the server's answer if refused."""
        self("create", "-f", "-", text=json.dumps(manifest))

    def get(self, kind: str, name: str) -> Manifest | None:
        """The object; None when there is none of that name."""
        text = self("get", kind, name, "--ignore-not-found", "-o", "json")
        found: Manifest | None = json.loads(text) if text.strip() else None
        return found

    def list(self, kind: str, selector: str = "", *, everywhere: bool = False) -> list[Manifest]:
        """All objects of a kind (or of several, with commas between) that the selector matches."""
        arguments = ["get", kind, "-o", "json"]
        if selector:
            arguments += ["--selector", selector]
        if everywhere:
            arguments.append("--all-namespaces")
        items: list[Manifest] = json.loads(self(*arguments))["items"]
        return items

    def delete(self, kind: str, name: str) -> None:
        """Ask for deletion, without waiting; nothing happens when it is gone already."""
        self("delete", kind, name, "--ignore-not-found", "--wait=false")


def wait(what: str, probe: Callable[[], T | None], *, limit: float, pause: float = 0.5) -> T:
    """The first value of `probe` that is not None, False or empty; TimeoutError after `limit` s.

    A probe that raises CallError is asked again: an API server that restarts refuses for a while.
    """
    deadline = time.monotonic() + limit
    while True:
        last = ""
        try:
            if value := probe():
                return value
        except CallError as error:
            last = f"; last answer: {error.output.strip()}"
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {limit:g} s{last}")
        time.sleep(pause)


def wait_until_established(kubectl: Kubectl, crd: str) -> None:
    """Until the server serves the type.

    `kubectl wait` fails on a CRD that has no conditions yet.
    """

    def established() -> bool:
        found = kubectl.get("crd", crd) or {}
        conditions = (found.get("status") or {}).get("conditions") or []
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

    wait(f"the CRD {crd} is established", established, limit=60)
