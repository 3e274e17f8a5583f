"""`dbbench run`: what it creates, follows and prints, and what it ends with."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from dbbench.cli.main import cli

PATH = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks"
QUICK = f"{PATH}/quick"
RESULTS = "/api/v1/namespaces/db/configmaps/quick-results"
DONE = {"trialsDone": 6, "trialsPlanned": 6, "percent": 100, "current": "done"}


@pytest.fixture
def file(tmp_path, body_of):
    path = tmp_path / "quick.yaml"
    body = {
        "apiVersion": "dbbench.io/v1alpha1",
        "kind": "DBBenchmark",
        "metadata": {"name": "quick"},
        "spec": body_of()["spec"],
    }
    path.write_text(yaml.safe_dump(body))
    return str(path)


@pytest.fixture
def results(api):
    api.answers[RESULTS] = [(200, {"metadata": {}, "data": {"report.md": "# quick\n"}})]


def run(*arguments):
    return CliRunner().invoke(cli, ["run", *arguments])


def test_it_creates_follows_and_prints_the_report_alone_on_standard_output(
    api, body_of, file, results
):
    end = body_of(("Succeeded", "True"), progress=DONE, resultsRef={"configMap": "quick-results"})
    api.answers[QUICK] = [(200, body_of(observedGeneration=-1)), (200, end)]
    found = run(file)
    assert found.exit_code == 0, found.stderr
    assert found.stdout == "# quick\n"
    assert "6/6 trials" in found.stderr
    assert [body["metadata"] for body in api.created] == [{"name": "quick", "namespace": "db"}]
    assert api.created[0]["spec"] == body_of()["spec"]


def test_a_missed_gate_is_a_failure_that_has_a_report(api, body_of, file, results):
    conditions = [
        ("Succeeded", "False", "GateFailed", "too slow"),
        ("Stalled", "True", "GateFailed", "too slow"),
    ]
    end = body_of(*conditions, progress=DONE, resultsRef={"configMap": "quick-results"})
    api.answers[QUICK] = [(200, end)]
    found = run(file)
    assert (found.exit_code, found.stdout) == (1, "# quick\n")
    assert "quick failed: GateFailed: too slow" in found.stderr


def test_one_that_cannot_start_has_no_report(api, body_of, file):
    api.answers[QUICK] = [(200, body_of(("Stalled", "True", "NodeNotFound", "no node")))]
    found = run(file)
    assert (found.exit_code, found.stdout) == (1, "")
    assert "quick failed: NodeNotFound: no node" in found.stderr


def test_it_gives_up_with_3(api, body_of, file):
    api.answers[QUICK] = [(200, body_of(progress=DONE | {"current": "loading"}))]
    found = run(file, "--timeout", "1s")
    assert (found.exit_code, found.stdout) == (3, "")


def test_one_that_exists_is_neither_followed_nor_overwritten(api, file):
    api.refusals[PATH] = 409
    found = run(file)
    assert found.exit_code == 1
    assert "exists in namespace 'db' already" in found.stderr
    assert "measure again with --replace" in found.stderr


def test_replace_deletes_what_belongs_to_the_old_one_first(api, body_of, file, results):
    end = body_of(("Succeeded", "True"), progress=DONE, resultsRef={"configMap": "quick-results"})
    api.answers[QUICK] = [(200, body_of(("Succeeded", "False"), ("Stalled", "True")))]
    api.appears[QUICK] = [(200, end)]
    found = run(file, "--replace")
    assert (found.exit_code, found.stdout) == (0, "# quick\n")
    assert api.deleted == [(QUICK, {"propagationPolicy": "Foreground"})]
    assert len(api.created) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n", "there is no DBBenchmark in it"),
        ("kind: DBBenchmark\nspec: {}\n", "spec.database: Field required"),
    ],
)
def test_a_file_that_is_none_is_told_before_the_cluster_is_asked(api, tmp_path, text, expected):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    found = run(str(path))
    assert found.exit_code == 2
    assert expected in found.stderr
    assert api.requested == []


def test_two_benchmarks_in_a_file_are_one_too_many(api, file, tmp_path):
    path = tmp_path / "two.yaml"
    text = Path(file).read_text()
    path.write_text(f"{text}---\n{text}")
    found = run(str(path))
    assert found.exit_code == 2
    assert "2 DBBenchmarks are in it (quick, quick); give one" in found.stderr


def test_a_benchmark_without_a_name_is_told(api, file):
    body = yaml.safe_load(Path(file).read_text())
    del body["metadata"]
    Path(file).write_text(yaml.safe_dump(body))
    assert "metadata.name is missing" in run(file).stderr
