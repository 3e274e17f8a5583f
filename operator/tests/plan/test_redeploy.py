"""Blocks with deployments of their own: the same plan, on other deployments."""

import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block, deployed, trial_of
from dbbench.plan.deployment import (
    any_block,
    blocks_of,
    confirming_points,
    deployed_name,
    deployment_suffix,
    of_block,
)
from dbbench.targets.names import place

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
SWEEPS: list[dict[str, Any] | None] = [
    None,
    {"clients": [1, 8]},
    {"cpu": [1, 512], "instances": [1, 16], "clients": [1, 10000]},
]
sweeps = st.sampled_from(SWEEPS)
seeds = st.integers(0, 2**53 - 1)
indices = st.integers(1, 2000)


def spec_with(sweep: dict[str, Any] | None, *, redeploy: bool, blocks: int = 1) -> DBBenchmarkSpec:
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": "pod",
            "targets": [
                {"name": "pod", "pod": {}},
                {"name": "vm", "virtualMachine": {"runtime": "QEMU"}},
            ],
            "workloads": [{"name": "telecom", "tatp": {"subscribers": 1000}}],
            "sweep": sweep,
            "trials": {
                "min": 2 * blocks,
                "redeploy": redeploy,
                "blocksPerDeployment": blocks,
                "control": True,
            },
            "confirm": True,
        }
    )


@given(sweeps, seeds, indices)
def test_trials_are_those_of_the_plan_without_it_on_other_deployments(
    sweep: dict[str, Any] | None, seed: int, index: int
) -> None:
    kept, anew = (block(spec_with(sweep, redeploy=r), seed, index).trials for r in (False, True))
    assert tuple(replace(trial, deployed_for=0) for trial in anew) == kept
    assert [trial.id for trial in anew] == [trial.id for trial in kept]
    for before, after in zip(kept, anew, strict=True):
        suffix = deployment_suffix(after.point)
        assert any_block(suffix) == deployment_suffix(before.point)
        assert blocks_of([suffix]) == [index]
        assert trial_of(spec_with(sweep, redeploy=True), seed, after.id) == after


@given(sweeps, seeds, indices)
def test_blocks_share_no_deployment_and_each_has_one_turn(
    sweep: dict[str, Any] | None, seed: int, index: int
) -> None:
    spec = spec_with(sweep, redeploy=True)
    one, other = (block(spec, seed, number) for number in (index, index + 1))
    names = [{trial.deployment for trial in turn.trials} for turn in one.turns]
    assert all(len(found) == 1 for found in names)
    assert len(set.union(*names)) == len(one.turns)
    assert set.union(*names).isdisjoint(trial.deployment for trial in other.trials)


@given(sweeps, seeds, indices, st.integers(2, 9))
def test_so_many_blocks_in_a_row_share_deployments_and_others_have_none_of_them(
    sweep: dict[str, Any] | None, seed: int, index: int, count: int
) -> None:
    spec = spec_with(sweep, redeploy=True, blocks=count)
    kept = spec_with(sweep, redeploy=False)
    first = (index - 1) * count + 1
    names = [
        {trial.deployment for trial in block(spec, seed, number).trials}
        for number in range(first, first + count + 1)
    ]
    assert all(found == names[0] for found in names[:count])
    assert names[0].isdisjoint(names[count])
    for trial in block(spec, seed, first + count - 1).trials:
        assert blocks_of([deployment_suffix(trial.point)]) == [first]
        assert trial_of(spec, seed, trial.id) == trial
        assert replace(trial, deployed_for=0) in block(kept, seed, trial.block).trials


@given(sweeps, indices)
def test_every_deployment_has_labels_of_its_own_and_is_of_its_target_s_kind(
    sweep: dict[str, Any] | None, index: int
) -> None:
    spec = spec_with(sweep, redeploy=True)
    trials = block(spec, 1, index).trials
    points = {trial.point for trial in trials}
    points |= {of_block(point, index) for point in confirming_points(spec)}
    names = [deployed_name("vm", point) for point in points]
    assert len({tuple(place(name).items()) for name in names}) == len(names)
    for name in names:
        assert all(re.fullmatch(r"[A-Za-z0-9-]{1,63}", value) for value in place(name).values())
    for trial in trials:
        here = deployed(spec, trial.point).target(trial.deployment)
        own = spec.target(trial.target)
        assert (here.pod, here.virtual_machine) == (own.pod, own.virtual_machine)


def test_a_deployment_of_a_block_is_the_target_under_another_name() -> None:
    spec = spec_with(None, redeploy=True)
    here = deployed(spec, of_block((), 4))
    assert [one.name for one in here.measured_targets] == [
        "pod@block4", "vm@block4", "control@block4"
    ]  # fmt: skip
    assert here.baseline == "pod@block4"
    renamed = [one.model_copy(update={"name": "x"}) for one in here.measured_targets]
    assert renamed == [one.model_copy(update={"name": "x"}) for one in spec.measured_targets]
    assert (here.resources, here.database, here.workloads) == (
        spec.resources, spec.database, spec.workloads
    )  # fmt: skip


def test_suffixes_of_deployments_tell_their_block() -> None:
    suffixes = ["block12", "cpu2-block3", "cpu2", "", "confirmDataDiskCacheNone-block12"]
    assert blocks_of(suffixes) == [3, 12]
    assert [any_block(one) for one in suffixes] == [
        "", "cpu2", "cpu2", "", "confirmDataDiskCacheNone"
    ]  # fmt: skip
