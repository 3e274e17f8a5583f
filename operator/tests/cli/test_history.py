"""`dbbench history` as a user runs it."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from dbbench.cli.main import cli


def run(*arguments, text=None):
    return CliRunner().invoke(cli, ["history", *arguments], input=text)


def series(*levels, cell="orders", unit="seconds", seed=1):
    random = np.random.default_rng(seed)
    values = [level * math.exp(random.normal(0, 0.01)) for level in levels]
    return "".join(f"vm,{cell},v{number},{value!r},{unit}\n" for number, value in enumerate(values))


def rows(result):
    """Lines of the tables that are about orders."""
    lines = (" ".join(line.split()) for line in result.stdout.splitlines())
    return [line for line in lines if line.startswith("vm orders")]


HEADER = "target,cell,trial,value,unit\n"
SLOWER = [100] * 10 + [110] * 10


def test_a_change_is_named_with_its_trial_interval_and_verdict():
    result = run("-", text=HEADER + series(*SLOWER))
    answer = result.stdout.splitlines()[0]
    assert answer.startswith("vm has regressed in orders: +")
    assert answer.endswith("since v10, against v0 to v9.")
    verdict, change = rows(result)
    assert verdict.startswith("vm orders 20 Regressed +")
    assert verdict.endswith("v10 to v19 with v0 to v9")
    assert change.startswith("vm orders v10 +")
    assert "Slower 0.0001" in change


@pytest.mark.parametrize(
    ("levels", "code"),
    [(SLOWER, 1), (SLOWER[::-1], 0), ([100] * 20, 0), ([100, 100, 110, 110], 0)],
    ids=["regressed", "improved", "unchanged", "too few"],
)
def test_only_a_regression_ends_with_exit_code_1(levels, code):
    assert run("-", text=HEADER + series(*levels)).exit_code == code


def test_since_says_what_is_compared_with():
    text = HEADER + series(*[100] * 10, *[110] * 10, *[107] * 10)
    assert "Improved" in rows(run("-", text=text))[0]
    found = run("-", "--since", "v3", "-o", "json", text=text)
    assert found.exit_code == 1
    (trend,) = json.loads(found.stdout)["trends"]
    assert trend["verdict"] == "Regressed"
    assert trend["reference"] == {"first": "v0", "last": "v9"}
    assert trend["current"] == {"first": "v20", "last": "v29"}
    assert trend["interval"]["low"] < 0.07 < trend["interval"]["high"]
    accepted = run("-", "--since", "v25", text=text)
    assert accepted.exit_code == 0
    assert "Unchanged" in rows(accepted)[0]


def test_a_rate_that_rises_is_faster():
    text = HEADER + series(*SLOWER, unit="per_second")
    (found,) = json.loads(run("-", "--json", text=text).stdout)["changes"]
    assert found["trial"] == "v10"
    assert found["slowdown"] == pytest.approx(100 / 110 - 1, abs=0.01)
    assert found["interval"]["low"] < found["slowdown"] < found["interval"]["high"] < 0
    assert found["verdict"] == "Faster"


def test_series_are_told_apart():
    text = HEADER + series(*SLOWER) + series(*[50] * 20, cell="telecom", seed=2)
    document = json.loads(run("-", "--json", "--seed", "7", text=text).stdout)
    assert (document["kind"], document["schemaVersion"], document["series"]) == ("History", 1, 2)
    assert document["seed"] == 7
    assert [found["cell"] for found in document["changes"]] == ["orders"]


def test_no_change_is_said():
    result = run("-", text=HEADER + series(*[100] * 12))
    assert rows(result) == ["vm orders 12 Unchanged - - -"]
    assert "Unchanged: no change was found" in result.stdout


def test_too_few_values_are_said_with_how_many_it_takes():
    result = run("-", text=HEADER + series(*[100] * 8))
    assert rows(result) == ["vm orders 8 TooFew - - -"]
    assert "TooFew: at --significance 0.01 a change needs 10 values." in result.stdout
    assert (
        "Unchanged" in rows(run("-", "--significance", "0.05", text=HEADER + series(*[100] * 8)))[0]
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (series(*[100] * 12), "No regression in 1 series."),
        (series(*[100] * 4), "Too few values to say: a change needs 10, and there are 4."),
        (
            series(*[100] * 12) + series(*[9] * 3, cell="telecom"),
            "No regression in 2 series; 1 have too few values.",
        ),
        (
            series(*SLOWER) + series(*[100] * 10, *[130] * 10, cell="telecom"),
            "vm has regressed in telecom, the worst of 2: +",
        ),
    ],
    ids=["none", "too few", "some too few", "several"],
)
def test_the_answer_is_one_sentence(text, answer):
    document = json.loads(run("-", "--json", text=HEADER + text).stdout)
    assert document["answer"].startswith(answer)


def test_one_page_with_plots():
    found = run("-", "-o", "html", text=HEADER + series(*SLOWER))
    assert found.exit_code == 1
    assert found.stdout.startswith("<!DOCTYPE html>")
    assert "vm has regressed in orders" in found.stdout


def test_the_document_has_all_values():
    document = json.loads(run("-", "-o", "json", text=HEADER + series(100, 101)).stdout)
    (trend,) = document["trends"]
    assert (trend["verdict"], trend["of"], trend["unit"]) == ("TooFew", "value", "seconds")
    assert [point["trial"] for point in trend["points"]] == ["v0", "v1"]
    assert (trend["slowdown"], trend["interval"], trend["reference"]) == (None, None, None)
    assert "runs" not in document


@pytest.mark.parametrize(
    ("arguments", "text", "says"),
    [
        (["-"], "nonsense\n", "standard input: line 1: there is no column target"),
        (["none.csv"], None, "none.csv: No such file or directory"),
        (["-", "--significance", "0.00001"], HEADER, "must be at least 0.0001"),
        ([], None, "name a benchmark, a FILE, files of dbbench export, or give -l"),
        (["-", "a"], HEADER, "- is a file of measurements: give it alone"),
        (["a.csv", "--of", "values"], None, "give it alone, without -l and --of"),
        (["-", "--since", "v9"], HEADER + "vm,a,v1,3,\n", "no such run; there are: v1"),
    ],
)
def test_bad_input_ends_with_exit_code_2_and_the_reason(arguments, text, says):
    result = run(*arguments, text=text)
    assert result.exit_code == 2
    assert says in result.stderr
