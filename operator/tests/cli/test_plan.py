"""`dbbench plan` as a user runs it."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from dbbench.cli.main import cli

SAMPLE = Path(__file__).parents[3] / "manifests" / "samples" / "quickstart.yaml"


def run(*arguments, text=None):
    return CliRunner().invoke(cli, ["plan", *map(str, arguments)], input=text)


def changed(**trials):
    document = yaml.safe_load(SAMPLE.read_text())
    document["spec"]["trials"] = trials
    return yaml.safe_dump(document)


def test_the_sample():
    result = run(SAMPLE)
    assert result.exit_code == 0, result.stderr
    assert "quickstart: 3 cells on 2 targets (pod, vm)" in result.stdout
    assert "for each block of 6 trials" in result.stdout
    assert "Expected: 2 blocks, 12 trials, " in result.stdout
    assert "query=1," in result.stdout


def test_targets_whose_data_are_loaded_in_every_block_are_named():
    says = "Loaded in every block, for the data end with the target: "
    volumes = SAMPLE.with_name("virtual-machine-volumes.yaml")
    assert f"{says}empty-disk\n" in run(volumes).stdout
    assert says not in run(SAMPLE).stdout


def test_what_is_deployed_anew_for_each_block_is_said():
    says = "Deployed and loaded anew for every block: every target (trials.redeploy)"
    text = run(SAMPLE.with_name("redeploy.yaml")).stdout
    assert says in text
    assert "2 deployments of a block" in " ".join(text.split())
    assert "Expected: 10 blocks, 40 trials, " in text
    assert says not in run(SAMPLE).stdout
    once, anew = (
        json.loads(run("-", "--json", text=changed(min=2, redeploy=redeploy)).stdout)["plans"][0]
        for redeploy in (False, True)
    )
    extra = once["preparationSeconds"]
    assert anew["ends"][0]["expectedSeconds"] == pytest.approx(
        once["ends"][0]["expectedSeconds"] + extra
    )


def test_a_duet_is_said_and_takes_less_time():
    says = "Measured on both targets at the same time, on CPUs of their own (a duet)"
    sample = SAMPLE.with_name("duet.yaml")
    assert says in run(sample).stdout
    assert says not in run(SAMPLE).stdout
    document = yaml.safe_load(sample.read_text())
    (duet,) = json.loads(run(sample, "--json").stdout)["plans"]
    document["spec"]["trials"].pop("mode")
    (apart,) = json.loads(run("-", "--json", text=yaml.safe_dump(document)).stdout)["plans"]
    assert (duet["mode"], apart["mode"]) == ("Duet", "Sequential")
    assert duet["trialsPerBlock"] == apart["trialsPerBlock"]
    assert duet["ends"][0]["expectedSeconds"] < apart["ends"][0]["expectedSeconds"]


def test_json_adds_up():
    document = json.loads(run("-", "--json", text=changed(min=4)).stdout)
    assert (document["kind"], document["schemaVersion"]) == ("Plans", 1)
    found = document["plans"][0]
    assert found["targets"] == ["pod", "vm"]
    assert found["cells"] == ["analytics", "orders", "telecom"]
    (end,) = found["ends"]
    assert (end["blocks"], end["trials"]) == (4, 24)
    assert end["expectedSeconds"] == pytest.approx(
        found["preparationSeconds"] + 4 * found["blockSeconds"]
    )


def test_tests_of_causes_are_announced_with_their_changes_and_what_they_take_at_most():
    sample = SAMPLE.with_name("confirm.yaml")
    text = run(sample).stdout
    assert "Then, to test the causes of slowdowns: at most 6 blocks more, 60 trials, " in text
    for change in ("connection: Shared", "dataDisk.cache: none", 'dataDisk.readAhead: "0"'):
        assert change in " ".join(text.split())
    (found,) = json.loads(run(sample, "--json").stdout)["plans"]
    assert (found["tests"]["blocks"], found["tests"]["trials"]) == (6, 60)
    assert found["tests"]["expectedSeconds"] > 0
    assert "test the causes" not in run(SAMPLE).stdout
    assert json.loads(run(SAMPLE, "--json").stdout)["plans"][0]["tests"] is None


def test_a_run_with_a_target_half_width_ends_between_two_bounds():
    text = changed(min=3, max=20, targetHalfWidth="1%", control=True)
    result = run("-", text=text)
    assert "At the soonest: 10 blocks, 90 trials, " in result.stdout
    assert "At the latest: 20 blocks, 180 trials, " in result.stdout
    assert "(pod, vm, control)" in result.stdout
    short = run("-", text=changed(min=3, max=8, targetHalfWidth="1%"))
    assert "Expected: 8 blocks" in short.stdout


def test_measured_values_replace_assumptions():
    plain = json.loads(run(SAMPLE, "--json").stdout)
    other = json.loads(run(SAMPLE, "--json", "--assume", "job=108", "--assume", "stop=0").stdout)
    assert other["assumptions"]["job"] == 108
    difference = other["plans"][0]["blockSeconds"] - plain["plans"][0]["blockSeconds"]
    assert difference == pytest.approx(6 * 100 - 2 * 10)


def test_documents_of_other_kinds_are_passed_over_and_several_are_planned():
    text = "kind: ConfigMap\n---\n" + changed(min=1) + "---\n" + changed(min=2)
    assert len(json.loads(run("-", "--json", text=text).stdout)["plans"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: ConfigMap", "standard input: there is no DBBenchmark in it"),
        ("kind: [", "standard input: not YAML"),
        ("kind: DBBenchmark\nmetadata: {name: b}\nspec: {}", "b: spec.database: Field required"),
        (changed(min=0), "quickstart: spec.trials.min: Input should be greater than or equal to 1"),
        (changed(min=1).replace("baseline: pod", "baseline: bare"), "must be the name of a target"),
    ],
)
def test_bad_files_end_with_exit_code_2_and_the_reason(text, says):
    result = run("-", text=text)
    assert result.exit_code == 2
    assert says in result.stderr


@pytest.mark.parametrize("change", ["query", "query=fast", "=1", "speed=1", "query=-1"])
def test_a_wrong_assumption_ends_with_exit_code_2(change):
    result = run(SAMPLE, "--assume", change)
    assert result.exit_code == 2
    assert "--assume: " in result.stderr


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    result = run(tmp_path / "none.yaml")
    assert result.exit_code == 2
    assert "none.yaml: No such file or directory" in result.stderr
