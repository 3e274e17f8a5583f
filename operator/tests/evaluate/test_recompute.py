"""What an archive gives offline is what the operator published, to the last byte."""

import copy
import json
from pathlib import Path

import pytest

from dbbench.evaluate.recompute import as_published, differences, recompute
from dbbench.evaluate.state import Ref
from dbbench.results.archive import Archive, described, pack, unpack
from dbbench.results.documents import results_data, to_json
from dbbench.results.page import to_html

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


def test_what_was_left_out_for_size_is_no_difference(monkeypatch):
    cluster = ModelCluster(spec())
    cluster.run()
    full = recompute(exported(cluster))
    size = sum(len(text.encode()) for text in results_data(full).values())
    monkeypatch.setattr("dbbench.results.documents.LIMIT_BYTES", size - 1)
    published = json.loads(results_data(full)["summary.json"])
    assert published["omitted"]
    assert differences(published, as_published(full)) == []


STORED = Path(__file__).parents[1] / "results" / "data" / "quickstart.tar.gz"


@pytest.fixture(scope="module")
def stored():
    """An archive of a real run: manifests/samples/quickstart.yaml in the local cluster, emulated.

    Its trials are as the driver wrote them. It stays as it is: later versions must read it.
    """
    return unpack(STORED.read_bytes())


def test_an_archive_of_an_earlier_version_is_still_read_and_recomputed(stored):
    document = recompute(stored)
    assert len(stored.trials) == 12
    assert {found["workload"] for found in document["comparisons"]} == {
        "analytics",
        "orders",
        "telecom",
    }
    # What does not depend on how slowdowns are estimated.
    for name in ("operations", "seed", "emulatedTargets"):
        assert differences({name: stored.summary[name]}, document) == []


def test_the_page_of_a_real_run_has_all_its_plots(stored):
    document = recompute(stored)
    page = to_html(document, stored.trials)
    assert "Emulated: not representative." in page
    for operation in document["operations"]:
        if operation["latencySeconds"] and operation["latencySeconds"]["count"] >= 1000:
            assert f"Latency of {operation['operation']} by quantile" in page
    assert "user CPU time" in page
    assert page.count('class="forest"') >= 2
