"""A sweep: named axes whose points multiply the cells. Types and rules only, no I/O."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from dbbench.api.base import ApiModel, rule, rules
from dbbench.api.variant import MOST_AXES, VariantAxis

MOST_TRIALS = 500
"""Trials of a block, at most: as many comparisons fit into status."""


class SweepDesign(StrEnum):
    FULL = "Full"
    ONE_AT_A_TIME = "OneAtATime"


def _axis(greatest: int, description: str) -> Any:  # noqa: ANN401 - what pydantic's Field is
    return Field(
        None,
        min_length=2,
        max_length=32,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description=f"{description} From 1 to {greatest}.",
    )


class Sweep(ApiModel):
    """Axes of the experiment. Every target is measured at every point, and compared there."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "has(self.clients) || has(self.workProcesses) || has(self.cpu) || "
                "has(self.instances) || has(self.variants)",
                "a sweep needs an axis: set clients, workProcesses, cpu, instances or variants",
            ),
        )
    )

    design: SweepDesign = Field(
        SweepDesign.FULL,
        description=(
            "Full: every combination of the axes' values. OneAtATime: the base point, which is "
            "what the rest of the spec says, with the first value of each of the variants, and "
            "from it each axis alone."
        ),
    )
    clients: list[Annotated[int, Field(ge=1, le=10000)]] | None = _axis(
        10000,
        "Concurrent clients of the workloads tpcc, tatp and sql, in place of their own `clients`.",
    )
    work_processes: list[Annotated[int, Field(ge=1, le=4096)]] | None = _axis(
        4096, "Processes of the workload zachmann, in place of its own `workProcesses`."
    )
    cpu: list[Annotated[int, Field(ge=1, le=512)]] | None = _axis(
        512,
        "CPUs of every target, in place of `resources.cpu`: at each value all targets are deployed "
        "anew, with volumes and data of their own.",
    )
    instances: list[Annotated[int, Field(ge=1, le=16)]] | None = _axis(
        16, "Databases side by side in every target, which is deployed anew at each value."
    )
    variants: list[VariantAxis] | None = Field(
        None,
        min_length=1,
        max_length=MOST_AXES,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        description=(
            "Axes of named values, each of which says a part of the spec otherwise: storage, huge "
            "pages, options of virtual machines. At each value all targets are deployed anew, with "
            "volumes and data of their own."
        ),
    )


_SERVED = "(has(w.tpcc) || has(w.tatp) || has(w.sql))"
# Values of an axis in one workload: none where it has no such parameter.
_SIZES = {
    "clients": f"has(self.sweep.clients) && {_SERVED} ? self.sweep.clients.size()",
    "workProcesses": "has(self.sweep.workProcesses) && has(w.zachmann) ? "
    "self.sweep.workProcesses.size()",
    "cpu": "has(self.sweep.cpu) ? self.sweep.cpu.size()",
    "instances": "has(self.sweep.instances) ? self.sweep.instances.size()",
    **{
        f"variants[{index}]": f"has(self.sweep.variants) && self.sweep.variants.size() > {index} ? "
        f"self.sweep.variants[{index}].values.size()"
        for index in range(MOST_AXES)
    },
}

_FULL = " * ".join(f"({size} : 1)" for size in _SIZES.values())
_ONE_AT_A_TIME = " + ".join(["1", *(f"({size} : 0)" for size in _SIZES.values())])
# A cold query has a connection of its own: Cold is one cell.
_CACHES_AND_CONNECTIONS = (
    "(!has(w.tpch) ? 1 : !has(w.tpch.cache) ? w.tpch.connection.size() : "
    "(w.tpch.cache.exists(c, c == 'Cold') ? 1 : 0) + "
    "(w.tpch.cache.exists(c, c == 'Warm') ? w.tpch.connection.size() : 0))"
)

SWEEP_RULES = (
    rule(
        f"!has(self.sweep) || !has(self.sweep.clients) || self.workloads.exists(w, {_SERVED})",
        "only tpcc, tatp and sql have clients, and there is none of them among the workloads; "
        "remove sweep.clients",
        field_path=".sweep.clients",
    ),
    rule(
        "!has(self.sweep) || !has(self.sweep.workProcesses) || "
        "self.workloads.exists(w, has(w.zachmann))",
        "only zachmann has work processes, and it is not among the workloads; remove "
        "sweep.workProcesses",
        field_path=".sweep.workProcesses",
    ),
    rule(
        "!has(self.sweep) || !has(self.sweep.cpu) || self.targets.all(t, "
        "!has(t.virtualMachine) || !has(t.virtualMachine.cpu) || "
        "(!has(t.virtualMachine.cpu.sockets) && !has(t.virtualMachine.cpu.cores) && "
        "!has(t.virtualMachine.cpu.threads)))",
        "a virtual machine with sockets, cores or threads has as many CPUs as they say; remove "
        "them from its cpu, or remove sweep.cpu",
        field_path=".sweep.cpu",
    ),
    rule(
        "!has(self.sweep) || (!has(self.sweep.cpu) && !has(self.sweep.instances) && "
        "!has(self.sweep.variants)) || self.targets.all(t, !has(t.external))",
        "cpu, instances and variants are swept by deploying every target anew, which an external "
        "one is not; remove these axes or the external targets",
        field_path=".sweep",
    ),
    rule(
        "!has(self.sweep) || !has(self.sweep.instances) || "
        "self.targets.all(t, !has(t.host) && (!has(t.instances) || t.instances == 1))",
        "sets the instances of every target: remove targets[].instances, and targets host: {}, "
        "whose instances would listen on the same ports of the node",
        field_path=".sweep.instances",
    ),
    rule(
        "(self.targets.size() + (self.trials.control ? 1 : 0)) * "
        f"self.workloads.map(w, {_CACHES_AND_CONNECTIONS} * (!has(self.sweep) ? 1 : "
        f"self.sweep.design == 'Full' ? {_FULL} : {_ONE_AT_A_TIME})).sum() <= {MOST_TRIALS}",
        f"more than {MOST_TRIALS} trials in each block (points x workloads x targets); make "
        "several benchmarks, or in a sweep give the axes fewer values or write design: OneAtATime",
        field_path=".workloads",
    ),
)
