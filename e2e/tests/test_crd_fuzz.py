"""Generated DBBenchmarks: each is accepted and could run, or refused by a field; nothing crashes.

A part of what `make fuzz` does, always with the same documents.
"""

import asyncio

import pytest
from access.documents import benchmark
from access.kubectl import Kubectl
from fuzz import core
from fuzz.confinement import EscapedError, confined
from fuzz.documents import documents
from fuzz.run import fuzz, refusal
from fuzz.server import Answer

from dbbench.api.benchmark import DBBenchmark

COUNT = 200
SEED = 6


def test_a_seed_gives_the_same_documents() -> None:
    first = documents(2, SEED)
    assert first == documents(2, SEED)
    assert first != documents(2, SEED + 1)


def test_no_document_gets_through_to_a_failure(crd: Kubectl, module_namespace: Kubectl) -> None:
    report = asyncio.run(
        fuzz(crd.kubeconfig, module_namespace.namespace, documents(COUNT, SEED), SEED)
    )
    assert report.text().endswith(" 0 defects")
    assert report.documents == COUNT
    # Neither half may become empty, or nothing would be tested.
    assert min(report.accepted, report.refused, report.manifests_sent) >= COUNT // 10


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("is invalid: <nil>: Invalid value: too long", "names no field"),
        ("spec.timeouts.ready: type conversion error from 'string'", "words of CEL"),
        ("spec: Invalid value: no such key: max", "words of CEL"),
    ],
)
def test_a_refusal_that_helps_nobody_is_a_defect(message: str, says: str) -> None:
    (found,) = refusal(Answer(benchmark("checked"), status=422, message=message))
    assert says in found


def test_a_refusal_by_the_field_is_none() -> None:
    said = 'spec.baseline: Invalid value: "object": must be the name of one of spec.targets'
    assert refusal(Answer(benchmark("checked"), status=422, message=said)) == []


def manifests() -> tuple[DBBenchmark, list[dict]]:
    body = core.stored(benchmark("checked"))
    return DBBenchmark.parse(body), core.accepted(body)


def test_text_that_leaves_its_quotes_is_found() -> None:
    parsed, built = manifests()
    (config,) = [m for m in built if m["metadata"]["name"] == "checked-pod-config"]
    config["data"]["postgresql.conf"] += "work_mem = '1' port = '1'\n"
    with pytest.raises(EscapedError, match="would not read"):
        confined(config, parsed)


def test_a_setting_that_nobody_asked_for_is_found() -> None:
    parsed, built = manifests()
    (config,) = [m for m in built if m["metadata"]["name"] == "checked-pod-config"]
    config["data"]["postgresql.conf"] += "work_mem = '1'\n"
    with pytest.raises(EscapedError, match="reads as"):
        confined(config, parsed)


@pytest.mark.parametrize("word", ["$(HOSTNAME)", "a b", "'; DROP TABLE x; --", "a\nb", ""])
def test_text_in_a_command_line_is_found(word: str) -> None:
    parsed, built = manifests()
    job = next(m for m in built if m["kind"] == "Job" and "load" in m["metadata"]["name"])
    job["spec"]["template"]["spec"]["containers"][0]["args"].append(word)
    with pytest.raises(EscapedError, match="in a command line"):
        confined(job, parsed)
