"""The steps of the demo, each with its title and the time it took."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from access import cluster
from access.benchmarks import Benchmark
from access.kubectl import Kubectl, wait
from access.operator import Helm
from access.paths import BIN, DBBENCH, PROJECT, STATE

from demo.overlay import Overlay
from demo.terminal import Terminal

NAMESPACE = "dbbench-demo"
RESULTS = STATE / "demo"
GONE_SECONDS = 300


class DemoError(RuntimeError):
    """A step failed; the text says what to do."""


class Steps:
    """Announces steps and keeps their times."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self._began = time.monotonic()
        self._taken: list[tuple[str, float, bool]] = []

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One step: announced, timed, and marked as failed when it raises."""
        self.terminal.step(title)
        began = time.monotonic()
        passed = False
        try:
            yield
            passed = True
        finally:
            taken = time.monotonic() - began
            self._taken.append((title, taken, passed))
            if passed:
                self.terminal.done(f"{title}: {taken:.0f} s")

    def summary(self) -> None:
        """The times of all steps."""
        self.terminal.step(f"make demo: {time.monotonic() - self._began:.0f} s")
        for title, taken, passed in self._taken:
            self.terminal.say(f"{taken:6.0f} s  {title}{'' if passed else '  FAILED'}")


def call(command: Sequence[str | Path], env: dict[str, str] | None = None) -> int:
    """Run a program with its output on the terminal; its exit code."""
    return subprocess.run(command, check=False, env={**os.environ, **(env or {})}).returncode


def must(command: Sequence[str | Path], hint: str) -> None:
    """Run a program that has to succeed."""
    if call(command) != 0:
        raise DemoError(hint)


def prepare(steps: Steps) -> Kubectl:
    """Everything up to an operator that is ready."""
    own = cluster.user_kubeconfig()
    if own is None:
        # The script is called by make already; this inner make lets steps overlap.
        with steps.step("Programs and images (skips what is unchanged)"):
            must(["make", "-C", PROJECT, "images"], "building failed; the lines above say why")
        with steps.step("Local Kubernetes: two nodes"):
            must(
                [PROJECT / "e2e/cluster/cluster", "up"],
                "the cluster did not start; see .state/cluster/logs, or run make cluster-down "
                "and try again",
            )
    else:
        steps.terminal.step(f"Cluster of {own}")
        steps.terminal.say("KUBECONFIG is set: that cluster is used, and no local one is started")
        with steps.step("Helm and kubectl"):
            _own_programs()
    kubectl = cluster.client()
    if not cluster.answers(kubectl):
        raise DemoError(f"the API server of {kubectl.kubeconfig} does not answer")
    with steps.step("Operator, with Helm"):
        Helm(kubectl).install(*_helm_settings(own is not None))
        steps.terminal.say(f"kubectl get deployments -n {Helm(kubectl).namespace}")
    return kubectl


def _own_programs() -> None:
    """kubectl and Helm of the machine where it has them, else built."""
    missing = [name for name in ("kubectl", "helm") if not shutil.which(name)]
    if missing:
        sources = {"kubectl": "kube", "helm": "helm"}
        must(
            [PROJECT / "e2e/cluster/build", *(sources[name] for name in missing)],
            f"building {', '.join(missing)} failed",
        )


def _helm_settings(own: bool) -> list[str]:
    """Where a user's cluster pulls the images from."""
    registry = os.environ.get("DBBENCH_REGISTRY", "")
    if own and not registry:
        raise DemoError(
            "set DBBENCH_REGISTRY to the registry that your cluster pulls dbbench's images from; "
            "docs/quickstart.md says how to push them there"
        )
    return [f"image.registry={registry}"] if registry else []


def run(steps: Steps, kubectl: Kubectl, overlay: Overlay) -> dict[str, str]:
    """Apply the sample, follow it, and print the report; the results by file name."""
    name = overlay.document["metadata"]["name"]
    benchmark = Benchmark(kubectl.within(NAMESPACE), name)
    with steps.step(f"Benchmark {name}"):
        _apply(steps, benchmark, overlay)
        code = call([DBBENCH, "watch", name, "-n", NAMESPACE], env=benchmark.kubectl.environment)
        if code != 0:
            raise DemoError(_diagnosis(benchmark, code))
    results = benchmark.results()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for file, text in results.items():
        (RESULTS / file).write_text(text)
    steps.terminal.step("Result")
    steps.terminal.markdown(first_table(results["report.md"]))
    shown = RESULTS.relative_to(PROJECT)
    steps.terminal.say(f"The full report: {shown}/report.md (also summary.json, summary.csv)")
    steps.terminal.say(f"or: dbbench report {name} -n {NAMESPACE}")
    steps.terminal.say(f"In the cluster: kubectl get dbb,configmaps -n {NAMESPACE}")
    if cluster.user_kubeconfig() is None:
        steps.terminal.say(f"export KUBECONFIG={kubectl.kubeconfig} PATH={BIN}:$PATH")
    if benchmark.condition("Succeeded").get("status") != "True":
        raise DemoError(_diagnosis(benchmark, 0))
    return results


def first_table(report: str) -> str:
    """The report up to the end of its first section: the answer and the slowdowns."""
    head, first, rest = report.partition("\n## ")
    return head + first + rest.partition("\n## ")[0]


def _apply(steps: Steps, benchmark: Benchmark, overlay: Overlay) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    metadata = {"name": NAMESPACE, "labels": labels}
    benchmark.kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    if benchmark.exists():
        steps.terminal.say(f"deleting the {benchmark.name} of an earlier demo")
        benchmark.delete(limit=GONE_SECONDS)
        wait("its objects are gone", lambda: not benchmark.children(), limit=GONE_SECONDS)
    for change in overlay.changes:
        steps.terminal.say(change)
    steps.terminal.say("kubectl apply -f manifests/samples/quickstart.yaml")
    benchmark.kubectl.apply(overlay.document)


def _diagnosis(benchmark: Benchmark, code: int) -> str:
    """Why the benchmark did not succeed, and where to look."""
    condition = benchmark.condition("Stalled") if benchmark.exists() else {}
    text = f"the benchmark did not succeed (dbbench watch ended with {code})"
    if condition.get("status") == "True":
        text = f"{condition['reason']}: {condition['message']}"
    return (
        f"{text}\n      kubectl describe dbb/{benchmark.name} -n {NAMESPACE}\n"
        "      kubectl logs -n dbbench-system deployment/dbbench-operator"
    )
