"""What GitOps tools and pipelines get, on a real API server: files, patches, commands."""

import json
from typing import Any

import pytest
import yaml
from access.documents import benchmark, check, on_node
from access.kubectl import CallError, Kubectl
from access.paths import PROJECT

from dbbench.cli import init

MANIFESTS = PROJECT / "manifests"
GITOPS = MANIFESTS / "gitops"
NOWHERE = {"database": on_node("nowhere"), "driver": on_node("nowhere")}


@pytest.fixture(scope="module")
def server(crd: Kubectl, module_namespace: Kubectl) -> Kubectl:
    return module_namespace


def names(text: str) -> set[tuple[str, str]]:
    found = [item for item in yaml.safe_load_all(text) if item]
    return {(item["kind"], item["metadata"]["name"]) for item in found}


def test_kustomize_builds_what_the_plain_manifest_installs(server: Kubectl) -> None:
    built = server("kustomize", str(MANIFESTS))
    assert names(built) == names((MANIFESTS / "install.yaml").read_text())


@pytest.fixture(scope="module")
def gate(server: Kubectl) -> Kubectl:
    """With the service account of the pipeline and its rights."""
    documents = list(yaml.safe_load_all((GITOPS / "pipeline-job.yaml").read_text()))
    roles = [d for d in documents if d["kind"] in ("ServiceAccount", "Role", "RoleBinding")]
    server("apply", "-f", "-", text="\n---\n".join(map(json.dumps, roles)))
    return server


def test_the_pipeline_is_accepted_where_pod_security_is_restricted(gate: Kubectl) -> None:
    label = "pod-security.kubernetes.io/enforce=restricted"
    gate("label", "namespace", gate.namespace, label, "--overwrite")
    documents = list(yaml.safe_load_all((GITOPS / "pipeline-job.yaml").read_text()))
    (template,) = [d["spec"]["template"] for d in documents if d["kind"] == "Job"]
    # A Job that violates the level is accepted, and its pod is not.
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": template["spec"]}
    made = ("ServiceAccount", "Role", "RoleBinding")
    rest = [pod, *(document for document in documents if document["kind"] not in made)]
    text = "\n---\n".join(map(json.dumps, rest))
    gate("create", "--dry-run=server", "--validate=strict", "-f", "-", text=text)


def test_the_pipeline_may_do_what_it_does_and_no_more(gate: Kubectl) -> None:
    user = f"--as=system:serviceaccount:{gate.namespace}:dbbench-gate"

    def may(verb: str, what: str) -> bool:
        try:
            return gate("auth", "can-i", verb, what, user).strip() == "yes"
        except CallError:
            return False

    for verb in ("get", "list", "create", "delete"):
        assert may(verb, "dbbenchmarks.dbbench.io")
    assert may("get", "configmaps")
    assert not any(may(verb, "secrets") for verb in ("get", "list", "create"))
    assert not may("create", "pods")


def test_the_patch_of_argo_cd_adds_the_health_check_and_leaves_the_rest(server: Kubectl) -> None:
    metadata = {"name": "argocd-cm"}
    server.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"url": "x"}}
    )
    server("patch", "configmap", "argocd-cm", "--patch-file", str(GITOPS / "argocd-cm.yaml"))
    found = server.get("configmap", "argocd-cm")
    assert found is not None
    key = "resource.customizations.health.dbbench.io_DBBenchmark"
    assert found["data"] == {"url": "x", key: (GITOPS / "argocd-health.lua").read_text()}


def test_the_benchmark_of_the_pipeline_is_accepted(server: Kubectl) -> None:
    documents = list(yaml.safe_load_all((GITOPS / "pipeline-job.yaml").read_text()))
    (files,) = [d["data"] for d in documents if d["kind"] == "ConfigMap"]
    check(server, yaml.safe_load(files["benchmark.yaml"]))


@pytest.mark.parametrize("engine", [engine.value for engine in init.IMAGES])
@pytest.mark.parametrize("nodes", [("a", "b"), ("a", "a")], ids=["two nodes", "one node"])
def test_what_init_writes_is_accepted(server: Kubectl, engine: str, nodes: tuple[str, str]) -> None:
    text = init.written(
        {
            "name": "written",
            "engine": engine,
            "image": init.IMAGES[engine],
            "database_node": nodes[0],
            "driver_node": nodes[1],
            "targets": ",".join(init.TARGETS),
            "workloads": ",".join(init.WORKLOADS),
            "cpus": "2",
            "memory": "4Gi",
            "storage": "20Gi",
        }
    )
    check(server, yaml.safe_load(text))


def condition(kind: str, status: str, reason: str) -> dict[str, Any]:
    moment = "2026-11-21T08:00:00Z"
    found = {"type": kind, "status": status, "reason": reason, "lastTransitionTime": moment}
    # kubectl waits, too, until the condition is that of the newest version.
    return found | {"observedGeneration": 1}


@pytest.mark.parametrize(
    ("name", "conditions", "wanted"),
    [
        ("done", [("Succeeded", "True"), ("Reconciling", "False")], ["Succeeded"]),
        ("failed", [("Stalled", "True"), ("Reconciling", "False")], ["Stalled"]),
    ],
)
def test_kubectl_wait_as_the_docs_have_it(
    server: Kubectl, name: str, conditions: list[tuple[str, str]], wanted: list[str]
) -> None:
    """A benchmark that has ended, so that an operator that happens to run leaves it alone."""
    server.create(benchmark(name, placement=NOWHERE))
    moment = "2026-11-21T08:00:00Z"
    told = [condition(*one, "Told") for one in conditions]
    status = {"startTime": moment, "completionTime": moment, "conditions": told}
    patch = json.dumps({"status": status})
    server("patch", "dbb", name, "--subresource=status", "--type=merge", "-p", patch)
    page = (PROJECT / "docs" / "guides" / "gitops.md").read_text()
    for what in [*wanted, "Reconciling=False"]:
        assert f"kubectl wait dbb/NAME --for=condition={what} --timeout=6h" in page
        server("wait", f"dbb/{name}", f"--for=condition={what}", "--timeout=5s")
