"""Tests of causes: which follow from an analysis, their verdicts, and every form of the report."""

import copy

import pytest

from dbbench.api.status import ConfirmationVerdict, Intervention
from dbbench.explain import Cause
from dbbench.plan import arranged
from dbbench.results.analysis import analyse
from dbbench.results.confirmation import cause_tests, confirmations, measured_on
from dbbench.results.documents import to_markdown
from dbbench.results.page import to_html
from dbbench.results.summary import summary

SEED = 7
PER_QUERY = "connection=PerQuery"


def reading(at, user, system):
    return {
        "takenAt": f"2026-11-21T08:00:{at:02d}.000Z",
        "processes": {"userSeconds": user, "systemSeconds": system},
    }


def seconds_of(block, vm, factor=1.0):
    """The noise of blocks is 0.1 %."""
    return 1.5 * factor * (1 + 0.001 * (block % 3)) if vm else 1.0


@pytest.fixture
def confirmed(benchmark):
    """The benchmark with `confirm`."""
    return benchmark.model_copy(
        update={"spec": benchmark.spec.model_copy(update={"confirm": True})}
    )


@pytest.fixture
def counted(records):
    """The records, with counters: vm takes half as long again, and spends that in the kernel."""

    def with_counters(record):
        result = copy.deepcopy(record.result)
        vm = record.target == "vm"
        result["parameters"] = {"clients": 1}
        if record.workload == "analytics":
            result["metrics"][0]["value"] = seconds_of(record.block, vm)
        ends = reading(0, 0, 0), reading(10, *((6.0, 3.9) if vm else (9.0, 0.9)))
        result["target"] = dict(zip(("before", "after"), ends, strict=True))
        return type(record)(**{**record.__dict__, "result": result})

    return [with_counters(record) for record in records]


@pytest.fixture
def analysis(confirmed, counted):
    return analyse(confirmed, counted, frozenset())


@pytest.fixture
def tested(confirmed, analysis, result_of, make_record):
    """Records of the tests, in so many blocks; vm's times are so many times as long."""

    def make(factor, blocks=3):
        places = measured_on(confirmed.spec, cause_tests(confirmed.spec, analysis))
        found = []
        for index in range(4, 4 + blocks):
            for trial in arranged(places, SEED, index).trials:
                result = result_of(trial)
                vm = trial.target == "vm"
                result["metrics"][0]["value"] = seconds_of(trial.block, vm, factor)
                found.append(make_record(trial, result))
        return found

    return make


def outcome_of(confirmed, analysis, records):
    tests = cause_tests(confirmed.spec, analysis)
    return {found.test.found.cell.key: found for found in confirmations(confirmed, tests, records)}


def test_every_primary_slowdown_has_a_test_or_the_reason_why_not(confirmed, analysis):
    tests = cause_tests(confirmed.spec, analysis)
    assert {test.found.cell.key: (test.cause, test.intervention) for test in tests} == {
        "analytics/connection=Shared": (Cause.SYSTEM, None),
        f"analytics/{PER_QUERY}": (Cause.SYSTEM, Intervention.SHARED_CONNECTION),
        "orders": (Cause.SYSTEM, None),
        "telecom": (Cause.SYSTEM, None),
    }
    (cell,) = measured_on(confirmed.spec, tests)
    assert cell.name == f"{PER_QUERY},confirm=SharedConnection"


def test_before_anything_is_measured_it_is_inconclusive(confirmed, analysis, counted):
    found = outcome_of(confirmed, analysis, counted)[f"analytics/{PER_QUERY}"]
    assert found.verdict is ConfirmationVerdict.INCONCLUSIVE
    assert found.message == "system time: not measured yet with connection: Shared"
    shown = found.as_status().document()
    assert "slowdownAfter" not in shown
    assert shown["blocks"] == 0


@pytest.mark.parametrize(
    ("factor", "verdict"),
    [
        (0.75, ConfirmationVerdict.CONFIRMED),
        (1.0, ConfirmationVerdict.NOT_CONFIRMED),
        (1.3, ConfirmationVerdict.NOT_CONFIRMED),
    ],
)
def test_the_verdict_is_that_of_the_ratio_of_ratios(
    confirmed, analysis, counted, tested, factor, verdict
):
    found = outcome_of(confirmed, analysis, [*counted, *tested(factor)])[f"analytics/{PER_QUERY}"]
    assert found.verdict is verdict
    before, after = found.test.found.slowdown.relative, found.after.relative
    assert found.reduced == pytest.approx((1 + before) / (1 + after) - 1)
    assert found.reduced == pytest.approx(1 / factor - 1, abs=0.001)
    low, high = found.interval
    assert low < found.reduced < high


def test_one_block_gives_a_figure_and_no_verdict(confirmed, analysis, counted, tested):
    found = outcome_of(confirmed, analysis, [*counted, *tested(0.5, 1)])[f"analytics/{PER_QUERY}"]
    assert found.verdict is ConfirmationVerdict.INCONCLUSIVE
    assert found.after is not None
    assert found.interval is None


def test_tests_change_nothing_in_the_comparisons(confirmed, analysis, counted, tested):
    again = analyse(confirmed, [*counted, *tested(0.5)], frozenset())
    assert again.metrics == analysis.metrics
    assert again.queries == analysis.queries


def test_every_form_of_the_report_shows_them(confirmed, analysis, counted, tested):
    records = [*counted, *tested(0.75)]
    tests = cause_tests(confirmed.spec, analysis)
    found = confirmations(confirmed, tests, records)
    document = summary(confirmed, analysis, records, None, confirmations=found)
    assert [one["verdict"] for one in document["confirmations"]] == [
        "NotTested",
        "Confirmed",
        "NotTested",
        "NotTested",
    ]
    sentence = "system time: confirmed; with connection: Shared the slowdown is "
    for text in (to_markdown(document), to_html(document, records)):
        assert "Causes tested" in text
        assert f"analytics/{PER_QUERY} on vm: {sentence}" in text
    empty = summary(confirmed, analysis, records, None)
    for text in (to_markdown(empty), to_html(empty, records)):
        assert "Causes tested" not in text
