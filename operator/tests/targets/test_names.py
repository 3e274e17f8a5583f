"""Names and labels of children."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench import plan
from dbbench.targets import names

from .conftest import context

DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")

part = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?", fullmatch=True)
bench = st.from_regex(r"[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?", fullmatch=True)


def test_a_name_reads_as_its_parts() -> None:
    assert names.child_name("quickstart", "vm", "config") == "quickstart-vm-config"


@given(bench, st.lists(part, min_size=1, max_size=4), st.sampled_from([52, 63]))
def test_every_name_is_a_dns_label_within_the_limit(
    first: str, rest: list[str], limit: int
) -> None:
    name = names.child_name(first, *rest, limit=limit)
    assert DNS_LABEL.fullmatch(name)
    assert len(name) <= limit


def test_parts_that_would_join_to_the_same_text_have_different_names() -> None:
    tuples = [
        ("a", "b-c"), ("a-b", "c"), ("a.b", "c"), ("a-b-c", "d"), ("a-b", "c-d"), ("a", "b-c-d"),
        ("1", "b"), ("b1", "b"),
    ]  # fmt: skip
    for one, other in itertools.combinations(tuples, 2):
        assert names.child_name(*one) != names.child_name(*other), (one, other)


def test_long_names_that_differ_at_the_end_stay_different() -> None:
    assert names.child_name("x" * 60, "pod") != names.child_name("x" * 60, "vm")


def test_names_of_trials_differ_where_their_cells_do() -> None:
    ctx = context()
    trials = [t for index in (1, 2) for t in plan.block(ctx.spec, 7, index).trials]
    found = {names.trial_job_name(ctx.benchmark, trial, n) for trial in trials for n in (1, 2)}
    assert len(found) == 2 * len(trials)


@pytest.mark.parametrize("name", ["quickstart", "a.b", "x" * 253])
def test_labels_are_valid_whatever_the_benchmark_is_called(name: str) -> None:
    ctx = context(lambda body: body["metadata"].update(name=name))
    found = names.labels(
        ctx.benchmark, names.Component.DRIVER, target="vm", trial="b001-vm-a", attempt=2
    )
    assert all(len(value) <= 63 and LABEL_VALUE.fullmatch(value) for value in found.values())
    assert found["dbbench.io/attempt"] == "2"
    assert "dbbench.io/workload" not in found


def test_children_are_owned_by_the_benchmark() -> None:
    ctx = context()
    assert names.metadata(ctx.benchmark, "x", {})["ownerReferences"] == [
        {
            "apiVersion": "dbbench.io/v1alpha1",
            "kind": "DBBenchmark",
            "name": "quickstart",
            "uid": ctx.benchmark.metadata.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
