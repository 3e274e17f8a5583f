"""Never two on a node unless both agree, always progress, nobody overtaken: the queue for nodes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbbench.evaluate.queue import Claim, Contender, Standing, contender, queue

from .model_cluster import spec

NODES = tuple(
    {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "pool": pool}}}
    for name, pool in (("a", "fast"), ("b", "fast"), ("c", "slow"))
)
SELECTORS = [
    *((("kubernetes.io/hostname", name),) for name in ("a", "b", "c", "gone")),
    (("pool", "fast"),),
    (("pool", "slow"),),
    (("kubernetes.io/hostname", "a"), ("pool", "fast")),
]
KNOWN = pytest.mark.parametrize("nodes", [NODES, None], ids=["nodes known", "nodes unknown"])

claims = st.builds(Claim, st.sampled_from(SELECTORS), st.booleans())
contenders = st.lists(
    st.builds(
        Contender,
        name=st.just(""),
        created=st.integers(0, 4).map(lambda second: f"2026-01-01T00:00:0{second}Z"),
        standing=st.sampled_from(Standing),
        claims=st.tuples(claims, claims),
    ),
    max_size=9,
).map(lambda found: [replace(one, name=f"ns/{index}") for index, one in enumerate(found)])


def may_meet(one: Claim, other: Claim, nodes: Any) -> bool:
    first, second = dict(one.selector), dict(other.selector)
    if nodes is None:
        return all(second.get(key, value) == value for key, value in first.items())
    return any(
        (first | second).items() <= found["metadata"]["labels"].items()
        and all(second.get(key, value) == value for key, value in first.items())
        for found in nodes
    )


def in_the_way(one: Contender, other: Contender, nodes: Any) -> bool:
    return any(
        may_meet(mine, theirs, nodes) and not (mine.shared and theirs.shared)
        for mine in one.claims
        for theirs in other.claims
    )


def order(one: Contender) -> tuple[str, str]:
    return one.created, one.name


def standing(found: list[Contender], *wanted: Standing) -> list[Contender]:
    return sorted((one for one in found if one.standing in wanted), key=order)


def pairs(found: list[Contender]) -> list[tuple[Contender, Contender]]:
    return [(one, other) for i, one in enumerate(found) for other in found[:i]]


@KNOWN
@given(found=contenders)
def test_who_may_run_is_in_the_way_of_no_holder_and_of_none_who_may_run(nodes, found):
    waits = queue(found, nodes)
    free = [one for one in standing(found, Standing.WAITS) if one.name not in waits]
    holders = standing(found, Standing.HOLDS)
    assert not any(in_the_way(one, other, nodes) for one in free for other in holders)
    assert not any(in_the_way(one, other, nodes) for one, other in pairs(free))


@KNOWN
@given(found=contenders)
def test_nobody_goes_before_one_who_waits_longer_for_the_same_node(nodes, found):
    waits = queue(found, nodes)
    waiting = standing(found, Standing.WAITS)
    for one in standing(found, Standing.WAITS, Standing.BLOCKED):
        if one.name not in waits:
            earlier = [other for other in waiting if order(other) < order(one)]
            assert not any(in_the_way(one, other, nodes) for other in earlier)


@KNOWN
@given(found=contenders)
def test_who_waits_is_told_of_one_that_is_in_the_way(nodes, found):
    by_name = {one.name: one for one in found}
    for name, wait in queue(found, nodes).items():
        blocker = by_name[wait.benchmark]
        assert in_the_way(by_name[name], blocker, nodes)
        assert blocker.standing is (Standing.HOLDS if wait.holds else Standing.WAITS)
        assert wait.holds or order(blocker) < order(by_name[name])


@KNOWN
@given(found=contenders)
def test_the_position_counts_all_who_go_before(nodes, found):
    waits = queue(found, nodes)
    ahead: dict[str, set[str]] = {}
    waiting = standing(found, Standing.WAITS)
    for one in standing(found, Standing.WAITS, Standing.BLOCKED):
        before = [o for o in waiting if order(o) < order(one) and in_the_way(one, o, nodes)]
        ahead[one.name] = {name for o in before for name in {o.name, *ahead[o.name]}}
        if one.name in waits:
            assert waits[one.name].position == len(ahead[one.name]) + 1


@KNOWN
@given(found=contenders)
def test_one_that_cannot_start_keeps_nobody_waiting(nodes, found):
    able = [one for one in found if one.standing is not Standing.BLOCKED]
    waits = queue(found, nodes)
    # Of several that are in the way on several places, any may be named.
    with_all, without = (
        {name: (wait.position, wait.holds) for name, wait in found.items()}
        for found in (waits, queue(able, nodes))
    )
    assert without == {one.name: with_all[one.name] for one in able if one.name in with_all}


@KNOWN
@settings(deadline=None)
@given(found=contenders, ends=st.lists(st.integers(0, 100), min_size=20, max_size=20))
def test_everyone_runs_in_the_end_whatever_the_order_in_which_holders_end(nodes, found, ends):
    """Each look admits one at most, as the operator does."""
    there = {one.name: one for one in found if one.standing is not Standing.BLOCKED}
    for choice in ends:
        now = list(there.values())
        holders = standing(now, Standing.HOLDS)
        waits = queue(now, nodes)
        free = [one for one in standing(now, Standing.WAITS) if one.name not in waits]
        assert holders or free or not now
        if free:
            chosen = free[choice % len(free)]
            there[chosen.name] = replace(chosen, standing=Standing.HOLDS)
            assert not any(in_the_way(chosen, other, nodes) for other in holders)
        elif holders:
            del there[holders[choice % len(holders)].name]
    assert not there


def wants(name: str, *hosts: str, standing: Standing = Standing.WAITS, shared: bool = False):
    selectors = [(("kubernetes.io/hostname", host),) for host in hosts]
    return Contender(name, name, standing, tuple(Claim(one, shared) for one in selectors))


def test_two_that_need_two_nodes_each_do_not_wait_for_each_other():
    waits = queue([wants("ns/1", "a", "b"), wants("ns/2", "b", "a")], NODES)
    assert waits.keys() == {"ns/2"}


def test_a_large_one_is_not_overtaken_by_small_ones():
    running = wants("ns/1", "a", standing=Standing.HOLDS)
    waits = queue([running, wants("ns/2", "a", "b"), wants("ns/3", "b")], NODES)
    assert waits["ns/2"].message == "position 1 in the queue: node a is held by ns/1"
    assert waits["ns/3"].message == "position 2 in the queue: node b was asked for earlier by ns/2"


def test_others_pass_where_nothing_is_shared():
    running = wants("ns/1", "a", standing=Standing.HOLDS)
    assert queue([running, wants("ns/2", "a"), wants("ns/3", "c")], NODES).keys() == {"ns/2"}


def test_sharing_needs_both_sides():
    one = wants("ns/1", "a", standing=Standing.HOLDS, shared=True)
    assert queue([one, wants("ns/2", "a", shared=True)], NODES) == {}
    assert queue([one, wants("ns/2", "a")], NODES).keys() == {"ns/2"}


def test_all_nodes_that_a_selector_matches_are_held():
    fast = Contender("ns/1", "1", Standing.HOLDS, (Claim((("pool", "fast"),), False),))
    waits = queue([fast, wants("ns/2", "b"), wants("ns/3", "c")], NODES)
    assert waits.keys() == {"ns/2"}


def test_without_the_right_to_read_nodes_selectors_that_may_mean_one_node_count():
    pool = Contender("ns/1", "1", Standing.HOLDS, (Claim((("pool", "fast"),), False),))
    waits = queue([pool, wants("ns/2", "c")], None)
    assert waits["ns/2"].node == "a node with kubernetes.io/hostname=c and pool=fast"
    assert queue([wants("ns/1", "a", standing=Standing.HOLDS), wants("ns/2", "b")], None) == {}


def test_a_thousand_on_one_node_have_their_places():
    found = [wants(f"ns/{index:04d}", "a", "b") for index in range(1000)]
    waits = queue([replace(found[0], standing=Standing.HOLDS), *found[1:]], NODES)
    assert [wait.position for wait in waits.values()] == list(range(1, 1000))


def body(**changes: Any) -> dict[str, Any]:
    status = changes.pop("status", {})
    metadata = {"namespace": "ns", "name": "x", "generation": 2, "creationTimestamp": "t"}
    return {
        "metadata": metadata | changes.pop("metadata", {}),
        "spec": spec(**changes),
        "status": {"observedGeneration": 2, "comparisons": "not read"} | status,
    }


STARTED = {"startTime": "2026-01-01T00:00:00Z"}
STALLED = {
    "conditions": [
        {
            "type": "Stalled",
            "status": "True",
            "reason": "NodeNotFound",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]
}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (body(), Standing.WAITS),
        (body(status=STARTED | {"reason": "Running"}), Standing.HOLDS),
        (body(status=STARTED | {"reason": "Suspending"}, suspend=True), Standing.HOLDS),
        (body(status=STARTED | {"reason": "Running"}, suspend=True), Standing.HOLDS),
        (body(status=STARTED | {"reason": "Suspended"}, suspend=True), None),
        (body(status=STARTED | {"reason": "Suspended"}), Standing.WAITS),
        (body(status=STARTED | {"reason": "Queued"}), Standing.WAITS),
        (body(suspend=True), None),
        (body(status=STARTED | {"completionTime": "2026-01-01T01:00:00Z"}), None),
        (body(metadata={"deletionTimestamp": "2026-01-01T01:00:00Z"}), None),
        (body(status=STALLED), Standing.BLOCKED),
        (body(status=STALLED | {"observedGeneration": 1}), Standing.WAITS),
        (body(placement={"of": "another version"}), None),
    ],
)
def test_the_standing_follows_from_the_object(found, expected):
    one = contender(found)
    assert (one.standing if one else None) == expected


def test_claims_are_those_of_the_database_and_of_the_driver():
    (database, driver) = contender(body()).claims
    assert database == Claim((("kubernetes.io/hostname", "a"),), False)
    assert driver == Claim((("kubernetes.io/hostname", "b"),), False)
    shared = body()
    shared["spec"]["placement"]["driver"]["occupancy"] = "Shared"
    assert [claim.shared for claim in contender(shared).claims] == [False, True]
    shared["spec"]["placement"]["driver"] = {"colocation": "SameNode"}
    assert contender(shared).claims == (database, database)
