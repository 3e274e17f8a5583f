"""A benchmark and its records, as the operator keeps them."""

import json
from pathlib import Path

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.plan import block
from dbbench.results.record import Outcome, TrialRecord

DATA = Path(__file__).parent / "data"
SEED = 7


@pytest.fixture(scope="session")
def histograms():
    """HdrHistograms written by the Rust crate, with the quantiles that it computes itself."""
    lines = (DATA / "histograms.jsonl").read_text().splitlines()
    return {entry["name"]: entry for entry in map(json.loads, lines)}


@pytest.fixture
def benchmark():
    return DBBenchmark.parse(
        {
            "metadata": {"name": "pod-vs-vm", "namespace": "db", "uid": "u-1", "generation": 1},
            "spec": {
                "database": {"engine": "PostgreSQL", "image": "postgres:17"},
                "placement": {
                    "database": {"nodeSelector": {"kubernetes.io/hostname": "a"}},
                    "driver": {"nodeSelector": {"kubernetes.io/hostname": "b"}},
                },
                "baseline": "pod",
                "targets": [
                    {"name": "pod", "pod": {}},
                    {"name": "vm", "virtualMachine": {}},
                ],
                "workloads": [
                    {
                        "name": "analytics",
                        "tpch": {"scaleFactor": "1", "connection": ["Shared", "PerQuery"]},
                    },
                    {"name": "orders", "tpcc": {"warehouses": 5}},
                    {"name": "telecom", "tatp": {"subscribers": 1000}},
                ],
                "trials": {"min": 3, "seed": SEED},
                "gates": [
                    {"workload": "orders", "target": "vm", "maxSlowdown": "10%"},
                    {"workload": "analytics", "target": "vm", "maxSlowdown": "60%"},
                ],
            },
        }
    )


def tpch_result(factor):
    """Q1 takes 1 s times the factor, Q2 and Q10 0.1 s; three runs, of which one is slow."""
    times = {"Q1": 1.0 * factor, "Q2": 0.1, "Q10": 0.1}
    return {
        "kind": "Result",
        "schemaVersion": 1,
        "metrics": [{"name": "totalRuntime", "unit": "seconds", "value": sum(times.values())}],
        "operations": [
            {
                "name": name,
                "kind": "query",
                "counts": {"ok": 3, "expectedFailure": 0, "error": 0},
                "errors": {},
                "runtimesSeconds": [seconds, seconds * 0.9, seconds * 30],
                "firstRuntimeSeconds": seconds * 50,
                "throughputPerSecond": None,
                "latency": None,
            }
            for name, seconds in times.items()
        ],
    }


def oltp_result(rate, histogram, *, per_minute=False):
    metrics = [{"name": "throughput", "unit": "per_second", "value": rate}]
    if per_minute:
        metrics.insert(
            0, {"name": "newOrdersPerMinute", "unit": "per_minute", "value": rate * 60 * 0.45}
        )
    return {
        "kind": "Result",
        "schemaVersion": 1,
        "metrics": metrics,
        "operations": [
            {
                "name": "NEW_ORDER",
                "kind": "transaction",
                "counts": {"ok": 900, "expectedFailure": 9, "error": 1},
                "errors": {"40001": 1},
                "throughputPerSecond": rate,
                "latency": {"unit": "microseconds", "histogram": histogram, "count": 910},
            }
        ],
    }


@pytest.fixture
def result_of(histograms):
    """The driver's result of a trial: the machine drifts from block to block, vm is slower."""

    def make(trial):
        drift = 1 + 0.2 * trial.block
        vm = trial.target == "vm"
        noise = 1 + 0.001 * trial.block * (2 if vm else 1)
        if trial.cell.workload == "analytics":
            return tpch_result((1.5 if vm else 1.0) * drift * noise)
        histogram = histograms["bounded" if vm else "resizing"]["histogram"]
        rate = (100.0 if vm else 150.0) / drift / noise
        return oltp_result(rate, histogram, per_minute=trial.cell.workload == "orders")

    return make


def record_of(trial, result, *, attempt=1, outcome=Outcome.MEASURED, reason="", message=""):
    return TrialRecord(
        trial=trial.id,
        block=trial.block,
        target=trial.target,
        workload=trial.cell.workload,
        cell=trial.cell.name,
        attempt=attempt,
        outcome=outcome,
        reason=reason,
        message=message,
        started="2026-11-21T08:00:00Z",
        finished="2026-11-21T08:01:00Z",
        result=result,
    )


@pytest.fixture
def records(benchmark, result_of):
    """Three whole blocks."""
    return [
        record_of(trial, result_of(trial))
        for index in (1, 2, 3)
        for trial in block(benchmark.spec, SEED, index).trials
    ]


@pytest.fixture
def make_record():
    return record_of
