"""Alerts and dashboard of the chart. promtool runs the rules on made-up series; no cluster."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from access.kubectl import CallError, run
from access.paths import CHART, PROJECT, program

SOURCES = PROJECT / "operator" / "src" / "dbbench"
IDENTITY = {"namespace": "team", "benchmark": "nightly"}
COMPARED = {
    **IDENTITY,
    "workload": "orders",
    "cell": "clients=8",
    "target": "vm",
    "metric": "throughput",
}
# Minutes. Short ones, set as values of the chart: promtool looks at every single one.
STALLED, OFFSET = 30, 60


def rendered(*settings: str) -> list[dict[str, Any]]:
    command: list[str | Path] = [program("helm"), "template", "dbbench", CHART]
    for setting in ("crds.enabled=false", *settings):
        command += ["--set", setting]
    return [document for document in yaml.safe_load_all(run(command)) if document]


@pytest.fixture(scope="module")
def groups() -> dict[str, Any]:
    (found,) = [
        document
        for document in rendered(
            "prometheusRule.enabled=true",
            f"prometheusRule.stalledAfter={STALLED}m",
            f"prometheusRule.regression.offset={OFFSET}m",
        )
        if document["kind"] == "PrometheusRule"
    ]
    spec: dict[str, Any] = found["spec"]
    return spec


@pytest.fixture(scope="module")
def dashboard() -> dict[str, Any]:
    (found,) = [
        document
        for document in rendered("dashboard.enabled=true")
        if document["metadata"].get("labels", {}).get("grafana_dashboard") == "1"
    ]
    parsed: dict[str, Any] = json.loads(found["data"]["dbbench.json"])
    return parsed


def series(name: str, labels: dict[str, str], values: str) -> dict[str, str]:
    inside = ", ".join(f'{key}="{value}"' for key, value in labels.items())
    return {"series": f"{name}{{{inside}}}", "values": values}


def condition(kind: str, status: str, values: str) -> dict[str, str]:
    return series("dbbench_condition", {**IDENTITY, "type": kind, "status": status}, values)


def trials(state: str, values: str) -> dict[str, str]:
    return series("dbbench_trials", {**IDENTITY, "state": state}, values)


def bounds(low: str, high: str, emulated: str = "false") -> list[dict[str, str]]:
    return [
        series(
            "dbbench_slowdown_bound_ratio",
            {**COMPARED, "emulated": emulated, "bound": bound},
            values,
        )
        for bound, values in (("low", low), ("high", high))
    ]


# One value a minute: a run that grows slower in the middle.
ALL = f"x{2 * OFFSET}"
STEPS_UP = bounds(f"0.05x{OFFSET} 0.12x{OFFSET}", f"0.08x{OFFSET} 0.15x{OFFSET}")
OVERLAPS = bounds(f"0.05x{OFFSET} 0.07x{OFFSET}", f"0.08x{OFFSET} 0.15x{OFFSET}")
DONE = [condition("Succeeded", "True", f"1{ALL}")]
RUNNING = [condition("Reconciling", "True", f"1{ALL}")]
CASES: dict[str, tuple[list[dict[str, str]], str, int, bool]] = {
    "failed": ([condition("Succeeded", "False", "1x20")], "DBBenchmarkFailed", 10, True),
    "not failed": ([condition("Succeeded", "False", "0x20")], "DBBenchmarkFailed", 10, False),
    "failed a minute ago": (
        [condition("Succeeded", "False", "0x9 1x20")], "DBBenchmarkFailed", 11, False,
    ),
    "no trial ends": ([trials("done", "3x90"), *RUNNING], "DBBenchmarkStalled", 80, True),
    "trials end": ([trials("done", "0+1x90"), *RUNNING], "DBBenchmarkStalled", 80, False),
    "trials end badly": (
        [trials("done", "3x90"), trials("invalid", "0+1x90"), *RUNNING],
        "DBBenchmarkStalled", 80, False,
    ),
    "ended": ([trials("done", "3x90"), *DONE], "DBBenchmarkStalled", 80, False),
    "slower than a day ago": ([*STEPS_UP, *DONE], "DBBenchmarkRegression", OFFSET + 30, True),
    "the same as a day ago": ([*OVERLAPS, *DONE], "DBBenchmarkRegression", OFFSET + 30, False),
    "slower, but not yet done": (
        [*STEPS_UP, *RUNNING], "DBBenchmarkRegression", OFFSET + 30, False,
    ),
    "slower, but emulated": (
        [*bounds(f"0.05x{OFFSET} 0.12x{OFFSET}", f"0.08x{OFFSET} 0.15x{OFFSET}", "true"), *DONE],
        "DBBenchmarkRegression", OFFSET + 30, False,
    ),
    "deleted and measured again": (
        [*bounds("0.05x10 _x40 0.12x70", "0.08x10 _x40 0.15x70"), *DONE],
        "DBBenchmarkRegression", 100, True,
    ),
    "noisy": (
        [series("dbbench_noise_floor_ratio", COMPARED, "0.08x20")], "DBBenchmarkNoisy", 10, True,
    ),
    "quiet": (
        [series("dbbench_noise_floor_ratio", COMPARED, "0.01x20")], "DBBenchmarkNoisy", 10, False,
    ),
    "half of the trials do not count": (
        [trials("done", "4x20"), trials("invalid", "4x20")], "DBBenchmarkTrialsInvalid", 10, True,
    ),
    "every trial counts": (
        [trials("done", "4x20"), trials("invalid", "0x20")], "DBBenchmarkTrialsInvalid", 10, False,
    ),
    "no trial yet": (
        [trials("done", "0x20"), trials("invalid", "0x20")], "DBBenchmarkTrialsInvalid", 10, False,
    ),
}  # fmt: skip


def promtool(folder: Path, groups: dict[str, Any], tests: dict[str, Any]) -> str:
    (folder / "rules.yaml").write_text(yaml.safe_dump(groups))
    (folder / "tests.yaml").write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], **tests}))
    return run([program("promtool"), "test", "rules", folder / "tests.yaml"])


def test_alerts_fire_when_they_should_and_only_then(groups: dict[str, Any], tmp_path: Path) -> None:
    """All cases in one run; promtool compares names and labels of what fires."""
    rules = {rule["alert"]: rule for rule in groups["groups"][0]["rules"]}
    assert {alert for _, alert, _, fires in CASES.values() if fires} == set(rules)
    # The texts are of another test.
    bare = {
        "groups": [
            {
                "name": "dbbench",
                "rules": [
                    {key: value for key, value in rule.items() if key != "annotations"}
                    for rule in rules.values()
                ],
            }
        ]
    }
    tests = []
    for name, (given, alert, minute, fires) in CASES.items():
        labels = {"severity": rules[alert]["labels"]["severity"]} | {
            "DBBenchmarkFailed": {**IDENTITY, "type": "Succeeded", "status": "False"},
            "DBBenchmarkRegression": COMPARED,
            "DBBenchmarkNoisy": {key: COMPARED[key] for key in COMPARED if key != "target"},
        }.get(alert, IDENTITY)
        expected = {
            "eval_time": f"{minute}m",
            "alertname": alert,
            "exp_alerts": [{"exp_labels": labels}] if fires else [],
        }
        tests.append(
            {"name": name, "interval": "1m", "input_series": given, "alert_rule_test": [expected]}
        )
    assert "SUCCESS" in promtool(tmp_path, bare, {"evaluation_interval": "1m", "tests": tests})


def test_an_expectation_that_is_wrong_fails(groups: dict[str, Any], tmp_path: Path) -> None:
    expected = {"eval_time": "10m", "alertname": "DBBenchmarkFailed", "exp_alerts": []}
    case = {
        "interval": "1m",
        "input_series": [condition("Succeeded", "False", "1x20")],
        "alert_rule_test": [expected],
    }
    with pytest.raises(CallError, match="FAILED"):
        promtool(tmp_path, groups, {"tests": [case]})


def test_alerts_say_which_benchmark_and_what_to_do(groups: dict[str, Any], tmp_path: Path) -> None:
    (failed,) = [one for one in groups["groups"][0]["rules"] if one["alert"] == "DBBenchmarkFailed"]
    texts = {
        key: text.replace("{{ $labels.namespace }}", "team").replace(
            "{{ $labels.benchmark }}", "nightly"
        )
        for key, text in failed["annotations"].items()
    }
    assert texts["summary"] == "Benchmark team/nightly failed"
    assert texts["description"].endswith("kubectl -n team describe dbb nightly")
    labels = {**IDENTITY, "type": "Succeeded", "status": "False", "severity": "warning"}
    expected = {
        "eval_time": "10m",
        "alertname": "DBBenchmarkFailed",
        "exp_alerts": [{"exp_labels": labels, "exp_annotations": texts}],
    }
    case = {
        "interval": "1m",
        "input_series": [condition("Succeeded", "False", "1x20")],
        "alert_rule_test": [expected],
    }
    assert "SUCCESS" in promtool(tmp_path, groups, {"tests": [case]})


def test_dashboard_and_alerts_ask_for_series_that_the_operator_has(
    groups: dict[str, Any], dashboard: dict[str, Any], tmp_path: Path
) -> None:
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = [
        {"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)
    ]
    (tmp_path / "asked.yaml").write_text(
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]})
    )
    run([program("promtool"), "check", "rules", tmp_path / "asked.yaml"])
    known = set()
    for source in ("metrics.py", "results/series.py"):
        known |= set(re.findall(r'"(dbbench_[a-z0-9_]+)"', (SOURCES / source).read_text()))
    expressions = " ".join([*asked, *(one["expr"] for one in groups["groups"][0]["rules"])])
    wanted = set(re.findall(r"dbbench_[a-z0-9_]+", expressions))
    # What the exposition appends to the names of counters and histograms.
    assert {re.sub("_(total|sum|count|bucket)$", "", name) for name in wanted} <= known


def test_every_alert_is_explained(groups: dict[str, Any]) -> None:
    page = (PROJECT / "docs" / "operations.md").read_text()
    for rule in groups["groups"][0]["rules"]:
        assert f"| `{rule['alert']}` |" in page


def test_panels_of_the_dashboard_do_not_overlap(dashboard: dict[str, Any]) -> None:
    cells = [
        (x, y)
        for panel in dashboard["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_both_are_opt_in_and_wrong_values_are_refused() -> None:
    assert not [one for one in rendered() if one["kind"] == "PrometheusRule"]
    assert not [one for one in rendered() if "dashboard" in one["metadata"]["name"]]
    with pytest.raises(CallError, match="stalledAfter"):
        rendered("prometheusRule.enabled=true", "prometheusRule.stalledAfter=soon")
