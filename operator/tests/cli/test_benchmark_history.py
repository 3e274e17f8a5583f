"""`dbbench history` of benchmarks, over HTTP and from archives."""

import copy
import json

import pytest
from click.testing import CliRunner

from dbbench.api.benchmark import DBBenchmark
from dbbench.cli.main import cli
from dbbench.evaluate.recompute import recompute
from dbbench.plan import block, plan_seed
from dbbench.results.archive import Archive, described, pack
from dbbench.results.documents import SUMMARY_JSON, results_data

BENCHMARKS = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks"
ENVIRONMENT = {
    "databaseNode": "a",
    "cpuModel": "EPYC",
    "nodeCpus": 64,
    "targets": [{"name": "pod", "runtime": "Pod"}, {"name": "vm", "runtime": "QEMU"}],
}
# With a spread as real runs have it, and slower by 8 % from the ninth night on.
NIGHTS = [0.100, 0.104, 0.097, 0.101, 0.099, 0.102, 0.098, 0.103, 0.190, 0.187, 0.193, 0.189]


def run(*arguments, **options):
    return CliRunner().invoke(cli, ["history", *arguments], **options)


def comparison(slowdown):
    return {
        "workload": "orders", "cell": "", "target": "vm", "metric": "throughput", "primary": True,
        "unit": "per_second", "baselineValue": 100.0, "targetValue": 100.0 / (1 + slowdown),
        "slowdown": slowdown, "interval": {"low": slowdown - 0.01, "high": slowdown + 0.01},
    }  # fmt: skip


@pytest.fixture
def nights(api, body_of):
    """A benchmark for each night, listed in no order, from the ninth on with another image.

    Beside them one of another size, and one that has not ended.
    """
    bodies = []
    for number, slowdown in enumerate(NIGHTS, start=1):
        body = copy.deepcopy(
            body_of(
                ("Succeeded", "True"),
                startTime=f"2026-11-{number:02d}T02:00:00Z",
                environment=copy.deepcopy(ENVIRONMENT),
                resultsRef={"configMap": f"night-{number}-results"},
            )
        )
        body["metadata"] |= {"name": f"night-{number}", "uid": f"u-{number}"}
        if number > 8:
            body["spec"]["database"]["image"] = "postgres:18"
        bodies.append(body)
        document = {"dbbench": "0.1.0", "comparisons": [comparison(slowdown)]}
        serve_results(api, f"night-{number}", json.dumps(document))
    larger = copy.deepcopy(bodies[3])
    larger["metadata"] |= {"name": "larger", "uid": "u-l"}
    larger["spec"]["resources"] = {"cpu": 8}
    larger["status"]["resultsRef"] = {"configMap": "larger-results"}
    serve_results(api, "larger", json.dumps({"comparisons": [comparison(0.5)]}))
    running = body_of(("Succeeded", "Unknown"))
    running["metadata"] |= {"name": "running", "uid": "u-r"}
    bodies = [*bodies[::-1], larger, running]
    for body in bodies:
        api.answers[f"{BENCHMARKS}/{body['metadata']['name']}"] = [(200, body)]
    api.answers[BENCHMARKS] = [(200, {"items": bodies, "metadata": {}})]
    return api


def serve_results(api, name, text):
    path = f"/api/v1/namespaces/db/configmaps/{name}-results"
    api.answers[path] = [(200, {"data": {SUMMARY_JSON: text}})]


def test_a_name_stands_for_all_that_are_like_it(nights):
    found = run("night-2", "--json")
    assert found.exit_code == 1, found.output
    document = json.loads(found.stdout)
    assert [one["name"] for one in document["runs"]] == [f"night-{n}" for n in range(1, 13)]
    assert document["leftOut"] == []
    (trend,) = document["trends"]
    assert (trend["target"], trend["cell"], trend["of"]) == ("vm", "orders", "slowdown")
    assert trend["verdict"] == "Regressed"
    assert trend["slowdown"] == pytest.approx(1.19 / 1.10 - 1, abs=0.01)
    assert trend["interval"]["low"] < 1.19 / 1.10 - 1 < trend["interval"]["high"]
    assert trend["reference"] == {"first": "night-1", "last": "night-8"}
    assert trend["current"] == {"first": "night-9", "last": "night-12"}
    (change,) = document["changes"]
    assert change["trial"] == "night-9"
    assert change["differences"] == ["spec.database.image: postgres:17 -> postgres:18"]


def test_the_tables_show_every_run_the_verdict_and_what_came_with_the_change(nights):
    lines = [" ".join(line.split()) for line in run("night-2").stdout.splitlines()]
    assert "vm compared with pod: orders" in lines
    assert "2026-11-01T02:00:00Z night-1 +10.00 % +9.00 to +11.00 %" in lines
    ninth = next(line for line in lines if line.startswith("2026-11-09"))
    assert ninth.startswith("2026-11-09T02:00:00Z night-9 +19.00 % +18.00 to +20.00 % +")
    assert ninth.endswith("% Slower")
    assert any(line.startswith("vm orders 12 Regressed +") for line in lines)
    place = lines.index("Otherwise than before in night-9:")
    assert lines[place + 1] == "spec.database.image: postgres:17 -> postgres:18"
    assert lines[-1].endswith(", 12 runs")


