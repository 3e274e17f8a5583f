"""Which single changes a benchmark allows, and what they change."""

from typing import Any

import pytest

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Intervention
from dbbench.plan import arranged, block, cells, trial_of
from dbbench.plan.deployment import at_point, confirming_points, deployed, deployment_points
from dbbench.plan.duration import Assumptions, expected, expected_of_tests
from dbbench.plan.intervention import confirming, confirming_places, interventions

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
SHARED = Intervention.SHARED_CONNECTION
UNCACHED = Intervention.DATA_DISK_CACHE_NONE
NOT_AHEAD = Intervention.DATA_DISK_READ_AHEAD_ZERO
TPCH = {"scaleFactor": "1"}


def spec(machine: dict[str, Any] | None = None, **changes: Any) -> DBBenchmarkSpec:
    vm = {"name": "vm", "virtualMachine": {"runtime": "QEMU"} | (machine or {})}
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, vm, {"name": "other", "pod": {}}],
            "workloads": [{"name": "q", "tpch": TPCH}],
            "confirm": True,
        }
        | changes
    )


def of(found: DBBenchmarkSpec, target: str = "vm") -> list[tuple[Intervention, ...]]:
    return [interventions(found, cell, target) for cell in cells(found)]


@pytest.mark.parametrize(
    ("machine", "possible"),
    [
        ({}, (UNCACHED, NOT_AHEAD)),
        ({"dataDisk": {"cache": "writethrough"}}, (UNCACHED, NOT_AHEAD)),
        ({"dataDisk": {"cache": "none"}}, (NOT_AHEAD,)),
        ({"dataDisk": {"readAhead": "128Ki"}}, (UNCACHED, NOT_AHEAD)),
        ({"dataDisk": {"cache": "none", "readAhead": "0"}}, ()),
        # KubeVirt's own choice is none already, as far as is known before the start.
        ({"runtime": "KubeVirt"}, (NOT_AHEAD,)),
        ({"runtime": "Auto"}, (NOT_AHEAD,)),
        ({"runtime": "KubeVirt", "dataDisk": {"cache": "writeback"}}, (UNCACHED, NOT_AHEAD)),
    ],
)
def test_a_disk_is_changed_where_it_is_otherwise(
    machine: dict[str, Any], possible: tuple[Intervention, ...]
) -> None:
    assert of(spec(machine)) == [possible]


def test_pods_data_in_memory_and_external_baselines_have_no_disk_to_change() -> None:
    assert of(spec(), "other") == [()]
    memory = {"engine": "PostgreSQL", "image": "postgres:17", "storage": {"medium": "Memory"}}
    assert of(spec(database=memory)) == [()]
    external = {"name": "pod", "external": {"connection": {"secretRef": {"name": "s"}}}}
    vm = {"name": "vm", "virtualMachine": {"runtime": "QEMU"}}
    assert of(spec(targets=[external, vm])) == [()]
    assert of(spec(workloads=[{"name": "costs", "micro": {}}])) == [()]


def test_a_connection_is_shared_where_each_query_has_its_own_and_none_is_cold() -> None:
    tpch = TPCH | {"connection": ["Shared", "PerQuery"], "cache": ["Warm", "Cold"]}
    found = spec(workloads=[{"name": "q", "tpch": tpch}, {"name": "t", "tatp": {"subscribers": 9}}])
    assert {cell.key: interventions(found, cell, "other") for cell in cells(found)} == {
        "q/cache=Warm,connection=Shared": (),
        "q/cache=Warm,connection=PerQuery": (SHARED,),
        "q/cache=Cold": (),
        "t": (),
    }
    alone = spec(workloads=[{"name": "q", "tpch": TPCH | {"connection": ["PerQuery"]}}])
    assert of(alone, "other") == [(SHARED,)]


def test_a_point_changes_one_thing_in_every_target_that_has_it() -> None:
    found = spec(sweep={"cpu": [1, 2]})
    (_, point) = [one for one in confirming_points(found) if "DataDiskCacheNone" in str(one)]
    here = at_point(found, point)
    assert here.resources.cpu == 2
    plain = at_point(found, deployment_points(found)[1])
    disk = here.target("vm").virtual_machine.data_disk
    assert disk.cache == "none"
    assert disk.model_copy(update={"cache": None}) == plain.target("vm").virtual_machine.data_disk
    assert here.target("pod") == plain.target("pod")
    assert [target.name for target in deployed(found, point).targets] == [
        f"{name}@cpu2-confirmDataDiskCacheNone" for name in ("pod", "vm", "other")
    ]


def test_one_connection_needs_no_deployment_of_its_own() -> None:
    tpch = TPCH | {"connection": ["PerQuery"]}
    found = spec(
        targets=[{"name": "pod", "pod": {}}, {"name": "other", "pod": {}}],
        workloads=[{"name": "q", "tpch": tpch}],
    )
    assert confirming_points(found) == ()
    places = confirming_places(found)
    assert places == {confirming(cells(found)[0], SHARED): ["pod", "other"]}


def test_without_confirm_there_is_nothing_but_the_cells_of_the_spec() -> None:
    found = spec(confirm=False)
    assert confirming_places(found) == {}
    assert confirming_points(found) == ()
    assert expected_of_tests(found, Assumptions()) is None


def test_trials_of_tests_are_found_by_their_ids_and_have_ids_of_their_own() -> None:
    found = spec()
    tests = arranged(confirming_places(found), 7, 4).trials
    ids = {trial.id for trial in (*tests, *block(found, 7, 4).trials)}
    assert len(ids) == 4 + 3
    for trial in tests:
        assert trial_of(found, 7, trial.id) == trial
    with pytest.raises(KeyError):
        trial_of(spec(confirm=False), 7, tests[0].id)


def test_tests_take_as_long_as_their_trials_with_disks_and_loads_where_they_deploy_anew() -> None:
    vm = {"name": "vm", "virtualMachine": {"runtime": "QEMU", "dataDisk": {"cache": "none"}}}
    tpch = TPCH | {"connection": ["PerQuery"]}
    found = spec(targets=[{"name": "pod", "pod": {}}, vm], workloads=[{"name": "q", "tpch": tpch}])
    run, tests = expected(found, Assumptions()), expected_of_tests(found, Assumptions())
    assert tests is not None
    # One connection on what is there, and read-ahead on deployments anew: twice the block.
    assert (tests.cells, tests.targets, tests.deployments) == (2, 2, 4)
    assert tests.trials_per_block == 2 * run.trials_per_block
    assert tests.preparation == run.preparation
    assert tests.block == 2 * run.block
