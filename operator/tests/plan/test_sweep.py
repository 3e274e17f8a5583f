"""Properties of sweeps: which points there are, and that each is measured on every target."""

import itertools
import re
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import Cell, block, cells, trial_of
from dbbench.plan.deployment import deployed, deployed_name, deployment_points
from dbbench.targets.names import place

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
TPCH = {"name": "q", "tpch": {"scaleFactor": "1", "connection": ["Shared", "PerQuery"]}}
TPCC = {"name": "orders", "tpcc": {"warehouses": 1, "clients": 8}}
TATP = {"name": "telecom", "tatp": {"subscribers": 1000}}
MINE = {"name": "mine", "sql": {"scripts": [{"name": "one", "text": "SELECT 1"}]}}
MEMORY = {"name": "memory", "zachmann": {"workProcesses": 2}}
seeds = st.integers(0, 2**53 - 1)
indices = st.integers(1, 1000)


def spec_with(sweep: dict[str, Any] | None, *workloads: dict[str, Any]) -> DBBenchmarkSpec:
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "resources": {"cpu": 2},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
            "workloads": list(workloads or (TPCH, TPCC, TATP)),
        }
        | ({} if sweep is None else {"sweep": sweep})
    )


def values(greatest: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, greatest), min_size=2, max_size=4, unique=True)


