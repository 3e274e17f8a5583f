"""`dbbench watch` and `dbbench report` over HTTP: their exit codes, and what they say."""

import json

import pytest
from click.testing import CliRunner

from dbbench.cli.main import cli

PATH = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks"
QUICK = f"{PATH}/quick"
RESULTS = "/api/v1/namespaces/db/configmaps/quick-results"


def run(*arguments):
    return CliRunner().invoke(cli, list(arguments))


def not_found(name):
    return 404, {"kind": "Status", "code": 404, "message": f"{name} not found"}


def listing(*names):
    return 200, {"items": [{"metadata": {"name": name}} for name in names], "metadata": {}}


def progress(done, current):
    return {
        "trialsDone": done,
        "trialsPlanned": 6,
        "percent": 100 * done // 6,
        "current": current,
    }


def test_watch_follows_to_success(api, body_of):
    api.answers[QUICK] = [
        (200, body_of(observedGeneration=-1)),
        (200, body_of(("Succeeded", "Unknown", "Running"), progress=progress(1, "loading"))),
        (200, body_of(("Succeeded", "True", "Measured", "6 trials"), progress=progress(6, "done"))),
    ]
    result = run("watch", "quick")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line[9:] for line in lines[:3]] == [
        "waiting for the operator",
        "1/6 trials, 16 % loading",
        "6/6 trials, 100 % succeeded: Measured: 6 trials",
    ]
    assert lines[3:] == [
        "quick succeeded: Measured: 6 trials",
        "The full report: dbbench report quick -n db",
    ]


def test_watch_ends_with_1_and_the_reason_when_the_benchmark_failed(api, body_of):
    api.answers[QUICK] = [
        (200, body_of(("Stalled", "True", "StorageClassMissing", "no StorageClass fast")))
    ]
    result = run("watch", "quick")
    assert result.exit_code == 1
    assert "quick failed: StorageClassMissing: no StorageClass fast" in result.stderr


def test_watch_gives_up_with_3_after_its_timeout(api, body_of):
    api.answers[QUICK] = [(200, body_of(progress=progress(1, "loading")))]
    result = run("watch", "quick", "--timeout", "2s")
    assert result.exit_code == 3
    assert "has not ended within 2 s; it goes on" in result.stderr


def test_watch_ends_when_the_benchmark_is_deleted(api, body_of):
    api.answers[QUICK] = [(200, body_of(progress=progress(1, "loading"))), not_found("quick")]
    api.answers[PATH] = [listing()]
    result = run("watch", "quick")
    assert result.exit_code == 1
    assert "benchmark quick has been deleted" in result.stderr


def test_watch_outlives_an_api_server_that_restarts(api, body_of):
    unavailable = (503, {"message": "shutting down"})
    api.answers[QUICK] = [
        (200, body_of(progress=progress(1, "loading"))),
        unavailable,
        unavailable,
        (200, body_of(("Succeeded", "True"), progress=progress(6, "done"))),
    ]
    result = run("watch", "quick")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.count("answered 503: shutting down; trying again") == 1


@pytest.mark.parametrize("command", ["watch", "report"])
def test_a_benchmark_that_does_not_exist_is_answered_with_those_that_do(api, command):
    api.answers[QUICK] = [not_found("quick")]
    api.answers[PATH] = [listing("slow", "other")]
    result = run(command, "quick")
    assert result.exit_code == 1
    assert "no benchmark 'quick' in namespace 'db'; there are: other, slow" in result.stderr


def test_a_cluster_without_the_crd_is_told_apart(api):
    result = run("report", "quick")
    assert result.exit_code == 2
    assert "does not know DBBenchmark: install dbbench-operator first" in result.stderr


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((401, {"message": "Unauthorized"}), "does not accept these credentials"),
        (
            (403, {"message": "dbbenchmarks.dbbench.io is forbidden: no right"}),
            "no right. Check with: kubectl auth can-i get dbbenchmarks.dbbench.io -n db",
        ),
        ((500, {"message": "etcd is gone"}), "answered 500: etcd is gone"),
        ((200, {"metadata": {"name": "quick"}}), "is of another version of dbbench"),
    ],
)
def test_a_refusal_is_told_in_plain_words(api, answer, expected):
    api.answers[QUICK] = [answer]
    result = run("report", "quick")
    assert result.exit_code == 2
    assert expected in result.stderr


def test_no_cluster_at_the_address(monkeypatch, tmp_path, api):
    monkeypatch.delenv("KUBECONFIG")
    kubeconfig = tmp_path / "elsewhere"
    text = (tmp_path / "kubeconfig").read_text()
    address = text.split("server: ")[1].split()[0]
    kubeconfig.write_text(text.replace(address, "http://127.0.0.1:1"))
    result = run("watch", "quick", "--kubeconfig", str(kubeconfig))
    assert result.exit_code == 2
    assert "no cluster answers at http://127.0.0.1:1" in result.stderr


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, "there is no kubeconfig at"),
        ("", "is not a readable kubeconfig"),
        ("- a\n", "is not a readable kubeconfig"),
        ("a: [\n", "is not a readable kubeconfig"),
        ("apiVersion: v1\nkind: Config\n", "current-context"),
    ],
)
def test_a_kubeconfig_that_leads_nowhere(tmp_path, content, expected):
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)
    result = run("report", "quick", "--kubeconfig", str(path))
    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_context_that_does_not_exist(api):
    result = run("report", "quick", "--context", "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr


@pytest.mark.parametrize(
    ("output", "key", "text"),
    [
        ([], "report.md", "# quick\n"),
        (["-o", "md"], "report.md", "# quick\n"),
        (["-o", "csv"], "summary.csv", "level,workload\n"),
        (["-o", "json"], "summary.json", json.dumps({"kind": "Summary"}) + "\n"),
    ],
)
def test_report_prints_a_document_as_it_is_stored(api, body_of, output, key, text):
    api.answers[QUICK] = [
        (200, body_of(("Succeeded", "True"), resultsRef={"configMap": "quick-results"}))
    ]
    api.answers[RESULTS] = [(200, {"metadata": {"name": "quick-results"}, "data": {key: text}})]
    result = run("report", "quick", *output)
    assert result.exit_code == 0
    assert result.stdout == text


def test_report_in_another_namespace(api):
    path = PATH.replace("/db/", "/elsewhere/")
    api.answers[path] = [listing()]
    result = run("report", "quick", "-n", "elsewhere")
    assert f"{path}/quick" in api.requested
    assert "in namespace 'elsewhere'; it has none" in result.stderr


def test_report_of_a_benchmark_that_runs_says_how_far_it_is(api, body_of):
    api.answers[QUICK] = [(200, body_of(progress=progress(2, "measuring")))]
    result = run("report", "quick")
    assert result.exit_code == 1
    assert "no results yet: 2 of 6 trials are done" in result.stderr
    api.answers[QUICK] = [(200, body_of())]
    assert "has not begun" in run("report", "quick").stderr


def test_report_of_results_that_somebody_deleted(api, body_of):
    api.answers[QUICK] = [(200, body_of(resultsRef={"configMap": "quick-results"}))]
    api.answers[RESULTS] = [not_found("quick-results")]
    result = run("report", "quick")
    assert result.exit_code == 1
    assert "ConfigMap quick-results with the results of quick is gone" in result.stderr
