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


HEADER = "target,cell,trial,value,unit\n"
SLOWER = [100] * 10 + [110] * 10


def test_a_change_is_named_with_its_trial_interval_and_verdict():
    result = run("-", text=HEADER + series(*SLOWER))
    assert result.exit_code == 0
    row = next(" ".join(line.split()) for line in result.stdout.splitlines() if "orders" in line)
    assert row.startswith("vm orders v10 +")
    assert "Slower 0.001" in row


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
    assert run("-", text=HEADER + series(*[100] * 8)).stdout == "No change in 1 series.\n"


@pytest.mark.parametrize(
    ("arguments", "text", "says"),
    [
        (["-"], "nonsense\n", "standard input: line 1: there is no column target"),
        (["none.csv"], None, "none.csv: No such file or directory"),
        (["-", "--significance", "0.0001"], HEADER, "must be at least 0.001"),
    ],
)
def test_bad_input_ends_with_exit_code_2_and_the_reason(arguments, text, says):
    result = run(*arguments, text=text)
    assert result.exit_code == 2
    assert says in result.stderr
