"""The files of manifests/experiments: valid, explained, reduced by the rules, and all in use."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from dbbench.api.benchmark import DBBenchmark
from dbbench.experiments import files
from dbbench.experiments.catalogue import EXPERIMENTS
from dbbench.experiments.reduced import SUFFIX, changes, reduced

FOLDER = Path(__file__).parents[3] / files.FOLDER
NAMES = files.names(FOLDER)
LONGEST_NAME = 40


def parsed(document):
    metadata = document["metadata"] | {"namespace": "default", "uid": "0"}
    return DBBenchmark.parse(document | {"metadata": metadata})


def test_there_are_files():
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_are_of_the_api(name):
    full = files.read(FOLDER, name)
    assert full["metadata"]["name"] == name
    small = yaml.safe_load((FOLDER / files.REDUCED / f"{name}.yaml").read_text())
    assert small["metadata"]["name"] == name + SUFFIX
    assert len(name + SUFFIX) <= LONGEST_NAME
    for document in (full, small):
        spec = parsed(document).spec
        assert spec.baseline in [target.name for target in spec.targets]
        assert set(document) == {"apiVersion", "kind", "metadata", "spec"}


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_the_api_does_not_have_is_refused(name):
    document = files.read(FOLDER, name)
    document["spec"]["workloads"][0]["scale"] = "Reduced"
    with pytest.raises(ValidationError, match="scale"):
        parsed(document)


@pytest.mark.parametrize("name", NAMES)
def test_the_header_says_what_the_study_measured_and_what_to_change(name):
    header = [
        line for line in (FOLDER / f"{name}.yaml").read_text().splitlines() if line.startswith("#")
    ]
    text = " ".join(line.removeprefix("#").strip() for line in header)
    rows = [experiment.row for experiment in EXPERIMENTS if name in experiment.manifests]
    # A cloud instance is another machine for files of other rows.
    for row in set(rows) - {"S26"}:
        assert row in text.split(":")[0]
    for part in ("Study: ", "Metric: ", "Set the image, the node names"):
        assert part in text


def test_the_reduced_files_are_what_the_rules_yield_and_no_other():
    wanted = dict(files.reduced_texts(FOLDER))
    there = {path.stem: path.read_text() for path in (FOLDER / files.REDUCED).iterdir()}
    assert there == wanted, "run: make generate"


def test_every_file_belongs_to_a_row_and_every_row_s_files_are_there():
    used = {name for experiment in EXPERIMENTS for name in experiment.manifests}
    assert used == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_reduced_form_fits_the_local_cluster_and_keeps_what_is_compared(name):
    full, small = (parsed(form(files.read(FOLDER, name))).spec for form in (dict, reduced))
    assert small.resources.cpu == 1
    assert small.resources.memory == "1Gi"
    assert small.trials.max is None
    kept = [target.name for target in full.targets if target.host is None]
    assert [target.name for target in small.targets] == kept
    assert [one.name for one in small.workloads] == [one.name for one in full.workloads]
    for before, after in zip(full.workloads, small.workloads, strict=True):
        if before.tpch and after.tpch:
            assert after.tpch.scale_factor == "0.01"
            assert (after.tpch.cache, after.tpch.connection) == (
                before.tpch.cache,
                before.tpch.connection,
            )


def test_reducing_leaves_the_full_form_as_it_is():
    full = files.read(FOLDER, NAMES[0])
    reduced(full)
    assert full == files.read(FOLDER, NAMES[0])


def test_changes_name_fields_and_entries_of_lists():
    full = {"spec": {"a": 1, "b": [{"name": "x", "c": {"d": True}}, {"name": "y"}], "e": [1]}}
    other = {"spec": {"a": 2, "b": [{"name": "x", "c": {"d": False}}], "e": [1, 2]}}
    assert changes(full, other) == [
        "spec.a: 1 -> 2",
        "spec.b[x].c.d: True -> False",
        "spec.b[y]: {name: y} -> absent",
        "spec.e: [1] -> [1, 2]",
    ]
    assert changes(full, full) == []
