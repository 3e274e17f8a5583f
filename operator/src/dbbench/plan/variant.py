"""Variants of a sweep: the spec as it is at a value of an axis that is no number. No I/O."""

from typing import Any

from dbbench.api.base import ApiModel
from dbbench.api.machine import MachineCPU, VirtualMachineTarget
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.target import Target
from dbbench.api.variant import Variant, VirtualMachineVariant
from dbbench.plan.sweep import Point


def varied(spec: DBBenchmarkSpec, point: Point) -> DBBenchmarkSpec:
    """The spec with what the point's variants say in place of its own; the sweep stays."""
    values = dict(point)
    for axis in (spec.sweep.variants or ()) if spec.sweep else ():
        if axis.name in values:
            known = {variant.name: variant for variant in axis.values}
            spec = _with(spec, known[values[axis.name]])
    return spec


def _with(spec: DBBenchmarkSpec, variant: Variant) -> DBBenchmarkSpec:
    storage = spec.database.storage.model_copy(update=_said(variant.storage))
    return spec.model_copy(
        update={
            "database": spec.database.model_copy(update={"storage": storage}),
            "resources": spec.resources.model_copy(update=_said(variant.resources)),
            "targets": [_target(target, variant.virtual_machine) for target in spec.targets],
        }
    )


def _target(target: Target, said: VirtualMachineVariant | None) -> Target:
    if target.virtual_machine is None or said is None:
        return target
    return target.model_copy(update={"virtual_machine": _machine(target.virtual_machine, said)})


def _machine(machine: VirtualMachineTarget, said: VirtualMachineVariant) -> VirtualMachineTarget:
    parts: dict[str, Any] = {
        "data_disk": machine.data_disk.model_copy(update=_said(said.data_disk))
    }
    if said.cpu is not None:
        parts["cpu"] = (machine.cpu or MachineCPU()).model_copy(update=_said(said.cpu))
    return machine.model_copy(update=_said(said) | parts)


def _said(variant: ApiModel | None) -> dict[str, Any]:
    """The fields that it does not leave out, whole."""
    if variant is None:
        return {}
    return {
        name: value
        for name in type(variant).model_fields
        if (value := getattr(variant, name)) is not None
    }
