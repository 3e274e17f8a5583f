"""Cells are the points of the experiment, in the order of the spec."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.workload import CacheState, Connection
from dbbench.plan import Cell, block, cache_state, cells

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}


def spec_with(*workloads: dict[str, Any]) -> DBBenchmarkSpec:
    return DBBenchmarkSpec.model_validate(
        {
            "database": {"engine": "PostgreSQL", "image": "postgres:17"},
            "placement": {"database": NODE, "driver": NODE},
            "baseline": "pod",
            "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
            "workloads": list(workloads),
        }
    )


def test_a_workload_without_axes_is_one_cell_without_a_name() -> None:
    spec = spec_with({"name": "orders", "tpcc": {"warehouses": 1}})
    (cell,) = cells(spec)
    assert cell == Cell("orders")
    assert (cell.name, cell.key) == ("", "orders")


def test_each_kind_of_connection_is_a_cell_of_its_own() -> None:
    spec = spec_with(
        {"name": "q", "tpch": {"scaleFactor": "1", "connection": ["PerQuery", "Shared"]}},
        {"name": "t", "tatp": {"subscribers": 10}},
    )
    assert [cell.key for cell in cells(spec)] == [
        "q/connection=PerQuery",
        "q/connection=Shared",
        "t",
    ]


def test_one_kind_of_connection_is_a_parameter_not_an_axis() -> None:
    spec = spec_with({"name": "q", "tpch": {"scaleFactor": "1", "connection": ["PerQuery"]}})
    (cell,) = cells(spec)
    assert cell.point == ()
    assert cell.value("connection", "PerQuery") == "PerQuery"


def test_cold_is_one_cell_whatever_the_connections() -> None:
    spec = spec_with(
        {
            "name": "q",
            "tpch": {
                "scaleFactor": "1",
                "cache": ["Warm", "Cold"],
                "connection": ["Shared", "PerQuery"],
            },
        }
    )
    assert [cell.key for cell in cells(spec)] == [
        "q/cache=Warm,connection=Shared",
        "q/cache=Warm,connection=PerQuery",
        "q/cache=Cold",
    ]


def test_one_cache_state_is_a_parameter_not_an_axis() -> None:
    both = ["Shared", "PerQuery"]
    spec = spec_with(
        {"name": "c", "tpch": {"scaleFactor": "1", "cache": ["Cold"], "connection": both}},
        {"name": "w", "tpch": {"scaleFactor": "1", "cache": ["Warm"], "connection": both}},
    )
    assert [cell.key for cell in cells(spec)] == [
        "c",
        "w/connection=Shared",
        "w/connection=PerQuery",
    ]
    states = [cache_state(spec.workload(cell.workload), cell) for cell in cells(spec)]
    assert states == [CacheState.COLD, CacheState.WARM, CacheState.WARM]


@given(
    caches=st.none() | st.lists(st.sampled_from(CacheState), min_size=1, unique=True),
    connections=st.lists(st.sampled_from(Connection), min_size=1, unique=True),
)
def test_every_combination_of_axes_has_cells_of_its_own(
    caches: list[CacheState] | None, connections: list[Connection]
) -> None:
    options = {"cache": caches, "connection": connections}
    spec = spec_with({"name": "q", "tpch": {"scaleFactor": "1", **options}})
    found = cells(spec)
    assert len({cell.key for cell in found}) == len(found)
    states = [cache_state(spec.workload(cell.workload), cell) for cell in found]
    for state in caches or [None]:
        expected = 1 if state is CacheState.COLD else len(connections)
        assert states.count(state) == expected
    trials = block(spec, 1, 1).trials
    assert len({trial.id for trial in trials}) == len(trials) == 2 * len(found)


def test_every_cell_has_the_cache_state_of_its_point_and_none_without_one() -> None:
    spec = spec_with(
        {"name": "q", "tpch": {"scaleFactor": "1", "cache": ["Cold", "Warm"]}},
        {"name": "plain", "tpch": {"scaleFactor": "1"}},
        {"name": "t", "tatp": {"subscribers": 10}},
    )
    states = [cache_state(spec.workload(cell.workload), cell) for cell in cells(spec)]
    assert states == [CacheState.COLD, CacheState.WARM, None, None]


def test_a_cell_knows_its_value_on_an_axis() -> None:
    cell = Cell("q", (("connection", "PerQuery"),))
    assert cell.value("connection", "Shared") == "PerQuery"
    assert cell.value("cache", "Warm") == "Warm"


def test_cells_of_one_workload_have_trials_with_ids_of_their_own() -> None:
    spec = spec_with(
        {"name": "q", "tpch": {"scaleFactor": "1", "connection": ["PerQuery", "Shared"]}}
    )
    ids = [trial.id for trial in block(spec, 1, 1).trials]
    assert len(set(ids)) == len(ids) == 4
