"""Rules between workloads and the resources that all targets share. No I/O."""

from dbbench.api.base import rule

_TABLES = "quantity(w.zachmann.tableSize).asApproximateFloat()"
_MEMORY = "quantity(self.resources.memory).asApproximateFloat()"
_TOO_LARGE = (
    "zachmann: the tables of all work processes must together be smaller than "
    "spec.resources.memory; lower tableSize or the number of work processes, or raise memory"
)

WORKLOAD_RULES = (
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
)
