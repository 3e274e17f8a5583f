"""Which figures of a run stand beside which of a study, row by row. No I/O."""

from dbbench.experiments import measured, published
from dbbench.experiments.figure import Figure, Figures
from dbbench.experiments.view import View

_XEN = ("Linux", "Xen")
_CLOUD = ("", "cloud")
_WARM, _COLD = "minhas_warm_decomposition.csv", "minhas_cold_io.csv"
_NONE = "no printed figures are at hand"
_ANALYTICS, _ORDERS, _TELECOM, _MEMORY = "analytics", "orders", "telecom", "memory"
_COSTS = "costs"
_MEGABYTE = 1e6


def _warm_terms() -> Figures:
    return {
        "user time": Figure("seconds", difference=published.total(_WARM, "delta_user_s")),
        "system time": Figure("seconds", difference=published.total(_WARM, "delta_system_s")),
        "of that page faults": Figure("seconds", difference=published.total(_WARM, "predicted_s")),
    }


def _warm_query_terms() -> Figures:
    return {
        f"{row['query']} {kind} time": Figure("seconds", difference=float(row[f"delta_{kind}_s"]))
        for row in published.rows(_WARM)
        for kind in ("user", "system")
    }


def _warm_query_faults() -> Figures:
    return {
        row["query"]: Figure("count", float(row["base_faults"]), float(row["xen_faults"]))
        for row in published.rows(_WARM)
    }


def _warm_fault_times() -> Figures:
    return {
        f"{row['query']} page faults": Figure("seconds", difference=float(row["predicted_s"]))
        for row in published.rows(_WARM)
    }


def _cold_query_waits() -> Figures:
    found = {}
    for row in published.rows(_COLD):
        base, xen = (float(row[f"{side}_iowait_s"]) for side in ("base", "xen"))
        found[f"{row['query']} waiting for I/O"] = Figure("seconds", base, xen, xen - base)
    return found


def _cold_query_bytes() -> Figures:
    found: Figures = {}
    for row in published.rows(_COLD):
        needed, guest, host = (
            float(row[f"{level}_read_mb"]) * _MEGABYTE for level in ("base", "domu", "dom0")
        )
        for level, (base, xen) in {
            "database": (needed, needed),
            "target": (needed, guest),
            "host": (None, host),
        }.items():
            found[f"{row['query']} {measured.LEVELS[level]}"] = Figure("bytes", base, xen)
    return found


def _warm_faults() -> Figures:
    base, xen = (published.total(_WARM, f"{side}_faults") for side in ("base", "xen"))
    return {"page faults": Figure("count", base, xen)}


def _cold_terms() -> Figures:
    base, xen = (published.total(_COLD, f"{side}_iowait_s") for side in ("base", "xen"))
    return {"waiting for I/O": Figure("seconds", base, xen, xen - base)}


def _cold_bytes() -> Figures:
    needed, guest, host = (
        published.total(_COLD, f"{level}_read_mb", scale=_MEGABYTE)
        for level in ("base", "domu", "dom0")
    )
    levels = measured.LEVELS
    return {
        levels["database"]: Figure("bytes", needed, needed),
        levels["target"]: Figure("bytes", needed, guest),
        levels["host"]: Figure("bytes", None, host),
    }


def _scale_up() -> Figures:
    return {
        f"from cpu={row['from_cpus']} to cpu={row['to_cpus']}": Figure(
            "count", target=float(row["gain"])
        )
        for row in published.rows("vmware_table8.csv")
    }


def _of_one_process() -> Figures:
    found = published.table("boegelsack_table1", "native", "virtual")
    return {f"workProcesses={cell}": figure for cell, figure in found.items()}


def _process_gains() -> Figures:
    rows = published.rows("boegelsack_gains.csv")
    return {
        f"from workProcesses={row['from_processes']} to workProcesses={row['to_processes']}": (
            Figure("count", float(row["native"]), float(row["virtual"]))
        )
        for row in rows
    }


def _overcommitted() -> Figures:
    return {
        f"cpu={row['cpus']}": Figure("per_second", target=float(row["virtual"]))
        for row in published.rows("boegelsack_overcommitment.csv")
    }


