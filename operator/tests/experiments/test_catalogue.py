"""The rows: all forty, each either with files and tables or with a reason, as in the docs."""

import re
from pathlib import Path

import pytest

from dbbench.experiments.catalogue import EXPERIMENTS, State, find

PAGE = Path(__file__).parents[3] / "docs" / "experiments.md"
LINES = {
    found[1]: line
    for line in PAGE.read_text().splitlines()
    if (found := re.match(r"\| (S\d+) ", line))
}


def test_rows_are_s1_to_s40():
    assert [experiment.row for experiment in EXPERIMENTS] == [f"S{n}" for n in range(1, 41)]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.row)
def test_a_row_has_files_with_tables_or_a_reason(experiment):
    assert bool(experiment.manifests) == bool(experiment.views)
    assert {view.manifest for view in experiment.views} == set(experiment.manifests)
    if experiment.state is not State.WHOLE:
        assert experiment.missing


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.row)
def test_the_page_has_the_same_state_files_and_reason(experiment):
    line = LINES[experiment.row]
    assert f"| {experiment.state.value} |" in line
    for name in experiment.manifests:
        assert f"{name}.yaml" in line
    assert experiment.missing in line


@pytest.mark.parametrize("row", ["S7", "s7", "S07", "7"])
def test_a_row_is_found_however_it_is_written(row):
    assert find(row).number == 7


@pytest.mark.parametrize("row", ["S0", "S41", "", "S", "S1x", "-1"])
def test_what_is_no_row_is_not_found(row):
    assert find(row) is None
