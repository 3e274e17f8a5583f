"""Rules between a workload's cache states and what the targets keep data in. No I/O."""

from dbbench.api.base import rule

_NO_COLD = (
    "!self.workloads.exists(w, has(w.tpch) && has(w.tpch.cache) && "
    "w.tpch.cache.exists(c, c == 'Cold'))"
)

CACHE_RULES = (
    rule(
        "self.database.engine != 'Hyper' || !self.workloads.exists(w, has(w.tpch) && "
        "has(w.tpch.cache) && w.tpch.cache.exists(c, c == 'Warm')) || "
        "self.targets.all(t, !has(t.external))",
        "Hyper does not tell what it reads, so that Warm needs dbbench's agent beside the "
        "database, which targets external have not; remove Warm or these targets",
        field_path=".workloads",
    ),
    rule(
        f"{_NO_COLD} || self.targets.all(t, !has(t.external) && !has(t.cloudNativePG))",
        "Cold needs dbbench's agent beside the database, which restarts it and drops its caches: "
        "targets external and cloudNativePG have none; remove Cold or these targets",
        field_path=".workloads",
    ),
    rule(
        f"self.database.storage.medium == 'Disk' || {_NO_COLD}",
        "Cold needs spec.database.storage.medium: Disk; data in memory are never cold",
        field_path=".workloads",
    ),
    rule(
        f"{_NO_COLD} || self.targets.all(t, !has(t.virtualMachine) || "
        "t.virtualMachine.runtime == 'QEMU' || !has(t.virtualMachine.dataDisk.cache) || "
        "t.virtualMachine.dataDisk.cache == 'none')",
        "Cold with KubeVirt needs dataDisk.cache: none, or no dataDisk.cache: nothing of dbbench's "
        "is there to take the guest's disk out of the node's page cache",
        field_path=".targets",
    ),
)
