"""`dbbench list` over HTTP: one line for each benchmark, or the objects themselves."""

import json

import pytest
import yaml
from click.testing import CliRunner

from dbbench.cli.main import cli

GROUP = "/apis/dbbench.io/v1alpha1"


def run(*arguments):
    return CliRunner().invoke(cli, ["list", *arguments])


@pytest.fixture
def two(api, body_of):
    """One that waits, and one that runs, in this order by name."""
    running = body_of(
        reason="Running", worstSlowdown="12.3 %",
        progress={"trialsDone": 2, "trialsPlanned": 6, "percent": 33, "current": "loading [x]"},
    )  # fmt: skip
    waiting = body_of(
        reason="Queued", queue={"position": 3, "node": "node a", "benchmark": "db/quick"}
    )
    waiting["metadata"] |= {"name": "first"}
    answer = (200, {"items": [running, waiting], "metadata": {}})
    api.answers[f"{GROUP}/namespaces/db/dbbenchmarks"] = [answer]
    api.answers[f"{GROUP}/dbbenchmarks"] = [answer]
    return api


def rows(found):
    return [line.split() for line in found.stdout.splitlines() if "PostgreSQL" in line]


def test_one_line_for_each(two):
    found = run()
    assert found.exit_code == 0, found.output
    assert rows(found) == [
        ["first", "PostgreSQL", "-", "-", "Queued", "(3)", "-"],
        ["quick", "PostgreSQL", "2/6", "12.3", "%", "Running", "-"],
    ]


def test_of_all_namespaces_with_what_runs_now(two):
    found = run("-A", "-o", "wide")
    assert rows(found)[1] == [
        "db", "quick", "PostgreSQL", "2/6", "12.3", "%", "Running", "-", "loading", "[x]",
    ]  # fmt: skip


@pytest.mark.parametrize(("output", "parse"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_the_objects_for_programs(two, output, parse):
    document = parse(run("-o", output).stdout)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    assert [item["metadata"]["name"] for item in document["items"]] == ["first", "quick"]


def test_none_is_no_failure(api):
    api.answers[f"{GROUP}/namespaces/db/dbbenchmarks"] = [(200, {"items": [], "metadata": {}})]
    found = run()
    assert (found.exit_code, found.stdout) == (0, "")
    assert "no benchmarks" in found.stderr


def test_all_namespaces_without_the_right(api):
    api.answers[f"{GROUP}/dbbenchmarks"] = [(403, {"message": "no"})]
    found = run("-A")
    assert found.exit_code == 2
    assert "kubectl auth can-i list dbbenchmarks.dbbench.io -A" in found.stderr