def warm(manifest: str) -> tuple[View, ...]:
    """S1: the queries."""
    return (
        View(
            manifest, "Queries from memory", measured.queries(_ANALYTICS),
            "Table 1 of Minhas et al. 2008", _XEN,
            lambda: published.table("minhas_table1_warm", "base", "xen"),
        ),
        View(
            manifest, "All queries together", measured.aggregates(_ANALYTICS),
            "computed from Table 1 of Minhas et al. 2008", _XEN,
            lambda: published.aggregates("minhas_table1_warm", "base", "xen"),
        ),
    )  # fmt: skip


def warm_terms(manifest: str) -> tuple[View, ...]:
    """S2: where the time of one pass went."""
    return (
        View(
            manifest, "Where the time of a pass went", measured.terms(_ANALYTICS),
            "sums over the queries of the breakdown in Minhas' thesis, 2007; page faults at "
            "3.5 - 1.67 us each", _XEN, _warm_terms,
        ),
        View(
            manifest, "User and system time of each query",
            measured.query_terms(_ANALYTICS, "user", "system"),
            "the breakdown in Minhas' thesis, 2007", _XEN, _warm_query_terms,
        ),
    )  # fmt: skip


def warm_faults(manifest: str) -> tuple[View, ...]:
    """S5: how many page faults."""
    return (
        View(
            manifest, "Page faults of a pass", measured.page_faults(_ANALYTICS),
            "sums over the queries of Table 3 of Minhas et al. 2008, which prints ten; the others "
            "from the breakdown", _XEN, _warm_faults,
        ),
        View(
            manifest, "Page faults of each query", measured.query_faults(_ANALYTICS),
            "Table 3 of Minhas et al. 2008, which prints ten; the others from the breakdown", _XEN,
            _warm_query_faults,
        ),
        View(
            manifest, "What page faults add to each query",
            measured.query_terms(_ANALYTICS, "pageFaults"),
            "the faults at 3.5 - 1.67 us each", _XEN, _warm_fault_times,
        ),
    )  # fmt: skip


def fault_cost(manifest: str) -> tuple[View, ...]:
    """S6: what one page fault costs."""
    return (
        View(
            manifest, "Cost of one event", measured.unit_costs(_ANALYTICS),
            "section 5 of Minhas et al. 2008", _XEN,
            lambda: published.table("minhas_fault_cost", "base", "xen"),
        ),
    )  # fmt: skip


def connections(*manifests: str) -> tuple[View, ...]:
    """S7: the queries on one connection, beside a connection for each."""
    return tuple(
        view
        for manifest in manifests
        for view in (
            View(
                manifest, f"Queries on one connection ({manifest})",
                measured.queries(_ANALYTICS, "connection=Shared"), _NONE,
            ),
            View(
                manifest, f"Queries on a connection each ({manifest})",
                measured.queries(_ANALYTICS, "connection=PerQuery"),
                "Table 1 of Minhas et al. 2008", _XEN,
                lambda: published.table("minhas_table1_warm", "base", "xen"),
            ),
        )
    )  # fmt: skip


def connection_terms(*manifests: str) -> tuple[View, ...]:
    """S8: where their time went."""
    return tuple(
        View(
            manifest, f"{title}, connection {kind} ({manifest})",
            measure(_ANALYTICS, f"connection={kind}"), _NONE,
        )
        for manifest in manifests
        for kind in ("Shared", "PerQuery")
        for title, measure in (
            ("Where the time of a pass went", measured.terms),
            ("Page faults of a pass", measured.page_faults),
        )
    )  # fmt: skip


def first_and_later(*manifests: str) -> tuple[View, ...]:
    """S9: page faults of the first pass on a connection, and of one that follows others."""
    return tuple(
        View(
            manifest, f"Page faults of the {name} pass ({manifest})", measured.page_faults(name),
            _NONE,
        )
        for manifest in manifests
        for name in ("first", "later")
    )  # fmt: skip


