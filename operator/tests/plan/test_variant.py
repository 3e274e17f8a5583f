"""Variants of a sweep: what each makes of a spec, and what it leaves alone."""

from typing import Any, get_args

import pytest
from pydantic import BaseModel

from dbbench.api.machine import DataDisk, MachineCPU, VirtualMachineTarget
from dbbench.api.resources import Storage
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.variant import (
    DataDiskVariant,
    MachineCPUVariant,
    StorageVariant,
    VirtualMachineVariant,
)
from dbbench.plan import cells
from dbbench.plan.deployment import at_point, deployment_points
from dbbench.plan.intervention import interventions
from dbbench.plan.variant import varied

NODE = {"nodeSelector": {"kubernetes.io/hostname": "a"}}
MACHINE = {"runtime": "QEMU", "cpu": {"model": "host-passthrough"}, "dataDisk": {"bus": "scsi"}}


def spec(*values: dict[str, Any], **changes: Any) -> DBBenchmarkSpec:
    named = [{"name": f"v{number}", **value} for number, value in enumerate(values)]
    return DBBenchmarkSpec.model_validate(
        {
            "database": {
                "engine": "PostgreSQL",
                "image": "postgres:17",
                "storage": {"size": "20Gi", "storageClassName": "standard"},
            },
            "placement": {"database": NODE, "driver": NODE},
            "resources": {"cpu": 2, "memory": "4Gi"},
            "baseline": "pod",
            "targets": [
                {"name": "pod", "pod": {}},
                {"name": "vm", "virtualMachine": MACHINE},
                {"name": "other", "virtualMachine": {"runtime": "QEMU"}},
            ],
            "workloads": [{"name": "telecom", "tatp": {"subscribers": 1000}}],
            "sweep": {"variants": [{"name": "axis", "values": [{"name": "plain"}, *named]}]},
        }
        | changes
    )


def at_first(found: DBBenchmarkSpec) -> dict[str, Any]:
    return varied(found, (("axis", "v0"),)).document()


def change(*path: str | int, to: Any) -> dict[str, Any]:
    """The plain spec as a document, with one field otherwise."""
    document = spec({}).document()
    place: Any = document
    for part in path[:-1]:
        place = place[part] if isinstance(part, int) else place.setdefault(part, {})
    place[path[-1]] = to
    return document


def test_a_plain_variant_is_the_spec_itself() -> None:
    found = spec({})
    assert at_first(found) == found.document()


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        (
            {"storage": {"storageClassName": "fast"}},
            change("database", "storage", "storageClassName", to="fast"),
        ),
        (
            {"storage": {"volumeMode": "Block"}},
            change("database", "storage", "volumeMode", to="Block"),
        ),
        (
            {"resources": {"hugepages": {"pageSize": "2Mi", "size": "1Gi"}}},
            change("resources", "hugepages", to={"pageSize": "2Mi", "size": "1Gi"}),
        ),
    ],
)
def test_what_all_targets_share_changes_by_one_field(
    variant: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = at_first(spec(variant))
    assert {**found, "sweep": None} == {**expected, "sweep": None}


def test_every_virtual_machine_changes_and_keeps_what_the_variant_leaves_out() -> None:
    machine = {"cpu": {"cores": 2}, "network": "User", "dataDisk": {"cache": "none"}}
    found = spec({"virtualMachine": machine})
    here = varied(found, (("axis", "v0"),))
    assert here.target("pod") == found.target("pod")
    vm, other = (here.target(name).virtual_machine for name in ("vm", "other"))
    assert vm is not None
    assert other is not None
    assert (vm.data_disk.bus, vm.data_disk.cache) == ("scsi", "none")
    assert (other.data_disk.bus, other.data_disk.cache) == ("virtio", "none")
    assert vm.cpu == MachineCPU(model="host-passthrough", cores=2)
    assert other.cpu == MachineCPU(cores=2)
    assert {vm.network, other.network} == {"User"}
    assert here.database == found.database


def test_false_and_none_are_not_the_same() -> None:
    disk = {"dedicatedIOThread": True}
    targets = [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {"dataDisk": disk}}]
    off = {"virtualMachine": {"dataDisk": {"dedicatedIOThread": False}}}
    found = spec(off, {"virtualMachine": {}}, targets=targets)
    threads = [
        at_point(found, point).target("vm").virtual_machine.data_disk.dedicated_io_thread  # type: ignore[union-attr]
        for point in deployment_points(found)
    ]
    assert threads == [True, False, True]


def test_axes_change_what_each_of_them_says() -> None:
    axes = [
        {
            "name": "storage",
            "values": [{"name": "p"}, {"name": "a", "storage": {"storageClassName": "fast"}}],
        },
        {
            "name": "diskCache",
            "values": [
                {"name": "p"},
                {"name": "b", "virtualMachine": {"dataDisk": {"cache": "none"}}},
            ],
        },
    ]
    found = spec({}, sweep={"cpu": [4, 8], "variants": axes})
    *_, large = deployment_points(found)
    assert large == (("cpu", "8"), ("storage", "a"), ("diskCache", "b"))
    here = at_point(found, large)
    assert here.resources.cpu == 8
    assert here.database.storage.storage_class_name == "fast"
    machine = here.target("vm").virtual_machine
    assert machine is not None
    assert machine.data_disk.cache == "none"
    assert here.sweep is None


def test_a_cause_is_tested_only_where_a_variant_has_not_taken_it_away() -> None:
    found = spec({"virtualMachine": {"dataDisk": {"cache": "none", "readAhead": "0"}}})
    plain, first = cells(found)
    assert len(interventions(found, plain, "vm")) == 2
    assert interventions(found, first, "vm") == ()


ABSENT = {
    Storage: {"size"},
    VirtualMachineTarget: {"runtime", "root_disk_size", "container_disk"},
    MachineCPU: set(),
    DataDisk: set(),
}


@pytest.mark.parametrize(
    ("whole", "variant"),
    [
        (Storage, StorageVariant),
        (VirtualMachineTarget, VirtualMachineVariant),
        (MachineCPU, MachineCPUVariant),
        (DataDisk, DataDiskVariant),
    ],
)
def test_a_variant_has_every_field_of_what_it_varies_and_no_default(
    whole: type[BaseModel], variant: type[BaseModel]
) -> None:
    assert set(variant.model_fields) == set(whole.model_fields) - ABSENT[whole]
    for name, field in variant.model_fields.items():
        assert field.default is None
        assert (field.alias, name) == (whole.model_fields[name].alias, name)
        kinds = get_args(field.annotation)
        assert type(None) in kinds
        own = whole.model_fields[name].annotation
        # A union with a type that has constraints is a typing.Union, others are of `|`.
        wanted = (get_args(own) if type(None) in get_args(own) else None) or (own,)
        partial = {MachineCPU: MachineCPUVariant, DataDisk: DataDiskVariant}
        assert {partial.get(one, one) for one in wanted} <= set(kinds)
