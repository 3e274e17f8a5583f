"""The proof of cache states, from what trials read."""

from typing import Any

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.workload import CacheState
from dbbench.results.analysis import analyse
from dbbench.results.caches import cache_evidence
from dbbench.results.documents import summary, to_markdown
from dbbench.results.page import to_html
from dbbench.results.record import Outcome, TrialRecord

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
EXECUTION = {"readBytes": 4096, "hostReadBytes": 8192}


@pytest.fixture
def benchmark() -> DBBenchmark:
    return DBBenchmark.parse(
        {
            "metadata": {"name": "caches", "namespace": "db", "uid": "u-1"},
            "spec": {
                "database": {"engine": "PostgreSQL", "image": "postgres:17"},
                "placement": {"database": NODE, "driver": NODE},
                "baseline": "pod",
                "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
                "workloads": [
                    {"name": "q", "tpch": {"scaleFactor": "1", "cache": ["Warm", "Cold"]}},
                    {"name": "plain", "tpch": {"scaleFactor": "1"}},
                ],
                "trials": {"min": 2},
            },
        }
    )


def trial(
    block: int, target: str, cell: str, blocks: int | None, executions: list[dict[str, Any]]
) -> TrialRecord:
    """Two queries that were executed alike."""
    return TrialRecord(
        trial=f"b{block:03d}.{target}.q.{cell[-4:]}",
        block=block,
        target=target,
        workload="q",
        cell=cell,
        attempt=1,
        outcome=Outcome.MEASURED,
        reason="Measured",
        message="",
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T00:01:00Z",
        result={
            "blocksRead": blocks,
            "operations": [{"name": "Q1", "executions": executions}] * 2,
            "metrics": [],
        },
    )


def test_the_executions_of_a_trial_add_up_and_trials_give_least_and_most(
    benchmark: DBBenchmark,
) -> None:
    records = [
        trial(1, "vm", "cache=Cold", 90, [EXECUTION]),
        trial(2, "vm", "cache=Cold", 80, [EXECUTION, EXECUTION]),
    ]
    (found,) = cache_evidence(benchmark.spec, records)
    assert (found.cell.name, found.target, found.state) == ("cache=Cold", "vm", CacheState.COLD)
    assert (found.trials, found.blocks_read) == (2, (80, 90))
    assert found.read_bytes == (8192, 16384)
    assert found.host_read_bytes == (16384, 32768)


def test_what_one_execution_did_not_count_is_no_evidence(benchmark: DBBenchmark) -> None:
    records = [
        trial(1, "pod", "cache=Cold", 90, [EXECUTION, {"blocksRead": 3}]),
        trial(1, "pod", "cache=Warm", None, []),
    ]
    warm, cold = cache_evidence(benchmark.spec, records)
    assert (cold.blocks_read, cold.read_bytes, cold.host_read_bytes) == ((90, 90), None, None)
    assert (warm.blocks_read, warm.read_bytes) == (None, None)


def test_cells_without_a_cache_state_and_trials_that_do_not_count_are_left_out(
    benchmark: DBBenchmark,
) -> None:
    plain = trial(1, "pod", "", 5, [EXECUTION])
    invalid = trial(1, "pod", "cache=Warm", 5, [EXECUTION])
    object.__setattr__(plain, "workload", "plain")
    object.__setattr__(invalid, "outcome", Outcome.INVALID)
    assert cache_evidence(benchmark.spec, [plain, invalid]) == ()


def test_summary_and_report_show_the_proof(benchmark: DBBenchmark) -> None:
    records = [
        trial(1, "pod", "cache=Warm", 0, []),
        trial(1, "pod", "cache=Cold", 700, [EXECUTION]),
        trial(2, "pod", "cache=Cold", 720, [EXECUTION]),
    ]
    document = summary(benchmark, analyse(benchmark, records, frozenset()), records, None)
    warm, cold = document["caches"]
    assert warm["blocksRead"] == {"least": 0, "most": 0}
    assert (cold["state"], cold["trials"], cold["readBytes"]["least"]) == ("Cold", 2, 8192)
    text = to_markdown(document)
    assert "| q/cache=Warm | pod | Warm | 1 | 0 | - | - |" in text
    assert "| q/cache=Cold | pod | Cold | 2 | 700 to 720 | 8192 | 16384 |" in text
    page = to_html(document, records)
    assert "Caches. What was read" in page
    assert "700 to 720" in page