def cold(manifest: str) -> tuple[View, ...]:
    """S11: the queries."""
    return (
        View(
            manifest, "Queries from disk", measured.queries(_ANALYTICS),
            "Table 5 of Minhas et al. 2008", _XEN,
            lambda: published.table("minhas_table5_cold", "base", "xen"),
        ),
        View(
            manifest, "All queries together", measured.aggregates(_ANALYTICS),
            "computed from Table 5 of Minhas et al. 2008", _XEN,
            lambda: published.aggregates("minhas_table5_cold", "base", "xen"),
        ),
    )  # fmt: skip


def cold_terms(manifest: str) -> tuple[View, ...]:
    """S12: where the time of one pass went."""
    return (
        View(
            manifest, "Where the time of a pass went", measured.terms(_ANALYTICS),
            "sums over the queries of Table 6 of Minhas et al. 2008", _XEN, _cold_terms,
        ),
        View(
            manifest, "User time, system time and waiting for I/O of each query",
            measured.query_terms(_ANALYTICS, "user", "system", "ioWait"),
            "Table 6 of Minhas et al. 2008, which prints the waiting", _XEN, _cold_query_waits,
        ),
    )  # fmt: skip


def magnification(manifest: str) -> tuple[View, ...]:
    """S13: bytes read at each level."""
    return (
        View(
            manifest, "Bytes read in a pass", measured.bytes_read(_ANALYTICS),
            "sums over the queries of Table 6 of Minhas et al. 2008", _XEN, _cold_bytes,
        ),
        View(
            manifest, "Bytes read by each query", measured.query_bytes(_ANALYTICS),
            "Table 6 of Minhas et al. 2008", _XEN, _cold_query_bytes,
        ),
    )  # fmt: skip


def read_ahead(manifest: str) -> tuple[View, ...]:
    """S14: the queries from disk, and the bytes that they made each level read."""
    return (
        View(manifest, "Queries from disk", measured.queries(_ANALYTICS), _NONE),
        View(manifest, "All queries together", measured.aggregates(_ANALYTICS), _NONE),
        View(manifest, "Bytes read in a pass", measured.bytes_read(_ANALYTICS), _NONE),
        View(manifest, "Bytes read by each query", measured.query_bytes(_ANALYTICS), _NONE),
    )


def queries(manifest: str) -> tuple[View, ...]:
    """S18, S19: the queries, of studies that print none."""
    return (View(manifest, "Queries", measured.queries(_ANALYTICS), _NONE),)


def worker_threads(manifest: str) -> tuple[View, ...]:
    """S20: the queries with more and more CPUs."""
    return (
        View(manifest, "A pass of the queries", measured.points(_ANALYTICS, "cpu"), _NONE),
        View(manifest, "Speed-up from point to point", measured.gains(_ANALYTICS, "cpu"), _NONE),
    )


def scale_up(manifest: str) -> tuple[View, ...]:
    """S28: order entry with more and more virtual CPUs."""
    return (
        View(manifest, "Order entry", measured.points(_ORDERS, "cpu"), _NONE),
        View(
            manifest, "Speed-up from point to point", measured.gains(_ORDERS, "cpu"),
            "Table 8 of VMware's study, 2009: of the virtual machine alone", ("native", "ESX"),
            _scale_up,
        ),
    )  # fmt: skip


def unit_costs(manifest: str) -> tuple[View, ...]:
    """S10, S15, S16, S21, S22: what single events cost."""
    return (View(manifest, "Cost of one event", measured.costs(_COSTS), _NONE),)


def reading_tables(manifest: str) -> tuple[View, ...]:
    """S16, S17: how fast a table without index is read, and what each level reads for it."""
    return tuple(
        View(manifest, f"{title}, {way}", measure, _NONE)
        for workload, way in (
            ("whole", "from its beginning"),
            ("offset", "from its middle"),
            ("pages", "page by page at random"),
        )
        for title, measure in (
            ("A table read", measured.whole(workload, "throughput")),
            ("Bytes of a read", measured.bytes_read(workload)),
        )
    )


