"""`dbbench logs` and `dbbench debug` over HTTP: what they read, and what they leave out."""

import base64
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbbench.cli.main import cli

QUICK = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks/quick"
CORE = "/api/v1/namespaces/db"
PASSWORD = "Zq8-very/secret+value"
ENCODED = base64.b64encode(PASSWORD.encode()).decode()


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def listed(*items):
    return [(200, {"items": list(items), "metadata": {}})]


def pod(name, component, target="vm", namespace="db", **spec):
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {"note": PASSWORD},
            "labels": {
                "dbbench.io/benchmark": "quick",
                "app.kubernetes.io/component": component,
                "dbbench.io/target": target,
            },
        },
        "spec": {"containers": [{"name": "main"}], **spec},
    }


@pytest.fixture
def cluster(api, body_of):
    """A benchmark with two pods, each of which has printed the password."""
    uses = {"name": "s", "secret": {"secretName": "quick-credentials"}}
    database = pod("quick-vm-0", "target", initContainers=[{"name": "init"}], volumes=[uses])
    database["spec"]["containers"][0]["env"] = [{"name": "DB_PASSWORD", "value": PASSWORD}]
    body = body_of(("Stalled", "True", "ContainerFailed", f"cannot log in with {PASSWORD}"))
    body["metadata"]["annotations"] = {"last-applied": PASSWORD}
    own = {"name": "quick-credentials", "labels": {"dbbench.io/benchmark": "quick"}}
    event = {
        "metadata": {"name": "quick-vm-0.1"},
        "involvedObject": {"kind": "Pod", "name": "quick-vm-0"},
        "type": "Warning",
        "reason": "Failed",
        "message": f"started with --password={PASSWORD}",
    }
    other = {
        "metadata": {"name": "quicker.1"},
        "involvedObject": {"kind": "Pod", "name": "quicker"},
        "message": "other",
    }
    operator = pod("operator-1", "", namespace="system")
    api.answers |= {
        QUICK: [(200, body)],
        f"{CORE}/pods": listed(database, pod("quick-b001", "driver", "pod")),
        f"{CORE}/pods/quick-vm-0/log": [(200, f"FATAL\npostgres://bench:{PASSWORD}@db/x\n")],
        f"{CORE}/pods/quick-b001/log": [(200, f'{{"kind":"Progress","url":"{ENCODED}"}}')],
        f"{CORE}/secrets": listed(
            {"metadata": own, "data": {"password": ENCODED}},
            {"metadata": {"name": "else"}, "data": {"password": "b3RoZXI="}},
        ),
        f"{CORE}/events": listed(event, other),
        "/api/v1/pods": listed(operator),
        "/api/v1/namespaces/system/pods/operator-1/log": [(200, f"failed: {PASSWORD}\n")],
        "/api/v1/nodes": listed({"metadata": {"name": "a"}, "status": {"images": [{}]}}),
    }
    return api


def test_logs_of_all_containers_under_their_names(cluster):
    found = run("logs", "quick")
    assert found.exit_code == 0, found.output
    heads = [line for line in found.stdout.splitlines() if line.startswith("==>")]
    assert heads == [
        "==> quick-b001 main <==",
        "==> quick-vm-0 init <==",
        "==> quick-vm-0 main <==",
    ]


@pytest.mark.parametrize(
    ("options", "pod"),
    [
        (("--of", "database"), "quick-vm-0"),
        (("--of", "driver"), "quick-b001"),
        (("--target", "pod"), "quick-b001"),
    ],
)
def test_logs_of_some_pods(cluster, options, pod):
    found = run("logs", "quick", *options)
    heads = {line.split()[1] for line in found.stdout.splitlines() if line.startswith("==>")}
    assert heads == {pod}


def test_logs_where_no_pod_is(cluster):
    found = run("logs", "quick", "--of", "preparation")
    assert found.exit_code == 1
    assert "benchmark quick has no preparation pod now" in found.stderr


@pytest.fixture
def bundle(cluster, tmp_path):
    path = tmp_path / "b.tar.gz"

    def make():
        found = run("debug", "quick", "-o", str(path))
        assert found.exit_code == 0, found.output
        with tarfile.open(path) as tar:
            return {member.name: tar.extractfile(member).read() for member in tar}

    return make


def test_a_bundle_has_what_explains_the_benchmark_and_no_secret_in_any_form(bundle):
    files = bundle()
    assert {
        "README.txt", "dbbenchmark.json", "events.txt", "nodes/a.json",
        "objects/Pod-quick-vm-0.json", "logs/quick-vm-0/main.log", "logs/quick-b001/main.log",
        "operator/Pod-operator-1.json", "logs/operator-1/main.log",
    } <= files.keys()  # fmt: skip
    for name, content in files.items():
        for form in (PASSWORD, ENCODED, PASSWORD.replace("/", "%2F").replace("+", "%2B")):
            assert form.encode() not in content, name
    assert b"ContainerFailed" in files["dbbenchmark.json"]
    assert b"FATAL" in files["logs/quick-vm-0/main.log"]
    assert b"Pod/quick-vm-0" in files["events.txt"]
    assert b"quicker" not in files["events.txt"]
    assert not [name for name in files if "Secret" in name]


def test_without_the_right_to_read_secrets_patterns_remain_and_that_is_said(cluster, bundle):
    cluster.answers[f"{CORE}/secrets"] = [(403, {"message": "no"})]
    cluster.answers[f"{CORE}/events"] = [(403, {"message": "no"})]
    files = bundle()
    assert b"Secrets: only what looks like one is removed" in files["README.txt"]
    assert b"  events\n" in files["README.txt"]
    assert PASSWORD.encode() not in files["logs/quick-vm-0/main.log"]
    assert PASSWORD.encode() not in files["objects/Pod-quick-vm-0.json"]


def test_a_bundle_of_a_benchmark_that_is_not_there(api, tmp_path):
    path = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks"
    api.answers[path] = listed()
    found = run("debug", "quick", "-o", str(tmp_path / "x"))
    assert found.exit_code == 1
    assert not list(Path(tmp_path).glob("x"))
