"""How long a run will take, from its spec and stated assumptions. No I/O.

time = sum over deployments (disk + loads) + blocks x sum over deployments (start + stop + sum over
cells (job + trial)); with `trials.redeploy` each block has its share of disks and loads; with
`confirm`, tests of causes add the same for their own cells; in a duet a trial is that of both
targets. A trial of TPC-H is its passes, with a
restart before each cold query; of TPC-C, TATP, sql and zachmann it is warm-up and measured window.
Once a run has begun, `status.progress` estimates from its own pace instead.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from dbbench.api.quantities import duration
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.target import Target
from dbbench.api.workload import CacheState, Workload
from dbbench.plan.cells import Cell, cache_state, cells
from dbbench.plan.deployment import (
    deployed,
    deployed_name,
    deployment_point,
    deployment_points,
)
from dbbench.plan.intervention import confirming_places
from dbbench.plan.sweep import Point


@dataclass(frozen=True)
class Assumptions:
    """What the spec does not say, in seconds; for hardware virtualization, not for emulation.

    `job`: start and end of the driver's pod. `start`, `guest_start`: until a pod's or a guest's
    database answers. `stop`: until its pod is gone. `disk`: making a guest's root disk. `query`:
    one TPC-H query at scale factor 1; `restart`: the database's, before each cold query.
    `tpch_load`: loading scale factor 1. `tpcc_load`: one warehouse. `tatp_load`: 100,000
    subscribers. `sql_setup`: the setup script of sql, whatever it does. `figures`: how many figures
    one of micro's probes has, a number and not seconds.
    """

    job: float = 8
    start: float = 15
    guest_start: float = 45
    stop: float = 10
    disk: float = 60
    query: float = 1
    restart: float = 4
    tpch_load: float = 120
    tpcc_load: float = 10
    tatp_load: float = 15
    sql_setup: float = 30
    figures: float = 4

    def changed(self, values: Mapping[str, float]) -> "Assumptions":
        """With other values, as measured; ValueError for a name or a value that is none."""
        known = [field.name for field in fields(self)]
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"{name!r} is no assumption; write one of {', '.join(known)}")
            if not 0 <= value < float("inf"):
                raise ValueError(f"{name} is {value}; write seconds, 0 or more")
        return replace(self, **values)


@dataclass(frozen=True)
class Expected:
    """Counts and seconds. `preparation` happens once, `block` for each block.

    `deployments`: those that a block is measured on.
    """

    targets: int
    deployments: int
    cells: int
    trials_per_block: int
    preparation: float
    block: float

    def seconds(self, blocks: int) -> float:
        """The whole run, with so many blocks and nothing that has to be repeated."""
        return self.preparation + blocks * self.block


def expected(spec: DBBenchmarkSpec, assumed: Assumptions) -> Expected:
    """From the spec alone."""
    targets = [target.name for target in spec.measured_targets]
    return _expected(spec, dict.fromkeys(cells(spec), targets), assumed)


def expected_of_tests(spec: DBBenchmarkSpec, assumed: Assumptions) -> Expected | None:
    """At most, with `confirm`: as if every cause that can be tested were named. None without."""
    possible = confirming_places(spec)
    if not possible:
        return None
    return _expected(spec, possible, assumed, ready=deployment_points(spec))


def _expected(
    spec: DBBenchmarkSpec,
    places: Mapping[Cell, Sequence[str]],
    assumed: Assumptions,
    ready: Collection[Point] = (),
) -> Expected:
    """Of these cells, each on its targets. At points that are `ready` nothing is prepared."""
    preparation = block = 0.0
    deployments: set[str] = set()
    for point in dict.fromkeys(deployment_point(cell) for cell in places):
        here = deployed(spec, point)
        own = [cell for cell in places if deployment_point(cell) == point]
        for name in dict.fromkeys(name for cell in own for name in places[cell]):
            target = here.target(deployed_name(name, point))
            turn = [(spec.workload(cell.workload), cell) for cell in own if name in places[cell]]
            loaded = {workload.name: workload for workload, _ in turn}
            loads = sum(load_seconds(workload, assumed) for workload in loaded.values())
            disk = assumed.disk if target.boots_image else 0
            once, again = (disk + loads, 0.0) if here.keeps_data(target) else (disk, loads)
            if spec.trials.redeploy:
                once, again = 0.0, (disk + loads) / spec.trials.blocks_per_deployment
            if point not in ready:
                preparation += once
            block += _cycle_seconds(target, assumed) + again
            if not spec.duet or name == spec.baseline:
                block += sum(assumed.job + trial_seconds(*trial, assumed) for trial in turn)
            deployments.add(target.name)
    return Expected(
        targets=len({name for names in places.values() for name in names}),
        deployments=len(deployments),
        cells=len(places),
        trials_per_block=sum(len(names) for names in places.values()),
        preparation=preparation,
        block=block,
    )


def trial_seconds(workload: Workload, cell: Cell, assumed: Assumptions) -> float:
    """What the driver does in one trial."""
    if workload.tpch:
        queries = len(workload.tpch.queries or range(22))
        if cache_state(workload, cell) is CacheState.COLD:
            each = assumed.restart + assumed.query * float(workload.tpch.scale_factor)
            return workload.tpch.runs * queries * each
        passes = workload.tpch.warmup_runs + workload.tpch.runs
        return passes * queries * assumed.query * float(workload.tpch.scale_factor)
    if workload.micro:
        return len(workload.micro.probes) * assumed.figures * 1.2 * duration(workload.micro.time)
    timed = workload.timed
    return duration(timed.warmup) + duration(timed.duration) if timed else 0


def load_seconds(workload: Workload, assumed: Assumptions) -> float:
    """Loading the workload's data into one target; 0 where it has none."""
    if not workload.has_data:
        return 0
    seconds = assumed.job
    if workload.tpch:
        seconds += assumed.tpch_load * float(workload.tpch.scale_factor)
    if workload.tpcc:
        seconds += assumed.tpcc_load * workload.tpcc.warehouses
    if workload.tatp:
        seconds += assumed.tatp_load * workload.tatp.subscribers / 100_000
    if workload.sql:
        seconds += assumed.sql_setup
    return seconds


def _cycle_seconds(target: Target, assumed: Assumptions) -> float:
    """Start and stop of a deployment; an external database runs all the time."""
    if not target.deployed:
        return 0
    return (assumed.guest_start if target.virtual_machine else assumed.start) + assumed.stop
