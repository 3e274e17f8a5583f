"""Conditions as kstatus, Flux and Argo CD read them."""

from datetime import UTC, datetime, timedelta

import pytest

from dbbench.api.status import ConditionType
from dbbench.evaluate.conditions import Phase, phase_findings, updated

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("phase", "succeeded", "reconciling", "stalled", "ready"),
    [
        (Phase.RUNNING, "Unknown", "True", "False", "False"),
        (Phase.SUCCEEDED, "True", "False", "False", "True"),
        (Phase.STALLED, "False", "False", "True", "False"),
        (Phase.GATE_FAILED, "False", "False", "True", "False"),
    ],
)
def test_phases_follow_the_kstatus_table(phase, succeeded, reconciling, stalled, ready):
    found = {c.type: c.status for c in updated([], phase_findings(phase, "Why", ""), 3, NOW)}
    assert found[ConditionType.SUCCEEDED] == succeeded
    assert found[ConditionType.RECONCILING] == reconciling
    assert found[ConditionType.STALLED] == stalled
    assert found[ConditionType.READY] == ready


def test_transition_time_moves_only_when_the_status_flips():
    first = updated([], phase_findings(Phase.RUNNING, "Running", "a"), 1, NOW)
    later = NOW + timedelta(minutes=1)
    second = updated(first, phase_findings(Phase.RUNNING, "Running", "b"), 1, later)
    assert [c.last_transition_time for c in second] == [c.last_transition_time for c in first]
    assert {c.message for c in second} == {"b"}
    third = updated(second, phase_findings(Phase.SUCCEEDED, "Measured", ""), 1, later)
    moved = {c.type for c in third if c.last_transition_time != "2026-01-01T00:00:00Z"}
    assert moved == {ConditionType.SUCCEEDED, ConditionType.RECONCILING, ConditionType.READY}


def test_conditions_without_news_are_kept():
    findings = phase_findings(Phase.RUNNING, "Running", "")
    before = updated([], findings, 1, NOW)
    only = {ConditionType.READY: findings[ConditionType.READY]}
    after = updated(before, only, 2, NOW)
    assert {c.type for c in after} == {c.type for c in before}
