"""`dbbench reproduce`: lists, runs over HTTP, reads archives, and prints both sides.

What was measured is a recorded run of the local cluster (operator/tests/results/data), under
the name of an experiment.
"""

import copy
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from dbbench.cli.main import cli
from dbbench.evaluate.recompute import recompute
from dbbench.experiments.catalogue import EXPERIMENTS
from dbbench.results import storage
from dbbench.results.archive import Archive, pack, unpack
from dbbench.results.documents import results_data

RECORDED = Path(__file__).parents[1] / "results" / "data" / "quickstart.tar.gz"
BENCHMARKS = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks"
CONFIG_MAPS = "/api/v1/namespaces/db/configmaps"


def run(*arguments, **options):
    return CliRunner().invoke(cli, ["reproduce", *arguments], **options)


def renamed(name):
    """The recorded run as that of another benchmark, with documents that belong to it."""
    recorded = unpack(RECORDED.read_bytes())
    body = copy.deepcopy(recorded.body)
    body["metadata"] |= {"name": name, "namespace": "db"}
    body["status"]["resultsRef"] = {"configMap": f"{name}-results"}
    archive = Archive(body, recorded.trials, recorded.loads, {})
    return Archive(body, recorded.trials, recorded.loads, results_data(recompute(archive)))


@pytest.fixture(scope="module")
def order_entry():
    return renamed("s24-order-entry-reduced")


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No cluster at all."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


@pytest.fixture
def archive(order_entry, tmp_path):
    path = tmp_path / "orders.tar.gz"
    path.write_bytes(pack(order_entry))
    return str(path)


@pytest.fixture
def cluster(api, order_entry):
    """An API server that takes the benchmark, runs it at once, and has its results."""
    name = order_entry.benchmark.metadata.name
    owner = {
        "apiVersion": "dbbench.io/v1alpha1", "kind": "DBBenchmark", "name": name,
        "uid": order_entry.benchmark.metadata.uid,
    }  # fmt: skip
    items = [
        {"metadata": {"name": key, "ownerReferences": [owner]}, "binaryData": data}
        for records in (order_entry.trials, order_entry.loads)
        for key, data in storage.shard(name, records).items()
    ]
    running, done = copy.deepcopy(order_entry.body), copy.deepcopy(order_entry.body)
    for body, status in ((running, "Unknown"), (done, "True")):
        condition = {
            "type": "Succeeded", "status": status, "reason": "Measured", "message": "",
            "lastTransitionTime": "2026-11-21T08:00:00Z",
        }  # fmt: skip
        body["status"] |= {
            "conditions": [condition],
            "observedGeneration": body["metadata"]["generation"],
        }
    api.answers[f"{BENCHMARKS}/{name}"] = [(200, running), (200, done)]
    api.answers[CONFIG_MAPS] = [(200, {"items": items, "metadata": {}})]
    api.answers[f"{CONFIG_MAPS}/{name}-results"] = [(200, {"data": order_entry.published})]
    return api


def test_the_list_has_every_row_with_its_state(offline):
    result = run("--list")
    assert result.exit_code == 0
    rows = {line.split()[0]: line for line in result.stdout.splitlines() if line.startswith(" S")}
    assert list(rows) == [experiment.row for experiment in EXPERIMENTS]
    assert "not yet" in rows["S3"]
    assert "s01-warm" in rows["S1"]


def test_a_recorded_run_stands_beside_what_was_printed(offline, archive, order_entry):
    result = run("S24", "--archive", archive)
    assert result.exit_code == 0, result.stderr
    assert "TPC-C, 5 warehouses: vm (emulated) compared with pod" in result.stdout
    (line,) = (line for line in result.stdout.splitlines() if line.startswith(" TPC-C "))
    found = order_entry.summary["comparisons"]
    (found,) = (one for one in found if one["workload"] == "orders" and one["primary"])
    assert "88448 /s" in line
    assert f"{found['slowdown'] * 100:+.2f} %" in line
    assert "Study: Table 2 of Muehlbauer" in result.stdout
    assert "NEW_ORDER p99" in result.stdout


def test_hardware_emulation_and_differences_are_told(offline, archive, order_entry):
    text = run("S24", "--archive", archive).stdout
    assert "Emulated: not representative." in text
    assert "CPU: Intel(R) Xeon(R)" in text
    assert "vm: QEMU, TCG" in text
    assert f"Conditions: {order_entry.summary['fairness'][:60]}" in text
    assert "Otherwise than in s24-order-entry.yaml:" in text
    assert "spec.workloads[orders].tpcc.warehouses: 5 -> 1" in text
    assert "spec.baseline: bare -> pod" in text
    # A default that nobody chose is no difference.
    assert "rootDiskSize" not in text
    assert "Not repeated: PostgreSQL stands in for HyPer" in text


def test_the_queries_are_paired_one_by_one(offline, archive):
    document = json.loads(run("S1", "--archive", archive, "--json").stdout)
    (table,) = (one for one in document["tables"] if one["title"] == "Queries from memory")
    rows = {row["name"]: row for row in table["rows"]}
    assert list(rows) == [f"Q{n}" for n in range(1, 23)]
    assert rows["Q13"]["paper"] == {
        "unit": "seconds", "baseline": 14.02, "target": 15.27, "difference": None,
        "slowdown": pytest.approx(0.0893), "interval": None, "verdict": None,
    }  # fmt: skip
    measured = rows["Q13"]["measured"]
    assert measured["slowdown"] == pytest.approx(measured["target"] / measured["baseline"] - 1)
    assert measured["interval"]["low"] <= measured["slowdown"] <= measured["interval"]["high"]
    assert table["emulated"]


