"""`dbbench compare` as a user runs it."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from dbbench.cli.main import cli
from dbbench.experiments.published import FOLDER

BLOCKS = """\
target,cell,trial,value,unit
pod,orders,1,150,per_second
vm,orders,1,100,per_second
pod,orders,2,120,per_second
vm,orders,2,81,per_second
pod,orders,3,90,per_second
vm,orders,3,59.5,per_second
"""


def run(*arguments, text=None):
    return CliRunner().invoke(cli, ["compare", *map(str, arguments)], input=text)


def test_the_table_of_the_cold_runs():
    result = run(FOLDER / "minhas_table5_cold.csv", "--baseline", "base")
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "xen compared with base"
    assert "cell base xen difference slowdown 95 % interval verdict trials share of total" in lines
    assert "Q4 59.62 s 46.07 s -13.55 s -22.73 % - Inconclusive 1 2.6 %" in lines
    assert "Q9 798.9 s 776.21 s -22.69 s -2.84 % - Inconclusive 1 34.8 %" in lines
    assert (
        "22 cells: mean of slowdowns +6.25 %, slowdown of total -0.50 %, geometric mean +5.55 %"
        in lines
    )


def test_intervals_and_verdicts_from_blocks_on_standard_input():
    result = run("-", "--baseline", "pod", text=BLOCKS)
    assert result.exit_code == 0
    row = next(line for line in result.stdout.splitlines() if "orders" in line)
    assert "+49.80 %" in row
    assert " to " in row
    assert "Slower" in row
    assert "geometric mean" not in result.stdout


def test_a_wider_margin_makes_targets_equivalent():
    result = run("-", "--baseline", "pod", "--margin", "0.6", text=BLOCKS)
    assert "Equivalent: the whole interval is within ±60 %." in result.stdout


def test_json_has_the_documented_layout():
    result = run("-", "--baseline", "pod", "--json", text=BLOCKS)
    document = json.loads(result.stdout)
    assert document["kind"] == "Comparison"
    assert document["schemaVersion"] == 1
    assert (document["baseline"], document["confidence"], document["margin"]) == ("pod", 0.95, 0.01)
    slowdown = document["slowdowns"][0]
    assert set(slowdown) == {
        "cell",
        "target",
        "unit",
        "baselineValue",
        "targetValue",
        "absolute",
        "slowdown",
        "interval",
        "verdict",
        "adjustedP",
        "trials",
        "paired",
        "unpaired",
        "deployments",
    }
    ratios = [150 / 100, 120 / 81, 90 / 59.5]
    expected = (ratios[0] * ratios[1] * ratios[2]) ** (1 / 3) - 1
    assert slowdown["slowdown"] == pytest.approx(expected)
    assert slowdown["interval"]["low"] < expected < slowdown["interval"]["high"]
    assert slowdown["verdict"] == "Slower"
    aggregate = document["aggregates"][0]
    assert aggregate["shares"] == [
        {"cell": "orders", "ofBaseline": 1.0, "contribution": pytest.approx(expected)}
    ]


def test_positions_take_out_drift_and_deployments_count_as_one_value():
    lines = ["target,cell,trial,value,position,deployment"]
    for trial in range(1, 7):
        first, second = ("pod", "vm") if trial % 2 else ("vm", "pod")
        # 1 % slower with every measurement, and the vm 5 % slower.
        for place, target in ((1, first), (2, second)):
            value = 1.01 ** (2 * trial + place) * (1.05 if target == "vm" else 1)
            lines.append(f"{target},Q1,{trial},{value!r},{place},")
    text = "\n".join(lines)
    drifting = json.loads(run("-", "--baseline", "pod", "--json", text=text).stdout)
    found = drifting["slowdowns"][0]
    assert found["interval"]["low"] == pytest.approx(0.05)
    assert found["interval"]["high"] == pytest.approx(0.05)
    assert found["deployments"] == 0
    named = "\n".join(
        line if number == 0 else f"{line}{'ab'[number > 6]}" for number, line in enumerate(lines)
    )
    found = json.loads(run("-", "--baseline", "pod", "--json", text=named).stdout)["slowdowns"][0]
    assert (found["trials"], found["deployments"]) == (6, 2)


def test_verdicts_of_many_cells_are_announced_as_a_family():
    text = BLOCKS + BLOCKS.replace("orders", "payments").partition("\n")[2]
    assert (
        "The verdicts of 2 comparisons hold together"
        in run("-", "--baseline", "pod", text=text).stdout
    )
    assert "hold together" not in run("-", "--baseline", "pod", text=BLOCKS).stdout


def test_a_json_interval_is_null_with_one_trial():
    text = "target,cell,trial,value\npod,Q1,1,1\nvm,Q1,1,2\n"
    document = json.loads(run("-", "--baseline", "pod", "--json", text=text).stdout)
    assert document["slowdowns"][0]["interval"] is None


def test_trials_that_do_not_match_are_explained():
    text = "target,cell,trial,value\npod,Q1,a,1\npod,Q1,b,1\nvm,Q1,c,2\nvm,Q1,d,2.1\n"
    assert "compared as independent samples" in run("-", "--baseline", "pod", text=text).stdout
    text = "target,cell,trial,value\npod,Q1,1,1\npod,Q1,2,1\nvm,Q1,1,2\n"
    assert "1 values are left out" in run("-", "--baseline", "pod", text=text).stdout


def test_names_that_look_like_markup_are_shown_as_they_are():
    text = "target,cell,trial,value\n[red]pod,[b]Q1,1,1\n[/]vm,[b]Q1,1,2\n"
    result = run("-", "--baseline", "[red]pod", text=text)
    assert "[/]vm compared with [red]pod" in result.stdout
    assert "[b]Q1" in result.stdout


@pytest.mark.parametrize(
    ("text", "baseline", "expected"),
    [
        (BLOCKS, "bare", "no target is called 'bare'; --baseline must be one of: pod, vm"),
        ("target,cell,trial,value\npod,Q1,1,1\n", "pod", "pod is the only target"),
        (
            BLOCKS + "pod,payments,1,5,seconds\n",
            "pod",
            "line 8, column cell: cell 'payments' has no value for target 'vm'; add one",
        ),
        (
            BLOCKS + "vm,payments,1,5,seconds\n",
            "pod",
            "line 8, column cell: cell 'payments' has no value for target 'pod'",
        ),
        ("nonsense\n", "pod", "standard input: line 1: there is no column target"),
        (
            "target,cell,trial,value,position\npod,Q1,1,1,first\nvm,Q1,1,1,2\n",
            "pod",
            "line 2, column position: 'first' is not a number; write 1 for what was measured first",
        ),
        (
            "target,cell,trial,value,deployment\npod,Q1,1,1,a\nvm,Q1,1,1,\n",
            "pod",
            "line 3, column deployment: deployment is empty, but other rows name one",
        ),
    ],
)
def test_bad_input_ends_with_exit_code_2_and_the_reason(text, baseline, expected):
    result = run("-", "--baseline", baseline, text=text)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert result.stdout == ""


def test_a_long_list_of_mistakes_is_cut():
    text = "target,cell,trial,value\n" + "pod,Q1,1,x\n" * 50
    result = run("-", "--baseline", "pod", text=text)
    assert result.stderr.count("is not a number") == 20
    assert "and 30 more" in result.stderr


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    result = run(tmp_path / "none.csv", "--baseline", "pod")
    assert result.exit_code == 2
    assert "none.csv: No such file or directory" in result.stderr
    (tmp_path / "latin.csv").write_bytes(b"target,cell,trial,value\nvm,Caf\xe9,1,1\n")
    result = run(tmp_path / "latin.csv", "--baseline", "vm")
    assert result.exit_code == 2
    assert "line 2: not UTF-8 text" in result.stderr


@pytest.mark.parametrize("options", [["--confidence", "1"], ["--margin", "-1"], []])
def test_wrong_options_end_with_exit_code_2(options):
    baseline = ["--baseline", "pod"] if options else []
    assert run("-", *baseline, *options, text=BLOCKS).exit_code == 2


def test_it_runs_as_a_process_of_its_own_without_the_kubernetes_client():
    code = (
        "import sys; sys.argv = ['dbbench', 'compare', '-', '--baseline', 'pod']\n"
        "from dbbench.cli.main import main\n"
        "try:\n    main()\nfinally:\n    assert 'kubernetes_asyncio' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=BLOCKS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "vm compared with pod" in done.stdout


def test_version_and_help():
    assert CliRunner().invoke(cli, ["--version"]).stdout == "dbbench 0.1.0\n"
    shown = CliRunner().invoke(cli, ["--help"]).stdout
    assert all(command in shown for command in ("compare", "history", "plan", "report", "watch"))