def order_entry(manifest: str) -> tuple[View, ...]:
    """S24: TPC-C."""
    return (
        View(
            manifest, "TPC-C, 5 warehouses", measured.whole(_ORDERS, "TPC-C"),
            "Table 2 of Muehlbauer et al. 2015: HyPer, one thread, without a baseline", _CLOUD,
            lambda: published.table("muehlbauer_table2", "bare", "cloud", cells=("TPC-C",)),
        ),
        View(manifest, "Latency", measured.latencies(_ORDERS), "the study has no latencies"),
    )  # fmt: skip


def telecom(manifest: str) -> tuple[View, ...]:
    """S25: TATP."""
    return (
        View(
            manifest, "TATP, a million subscribers", measured.whole(_TELECOM, "TATP"),
            "Table 2 of Muehlbauer et al. 2015: HyPer, one thread, without a baseline", _CLOUD,
            lambda: published.table("muehlbauer_table2", "bare", "cloud", cells=("TATP",)),
        ),
        View(manifest, "Latency", measured.latencies(_TELECOM), "the study has no latencies"),
    )  # fmt: skip


def big_order_entry(manifest: str) -> tuple[View, ...]:
    """S27: TPC-C on a large machine."""
    return (
        View(
            manifest, "Order entry", measured.whole(_ORDERS, "order entry"),
            "Table 1 of VMware's study, 2009: business transactions, rounded to thousands",
            ("native", "ESX"), lambda: published.table("vmware_table1", "native", "vm"),
        ),
    )  # fmt: skip


def throughput(workload: str, *manifests: str) -> tuple[View, ...]:
    """Throughput of a workload in several benchmarks, for studies that print none."""
    return tuple(
        View(manifest, f"Throughput ({manifest})", measured.whole(workload, "throughput"), _NONE)
        for manifest in manifests
    )


def side_by_side(manifest: str) -> tuple[View, ...]:
    """S40: the sum of the instances, and how fairly it was divided."""
    return (
        *throughput(_ORDERS, manifest),
        View(manifest, "Fairness", measured.instances(_ORDERS), "there is no published figure"),
    )


def work_processes(manifest: str) -> tuple[View, ...]:
    """S35, S39: reads of memory with more and more work processes."""
    return (
        View(
            manifest, "Records read by one work process", measured.per_process(_MEMORY),
            "Table 1 of Boegelsack et al. 2010, whose program is another one; slowdowns are "
            "computed from its rates", _XEN, _of_one_process,
        ),
        View(
            manifest, "Gain from point to point", measured.gains(_MEMORY, "workProcesses"),
            "section 3.1.1 of Boegelsack et al. 2010", _XEN, _process_gains,
        ),
    )  # fmt: skip


def three_instances(manifest: str) -> tuple[View, ...]:
    """S36: the same on three instances at once."""
    return (
        View(
            manifest, "Records read by all instances",
            measured.points(_MEMORY, "workProcesses"), _NONE,
        ),
        View(
            manifest, "Fairness between instances", measured.instances(_MEMORY),
            "the study has no index",
        ),
    )  # fmt: skip


def processes_and_cpus(manifest: str, *cpus: int) -> tuple[View, ...]:
    """S37: work processes at each number of virtual CPUs."""
    return tuple(
        view
        for count in cpus
        for view in (
            View(
                manifest, f"Records read by all work processes, cpu={count}",
                measured.points(_MEMORY, "workProcesses", f"cpu={count}"), _NONE,
            ),
            View(
                manifest, f"Gain from point to point, cpu={count}",
                measured.gains(_MEMORY, "workProcesses", f"cpu={count}"), _NONE,
            ),
        )
    )  # fmt: skip


def overcommitted(manifest: str) -> tuple[View, ...]:
    """S38: three instances whose virtual CPUs are more than the node's."""
    return (
        View(
            manifest, "Records read by all instances", measured.points(_MEMORY, "cpu"),
            "section 3.2.2 of Boegelsack et al. 2010, on 4 CPUs; its program is another one",
            ("", "Xen"), _overcommitted,
        ),
        View(
            manifest, "Fairness between instances", measured.instances(_MEMORY),
            "the study has no index",
        ),
    )  # fmt: skip
