"""Every row S1 to S40 of the published experiments, and how far it can be repeated. No I/O.

docs/experiments.md has the same rows with what the studies found and what was found here.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from dbbench.experiments import views
from dbbench.experiments.view import View


class State(StrEnum):
    WHOLE = "whole"
    PARTLY = "partly"
    NOT_YET = "not yet"


@dataclass(frozen=True)
class Experiment:
    """One row. `manifests` are names of files in manifests/experiments, without `.yaml`.

    `missing` says what cannot be repeated yet, and why; empty when all of it can.
    """

    number: int
    study: str
    title: str
    manifests: tuple[str, ...] = ()
    views: tuple[View, ...] = ()
    missing: str = ""

    @property
    def row(self) -> str:
        return f"S{self.number}"

    @property
    def state(self) -> State:
        if not self.manifests:
            return State.NOT_YET
        return State.PARTLY if self.missing else State.WHOLE


_M, _H, _V, _B = "Minhas", "Mühlbauer", "VMware", "Bögelsack"
_NO_COUNT = "system calls are counted by tracing the kernel, which no agent does"

EXPERIMENTS = (
    Experiment(1, _M, "warm TPC-H, a connection for each query", ("s01-warm",),
               views.warm("s01-warm")),
    Experiment(2, _M, "user and system time of each query", ("s01-warm",),
               views.warm_terms("s01-warm")),
    Experiment(3, _M, "number of system calls", missing=_NO_COUNT),
    Experiment(4, _M, "time of system calls, by type", missing=_NO_COUNT),
    Experiment(5, _M, "page faults, and their part in the slowdown", ("s01-warm",),
               (*views.warm_faults("s01-warm"), *views.warm_terms("s01-warm"))),
    Experiment(6, _M, "cost of one page fault", ("s01-warm",), views.fault_cost("s01-warm")),
    Experiment(7, _M, "one connection for all queries", ("s07-shared", "s07-shared-parallel"),
               views.connections("s07-shared", "s07-shared-parallel")),
    Experiment(8, _M, "where the time of one connection goes",
               ("s07-shared", "s07-shared-parallel"),
               views.connection_terms("s07-shared", "s07-shared-parallel")),
    Experiment(9, _M, "faults of the first and of later runs on one connection",
               ("s09-first-and-later", "s09-huge-pages"),
               views.first_and_later("s09-first-and-later", "s09-huge-pages")),
    Experiment(10, _M, "a sort program without I/O", ("s10-sort",), views.unit_costs("s10-sort")),
    Experiment(11, _M, "cold TPC-H", ("s11-cold",), views.cold("s11-cold")),
    Experiment(12, _M, "user time, system time and waiting for I/O, cold", ("s11-cold",),
               views.cold_terms("s11-cold")),
    Experiment(13, _M, "bytes needed, read by the guest, and read by the host",
               ("s13-magnification",), views.magnification("s13-magnification")),
    Experiment(14, _M, "read-ahead off", ("s14-read-ahead",),
               views.read_ahead("s14-read-ahead"),
               "a pod's read-ahead "
               "is the node's, and switched off on the node"),
    Experiment(15, _M, "what triggers prefetching: small programs that read", ("s15-reading",),
               views.unit_costs("s15-reading")),
    Experiment(16, _M, "what triggers prefetching: a table read at an offset",
               ("s15-reading", "s16-tables"),
               (*views.unit_costs("s15-reading"), *views.reading_tables("s16-tables"))),
    Experiment(17, _M, "what triggers prefetching: tables without index", ("s16-tables",),
               views.reading_tables("s16-tables")),
    Experiment(18, _M, "versions of hypervisor and kernel",
               ("s18-guest-kernels", "s29-hypervisors"),
               (*views.queries("s18-guest-kernels"),
                *views.throughput("orders", "s29-hypervisors"))),
    Experiment(19, _H, "TPC-H in memory", ("s19-in-memory",), views.queries("s19-in-memory"),
               "the operator does not run MonetDB"),
    Experiment(20, _H, "1, 2, 4 and 8 worker threads", ("s20-worker-threads",),
               views.worker_threads("s20-worker-threads"),
               "the operator does not run MonetDB"),
    Experiment(21, _H, "unit costs of single events", ("s21-unit-costs",),
               views.unit_costs("s21-unit-costs")),
    Experiment(22, _H, "memory writes and calls against threads", ("s22-threads",),
               views.unit_costs("s22-threads")),
    Experiment(23, _H, "where the database's files are",
               ("s23-filesystem", "s23-block", "s23-memory", "s23-volumes"),
               views.throughput("orders", "s23-filesystem", "s23-block", "s23-memory",
                                "s23-volumes")),
    Experiment(24, _H, "TPC-C with 5 warehouses", ("s24-order-entry",),
               views.order_entry("s24-order-entry"),
               "PostgreSQL stands in for HyPer, whose successor Hyper enforces no keys"),
    Experiment(25, _H, "TATP with a million subscribers", ("s25-telecom",),
               views.telecom("s25-telecom"),
               "PostgreSQL stands in for HyPer, whose successor Hyper enforces no keys"),
    Experiment(26, _H, "a cloud instance", ("s24-order-entry", "s25-telecom"),
               (*views.order_entry("s24-order-entry"), *views.telecom("s25-telecom")),
               "apply the files to nodes that are virtual machines themselves; figures are not "
               "normalised by unit costs"),
    Experiment(27, _V, "big order entry, driver on another node", ("s27-big-order-entry",),
               views.big_order_entry("s27-big-order-entry"),
               "IOPS, packets, interrupts and context switches of the node are not collected"),
    Experiment(28, _V, "2, 4 and 8 virtual CPUs", ("s28-scale-up",),
               views.scale_up("s28-scale-up")),
    Experiment(29, _V, "versions of the hypervisor", ("s29-hypervisors",),
               views.throughput("orders", "s29-hypervisors")),
    Experiment(30, _V, "hardware assistance", ("s30-hardware-assistance",),
               views.throughput("orders", "s30-hardware-assistance")),
    Experiment(31, _V, "storage paths", ("s31-storage-path",),
               views.throughput("orders", "s31-storage-path")),
    Experiment(32, _V, "network paths", ("s32-network-path",),
               views.throughput("telecom", "s32-network-path")),
    Experiment(33, _V, "spare CPUs for the hypervisor", ("s33-spare-cpus",),
               views.throughput("orders", "s33-spare-cpus")),
    Experiment(34, _V, "large pages", ("s34-small", "s34-guest", "s34-both"),
               views.throughput("orders", "s34-small", "s34-guest", "s34-both"),
               "large pages in the pod alone cannot be asked for"),
    Experiment(35, _B, "Zachmann, 1 to 12 work processes", ("s35-work-processes",),
               views.work_processes("s35-work-processes")),
    Experiment(36, _B, "three instances in parallel", ("s36-three-instances",),
               views.three_instances("s36-three-instances")),
    Experiment(37, _B, "virtual CPUs against work processes", ("s37-virtual-cpus",),
               views.processes_and_cpus("s37-virtual-cpus", 1, 2, 4)),
    Experiment(38, _B, "overcommitment from 75 % to 300 %", ("s38-overcommitment",),
               views.overcommitted("s38-overcommitment")),
    Experiment(39, _B, "runs that swap do not count", ("s35-work-processes",),
               views.work_processes("s35-work-processes")),
    Experiment(40, "all", "several databases side by side", ("s40-side-by-side",),
               views.side_by_side("s40-side-by-side"),
               "one database with three schemas is no target"),
)  # fmt: skip

_ROW = re.compile(r"[sS]?0*([1-9][0-9]*)")


def find(row: str) -> Experiment | None:
    """The row of that name, `S1`, `s01` or `1`; None when there is none."""
    found = _ROW.fullmatch(row)
    numbers = {experiment.number: experiment for experiment in EXPERIMENTS}
    return numbers.get(int(found[1])) if found else None
