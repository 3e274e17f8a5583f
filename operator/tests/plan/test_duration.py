"""Expected durations: the formula, and what the spec changes in it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import cells
from dbbench.plan.duration import (
    Assumptions,
    Expected,
    expected,
    expected_of_tests,
    load_seconds,
    trial_seconds,
)

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
ASSUMED = Assumptions()
ONE = {"text": "SELECT 1"}


def spec(**changes: Any) -> DBBenchmarkSpec:
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
            "workloads": [{"name": "orders", "tpcc": {"warehouses": 5}}],
        }
        | changes
    )


def test_the_formula_for_one_workload_on_a_pod_and_a_guest() -> None:
    run = expected(spec(), ASSUMED)
    assert (run.targets, run.cells, run.trials_per_block) == (2, 1, 2)
    # A disk for the guest; 8 s of job and 5 warehouses at 10 s for each target.
    assert run.preparation == 60 + 2 * (8 + 50)
    # Start of a pod and of a guest, two stops, two trials of 30 s and 2 min in their jobs.
    assert run.block == 15 + 45 + 2 * 10 + 2 * (8 + 150)
    assert run.seconds(3) == run.preparation + 3 * run.block


@pytest.mark.parametrize(
    ("workload", "trial", "load"),
    [
        ({"tpch": {"scaleFactor": "10", "warmupRuns": 1, "runs": 3}}, 4 * 22 * 10, 8 + 1200),
        ({"tpch": {"scaleFactor": "1", "queries": [1, 6], "runs": 1}}, 2 * 2, 8 + 120),
        (
            {"tpch": {"scaleFactor": "2", "queries": [1, 6], "cache": ["Cold"]}},
            3 * 2 * (4 + 2),
            248,
        ),
        ({"tatp": {"subscribers": 200_000, "warmup": "0s", "duration": "1m"}}, 60, 8 + 30),
        ({"micro": {"probes": ["Sort", "Fsync"], "time": "5s"}}, 2 * 4 * 1.2 * 5, 0),
        ({"sql": {"setup": ONE, "scripts": [ONE | {"name": "one"}]}}, 70, 8 + 30),
        ({"sql": {"scripts": [ONE | {"name": "one"}], "warmup": "0s"}}, 60, 0),
        ({"zachmann": {"warmup": "10s", "duration": "15m"}}, 910, 0),
    ],
)
def test_trials_and_loads(workload: dict[str, Any], trial: float, load: float) -> None:
    with_it = spec(workloads=[{"name": "w", **workload}])
    (found,), (cell,) = with_it.workloads, cells(with_it)
    assert trial_seconds(found, cell, ASSUMED) == trial
    assert load_seconds(found, ASSUMED) == load


def test_each_point_of_a_workload_is_a_trial_but_not_a_load() -> None:
    tpch = {"scaleFactor": "1", "connection": ["Shared", "PerQuery"]}
    run = expected(spec(workloads=[{"name": "w", "tpch": tpch}]), ASSUMED)
    assert run.cells == 2
    assert run.preparation == 60 + 2 * 128


def test_a_control_costs_what_the_baseline_costs() -> None:
    plain, controlled = expected(spec(), ASSUMED), expected(spec(trials={"control": True}), ASSUMED)
    assert controlled.targets == 3
    assert controlled.preparation - plain.preparation == 58
    assert controlled.block - plain.block == 15 + 10 + 158


def test_data_in_memory_are_loaded_in_every_block() -> None:
    database = {
        "engine": "PostgreSQL", "image": "postgres:17", "storage": {"medium": "Memory"}
    }  # fmt: skip
    disk, memory = expected(spec(), ASSUMED), expected(spec(database=database), ASSUMED)
    assert memory.preparation == disk.preparation - 2 * 58
    assert memory.block == disk.block + 2 * 58


def test_an_empty_disk_is_loaded_in_every_block_of_its_own_target() -> None:
    def run(volume: str) -> Expected:
        machine = {"runtime": "KubeVirt", "dataDisk": {"volume": volume}}
        targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": machine}]
        return expected(spec(targets=targets), ASSUMED)

    kept, empty = run("DataVolume"), run("EmptyDisk")
    assert empty.preparation == kept.preparation - 58
    assert empty.block == kept.block + 58


def test_what_is_deployed_anew_for_each_block_is_prepared_in_each() -> None:
    for changes in ({}, {"confirm": True}, {"sweep": {"cpu": [1, 2]}}):
        once = expected(spec(**changes), ASSUMED)
        anew = expected(spec(**changes, trials={"redeploy": True}), ASSUMED)
        assert anew.preparation == 0
        assert anew.block == once.block + once.preparation
        assert anew.deployments == once.deployments
        assert anew.seconds(1) == once.seconds(1)


def test_data_in_memory_are_loaded_once_in_each_block_whether_or_not_it_is_deployed_anew() -> None:
    database = {
        "engine": "PostgreSQL", "image": "postgres:17", "storage": {"medium": "Memory"}
    }  # fmt: skip
    once = expected(spec(database=database), ASSUMED)
    anew = expected(spec(database=database, trials={"redeploy": True}), ASSUMED)
    assert anew.block == once.block + 60


def test_tests_of_causes_are_deployed_anew_too() -> None:
    kept, anew = (
        expected_of_tests(spec(confirm=True, trials={"redeploy": redeploy}), ASSUMED)
        for redeploy in (False, True)
    )
    assert kept is not None
    assert anew is not None
    assert (anew.preparation, anew.block) == (0, kept.block + kept.preparation)


@given(st.sampled_from(sorted(vars(Assumptions()))), st.floats(0, 1e6))
def test_no_assumption_shortens_a_run_as_it_grows(name: str, seconds: float) -> None:
    before = expected(spec(), ASSUMED.changed({name: seconds}))
    after = expected(spec(), ASSUMED.changed({name: seconds + 1}))
    assert before.seconds(5) <= after.seconds(5)


@pytest.mark.parametrize(
    ("values", "says"),
    [({"queri": 1.0}, "no assumption"), ({"query": -1.0}, "0 or more"),
     ({"query": float("nan")}, "0 or more")],
)  # fmt: skip
def test_wrong_assumptions_are_refused(values: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ASSUMED.changed(values)
