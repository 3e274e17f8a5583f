"""Causes in the analysis, in status, in summary.json and in the report."""

import copy
import json

import pytest

from dbbench.api.status import Verdict
from dbbench.explain import Cause, Observation, Pair, Side, account
from dbbench.results.analysis import analyse
from dbbench.results.causes import account_document, cause
from dbbench.results.documents import results_data, summary, to_markdown
from dbbench.results.page.assembly import to_html

NOBODY = frozenset()


def reading(at, user, system, faults):
    return {
        "takenAt": f"2026-11-21T08:00:{at:02d}.000Z",
        "processes": {"userSeconds": user, "systemSeconds": system, "minorFaults": faults},
    }


@pytest.fixture
def counted(records):
    """The records with counters: the target vm spends its extra time in the kernel, on faults."""

    def with_counters(record):
        result = copy.deepcopy(record.result)
        vm = record.target == "vm"
        clients = 1 if record.workload == "analytics" else 2
        result["parameters"] = {} if clients == 1 else {"clients": clients}
        fault = {"name": "PAGE_FAULT_4K", "cost": {"meanSeconds": 3.5e-6 if vm else 1.5e-6}}
        result["target"] = {
            "facts": {"unitCosts": [fault]},
            "before": reading(0, 1.0, 1.0, 10),
            "after": reading(10 // clients, *((5.0, 6.8) if vm else (7.0, 4.0)), 10 + 1_000_000),
        }
        return type(record)(**{**record.__dict__, "result": result})

    return [with_counters(record) for record in records]


@pytest.fixture
def watched(counted):
    """With counters around each run of each query: in vm Q1 faults, and Q2 waits for its disk.

    Q2 takes twice as long there, and waits for 15 % of that; most of it nothing explains.
    """

    def execution(record, query, seconds):
        vm = record.target == "vm"
        system = 0.6 if vm and query == "Q1" else 0.1
        waits = 0.3 if vm and query == "Q2" else 0.0
        return {
            "target": {
                "processes": {
                    "userSeconds": 0.4 * seconds,
                    "systemSeconds": system * seconds,
                    "minorFaults": system * seconds / (3.5e-6 if vm else 1.5e-6),
                },
                "pressure": {"io": {"someSeconds": waits * seconds}},
            }
        }

    def with_executions(record):
        result = copy.deepcopy(record.result)
        for operation in result["operations"]:
            operation["executions"] = [
                execution(record, operation["name"], seconds)
                for seconds in operation.get("runtimesSeconds", ())
            ]
            if record.target == "vm" and operation["name"] == "Q2":
                operation["runtimesSeconds"] = [2 * x for x in operation["runtimesSeconds"]]
        return type(record)(**{**record.__dict__, "result": result})

    return [with_executions(record) for record in counted]


def test_every_query_has_an_account_that_adds_up_where_its_runs_were_counted(benchmark, watched):
    document = summary(benchmark, analyse(benchmark, watched, NOBODY), watched, None)
    assert {found["query"] for found in document["queries"]} == {"Q1", "Q2", "Q10"}
    for found in document["queries"]:
        account = found["account"]
        assert account["baselineSeconds"] == found["baselineValue"]
        assert account["seconds"] == pytest.approx(found["absolute"])
        wholes = [term["seconds"] for term in account["terms"] if term["partOf"] is None]
        assert sum(wholes) == pytest.approx(found["absolute"], abs=1e-12)
        named = {"Q1": "page faults", "Q2": "unexplained", "Q10": ""}[found["query"]]
        assert found["cause"].partition(":")[0] == named
        waited = {term["cause"]: term["targetSeconds"] for term in account["terms"]}["ioWait"]
        share = 0.15 if found["query"] == "Q2" else 0.0
        assert waited == pytest.approx(share * found["targetValue"])


def test_the_reports_have_a_row_of_causes_for_each_query_that_was_counted(
    benchmark, counted, watched
):
    document = summary(benchmark, analyse(benchmark, watched, NOBODY), watched, None)
    text = to_markdown(document)
    assert (
        "| query | difference | user time | system time | page faults | waiting for I/O |" in text
    )
    assert (
        sum(line.startswith("| Q1 |") and "page faults" in line for line in text.splitlines()) == 2
    )
    assert "What each cause adds to each query" in to_html(document, [])
    without = summary(benchmark, analyse(benchmark, counted, NOBODY), counted, None)
    assert all(found["account"] is None for found in without["queries"])
    assert all(found["cause"] == "" for found in without["queries"])
    assert "| query | difference |" not in to_markdown(without)


def test_accounts_of_queries_are_the_first_to_be_left_out(benchmark, watched):
    document = summary(benchmark, analyse(benchmark, watched, NOBODY), watched, None)
    data = results_data(document | {"queries": document["queries"] * 40})
    kept = json.loads(data["summary.json"])
    assert kept["omitted"] == ["trials.notMeasured", "queries.account"]
    assert len(kept["queries"]) == 40 * len(document["queries"])
    assert all(found["account"] is None and "cause" in found for found in kept["queries"])


def test_every_slowdown_has_its_largest_cause_in_status(benchmark, counted):
    analysis = analyse(benchmark, counted, NOBODY)
    for found in analysis.comparisons:
        assert found.verdict is Verdict.SLOWER
        assert found.cause.startswith("page faults: ")
        assert "of the extra system time, " in found.cause
    assert all(found.account is None for found in analysis.metrics if not found.primary)


def test_the_account_in_the_summary_adds_up_to_the_figures_beside_it(benchmark, counted):
    document = summary(benchmark, analyse(benchmark, counted, NOBODY), counted, None)
    for found in document["comparisons"]:
        if not found["primary"]:
            assert found["account"] is None
            continue
        sides = [found["baselineValue"], found["targetValue"]]
        if found["unit"] == "per_second":
            sides = [2 / rate for rate in sides]
        terms = [term for term in found["account"]["terms"] if term["partOf"] is None]
        assert sum(term["seconds"] for term in terms) == pytest.approx(sides[1] - sides[0])
        assert sum(term["share"] for term in terms) == pytest.approx(1)
        assert "ioWait" in found["account"]["notMeasured"]


def test_the_report_says_where_the_time_went(benchmark, counted):
    document = summary(benchmark, analyse(benchmark, counted, NOBODY), counted, None)
    text = to_markdown(document)
    assert text.index("## Slowdown") < text.index("## Where the time went")
    section = text[text.index("### orders: vm, causes") :]
    assert "\n\nPage faults: " in section
    assert "| - page faults |" in section
    assert "| cost of one page fault, fresh memory | 1.5 us | 3.5 us |" in section


def test_without_counters_the_cause_is_unexplained_and_the_report_has_no_account(
    benchmark, records
):
    analysis = analyse(benchmark, records, NOBODY)
    assert {found.cause for found in analysis.comparisons} == {
        "unexplained: the trials have no counters of both targets"
    }
    data = results_data(summary(benchmark, analysis, records, None))
    assert "Where the time went" not in data["report.md"]


def one(base, target):
    pair = Pair(
        *(Side(seconds, Observation(seconds, causes)) for seconds, causes in (base, target))
    )
    return account([pair], pair.baseline.seconds, pair.target.seconds)


def test_nothing_is_named_where_no_slowdown_was_found():
    found = one((1.0, {Cause.USER: 0.5}), (1.1, {Cause.USER: 0.6}))
    assert cause(found, Verdict.INCONCLUSIVE, emulated=False) == ""
    assert cause(None, Verdict.EQUIVALENT, emulated=False) == ""


def test_it_says_unexplained_when_it_is():
    found = one((1.0, {Cause.USER: 0.5}), (2.0, {Cause.USER: 0.7}))
    assert cause(found, Verdict.SLOWER, emulated=False) == (
        "unexplained: 80 % of the slowdown is in none of the measured causes (800 ms of 1 s)"
    )


def test_a_cause_that_cannot_be_told_from_none_is_not_named_as_the_cause():
    pairs = [
        Pair(Side(1.0, Observation(1.0, {Cause.USER: 0.2})), Side(2.0, Observation(2.0, causes)))
        for causes in ({Cause.USER: 0.3}, {Cause.USER: 1.9})
    ]
    text = cause(account(pairs, 1.0, 2.0), Verdict.SLOWER, emulated=False)
    assert text.startswith("unexplained: most is user time, 90 % of the slowdown, but that cannot")


def test_a_gain_and_emulation_are_called_so():
    found = one((2.0, {Cause.USER: 2.0}), (1.0, {Cause.USER: 1.0}))
    assert cause(found, Verdict.FASTER, emulated=True) == (
        "user time: 100 % of the speed-up (-1 s of -1 s); under software emulation"
    )


def test_an_account_without_magnification_is_written_as_null():
    document = account_document(one((1.0, {Cause.USER: 0.5}), (2.0, {Cause.USER: 0.7})))
    assert document["evidence"]["target"]["magnification"] is None
    assert account_document(None) is None
