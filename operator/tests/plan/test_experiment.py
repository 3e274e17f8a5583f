"""Properties of the plan, over all specs that the API accepts."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.spec import CONTROL, DBBenchmarkSpec
from dbbench.plan import block, block_limits, cells, plan_seed, trial_of

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
names = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?", fullmatch=True).filter(
    lambda name: name != CONTROL
)
seeds = st.integers(0, 2**53 - 1)
indices = st.integers(1, 1000)


def kind_of_workload(draw: st.DrawFn) -> dict[str, Any]:
    connection = st.lists(
        st.sampled_from(["Shared", "PerQuery"]), min_size=1, max_size=2, unique=True
    )
    return draw(
        st.one_of(
            connection.map(lambda c: {"tpch": {"scaleFactor": "1", "connection": c}}),
            st.just({"tpcc": {"warehouses": 1}}),
            st.just({"tatp": {"subscribers": 1000}}),
        )
    )


@st.composite
def specs(draw: st.DrawFn) -> DBBenchmarkSpec:
    targets = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    workloads = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    fewest = draw(st.integers(1, 50))
    most = draw(st.none() | st.integers(fewest, 100))
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": targets[0],
            "targets": [{"name": name, "pod": {}} for name in targets],
            "workloads": [{"name": name, **kind_of_workload(draw)} for name in workloads],
            "trials": {"min": fewest} | ({} if most is None else {"max": most}),
        }
    )


@given(specs(), seeds, indices)
def test_a_block_measures_every_cell_once_on_every_target(
    spec: DBBenchmarkSpec, seed: int, index: int
) -> None:
    counted = Counter((trial.target, trial.cell) for trial in block(spec, seed, index).trials)
    wanted = {(target.name, cell) for target in spec.targets for cell in cells(spec)}
    assert set(counted) == wanted
    assert set(counted.values()) == {1}


@given(specs(), seeds, indices)
def test_the_same_seed_gives_the_same_block_whatever_came_before(
    spec: DBBenchmarkSpec, seed: int, index: int
) -> None:
    alone = block(spec, seed, index)
    for earlier in range(max(1, index - 3), index):
        block(spec, seed, earlier)
    assert block(spec, seed, index) == alone


@given(specs(), seeds, indices)
def test_within_a_block_targets_differ_in_nothing_but_their_turn(
    spec: DBBenchmarkSpec, seed: int, index: int
) -> None:
    turns = block(spec, seed, index).turns
    conditions = {tuple((trial.cell, trial.seed) for trial in turn.trials) for turn in turns}
    assert len(conditions) == 1
    assert sorted(turn.target for turn in turns) == sorted(target.name for target in spec.targets)


@given(specs(), seeds, st.lists(indices, min_size=2, max_size=2, unique=True))
def test_blocks_and_cells_have_workload_seeds_of_their_own(
    spec: DBBenchmarkSpec, seed: int, two: list[int]
) -> None:
    drawn = {
        (index, trial.cell): trial.seed
        for index in two
        for trial in block(spec, seed, index).trials
    }
    assert all(0 <= value < 2**32 for value in drawn.values())
    # 32-bit digests of different texts: a collision among so few would be one in ten million.
    assert len(set(drawn.values())) == len(drawn)


@given(specs(), seeds, indices)
def test_a_trial_is_found_again_by_its_id(spec: DBBenchmarkSpec, seed: int, index: int) -> None:
    trials = block(spec, seed, index).trials
    assert len({trial.id for trial in trials}) == len(trials)
    for trial in trials:
        assert len(trial.id) <= 63
        assert trial_of(spec, seed, trial.id) == trial


@given(specs(), seeds)
def test_an_id_outside_the_plan_is_a_key_error(spec: DBBenchmarkSpec, seed: int) -> None:
    for unknown in ("", "x", "b001", "b001.", "b001.no_such.workload"):
        with pytest.raises(KeyError):
            trial_of(spec, seed, unknown)


@given(specs(), st.text(max_size=40))
def test_the_seed_is_that_of_the_spec_or_follows_from_the_uid(
    spec: DBBenchmarkSpec, uid: str
) -> None:
    assert spec.trials.seed is None
    assert plan_seed(spec, uid) == plan_seed(spec, uid)
    assert 0 <= plan_seed(spec, uid) < 2**32
    recorded = spec.model_copy(update={"trials": spec.trials.model_copy(update={"seed": 0})})
    assert plan_seed(recorded, uid) == 0


@given(specs())
def test_there_is_always_a_last_block(spec: DBBenchmarkSpec) -> None:
    fewest, most = block_limits(spec)
    assert 1 <= fewest == spec.trials.min <= most
    assert most == (spec.trials.max or spec.trials.min)


@given(specs(), seeds, st.integers(1, 500))
def test_the_second_block_of_a_pair_has_the_order_of_the_first_reversed(
    spec: DBBenchmarkSpec, seed: int, pair: int
) -> None:
    first, second = (block(spec, seed, index) for index in (2 * pair - 1, 2 * pair))
    assert [(trial.target, trial.cell) for trial in second.trials] == [
        (trial.target, trial.cell) for trial in reversed(first.trials)
    ]
    # Steady drift adds to each target in proportion to its places: the same for all of them.
    places: Counter[str] = Counter()
    for found in (first, second):
        for place, turn in enumerate(found.turns):
            places[turn.target] += place
    assert len(set(places.values())) == 1


def test_every_order_of_two_targets_occurs_about_as_often() -> None:
    """Drift of the machine cancels only if no target is favoured by its place in the block."""
    spec = DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
            "workloads": [{"name": "orders", "tpcc": {"warehouses": 1}}],
        }
    )
    first = Counter(block(spec, 42, index).turns[0].target for index in range(1, 1001))
    # Binomial(1000, 1/2): 6 standard deviations are 95.
    assert abs(first["pod"] - 500) < 95


@given(specs(), seeds, st.integers(1, 100))
def test_a_control_is_one_more_target_of_every_block(
    spec: DBBenchmarkSpec, seed: int, index: int
) -> None:
    trials = spec.trials.model_copy(update={"control": True})
    controlled = spec.model_copy(update={"trials": trials})
    turns = block(controlled, seed, index).turns
    assert sorted(turn.target for turn in turns) == sorted(
        [*(target.name for target in spec.targets), CONTROL]
    )
    control, baseline = controlled.target(CONTROL), controlled.target(spec.baseline)
    assert control == baseline.model_copy(update={"name": CONTROL})
    with pytest.raises(KeyError):
        spec.target(CONTROL)
