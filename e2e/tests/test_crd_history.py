"""`dbbench history` of benchmarks as a real API server keeps them, their status included."""

import json

import pytest
from access.documents import benchmark
from access.kubectl import Kubectl, Manifest
from click.testing import CliRunner, Result

from dbbench.cli.main import cli

# By 8 % slower from the ninth night on, when the image changed.
NIGHTS = (0.100, 0.104, 0.097, 0.101, 0.099, 0.102, 0.098, 0.103, 0.190, 0.187, 0.193, 0.189)
CHANGED = 9


def body(night: int) -> Manifest:
    found = benchmark(f"night-{night}", trials={"min": night})
    found["metadata"]["labels"] = {"team": "db" if night != 1 else "other"}
    if night >= CHANGED:
        found["spec"]["database"]["image"] = "localhost/dbbench/postgres:16"
    return found


def status(night: int) -> Manifest:
    return {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {"name": f"night-{night}"},
        "status": {
            "startTime": f"2026-11-{night:02d}T02:00:00Z",
            "completionTime": f"2026-11-{night:02d}T04:00:00Z",
            "resultsRef": {"configMap": f"night-{night}-results"},
            "environment": {
                "cpuModel": "Some CPU",
                "targets": [{"name": "pod", "runtime": "Pod"}, {"name": "vm", "runtime": "QEMU"}],
            },
        },
    }


def results(night: int, slowdown: float) -> Manifest:
    comparison = {
        "workload": "telecom", "cell": "", "target": "vm", "metric": "throughput", "primary": True,
        "unit": "per_second", "baselineValue": 100.0, "targetValue": 100.0 / (1 + slowdown),
        "slowdown": slowdown, "interval": {"low": slowdown - 0.01, "high": slowdown + 0.01},
    }  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"night-{night}-results"},
        "data": {"summary.json": json.dumps({"dbbench": "0.1.0", "comparisons": [comparison]})},
    }


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    """The nights, and one more that has not ended."""
    nights = range(1, len(NIGHTS) + 1)
    running = body(len(NIGHTS) + 1)
    found = [results(night, slowdown) for night, slowdown in zip(nights, NIGHTS, strict=True)]
    module_namespace.apply(*map(body, nights), running, *found)
    ended = "\n---\n".join(json.dumps(status(night)) for night in nights)
    module_namespace("apply", "--server-side", "--subresource=status", "-f", "-", text=ended)
    return module_namespace


def history(server: Kubectl, *arguments: str) -> Result:
    command = ["history", "-n", server.namespace, *arguments]
    return CliRunner().invoke(cli, command, env=server.environment)


def test_a_name_leads_to_its_history_and_to_what_came_with_the_change(server: Kubectl) -> None:
    found = history(server, "night-3", "-o", "json")
    assert found.exit_code == 1, found.output
    document = json.loads(found.stdout)
    assert [run["name"] for run in document["runs"]] == [f"night-{n}" for n in range(1, 13)]
    (trend,) = document["trends"]
    assert (trend["target"], trend["cell"], trend["verdict"]) == ("vm", "telecom", "Regressed")
    (change,) = document["changes"]
    assert change["trial"] == f"night-{CHANGED}"
    assert any(line.startswith("spec.database.image: ") for line in change["differences"])


def test_a_selector_is_the_servers_and_leaves_out_what_has_not_ended(server: Kubectl) -> None:
    document = json.loads(history(server, "-l", "team=db", "-o", "json").stdout)
    assert [run["name"] for run in document["runs"]] == [f"night-{n}" for n in range(2, 13)]
    (left_out,) = document["leftOut"]
    assert left_out["source"] == "night-13"
    assert "has not begun" in left_out["reason"]


def test_an_accepted_regression_passes(server: Kubectl) -> None:
    assert history(server, "night-3", "--since", "night-12").exit_code == 0


def test_a_wrong_selector_is_refused_in_the_servers_words(server: Kubectl) -> None:
    found = history(server, "-l", "=;=")
    assert found.exit_code == 2
    assert "-l =;=: found '='" in found.stderr
    assert "write for example -l team=db" in found.stderr
