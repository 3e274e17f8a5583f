"""Rules between workloads and the resources that all targets share. No I/O."""

from dbbench.api.base import rule

_TABLES = "quantity(w.zachmann.tableSize).asApproximateFloat()"
_MEMORY = "quantity(self.resources.memory).asApproximateFloat()"
_TOO_LARGE = (
    "zachmann: the tables of all work processes must together be smaller than "
    "spec.resources.memory; lower tableSize or the number of work processes, or raise memory"
)

_CPUS = "(has(self.sweep) && has(self.sweep.cpu) ? self.sweep.cpu : [self.resources.cpu])"

WORKLOAD_RULES = (
    rule(
        "self.database.engine != 'Hyper' || !self.workloads.exists(w, has(w.tpcc) || has(w.tatp))",
        "Hyper has no enforced keys and no row locks, which tpcc and tatp need; remove these "
        "workloads, or write another engine",
        field_path=".workloads",
    ),
    rule(
        "!has(self.placement.driver.colocation) || "
        "self.placement.driver.colocation != 'SameGuest' || "
        "!self.workloads.exists(w, has(w.sql))",
        "the driver inside a target reads no files, and the scripts of the workload sql are files; "
        "remove the workload, or give the driver a node",
        field_path=".placement.driver.colocation",
    ),
    rule(
        "!self.workloads.exists(w, has(w.zachmann)) || "
        "self.targets.all(t, !has(t.external) && !has(t.cloudNativePG))",
        "zachmann is run by dbbench's agent beside the database: targets external and "
        "cloudNativePG have none; remove the workload or these targets",
        field_path=".workloads",
    ),
    rule(
        "self.workloads.all(w, !has(w.zachmann) || "
        f"double(w.zachmann.workProcesses) * {_TABLES} < {_MEMORY})",
        _TOO_LARGE,
        field_path=".workloads",
    ),
    rule(
        "!has(self.sweep) || !has(self.sweep.workProcesses) || "
        "self.workloads.all(w, !has(w.zachmann) || self.sweep.workProcesses.all(n, "
        f"double(n) * {_TABLES} < {_MEMORY}))",
        _TOO_LARGE,
        field_path=".sweep.workProcesses",
    ),
    rule(
        "self.workloads.all(w, !has(w.micro) || !has(w.micro.threads) || "
        f"w.micro.threads.all(t, {_CPUS}.all(c, t <= c)))",
        "micro: each of the threads needs a CPU of its own; no number may exceed "
        "spec.resources.cpu, or the least value of spec.sweep.cpu",
        field_path=".workloads",
    ),
    rule(
        "self.workloads.all(w, !has(w.micro) || w.micro.sortSizes.all(n, "
        f"64.0 * double(n) < {_MEMORY}))",
        "micro: sorting takes 16 bytes for each of sortSizes and may take a quarter of "
        "spec.resources.memory; lower the sizes or raise memory",
        field_path=".workloads",
    ),
    rule(
        "!self.workloads.exists(w, has(w.micro)) || (!(has(self.sweep) && "
        "has(self.sweep.instances)) && self.targets.all(t, !has(t.instances) || "
        "t.instances == 1))",
        "micro measures one instance of a target; remove targets[].instances and "
        "sweep.instances, or the workload micro",
        field_path=".workloads",
    ),
)