def test_a_run_is_created_followed_and_printed(cluster, order_entry):
    own = ("--database-node", "n1", "--image", "postgres:15")
    result = run("S24", "--reduced", "--timeout", "1m", *own)
    assert result.exit_code == 0, result.stderr
    assert "TPC-C, 5 warehouses" in result.stdout
    (sent,) = cluster.created
    assert sent["metadata"] == {"name": "s24-order-entry-reduced", "namespace": "db"}
    assert sent["spec"]["database"]["image"] == "postgres:15"
    placed = {role: where["nodeSelector"] for role, where in sent["spec"]["placement"].items()}
    assert placed["database"] == {"kubernetes.io/hostname": "n1"}
    assert placed["driver"] == {"kubernetes.io/hostname": "bench-driver"}
    assert cluster.requested[0] == BENCHMARKS


def test_a_benchmark_of_the_cluster_is_printed_and_nothing_is_created(cluster):
    result = run("S24", "--name", "s24-order-entry-reduced")
    assert result.exit_code == 0, result.stderr
    assert "TPC-C, 5 warehouses" in result.stdout
    assert cluster.created == []


def test_what_exists_already_is_left_alone(cluster):
    cluster.refusals[BENCHMARKS] = 409
    result = run("S24", "--reduced")
    assert result.exit_code == 1
    assert "print it with --name s24-order-entry-reduced, or delete it first" in result.stderr


def test_what_exists_already_with_the_same_spec_is_gone_on_with(cluster, order_entry):
    name = order_entry.benchmark.metadata.name
    spec = yaml.safe_load(run("S24", "--reduced", "--dry-run").stdout)["spec"]
    cluster.answers[f"{BENCHMARKS}/{name}"][0][1]["spec"] = spec
    cluster.refusals[BENCHMARKS] = 409
    result = run("S24", "--reduced", "--timeout", "1m")
    assert result.exit_code == 0, result.stderr
    assert "is there already, with the same spec" in result.stderr
    assert "TPC-C, 5 warehouses" in result.stdout


def test_what_the_server_refuses_is_told_in_its_words(cluster):
    cluster.refusals[BENCHMARKS] = 422
    result = run("S24", "--reduced")
    assert result.exit_code == 2
    assert "refused by the test" in result.stderr


def test_a_run_that_fails_ends_with_1(cluster, order_entry, body_of):
    failed = body_of(("Succeeded", "False", "LoadFailed", "no space left"))
    failed["metadata"]["name"] = order_entry.benchmark.metadata.name
    cluster.answers[f"{BENCHMARKS}/{failed['metadata']['name']}"] = [(200, failed)]
    result = run("S24", "--reduced")
    assert result.exit_code == 1
    assert "LoadFailed: no space left" in result.stderr


def test_a_dry_run_prints_what_would_be_applied(offline):
    result = run("S7", "--reduced", "--dry-run")
    assert result.exit_code == 0, result.stderr
    documents = list(yaml.safe_load_all(result.stdout))
    names = [document["metadata"]["name"] for document in documents]
    assert names == ["s07-shared-reduced", "s07-shared-parallel-reduced"]
    full = list(yaml.safe_load_all(run("S7", "--dry-run").stdout))
    assert full[0]["spec"]["workloads"][0]["tpch"]["scaleFactor"] == "1"


def test_a_row_that_cannot_be_repeated_says_why(offline):
    result = run("S3", "--reduced")
    assert result.exit_code == 2
    assert "S3 (number of system calls) cannot be repeated yet: system calls are" in result.stderr


def test_a_run_without_figures_of_the_row_is_refused(offline, tmp_path):
    orders = renamed("s34-small")
    body = copy.deepcopy(orders.body)
    body["spec"]["workloads"] = [w for w in body["spec"]["workloads"] if w["name"] == "telecom"]
    trials = tuple(one for one in orders.trials if one.workload == "telecom")
    alone = Archive(body, trials, (), {})
    path = tmp_path / "telecom.tar.gz"
    path.write_bytes(pack(Archive(body, trials, (), results_data(recompute(alone)))))
    result = run("S24", "--archive", str(path))
    assert result.exit_code == 1
    assert "has no figures of S24: its workloads are not those of s24-order-entry.yaml" in (
        result.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which experiment? Give a row, such as S1, or --list"),
        (["S41"], "there is no row 'S41': rows are S1 to S40"),
        (["S24", "--name", "a", "--archive", "b"], "give either --name or --archive"),
        (["S24", "--archive", "b", "--reduced"], "--reduced and --dry-run are for a new run"),
        (["S24", "--archive", "./absent.tar.gz"], "./absent.tar.gz cannot be read"),
        (["S24", "--dry-run", "--manifests", "absent"], "--manifests names the folder manifests"),
    ],
)
def test_wrong_arguments_end_with_2_and_say_what_to_write(offline, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_of_several_files_an_archive_is_told_by_its_name(offline, archive, tmp_path):
    result = run("S34", "--archive", archive)
    assert result.exit_code == 2
    assert "'s24-order-entry-reduced' is none of S34" in result.stderr
    small = tmp_path / "small.tar.gz"
    small.write_bytes(pack(renamed("s34-small-reduced")))
    result = run("S34", "--archive", str(small))
    assert result.exit_code == 0, result.stderr
    assert "Throughput (s34-small)" in result.stdout
    assert "s34-both" not in result.stdout
    twice = run("S34", "--archive", str(small), "--archive", str(small))
    assert "or is given twice" in twice.stderr