def variants(name: str, *, most: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    """One axis with names for its values, as long as they may be, and nothing that they change."""
    names = st.text(string.ascii_letters + string.digits, min_size=1, max_size=20)
    lists = st.lists(names, min_size=2, max_size=most, unique=True)
    return lists.map(lambda found: [{"name": name, "values": [{"name": one} for one in found]}])


AXES = {
    "clients": values(10000),
    "cpu": values(512),
    "instances": values(16),
    "variants": st.one_of(
        variants("storage", most=4),
        st.tuples(variants("diskCacheOfAllGuests", most=2), variants("b", most=2)).map(
            lambda found: [*found[0], *found[1]]
        ),
    ),
}
NUMBERS = {"clients": "8", "cpu": "2", "instances": "1"}
sweeps = (
    st.fixed_dictionaries({}, optional=AXES)
    .filter(bool)
    .flatmap(
        lambda axes: st.sampled_from(["Full", "OneAtATime"]).map(lambda d: axes | {"design": d})
    )
)


def values_of(sweep: dict[str, Any]) -> dict[str, list[str]]:
    """The values of each axis, the base of variants first."""
    found = {name: list(map(str, sweep[name])) for name in NUMBERS if name in sweep}
    return found | {
        axis["name"]: [variant["name"] for variant in axis["values"]]
        for axis in sweep.get("variants", ())
    }


def points(spec: DBBenchmarkSpec, workload: str) -> list[dict[str, str]]:
    return [dict(cell.point) for cell in cells(spec) if cell.workload == workload]


@given(sweeps)
def test_the_full_design_is_the_product_of_the_axes(sweep: dict[str, Any]) -> None:
    axes = values_of(sweep)
    found = points(spec_with(sweep | {"design": "Full"}), "orders")
    expected = [
        dict(zip(axes, combination, strict=True))
        for combination in itertools.product(*axes.values())
    ]
    assert len(found) == len(expected)
    assert all(point in expected for point in found)


@given(sweeps)
def test_one_at_a_time_is_the_base_point_and_each_axis_alone(sweep: dict[str, Any]) -> None:
    axes = values_of(sweep)
    base = {name: NUMBERS.get(name, wanted[0]) for name, wanted in axes.items()}
    found = points(spec_with(sweep | {"design": "OneAtATime"}), "orders")
    assert found[0] == base
    for point in found:
        assert sum(point[name] != value for name, value in base.items()) <= 1
    for name, wanted in axes.items():
        assert {point[name] for point in found} == {*wanted, base[name]}
    assert len({tuple(point.items()) for point in found}) == len(found)


@given(sweeps)
def test_a_sweep_multiplies_the_cells_that_a_workload_has_without_it(
    sweep: dict[str, Any],
) -> None:
    plain, swept = cells(spec_with(None)), cells(spec_with(sweep))
    axes = values_of(sweep)
    bare = [Cell(cell.workload, tuple(p for p in cell.point if p[0] not in axes)) for cell in swept]
    assert set(bare) == set(plain)
    per_workload = {
        name: {count for cell, count in Counter(bare).items() if cell.workload == name}
        for name in ("q", "orders", "telecom")
    }
    assert all(len(counts) == 1 for counts in per_workload.values())
    assert len({cell.key for cell in swept}) == len(swept)


@given(sweeps, seeds, indices)
def test_every_target_is_measured_once_at_each_point_of_a_block(
    sweep: dict[str, Any], seed: int, index: int
) -> None:
    spec = spec_with(sweep)
    trials = block(spec, seed, index).trials
    counted = Counter((trial.target, trial.cell) for trial in trials)
    assert set(counted) == set(itertools.product(("pod", "vm"), cells(spec)))
    assert set(counted.values()) == {1}
    assert block(spec, seed, index).trials == trials


@given(sweeps, seeds, indices)
def test_every_deployment_has_one_turn_in_a_block_and_runs_all_its_cells_in_it(
    sweep: dict[str, Any], seed: int, index: int
) -> None:
    spec = spec_with(sweep)
    turns = block(spec, seed, index).turns
    deployments = [{trial.deployment for trial in turn.trials} for turn in turns]
    assert all(len(names) == 1 for names in deployments)
    assert len({name for names in deployments for name in names}) == len(turns)
    assert len(turns) == 2 * len(deployment_points(spec))


@given(sweeps, seeds, indices)
def test_targets_are_measured_at_a_point_in_turns_next_to_each_other(
    sweep: dict[str, Any], seed: int, index: int
) -> None:
    """What is compared is close in time, and in nothing but the turn different."""
    turns = block(spec_with(sweep), seed, index).turns
    for first, second in zip(turns[::2], turns[1::2], strict=True):
        assert {first.target, second.target} == {"pod", "vm"}
        assert [(one.cell, one.seed) for one in first.trials] == [
            (one.cell, one.seed) for one in second.trials
        ]


@given(sweeps)
def test_a_deployment_is_what_the_spec_would_be_that_says_what_its_point_says(
    sweep: dict[str, Any],
) -> None:
    spec = spec_with(sweep)
    for point in deployment_points(spec):
        values = dict(point)
        here = deployed(spec, point)
        assert str(here.resources.cpu) == values.get("cpu", "2")
        assert {str(one.instances) for one in here.targets} == {values.get("instances", "1")}
        assert [one.name for one in here.targets] == [
            deployed_name(name, point) for name in ("pod", "vm")
        ]
        assert here.baseline == deployed_name("pod", point)
        assert not any(one.virtual_machine for one in here.targets if one.name.startswith("pod"))


@given(sweeps)
def test_deployments_have_names_of_their_own_that_labels_tell_apart(sweep: dict[str, Any]) -> None:
    spec = spec_with(sweep)
    points = deployment_points(spec)
    names = [deployed_name(target, point) for point in points for target in ("pod", "vm")]
    assert len(set(names)) == len(names)
    labels = [tuple(place(name).items()) for name in names]
    assert len(set(labels)) == len(names)
    for name in names:
        assert place(f"{name}.1") == place(name) | {"dbbench.io/instance": "1"}
        assert all(re.fullmatch(r"[A-Za-z0-9-]{1,63}", value) for value in place(name).values())


def test_clients_alone_need_no_other_deployment() -> None:
    spec = spec_with({"clients": [1, 64]})
    assert deployment_points(spec) == ((),)
    assert deployed(spec, ()) is spec
    assert {trial.deployment for trial in block(spec, 1, 1).trials} == {"pod", "vm"}


def test_the_control_is_deployed_at_every_point() -> None:
    spec = spec_with({"cpu": [1, 4]})
    controlled = spec.model_copy(
        update={"trials": spec.trials.model_copy(update={"control": True})}
    )
    deployments = {trial.deployment for trial in block(controlled, 1, 1).trials}
    assert deployments == {f"{t}@cpu{n}" for t in ("pod", "vm", "control") for n in (1, 4)}
    here = deployed(controlled, (("cpu", "4"),))
    assert [one.name for one in here.measured_targets] == ["pod@cpu4", "vm@cpu4", "control@cpu4"]


@given(sweeps, seeds, indices)
def test_a_trial_of_a_sweep_is_found_again_by_its_id(
    sweep: dict[str, Any], seed: int, index: int
) -> None:
    spec = spec_with(sweep)
    trials = block(spec, seed, index).trials
    assert len({trial.id for trial in trials}) == len(trials)
    assert all(len(trial.id) <= 63 for trial in trials)
    # Each search makes the whole block again: a dozen of a large one, from all over it.
    for trial in trials[:: len(trials) // 12 + 1]:
        assert trial_of(spec, seed, trial.id) == trial


@given(sweeps, seeds, st.integers(1, 500))
def test_the_second_block_of_a_pair_goes_backwards_through_the_first(
    sweep: dict[str, Any], seed: int, pair: int
) -> None:
    spec = spec_with(sweep)
    first, second = (block(spec, seed, index) for index in (2 * pair - 1, 2 * pair))
    assert [(trial.target, trial.cell) for trial in second.trials] == [
        (trial.target, trial.cell) for trial in reversed(first.trials)
    ]


def test_a_workload_without_an_axis_keeps_its_cells() -> None:
    spec = spec_with({"clients": [1, 64]})
    assert [cell.key for cell in cells(spec)] == [
        "q/connection=Shared",
        "q/connection=PerQuery",
        "orders/clients=1",
        "orders/clients=64",
        "telecom/clients=1",
        "telecom/clients=64",
    ]


@pytest.mark.parametrize("design", ["Full", "OneAtATime"])
def test_ids_of_a_large_sweep_do_not_meet(design: str) -> None:
    """Four hexadecimal digits, as without a sweep, would: 32 x 20 points are too many for them."""
    workloads = [{"name": f"t{n}", "tatp": {"subscribers": 1000}} for n in range(20)]
    spec = spec_with({"clients": list(range(1, 33)), "design": design}, *workloads)
    ids = [trial.id for trial in block(spec, 1, 1).trials]
    assert len(set(ids)) == len(ids) >= 2 * 20 * 32


def test_work_processes_are_an_axis_of_zachmann_alone() -> None:
    spec = spec_with({"workProcesses": [1, 3], "clients": [1, 8]}, MEMORY, TATP)
    assert points(spec, "memory") == [{"workProcesses": "1"}, {"workProcesses": "3"}]
    assert points(spec, "telecom") == [{"clients": "1"}, {"clients": "8"}]
    mine = spec_with({"clients": [1, 8]}, MINE)
    assert points(mine, "mine") == [{"clients": "1"}, {"clients": "8"}]
    alone = spec_with({"workProcesses": [1, 3], "cpu": [1, 4], "design": "OneAtATime"}, MEMORY)
    assert points(alone, "memory") == [
        {"workProcesses": processes, "cpu": cpu}
        for processes, cpu in (("2", "2"), ("1", "2"), ("3", "2"), ("2", "1"), ("2", "4"))
    ]
