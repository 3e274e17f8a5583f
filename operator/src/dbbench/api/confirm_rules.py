"""Rules of `confirm`: that there can be something to test. No I/O."""

from dbbench.api.base import rule

CONFIRM_RULES = (
    rule(
        "!self.confirm || self.trials.min >= 2",
        "needs spec.trials.min of 2 or more: one block gives no interval, and so no slowdown whose "
        "cause could be tested",
        field_path=".confirm",
    ),
    rule(
        "!self.confirm || self.workloads.exists(w, has(w.tpch) && "
        "w.tpch.connection.exists(c, c == 'PerQuery')) || "
        "(self.database.storage.medium == 'Disk' && "
        "self.targets.exists(t, has(t.virtualMachine)))",
        "changes a connection for each query or the data disk of a virtual machine, and there is "
        "neither: add a workload tpch with connection: [PerQuery] or a target virtualMachine with "
        "spec.database.storage.medium: Disk, or remove confirm",
        field_path=".confirm",
    ),
)
