"""What stands in the ConfigMap of the results."""

import csv
import io
import json

import pytest

from dbbench.api.status import Environment
from dbbench.results.analysis import analyse
from dbbench.results.documents import (
    REPORT,
    SUMMARY_CSV,
    SUMMARY_JSON,
    results_data,
    summary,
    to_csv,
    to_markdown,
)
from dbbench.results.page import to_html
from dbbench.results.record import Outcome
from dbbench.results.storage import LIMIT_BYTES

EMULATED = frozenset({"vm"})
ENVIRONMENT = Environment.model_validate(
    {
        "databaseNode": "bench-db",
        "cpuModel": "Some | CPU",
        "targets": [
            {"name": "pod", "runtime": "Pod", "kernel": "6.1"},
            {"name": "vm", "runtime": "QEMU", "hypervisor": "TCG", "emulated": True},
        ],
    }
)


@pytest.fixture
def document_of(benchmark, records):
    def make(emulated=EMULATED, taken=records, **extra):
        return summary(benchmark, analyse(benchmark, taken, emulated), taken, ENVIRONMENT, **extra)

    return make


def test_the_summary_is_json_and_the_same_every_time(document_of):
    first, second = results_data(document_of()), results_data(document_of())
    assert first == second
    document = json.loads(first[SUMMARY_JSON])
    assert document["schemaVersion"] == 1
    assert document["seed"] == 7
    assert document["omitted"] == []
    assert len(document["comparisons"]) == 5
    assert document["gates"][0]["passed"] is False
    assert document["spec"]["database"]["image"] == "postgres:17"
    assert document["environment"]["databaseNode"] == "bench-db"


def test_the_answer_is_the_first_sentence_of_the_report(document_of):
    document = document_of(frozenset())
    text = to_markdown(document)
    assert text.startswith(f"# pod-vs-vm\n\n{document['answer']}\n")
    assert document["answer"].startswith("Compared with pod, vm is ")
    assert "50.30 % slower for orders (95 % interval +" in document["answer"]
    assert document["answer"].endswith(".")


def test_the_slowdown_table_comes_before_everything_else(document_of):
    text = to_markdown(document_of(frozenset()))
    assert text.index("## Slowdown") < text.index("## Queries together") < text.index("## Trials")
    row = next(line for line in text.splitlines() if line.startswith("| telecom | vm |"))
    assert "**+50.30 %**" in row
    assert "Slower | 3 |" in row


def test_emulation_is_said_in_every_place_where_a_figure_is(document_of):
    document = document_of()
    data = results_data(document)
    report = data[REPORT]
    assert "**Emulated: not representative.** vm ran under software emulation" in report
    assert "software emulation" in document["answer"]
    assert document["representative"] is False
    for line in report.splitlines():
        if line.startswith(("| orders | vm", "| telecom | vm", "| analytics/")):
            assert line.split(" | ")[1] == "vm (emulated)"
    rows = list(csv.DictReader(io.StringIO(data[SUMMARY_CSV])))
    assert {row["emulated"] for row in rows} == {"True"}


def test_without_emulation_nothing_speaks_of_it(document_of):
    data = results_data(document_of(frozenset()))
    assert "mulated: not" not in data[REPORT]
    assert json.loads(data[SUMMARY_JSON])["representative"] is True


def test_the_csv_has_a_row_for_each_metric_query_and_latency(document_of):
    rows = list(csv.DictReader(io.StringIO(to_csv(document_of()))))
    levels = [row["level"] for row in rows]
    assert levels.count("metric") == 5
    assert levels.count("query") == 6
    assert levels.count("latency") == 8
    latency = next(row for row in rows if row["name"] == "NEW_ORDER p99")
    before, after = float(latency["baseline_value"]), float(latency["target_value"])
    assert float(latency["slowdown"]) == pytest.approx(after / before - 1)


