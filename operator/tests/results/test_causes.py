"""Causes in the analysis, in status, in summary.json and in the report."""

import copy

import pytest

from dbbench.api.status import Verdict
from dbbench.explain import Cause, Observation, Pair, Side, account
from dbbench.results.analysis import analyse
from dbbench.results.causes import account_document, cause
from dbbench.results.documents import results_data, summary, to_markdown

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
