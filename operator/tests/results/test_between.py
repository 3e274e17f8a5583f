"""Two benchmarks side by side: independent samples, and all that differs is named."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from dbbench.api.status import Verdict
from dbbench.cli.main import cli
from dbbench.evaluate.recompute import recompute
from dbbench.results.archive import Archive, pack
from dbbench.results.between import between
from dbbench.results.documents import results_data


@pytest.fixture
def archive(benchmark, records):
    """An archive of the benchmark; `faster` changes its rates, `changes` its spec."""

    def make(name="first", faster=1.0, **changes):
        status = {"environment": {"databaseNode": "a", "targets": []}, "startTime": "x"}
        body = {
            "apiVersion": "dbbench.io/v1alpha1",
            "kind": "DBBenchmark",
            "metadata": {"name": name, "namespace": "db", "uid": f"u-{name}", "generation": 1},
            "spec": benchmark.spec.document() | changes,
            "status": status,
        }
        trials = tuple(replace(record, result=scaled(record.result, faster)) for record in records)
        return Archive(body, trials, (), {})

    return make


def scaled(result, faster):
    metrics = [
        metric | {"value": metric["value"] * (faster if metric["unit"] != "seconds" else 1)}
        for metric in result["metrics"]
    ]
    return result | {"metrics": metrics}


def compared(first, second):
    return between(first, second, ("first", "second"), confidence=0.95, margin=0.01)


def test_every_target_and_cell_is_compared_with_itself(archive):
    found = compared(archive(), archive("second", faster=4.0))
    slowdowns = {one.cell: one for one in found.table.slowdowns}
    assert len(slowdowns) == 2 * 4
    orders = slowdowns["pod: orders"]
    assert orders.relative == pytest.approx(1 / 4 - 1)
    assert orders.verdict is Verdict.FASTER
    assert slowdowns["vm: analytics/connection=Shared"].relative == pytest.approx(0)
    assert not any(one.paired for one in slowdowns.values())


def test_what_else_differs_is_named_by_its_field_and_what_steers_a_run_is_not(archive):
    database = {"engine": "PostgreSQL", "image": "postgres:16"}
    second = archive("second", database=database, suspend=True, cleanupPolicy="Never")
    second.body["status"]["environment"]["databaseNode"] = "b"
    second.body["status"]["environment"]["targets"] = [
        {"name": "vm", "runtime": "QEMU", "emulated": True, "properties": {"x": "y"}}
    ]
    found = compared(archive(), second)
    assert "spec.database.image: postgres:17 -> postgres:16" in found.differences
    assert "environment.databaseNode: a -> b" in found.differences
    assert found.emulated == ("vm",)
    assert not [one for one in found.differences if "suspend" in one or "Policy" in one]
    assert compared(archive(), archive("second")).differences == ()


def test_what_only_one_of_them_has_is_a_gap(archive):
    second = archive("second")
    fewer = replace(second, trials=tuple(t for t in second.trials if t.workload != "orders"))
    found = compared(archive(), fewer)
    assert {gap.cell for gap in found.table.gaps} == {"pod: orders", "vm: orders"}


@pytest.fixture
def files(archive, tmp_path):
    def write(name, **options):
        made = archive(name, **options)
        whole = replace(made, published=results_data(recompute(made)))
        path = tmp_path / f"{name}.tar.gz"
        path.write_bytes(pack(whole))
        return str(path)

    return write


def test_the_command_prints_the_table_and_what_differs(files):
    database = {"engine": "PostgreSQL", "image": "postgres:16"}
    one, other = files("one"), files("other", faster=2.0, database=database)
    found = CliRunner().invoke(cli, ["compare", one, other])
    assert found.exit_code == 0, found.output
    assert "other compared with one" in found.stdout
    assert "pod: orders" in found.stdout
    assert "  spec.database.image: postgres:17 -> postgres:16" in found.stdout
    document = json.loads(CliRunner().invoke(cli, ["compare", one, other, "--json"]).stdout)
    assert document["baseline"] == "one"
    assert document["differences"] == ["spec.database.image: postgres:17 -> postgres:16"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("a.tar.gz", "b.tar.gz", "c.tar.gz"), "give one FILE, or two benchmarks A and B"),
        (("a.tar.gz", "b.tar.gz", "--baseline", "x"), "of A and B, A is the baseline"),
        (("a.csv",), "a FILE needs --baseline"),
        (("no.tar.gz", "no.tar.gz"), "no.tar.gz cannot be read"),
    ],
)
def test_wrong_arguments(arguments, expected):
    found = CliRunner().invoke(cli, ["compare", *arguments])
    assert found.exit_code == 2
    assert expected in found.stderr