def test_a_regression_that_is_accepted_is_none(nights):
    assert run("night-2", "--since", "night-10").exit_code == 0


def test_values_are_followed_for_the_baseline_too(nights):
    document = json.loads(run("night-2", "--of", "values", "--json").stdout)
    verdicts = {one["target"]: one["verdict"] for one in document["trends"]}
    assert verdicts == {"pod": "Unchanged", "vm": "Regressed"}
    assert document["trends"][0]["unit"] == "per_second"


def test_a_selector_takes_what_has_ended_and_is_like_the_latest(nights):
    document = json.loads(run("-l", "team=db", "--json").stdout)
    assert len(document["runs"]) == 12
    reasons = {one["source"]: one["reason"] for one in document["leftOut"]}
    assert "has another fingerprint: spec.resources.cpu: 1 -> 8" in reasons["larger"]
    assert "has no results yet" in reasons["running"] or "has not begun" in reasons["running"]


def test_several_names_are_these_alone(nights):
    found = run("night-1", "night-3", "larger")
    assert found.exit_code == 0, found.output
    assert "TooFew: at --significance 0.01 a change needs 10 values." in found.stdout
    # Of the three, larger began last.
    assert "Left out: night-1 has another fingerprint: spec.resources.cpu: 8 -> 1" in found.stdout


@pytest.mark.parametrize("condition", ["Representative", "FairnessVerified"])
def test_what_cannot_be_relied_on_is_said(nights, condition):
    _, body = nights.answers[f"{BENCHMARKS}/night-2"][0]
    body["status"]["conditions"].append(
        {
            "type": condition, "status": "False", "reason": "x", "message": "",
            "lastTransitionTime": "2026-11-21T08:00:00Z",
        }
    )  # fmt: skip
    found = run("night-2")
    assert f"({condition} is False): night-2" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nothing"], 1, "there is no benchmark 'nothing'"),
        (["running"], 1, "benchmark running has not begun"),
        (["night-1", "running"], 1, "benchmark running has not begun"),
        (["none.tar.gz"], 2, "none.tar.gz cannot be read"),
    ],
)
def test_what_is_named_must_be_there(nights, arguments, code, says):
    found = run(*arguments)
    assert found.exit_code == code
    assert says in found.stderr


def test_of_what_is_selected_nothing_has_results(api):
    api.answers[BENCHMARKS] = [(200, {"items": [], "metadata": {}})]
    found = run("-l", "team=db")
    assert found.exit_code == 1
    assert "no benchmark with the labels team=db has results" in found.stderr


def test_results_that_somebody_damaged_are_named(nights):
    serve_results(nights, "night-3", "{")
    assert "summary.json of night-3 is no JSON" in run("night-3").stderr
    document = json.loads(run("night-4", "--json").stdout)
    assert [one["source"] for one in document["leftOut"]] == ["night-3"]
    assert len(document["runs"]) == 11


@pytest.fixture
def archives(body_of, record_of, tmp_path):
    """Files of `dbbench export`, one for each night, of a benchmark that has one name for all."""
    paths = []
    for number, slowdown in enumerate(NIGHTS, start=1):
        body = body_of(
            ("Succeeded", "True"), startTime=f"2026-11-{number:02d}T02:00:00Z",
            environment=ENVIRONMENT, resultsRef={"configMap": "quick-results"},
        )  # fmt: skip
        body["metadata"] |= {"uid": f"u-{number}"}
        spec = DBBenchmark.parse(body).spec
        records = tuple(
            record_of(trial, vm=1000.0 / (1 + slowdown), pod=1000.0)
            for n in (1, 2, 3)
            for trial in block(spec, plan_seed(spec, f"u-{number}"), n).trials
        )
        whole = Archive(described(body), records, (), {})
        published = results_data(recompute(whole))
        path = tmp_path / f"night-{number:02d}.tar.gz"
        path.write_bytes(pack(Archive(described(body), records, (), published)))
        paths.append(str(path))
    return paths


def test_archives_need_no_cluster(archives):
    found = run(*archives[::-1], "--json", env={"KUBECONFIG": "/nowhere"})
    assert found.exit_code == 1, found.output
    document = json.loads(found.stdout)
    assert [one["startTime"][:10] for one in document["runs"]][:2] == ["2026-11-01", "2026-11-02"]
    assert document["runs"][0]["source"].endswith("night-01.tar.gz")
    (trend,) = document["trends"]
    assert trend["points"][0]["trial"] == "quick@2026-11-01T02:00:00Z"
    assert trend["points"][0]["interval"]["low"] < 0.1 < trend["points"][0]["interval"]["high"]
    assert trend["verdict"] == "Regressed"


def test_archives_and_the_cluster_make_one_history(nights, archives):
    document = json.loads(run("night-12", *archives[:3], "--json").stdout)
    assert [one["trial"] for one in document["runs"]] == [
        "quick@2026-11-01T02:00:00Z", "quick@2026-11-02T02:00:00Z", "quick@2026-11-03T02:00:00Z",
        "night-12@2026-11-12T02:00:00Z",
    ]  # fmt: skip
