"""`dbbench preflight`: what operator and API server would say, before anything is created."""

import json

import pytest
import yaml
from click.testing import CliRunner

from dbbench.cli.main import cli

GROUP = "/apis/dbbench.io/v1alpha1"
PATH = f"{GROUP}/namespaces/db/dbbenchmarks"
OPERATOR = {
    "metadata": {"name": "o"},
    "spec": {"template": {"spec": {"containers": [
        {"name": "operator", "env": [{"name": "DBBENCH_PRIVILEGED_TARGETS", "value": "false"}]}
    ]}}},
}  # fmt: skip


def listed(*items):
    return [(200, {"items": list(items), "metadata": {}})]


def node(name, cpu="8"):
    room = {"cpu": cpu, "memory": "32Gi"}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": room, "capacity": room},
    }


@pytest.fixture
def cluster(api):
    """A cluster in which the benchmark can run."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    api.answers |= {
        "/version": [(200, {"gitVersion": "v1.34.4"})],
        "/api/v1/nodes": listed(node("a"), node("b")),
        "/apis/storage.k8s.io/v1/storageclasses": listed(
            {"metadata": {"name": "standard", "annotations": default}}
        ),
        "/apis/apps/v1/deployments": listed(OPERATOR),
        f"{GROUP}/dbbenchmarks": listed(),
    }
    return api


@pytest.fixture
def file(tmp_path, body_of):
    def write(**changes):
        path = tmp_path / "b.yaml"
        body = {
            "apiVersion": "dbbench.io/v1alpha1",
            "kind": "DBBenchmark",
            "metadata": {"name": "quick"},
            "spec": body_of()["spec"] | changes,
        }
        path.write_text(yaml.safe_dump(body))
        return str(path)

    return write


def run(*arguments):
    return CliRunner().invoke(cli, ["preflight", *arguments])


def test_nothing_is_in_the_way_and_nothing_is_created(cluster, file):
    found = run(file())
    assert found.exit_code == 0, found.output
    assert found.stdout == "quick: nothing is in the way\n"
    assert PATH in cluster.requested
    assert cluster.created == []


def test_what_the_operator_would_say_is_said(cluster, file):
    cluster.answers["/api/v1/nodes"] = listed(node("a", cpu="1"), node("c"))
    found = run(file(resources={"cpu": 2}))
    assert found.exit_code == 1
    assert "quick: InsufficientCPU: spec.resources.cpu: 2 CPUs" in found.stdout
    assert "quick: NodeNotFound: spec.placement.driver.nodeSelector" in found.stdout
    assert "cannot start in this cluster: quick" in found.stderr


def test_what_the_api_server_refuses_is_said_in_its_words(cluster, file):
    cluster.refusals[PATH] = 422
    found = run(file())
    assert found.exit_code == 1
    assert "quick: Refused: refused by the test" in found.stdout


def test_privileged_targets_are_looked_up_in_the_operator(cluster, file):
    targets = [{"name": "pod", "pod": {}}, {"name": "bare", "host": {}}]
    assert "PrivilegedTargetsDisabled" in run(file(targets=targets)).stdout
    del cluster.answers["/apis/apps/v1/deployments"]
    found = run(file(targets=targets))
    assert found.exit_code == 0
    assert "not checked: whether the operator allows privileged targets" in found.stdout


def test_what_may_not_be_read_is_named(cluster, file):
    forbidden = [(403, {"message": "no right"})]
    cluster.answers["/api/v1/nodes"] = forbidden
    cluster.answers["/apis/storage.k8s.io/v1/storageclasses"] = forbidden
    found = run(file())
    assert found.exit_code == 0
    assert "not checked: nodes and the room on them" in found.stdout
    assert "not checked: storage classes" in found.stdout


def test_a_benchmark_that_would_wait_is_no_failure(cluster, file, body_of):
    other = body_of(startTime="2026-11-21T08:00:00Z", reason="Running")
    other["metadata"] |= {"name": "other", "creationTimestamp": "2026-11-21T08:00:00Z"}
    cluster.answers[f"{GROUP}/dbbenchmarks"] = listed(other)
    found = run(file())
    assert found.exit_code == 0
    assert "would wait: position 1 in the queue: node a is held by db/other" in found.stdout


@pytest.mark.parametrize(("output", "parse"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_the_answer_for_programs(cluster, file, output, parse):
    cluster.answers["/api/v1/nodes"] = listed(node("b"))
    found = run(file(), "-o", output)
    document = parse(found.stdout)
    assert (document["kind"], document["schemaVersion"]) == ("Preflight", 1)
    (one,) = document["benchmarks"]
    assert (one["benchmark"], one["ready"]) == ("quick", False)
    assert [problem["reason"] for problem in one["problems"]] == ["NodeNotFound"]
    assert found.exit_code == 1
