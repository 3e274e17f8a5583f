"""Blocks whose trials run on both targets at the same time: the same plan, in pairs."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block, cells, trial_of
from dbbench.plan.duration import Assumptions, expected, trial_seconds

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
sweeps = st.sampled_from([None, {"clients": [1, 8]}, {"cpu": [1, 2], "clients": [1, 8]}])
seeds = st.integers(0, 2**53 - 1)
indices = st.integers(1, 2000)


def spec_with(mode: str, sweep: dict[str, Any] | None, **trials: Any) -> DBBenchmarkSpec:
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": "pod",
            "targets": [
                {"name": "pod", "pod": {}},
                {"name": "vm", "virtualMachine": {"runtime": "QEMU"}},
            ],
            "workloads": [
                {"name": "orders", "tpcc": {"warehouses": 5}},
                {"name": "telecom", "tatp": {"subscribers": 1000}},
            ],
            "sweep": sweep,
            "trials": {"mode": mode, **trials},
        }
    )


@given(sweeps, seeds, indices, st.booleans())
def test_trials_are_those_of_the_plan_without_it_in_pairs(
    sweep: dict[str, Any] | None, seed: int, index: int, redeploy: bool
) -> None:
    apart, duet = (
        block(spec_with(mode, sweep, redeploy=redeploy), seed, index).trials
        for mode in ("Sequential", "Duet")
    )
    assert tuple(replace(trial, partner="") for trial in duet) == apart
    assert all(trial.together == (trial,) for trial in apart)
    for trial in duet:
        first, second = trial.together
        assert first == trial
        assert {first.target, second.target} == {"pod", "vm"}
        assert second in duet
        assert second.together == (second, first)
        assert (first.block, first.cell, first.seed) == (second.block, second.cell, second.seed)
        assert trial_of(spec_with("Duet", sweep, redeploy=redeploy), seed, trial.id) == trial


def test_a_block_takes_the_time_of_the_trials_of_one_target() -> None:
    assumed, spec = Assumptions(), spec_with("Duet", None)
    apart, duet = (expected(one, assumed) for one in (spec_with("Sequential", None), spec))
    # Both are loaded, started and stopped as they always are; each window is that of both.
    assert duet.preparation == apart.preparation
    assert apart.block - duet.block == sum(
        8 + trial_seconds(spec.workload(cell.workload), cell, assumed) for cell in cells(spec)
    )
    assert (duet.trials_per_block, duet.deployments) == (4, 2)
