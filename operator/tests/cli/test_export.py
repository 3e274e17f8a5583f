"""`dbbench export` over HTTP, and `dbbench report` of what it wrote, without a cluster."""

import json

import pytest
from click.testing import CliRunner

from dbbench.cli.main import cli
from dbbench.results.archive import Archive, pack

QUICK = "/apis/dbbench.io/v1alpha1/namespaces/db/dbbenchmarks/quick"
CONFIG_MAPS = "/api/v1/namespaces/db/configmaps"


def run(*arguments, **options):
    return CliRunner().invoke(cli, list(arguments), **options)


def test_export_writes_the_benchmark_and_reads_no_secret(served, exported, tmp_path):
    target = tmp_path / "quick.tar.gz"
    result = run("export", "quick", "-o", str(target))
    assert result.exit_code == 0, result.stderr
    assert target.read_bytes() == pack(exported)
    assert f"Its report: dbbench report {target} -o html" in result.stderr
    assert {path.rsplit("/", 2)[1] for path in served.requested} <= {
        "dbbenchmarks", "configmaps", "db",
    }  # fmt: skip
    assert list(tmp_path.glob(".quick*")) == []


def test_export_writes_to_standard_output(served, exported):
    assert run("export", "quick", "-o", "-").stdout_bytes == pack(exported)


def test_export_of_a_run_without_results_says_how_far_it_is(api, body_of):
    api.answers[QUICK] = [(200, body_of(("Succeeded", "Unknown")))]
    result = run("export", "quick")
    assert result.exit_code == 1
    assert "benchmark quick has not begun; follow it with: dbbench watch quick" in result.stderr


def test_export_names_a_record_that_is_damaged(served, tmp_path):
    answer = served.answers[CONFIG_MAPS][0][1]
    answer["items"][0]["binaryData"]["b001.pod.orders.1.json.gz"] = "AAAA"
    result = run("export", "quick", "-o", str(tmp_path / "x.tar.gz"))
    assert result.exit_code == 1
    assert "b001.pod.orders.1.json.gz: not base64 of gzipped JSON" in result.stderr


def test_export_that_cannot_write_says_so(served, tmp_path):
    result = run("export", "quick", "-o", str(tmp_path / "absent" / "x.tar.gz"))
    assert result.exit_code == 2
    assert "x.tar.gz cannot be written: No such file or directory" in result.stderr


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No cluster at all."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


@pytest.mark.parametrize(
    ("output", "key"), [("json", "summary.json"), ("csv", "summary.csv"), ("md", "report.md")]
)
def test_report_recomputes_the_published_text_offline(offline, exported, tmp_path, output, key):
    (tmp_path / "quick.tar.gz").write_bytes(pack(exported))
    result = run("report", str(tmp_path / "quick.tar.gz"), "-o", output)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == exported.published[key]


def test_the_page_of_a_benchmark_is_that_of_its_archive(served, exported):
    online = run("report", "quick", "-o", "html")
    assert online.exit_code == 0, online.stderr
    assert online.stdout.startswith("<!DOCTYPE html>")
    assert run("report", "-", "-o", "html", input=pack(exported)).stdout == online.stdout


def test_report_reads_an_archive_from_standard_input(offline, exported):
    result = run("report", "-", "-o", "json", input=pack(exported))
    assert result.stdout == exported.published["summary.json"]


def test_report_refuses_a_damaged_archive(offline, exported, tmp_path):
    target = tmp_path / "quick.tgz"
    target.write_bytes(pack(exported)[:-20])
    result = run("report", str(target))
    assert result.exit_code == 2
    assert f"{target} is damaged:\n  ends early: copy the whole file again" in result.stderr


def test_report_of_a_file_that_is_not_there_says_so(offline):
    result = run("report", "./absent.tar.gz")
    assert result.exit_code == 2
    assert "./absent.tar.gz cannot be read: No such file or directory" in result.stderr


def altered(exported, **changes):
    summary = exported.summary
    summary["comparisons"][0]["slowdown"] = 0.01
    summary |= changes
    return Archive(
        exported.body, exported.trials, exported.loads,
        {**exported.published, "summary.json": json.dumps(summary)},
    )  # fmt: skip


def test_figures_that_the_raw_trials_do_not_give_are_refused_by_name(offline, exported):
    result = run("report", "-", input=pack(altered(exported)))
    assert result.exit_code == 2
    assert "do not give the figures that were published:" in result.stderr
    assert "  comparisons[0].slowdown is 0.01 as published, 0.4" in result.stderr


def test_what_another_version_found_is_told_and_no_error(offline, exported):
    result = run("report", "-", "-o", "csv", input=pack(altered(exported, dbbench="0.0.9")))
    assert result.exit_code == 0
    assert "published by dbbench 0.0.9" in result.stderr
    assert "comparisons[0].slowdown is 0.01 as published" in result.stderr
    assert result.stdout == exported.published["summary.csv"]
