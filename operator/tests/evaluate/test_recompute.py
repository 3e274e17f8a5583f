"""What an archive gives offline is what the operator published, to the last byte."""

import copy
import json

import pytest

from dbbench.evaluate.recompute import differences, recompute
from dbbench.evaluate.state import Ref
from dbbench.results.archive import Archive, described, pack, unpack
from dbbench.results.documents import results_data, to_json

from .model_cluster import ModelCluster, spec


def exported(cluster):
    """As `dbbench export` makes it of a benchmark that has ended."""
    state = cluster.state()
    body = {
        "metadata": {"name": "bench", "namespace": "ns", "uid": "u-1", "generation": 1},
        "spec": cluster.spec,
        "status": cluster.status,
    }
    published = cluster.objects[Ref("ConfigMap", "bench-results")]["data"]
    order = sorted(state.trials, key=lambda record: (record.block, record.trial, record.attempt))
    return unpack(pack(Archive(described(body), tuple(order), state.loads, published)))


def failing_once():
    failed = set()

    def fail(job):
        key = job["metadata"]["name"]
        if ".vm." in job["metadata"]["labels"].get("dbbench.io/trial", "") and not failed:
            failed.add(key)
            return '{"kind":"Error","exitCode":3,"reason":"Unreachable","message":"gone"}\n'
        return None

    return fail


@pytest.mark.parametrize(
    ("changes", "fail"),
    [
        ({}, None),
        ({"trials": {"min": 3, "control": True}}, None),
        ({"trials": {"min": 3, "max": 9, "targetHalfWidth": "1%", "seed": 5}}, None),
        ({"gates": [{"workload": "telecom", "target": "vm", "maxSlowdown": "10%"}]}, None),
        ({}, failing_once()),
        # Never ends well: the run fails with what it has.
        ({}, lambda job: "lost" if ".vm." in str(job["metadata"]["labels"]) else None),
    ],
)
def test_the_published_documents_are_computed_again_byte_for_byte(changes, fail):
    cluster = ModelCluster(spec(**changes), fail=fail)
    cluster.run()
    found = exported(cluster)
    document = recompute(found)
    assert to_json(document) == found.published["summary.json"]
    assert results_data(document) == found.published
    assert differences(found.summary, document) == []


def test_a_changed_trial_is_found_by_the_figures_that_rest_on_it():
    cluster = ModelCluster(spec())
    cluster.run()
    found = exported(cluster)
    changed = copy.deepcopy(found.trials[0].result)
    changed["metrics"][0]["value"] *= 1.5
    trials = (found.trials[0].__class__(**found.trials[0].__dict__ | {"result": changed}),)
    altered = Archive(found.body, trials + found.trials[1:], found.loads, found.published)
    listed = differences(altered.summary, recompute(altered))
    assert any(text.startswith("comparisons[0].slowdown is ") for text in listed)


def test_fields_of_a_newer_version_are_no_difference():
    assert differences({"a": 1, "dbbench": "0"}, {"a": 1, "b": 2, "dbbench": "1"}) == []


def test_only_more_than_rounding_is_a_difference():
    assert differences({"a": [1.0]}, {"a": [1.0 + 1e-13]}) == []
    assert differences({"a": [1.0]}, {"a": [1.001]}) == [
        "a[0] is 1.0 as published, 1.001 recomputed"
    ]
    assert differences({"a": [1]}, {"a": []}) == ["a has 1 entries as published, 0 recomputed"]


def test_what_was_left_out_for_size_is_not_compared():
    published = {"queries": [], "trials": {"notMeasured": [1]}, "omitted": ["queries"]}
    assert differences(published, json.loads('{"queries": [1], "trials": {"notMeasured": [1]}}')) \
        == []  # fmt: skip
