"""Cells are the points of the experiment, in the order of the spec."""

from typing import Any

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import Cell, block, cells

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
