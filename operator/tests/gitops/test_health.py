"""What Argo CD and Flux make of a benchmark: their own languages, on what the operator writes."""

from pathlib import Path
from typing import Any

import cel
import lupa
import pytest
import yaml

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.cli.run import run
from dbbench.evaluate.conditions import Phase, phase_findings

PROJECT = Path(__file__).parents[3]
GITOPS = PROJECT / "manifests" / "gitops"
LUA = (GITOPS / "argocd-health.lua").read_text()
FLUX = yaml.safe_load((GITOPS / "flux-kustomization.yaml").read_text())["spec"]["healthCheckExprs"]

SUSPENDED = (Phase.SUSPENDED, "Suspended")
# By phase and reason: what Argo CD shows, and what holds for Flux.
HEALTH = {
    (Phase.RUNNING, "Running"): ("Progressing", "inProgress"),
    (Phase.RUNNING, "Queued"): ("Progressing", "inProgress"),
    (Phase.RUNNING, "Suspending"): ("Progressing", "inProgress"),
    SUSPENDED: ("Suspended", "inProgress"),
    (Phase.STALLED, "NodeNotFound"): ("Degraded", "failed"),
    (Phase.SUCCEEDED, "Measured"): ("Healthy", "current"),
    (Phase.GATE_FAILED, "GateFailed"): ("Degraded", "failed"),
}


def conditions(phase: Phase, reason: str) -> list[dict[str, Any]]:
    return [
        {"type": kind.value, "status": found.status.value, "reason": reason, "message": "why"}
        for kind, found in phase_findings(phase, reason, "why").items()
    ]


def body(status: dict[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {"name": "quick", "generation": 2},
        "spec": {},
    }
    return found if status is None else found | {"status": status}


def argo(benchmark: dict[str, Any]) -> tuple[str, str]:
    """As Argo CD runs a health check: the object is the global `obj`, a table is returned."""
    lua = lupa.LuaRuntime(unpack_returned_tuples=True)
    lua.globals().obj = lua.table_from(benchmark, recursive=True)
    found = lua.execute(LUA)
    return found["status"], found["message"]


def flux(benchmark: dict[str, Any]) -> set[str]:
    """The expressions that hold; the object's fields are the variables."""
    (check,) = FLUX
    assert (check["apiVersion"], check["kind"]) == (benchmark["apiVersion"], benchmark["kind"])
    return {
        name
        for name in ("inProgress", "failed", "current")
        if cel.evaluate(check[name], {"status": {}} | benchmark) is True
    }


@pytest.mark.parametrize(("stage", "expected"), HEALTH.items(), ids=str)
def test_every_phase_has_its_health(stage, expected):
    found = body({"observedGeneration": 2, "conditions": conditions(*stage)})
    assert argo(found) == (expected[0], f"{stage[1]}: why")
    assert flux(found) == {expected[1]}


def test_every_phase_is_told() -> None:
    assert {phase for phase, _ in HEALTH} == set(Phase)


@pytest.mark.parametrize(
    "status",
    [None, {"observedGeneration": -1}, {"observedGeneration": 1}],
    ids=["no status", "never seen", "an older version seen"],
)
def test_what_the_operator_has_not_seen_is_in_progress(status):
    found = body(status)
    assert argo(found)[0] == "Progressing"
    assert flux(found) == {"inProgress"}


def test_results_of_an_older_version_do_not_count_for_argo_cd_and_keep_flux_waiting():
    done = conditions(Phase.SUCCEEDED, "Measured")
    found = body({"observedGeneration": 1, "conditions": done})
    assert argo(found)[0] == "Progressing"
    # Flux looks at inProgress first.
    assert "inProgress" in flux(found)


def test_the_config_map_of_argo_cd_has_the_tested_text():
    patch = yaml.safe_load((GITOPS / "argocd-cm.yaml").read_text())
    assert patch["data"] == {"resource.customizations.health.dbbench.io_DBBenchmark": LUA}


def test_the_benchmark_of_the_pipeline_is_valid_and_its_gate_is_one():
    documents = list(yaml.safe_load_all((GITOPS / "pipeline-job.yaml").read_text()))
    by_kind = {document["kind"]: document for document in documents}
    benchmark = yaml.safe_load(by_kind["ConfigMap"]["data"]["benchmark.yaml"])
    spec = DBBenchmarkSpec.model_validate(benchmark["spec"])
    assert [gate.target for gate in spec.gates] == ["vm"]
    container = by_kind["Job"]["spec"]["template"]["spec"]["containers"][0]
    install = (PROJECT / "manifests" / "install.yaml").read_text()
    assert f"image: {container['image']}\n" in install


def test_the_command_of_the_pipeline_is_one_that_dbbench_takes():
    documents = list(yaml.safe_load_all((GITOPS / "pipeline-job.yaml").read_text()))
    (job,) = [document for document in documents if document["kind"] == "Job"]
    program, command, *arguments = job["spec"]["template"]["spec"]["containers"][0]["command"]
    assert (program, command) == ("dbbench", "run")
    parsed = run.make_context("run", arguments).params
    assert parsed["replace"] is True
    assert parsed["timeout"] == 5 * 3600
