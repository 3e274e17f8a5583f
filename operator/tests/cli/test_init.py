"""`dbbench init` writes files that are valid, from options or from answers."""

import pytest
import yaml
from click.testing import CliRunner

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.cli import init as module
from dbbench.cli.main import cli

NODES = ("--database-node", "a", "--driver-node", "b")


def run(*arguments, **options):
    return CliRunner().invoke(cli, ["init", *arguments], **options)


def spec_of(text):
    body = yaml.safe_load(text)
    assert (body["apiVersion"], body["kind"]) == ("dbbench.io/v1alpha1", "DBBenchmark")
    return DBBenchmarkSpec.model_validate(body["spec"])


@pytest.mark.parametrize("engine", [engine.value for engine in module.IMAGES])
@pytest.mark.parametrize("target", [name for name in module.TARGETS if name != "pod"])
def test_every_choice_makes_a_valid_file(tmp_path, engine, target):
    path = tmp_path / "b.yaml"
    workloads = ",".join(module.WORKLOADS)
    found = run(
        str(path), *NODES, "--engine", engine, "--targets", f"pod,{target}",
        "--workloads", workloads,
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert f"Next: dbbench preflight {path}" in found.stderr
    spec = spec_of(path.read_text())
    assert (spec.database.engine, spec.baseline) == (engine, "pod")
    assert [workload.name for workload in spec.workloads] == list(module.WORKLOADS)


def test_options_reach_their_fields():
    found = run(
        "-", *NODES, "--name", "x", "--image", "postgres:16", "--cpus", "8", "--memory", "32Gi",
        "--storage", "100Gi",
    )  # fmt: skip
    spec = spec_of(found.stdout)
    assert yaml.safe_load(found.stdout)["metadata"] == {"name": "x"}
    assert spec.database.image == "postgres:16"
    assert (spec.resources.cpu, spec.resources.memory) == (8, "32Gi")
    assert spec.database.storage.size == "100Gi"
    assert spec.placement.driver.node_selector == {"kubernetes.io/hostname": "b"}


def test_one_node_for_both_puts_the_driver_beside_the_database():
    spec = spec_of(run("-", "--database-node", "a", "--driver-node", "a").stdout)
    assert spec.placement.driver.colocation == "SameNode"


def test_on_a_terminal_it_asks_for_what_no_option_says(monkeypatch):
    monkeypatch.setattr(module.sys.stdin.__class__, "isatty", lambda _: True, raising=False)
    answers = module._answers
    monkeypatch.setattr(module, "_answers", lambda given, ask: answers(given, ask=True))
    typed = "mine\nMySQL\n\nnode-1\nnode-2\npod,qemu\ntatp\n1\n2Gi\n5Gi\n"
    found = run("-", input=typed)
    assert found.exit_code == 0, found.output
    spec = spec_of(found.stdout)
    assert spec.database.image == module.IMAGES["MySQL"]
    assert [target.name for target in spec.targets] == ["pod", "qemu"]
    assert spec.placement.database.node_selector == {"kubernetes.io/hostname": "node-1"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "--database-node is missing: nobody can be asked here"),
        ((*NODES, "--name", "My Benchmark"), "at most 40 lower-case letters"),
        ((*NODES, "--name", "x" * 41), "at most 40 lower-case letters"),
        ((*NODES, "--targets", "pod"), "name at least two"),
        ((*NODES, "--targets", "pod,metal"), "['metal']; write some of pod,vm"),
        ((*NODES, "--targets", "pod,pod"), "names one twice"),
        ((*NODES, "--workloads", ""), "write some of tpch,tpcc,tatp"),
        ((*NODES, "--cpus", "half"), "write a whole number"),
        ((*NODES, "--memory", "much"), "spec.resources.memory is 'much'"),
        ((*NODES, "--cpus", "0"), "spec.resources.cpu is 0"),
    ],
)
def test_a_wrong_answer_is_told_with_what_to_write(options, expected):
    found = run("-", *options)
    assert found.exit_code == 2
    assert expected in found.stderr


def test_a_file_is_replaced_only_when_that_is_asked_for(tmp_path):
    path = tmp_path / "b.yaml"
    path.write_text("mine")
    found = run(str(path), *NODES)
    assert (found.exit_code, path.read_text()) == (2, "mine")
    assert "--force replaces it" in found.stderr
    assert run(str(path), *NODES, "--force").exit_code == 0
    assert path.read_text() != "mine"


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    found = run(str(tmp_path / "no" / "b.yaml"), *NODES)
    assert found.exit_code == 2
    assert "cannot be written" in found.stderr
