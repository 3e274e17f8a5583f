"""`dbbench dashboard` at a real API server, with the rights that its documentation names."""

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from access.documents import benchmark
from access.kubectl import Kubectl, Manifest, wait
from access.paths import DBBENCH

# docs/guides/dashboard.md, "Rights".
RIGHTS = [
    {"apiGroups": ["dbbench.io"], "resources": ["dbbenchmarks"], "verbs": ["get", "list"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]},
]
READER = "reader"
SUMMARY = '{"kind": "Summary"}\n'
START_SECONDS = 60


def reader(namespace: str) -> list[Manifest]:
    """An account that may read benchmarks, and nothing else."""
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": READER, "namespace": namespace}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": READER}},
        {
            "apiVersion": f"{group}/v1",
            "kind": "Role",
            "metadata": {"name": READER},
            "rules": RIGHTS,
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": READER},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": READER},
            "subjects": [subject],
        },
    ]


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    """One benchmark that runs."""
    results = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "nightly-results"},
        "data": {"summary.json": SUMMARY},
    }
    module_namespace.apply(benchmark("nightly"), results, *reader(module_namespace.namespace))
    say(module_namespace, reason="Running", progress={"trialsDone": 2, "trialsPlanned": 6})
    return module_namespace


@pytest.fixture(scope="module")
def kubeconfig(server: Kubectl, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the reader has it."""
    found = json.loads(server("config", "view", "--raw", "--minify", "-o", "json"))
    token = server("create", "token", READER).strip()
    found["users"] = [{"name": found["users"][0]["name"], "user": {"token": token}}]
    path = tmp_path_factory.mktemp("reader") / "kubeconfig"
    path.write_text(json.dumps(found))
    return path


def say(server: Kubectl, **status: object) -> None:
    """The status, as the operator would write it."""
    body = {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {"name": "nightly"},
        "status": {"observedGeneration": 1, **status},
    }
    server("apply", "--server-side", "--subresource=status", "-f", "-", text=json.dumps(body))


@contextmanager
def dashboard(kubeconfig: Path, *arguments: str) -> Iterator[str]:
    """The dashboard of that user, as a program: where its first page is."""
    command = [str(DBBENCH), "dashboard", "--port", "0", "--kubeconfig", str(kubeconfig)]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()
            assert process.wait(START_SECONDS) == 0


def page(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=START_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_reader_sees_benchmarks_as_they_change(server: Kubectl, kubeconfig: Path) -> None:
    with dashboard(kubeconfig, "-n", server.namespace) as url:
        assert "1 running" in page(url)[1]
        own = f"{url}benchmarks/{server.namespace}/nightly"
        assert "2/6 trials" in page(own)[1]
        assert page(f"{own}/report.json")[0] == 404
        say(
            server,
            reason="Measured",
            resultsRef={"configMap": "nightly-results"},
            progress={"trialsDone": 6, "trialsPlanned": 6, "percent": 100},
            conditions=[
                {
                    "type": "Succeeded", "status": "True", "reason": "Measured",
                    "lastTransitionTime": "2026-11-21T08:00:00Z",
                }
            ],
        )  # fmt: skip
        wait("the page tells the end", lambda: "1 ended" in page(url)[1], limit=START_SECONDS)
        assert "succeeded: Measured" in page(own)[1]
        assert page(f"{own}/report.json") == (200, SUMMARY)


def test_without_the_right_it_does_not_show_other_namespaces(
    server: Kubectl, kubeconfig: Path
) -> None:
    command = [str(DBBENCH), "dashboard", "-A", "--port", "0", "--kubeconfig", str(kubeconfig)]
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    assert found.returncode == 2
    assert "you may not list benchmarks of all namespaces" in found.stderr