def test_attempts_that_do_not_count_are_listed_with_their_reason(document_of, records):
    lost = records[0].__class__(
        **{
            **records[0].__dict__,
            "attempt": 2,
            "outcome": Outcome.FAILED,
            "reason": "DeadlineExceeded",
            "message": "took too long",
            "result": None,
        }
    )
    document = document_of(taken=[*records, lost])
    text = to_markdown(document)
    assert f"- {lost.trial}, attempt 2: Failed (DeadlineExceeded). took too long" in text
    assert f"| {lost.target} | 12 | 0 | 1 |" in text.splitlines()


def test_every_table_of_the_report_has_as_many_cells_as_its_header(document_of):
    width = None
    for line in to_markdown(document_of(fairness="The kernels differ.")).splitlines():
        if not line.startswith("|"):
            width = None
            continue
        cells = line.replace("\\|", "").count("|")
        width = width or cells
        assert cells == width, line


def test_fairness_is_part_of_the_report(document_of):
    text = to_markdown(document_of(fairness="The kernels differ."))
    assert "## Fairness\n\nThe kernels differ." in text


def test_a_report_says_that_intervals_cover_deployments_where_each_block_has_its_own(document_of):
    document = document_of()
    assert "trials.redeploy" not in to_markdown(document)
    document["spec"]["trials"]["redeploy"] = True
    says = "intervals cover how lucky a deployment was"
    assert says in to_markdown(document)
    assert says in to_html(document, [])


def test_a_report_says_that_both_targets_ran_at_the_same_time(document_of):
    document = document_of()
    assert document["mode"] == "Sequential"
    assert "duet" not in to_markdown(document)
    document["spec"]["trials"]["mode"] = "Duet"
    says = "both targets ran at the same time"
    assert says in to_markdown(document)
    assert says in to_html(document, [])


def test_a_report_without_any_result_says_so(document_of):
    data = results_data(document_of(taken=[]))
    assert "Nothing has been compared" in data[REPORT]
    assert "## Slowdown" not in data[REPORT]
    assert json.loads(data[SUMMARY_JSON])["comparisons"] == []


def test_documents_that_would_not_fit_leave_out_parts_and_say_which(document_of):
    document = document_of()
    many = {
        "queries": document["queries"] * 600,
        "operations": document["operations"] * 600,
    }
    data = results_data(document | many)
    assert sum(len(text.encode()) for text in data.values()) <= LIMIT_BYTES
    kept = json.loads(data[SUMMARY_JSON])
    assert kept["omitted"] == ["trials.notMeasured", "operations", "latencies", "queries"]
    assert kept["comparisons"] == document["comparisons"]
    assert "Left out, for size: trials.notMeasured, operations, latencies, queries." in data[REPORT]


def test_accounts_are_left_out_last_and_the_comparisons_stay(document_of):
    document = document_of()
    found = {**document["comparisons"][0], "cell": "c", "cause": "user time", "account": None}
    term = {"cause": "user", "partOf": None, "interval": None, "share": 1.0}
    term |= {"baselineSeconds": 1.0, "targetSeconds": 2.0, "seconds": 1.0}
    side = {"events": {}, "unitCostSeconds": {}, "magnification": None}
    side |= {"readBytes": dict.fromkeys(("database", "target", "host"))}
    side |= {"hypervisorCpuSeconds": None}
    account = {"baselineSeconds": 1.0, "targetSeconds": 2.0, "seconds": 1.0, "notMeasured": []}
    account |= {"terms": [term] * 15, "evidence": {"baseline": side, "target": side}}
    many = {"comparisons": [found | {"account": account}] * 200, "queries": [], "latencies": []}
    data = results_data(document | many)
    assert sum(len(text.encode()) for text in data.values()) <= LIMIT_BYTES
    kept = json.loads(data[SUMMARY_JSON])
    assert kept["omitted"][-1] == "comparisons.account"
    assert kept["comparisons"] == [found] * 200
    assert "Where the time went" not in data[REPORT]
