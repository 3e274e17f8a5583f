"""From counts to figures, without a cluster."""

import json

import pytest
from access.audit import Right, granted, policy, requests
from scale.figures import Figure, Histogram, by_right, scrape, status_writes, table

from dbbench.metrics import own_families, render
from dbbench.reconciler import Statistics

INFINITE = float("inf")


def event(verb, resource, code=200, *, stage="ResponseComplete", group="", **more):
    return json.dumps(
        {
            "stage": stage,
            "verb": verb,
            "user": {"username": "operator"},
            "requestURI": f"/{resource}",
            "stageTimestamp": "2026-01-01T00:00:00.000000Z",
            "responseStatus": {"code": code, "message": more.pop("message", "")},
            "objectRef": {"resource": resource, "apiGroup": group},
            **more,
        }
    )


def found(*events):
    return list(requests(f"{one}\n" for one in events))


def test_a_quantile_is_told_by_the_bound_that_holds_it():
    counts = Histogram({0.1: 90.0, 1.0: 99.0, INFINITE: 100.0})
    assert counts.bound_of(0.5) == 0.1
    assert counts.bound_of(0.99) == 1.0
    assert counts.bound_of(0.999) == INFINITE


def test_what_was_counted_before_the_window_is_left_out():
    earlier = Histogram({1.0: 10.0, INFINITE: 30.0})
    later = Histogram({1.0: 110.0, INFINITE: 130.0})
    assert later.since(earlier).counts == {1.0: 100.0, INFINITE: 100.0}


def test_the_operators_own_metrics_are_read():
    statistics = Statistics(reconciles=2, errors=3)
    statistics.durations.add(0.3)
    statistics.waits.add(7.0)
    read = scrape(render(own_families(statistics, 0)).decode())
    assert (read.durations.bound_of(1), read.waits.bound_of(1)) == (0.5, 10.0)
    assert read.errors == 3


def test_each_request_counts_once_and_a_watch_when_it_begins():
    there = found(
        event("get", "pods"),
        event("watch", "jobs", stage="ResponseStarted", group="batch"),
        event("watch", "jobs", group="batch"),
    )
    assert by_right(there) == {"get pods": 1, "watch jobs.batch": 1}


def test_a_line_that_is_still_written_is_passed_over():
    assert list(requests([event("get", "pods") + "\n", '{"stage": "Resp'])) != []
    assert list(requests(['{"stage": "Resp'])) == []


def test_refused_is_what_rights_are_missing_for():
    refused, ending, watch = found(
        event("get", "pods", 403),
        event("create", "pods", 403, message="namespace a is being terminated"),
        event("watch", "pods", 403),
    )
    assert (refused.refused, ending.refused, watch.refused) == (True, False, True)


def test_what_apply_makes_anew_uses_the_right_to_create():
    made, changed = found(event("patch", "jobs", 201), event("patch", "jobs", 200))
    assert made.rights == {Right("", "jobs", "patch"), Right("", "jobs", "create")}
    assert changed.rights == {Right("", "jobs", "patch")}


def status_write(sent, answer, status):
    return event(
        "update",
        "dbbenchmarks",
        group="dbbench.io",
        objectRef={"resource": "dbbenchmarks", "subresource": "status", "apiGroup": "dbbench.io"},
        requestObject={"metadata": {"resourceVersion": sent}},
        responseObject={"metadata": {"resourceVersion": answer, "uid": "u"}, "status": status},
    )


def test_a_status_write_without_a_new_version_changed_nothing():
    writes = status_writes(
        found(
            status_write("1", "2", {"reason": "Queued"}),
            status_write("2", "2", {"reason": "Queued"}),
            status_write("2", "3", {"reason": "Running"}),
        )
    )
    assert (writes.written, writes.unchanged) == (3, 1)
    assert writes.parts == {"reason": 2}


def test_the_rights_of_an_account_are_those_of_the_roles_bound_to_it():
    rule = {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get"]}
    roles = [
        {"kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule | {"verbs": [verb]}]}
        for name, verb in (("own", "get"), ("other", "delete"))
    ]
    binding = {
        "kind": "ClusterRoleBinding",
        "roleRef": {"name": "own"},
        "subjects": [{"name": "operator"}],
    }
    rights = granted([*roles, binding, {"kind": "Service"}], "operator")
    assert rights == {Right("", "pods", "get"), Right("", "pods/log", "get")}


def test_the_policy_keeps_nothing_of_anybody_else():
    rules = policy("me", with_bodies=[("g", "r/status")])["rules"]
    assert [rule["level"] for rule in rules] == ["RequestResponse", "Metadata", "None"]
    assert all(rule.get("users") == ["me"] for rule in rules[:2])


@pytest.mark.parametrize(("good", "word"), [(True, "met"), (False, "MISSED"), (None, "")])
def test_a_missed_goal_is_named(good, word):
    assert table([Figure("p99", "3 s", "< 1 s", good)]).split("< 1 s")[1].strip() == word
