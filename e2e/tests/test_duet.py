"""Two targets measured at the same time, where the node has CPUs for both.

It has none on a machine with two processors, of which half a one is reserved; there the second test
sees the refusal again, unless the cluster was started with --shared-cpus.
"""

from datetime import datetime

import pytest
from access.benchmarks import Benchmark
from access.documents import DATABASE_NODE, benchmark
from access.kubectl import Kubectl
from access.operator import Helm

from dbbench.api.quantities import cpus

TARGETS = [{"name": "pod", "pod": {}}, {"name": "other", "pod": {}}]
TRIALS = {"min": 1, "mode": "Duet", "contamination": {"maxRepeats": 0}}
RUN_SECONDS = 300


@pytest.fixture
def whole_cpus(kubectl: Kubectl) -> int:
    """CPUs of the database's node that can be exclusive."""
    (node,) = kubectl.list("nodes", f"kubernetes.io/hostname={DATABASE_NODE}")
    return int(cpus(node["status"]["allocatable"]["cpu"]))


def duet(inside: Kubectl, cpu: int) -> Benchmark:
    resources = {"cpu": cpu, "memory": "512Mi"}
    inside.apply(benchmark("duet", targets=TARGETS, resources=resources, trials=TRIALS))
    return Benchmark(inside, "duet")


def test_a_node_with_cpus_for_one_alone_is_named(
    operator: Helm, namespace: Kubectl, whole_cpus: int
) -> None:
    found = duet(namespace, cpu=whole_cpus).wait_until_stalled(limit=60)
    assert found["reason"] == "InsufficientCPU"
    assert f"need {2 * whole_cpus} exclusive CPUs at the same time" in found["message"]


def test_both_windows_are_open_at_the_same_time(
    operator: Helm, namespace: Kubectl, whole_cpus: int
) -> None:
    measured = duet(namespace, cpu=1)
    if whole_cpus < len(TARGETS):
        assert measured.wait_until_stalled(limit=60)["reason"] == "InsufficientCPU"
        return
    measured.wait_until_succeeded(limit=RUN_SECONDS)
    records = {record["target"]: record for record in measured.records().values()}
    assert records.keys() == {"pod", "other"}
    windows = [
        {phase["name"]: phase for phase in record["result"]["phases"]}["measure"]
        for record in records.values()
    ]
    starts, ends = (
        [datetime.fromisoformat(window[edge]) for window in windows] for edge in ("start", "end")
    )
    assert max(starts) < min(ends)
    for record in records.values():
        assert record["result"]["parameters"]["apart"] is True
        assert "processes" not in record["result"]
    first, second = (
        set(record["result"]["target"]["facts"]["cpusAllowed"]) for record in records.values()
    )
    # A disturbed trial would give the condition its reason; the message has both.
    shared = (
        "both targets of the duet might use CPUs" in measured.condition("Representative")["message"]
    )
    assert shared is not first.isdisjoint(second)
    assert "A duet (trials.mode: Duet)" in measured.results()["report.md"]
