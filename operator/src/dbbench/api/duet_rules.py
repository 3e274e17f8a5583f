"""Rules of `trials.mode: Duet`: two targets that can be measured at the same time. No I/O."""

from dbbench.api.base import rule


def _duet(expression: str, message: str, field_path: str) -> dict[str, str]:
    """Rule: what holds where two targets are measured at the same time."""
    return rule(f"self.trials.mode != 'Duet' || ({expression})", message, field_path=field_path)


DUET_RULES = (
    _duet(
        "self.targets.size() == 2 && !self.trials.control",
        "Duet measures the baseline and one other target at the same time: write two targets and "
        "no trials.control, or mode: Sequential",
        ".trials.mode",
    ),
    _duet(
        "self.targets.all(t, (has(t.pod) || has(t.virtualMachine)) && t.instances == 1) && "
        "(!has(self.sweep) || !has(self.sweep.instances))",
        "with trials.mode: Duet each target is a pod or a virtualMachine with one instance: others "
        "run on CPUs that are not known, or not theirs alone",
        ".targets",
    ),
    _duet(
        "self.resources.dedicatedCPUs && self.targets.all(t, !has(t.virtualMachine) || "
        "!has(t.virtualMachine.cpu) || !has(t.virtualMachine.cpu.dedicatedCpuPlacement) || "
        "t.virtualMachine.cpu.dedicatedCpuPlacement)",
        "Duet needs CPUs for each target that the other one stays away from: set "
        "spec.resources.dedicatedCPUs to true, and dedicatedCpuPlacement of no target to false",
        ".trials.mode",
    ),
    _duet(
        "!has(self.sweep) || !has(self.sweep.variants) || self.sweep.variants.all(axis, "
        "axis.values.all(v, !has(v.virtualMachine) || !has(v.virtualMachine.cpu) || "
        "!has(v.virtualMachine.cpu.dedicatedCpuPlacement) || "
        "v.virtualMachine.cpu.dedicatedCpuPlacement))",
        "with trials.mode: Duet, dedicatedCpuPlacement of no variant may be false: its CPUs would "
        "not be its own",
        ".sweep.variants",
    ),
    _duet(
        "self.workloads.all(w, has(w.tpcc) || has(w.tatp) || has(w.sql))",
        "with trials.mode: Duet, workloads are tpcc, tatp or sql, whose windows are equally long "
        "on both targets; the slower target would run the rest of the others alone",
        ".workloads",
    ),
    _duet(
        "!has(self.placement.driver.colocation) || self.placement.driver.colocation != 'SameGuest'",
        "with trials.mode: Duet, the drivers of both targets begin together in one pod, which "
        "SameGuest has not: write SameNode, or nodeSelector",
        ".placement.driver.colocation",
    ),
    _duet(
        "!self.confirm",
        "a cause is tested on one target at a time: remove confirm, or trials.mode: Duet",
        ".confirm",
    ),
)
