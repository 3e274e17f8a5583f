"""A benchmark is deleted when its time after the end has passed, and not before."""

from datetime import UTC, datetime, timedelta

import pytest

from dbbench.evaluate.decide import decide
from dbbench.evaluate.decision import WAITING
from dbbench.evaluate.expiry import expiry
from dbbench.evaluate.state import parse_timestamp
from dbbench.reconciler import is_due

from .model_cluster import ModelCluster, spec

END = "2026-11-21T08:00:00Z"


def every_load(job):
    return "no result" if job["metadata"]["labels"]["dbbench.io/job"] == "load" else None


def ended(fail=None, **changes) -> ModelCluster:
    cluster = ModelCluster(spec(**changes), fail=fail)
    cluster.run()
    return cluster


@pytest.mark.parametrize(
    ("ttl", "completed", "expected"),
    [
        (None, END, None),
        ("1h", None, None),
        ("0s", END, datetime(2026, 11, 21, 8, tzinfo=UTC)),
        ("1h30m", END, datetime(2026, 11, 21, 9, 30, tzinfo=UTC)),
        ("87600h", END, datetime(2036, 11, 18, 8, tzinfo=UTC)),
    ],
)
def test_the_time_counts_from_the_end(ttl, completed, expected):
    assert expiry(ttl, completed) == expected


@pytest.mark.parametrize("fail", [None, every_load], ids=["success", "failure"])
def test_it_is_looked_at_again_when_the_time_has_passed_and_deleted_then(fail):
    cluster = ended(fail, ttlAfterFinished="24h", cleanupPolicy="Always")
    cluster.now = parse_timestamp(cluster.status["completionTime"]) + timedelta(hours=23)
    decision = decide(cluster.state())
    assert (decision.expired, decision.requeue_after) == (False, 3600)
    cluster.now += timedelta(hours=1)
    assert cluster.step().expired
    assert cluster.deleted is not None


def test_nothing_else_is_done_about_one_that_has_expired():
    cluster = ended(every_load, ttlAfterFinished="0s", cleanupPolicy="Always")
    decision = decide(cluster.state())
    assert decision.expired
    assert (decision.apply, decision.delete) == ((), ())
    assert decision.status == cluster.benchmark().status


def test_what_is_left_to_clean_up_is_looked_at_before_the_time_has_passed():
    cluster = ModelCluster(spec(ttlAfterFinished="24h", cleanupPolicy="Always"))
    while "completionTime" not in cluster.status:
        left = dict(cluster.objects)
        cluster.step()
    cluster.objects |= left
    assert decide(cluster.state()).requeue_after == WAITING


def test_the_time_can_be_set_and_taken_back_after_the_end():
    cluster = ended()
    cluster.now += timedelta(days=300)
    assert not decide(cluster.state()).expired
    cluster.spec = spec(ttlAfterFinished="1h")
    assert decide(cluster.state()).expired
    cluster.spec = spec(ttlAfterFinished="87600h")
    assert not decide(cluster.state()).expired


def test_one_that_runs_or_cannot_start_does_not_expire():
    blocked = ModelCluster(spec(ttlAfterFinished="0s"), nodes=())
    running = ModelCluster(spec(ttlAfterFinished="0s"))
    for _ in range(5):
        assert not blocked.step().expired
        assert not running.step().expired


@pytest.mark.parametrize(
    ("ttl", "completed", "expected"),
    [
        (None, None, True),
        ("1h", None, True),
        (None, END, False),
        ("1h", END, True),
        ("24h", END, False),
    ],
)
def test_the_resync_finds_what_is_unfinished_or_expired(ttl, completed, expected):
    body = {"spec": {"ttlAfterFinished": ttl}, "status": {"completionTime": completed}}
    assert is_due(body, datetime(2026, 11, 21, 10, tzinfo=UTC)) is expected


@pytest.mark.parametrize(("generation", "expected"), [(3, False), (4, True)])
def test_the_resync_leaves_what_waits_in_the_queue_alone_until_its_spec_changes(
    generation, expected
):
    body = {
        "metadata": {"generation": generation},
        "spec": {},
        "status": {"reason": "Queued", "observedGeneration": 3},
    }
    assert is_due(body, datetime(2026, 11, 21, 10, tzinfo=UTC)) is expected
