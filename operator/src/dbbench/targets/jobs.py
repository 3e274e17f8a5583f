"""The Jobs of the driver: loading and trials. No I/O.

A Job has one pod, with a driver for each instance of the target. Those of a trial begin each window
of transactions together, by a barrier that nothing outside their pod reaches; the first one leads.
A duet is one Job too, with a driver for each of its targets.
"""

from dbbench.api.quantities import duration, quantity
from dbbench.api.resources import Resources
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.sql import Script, SqlWorkload
from dbbench.api.target import Target
from dbbench.api.workload import (
    CacheState,
    Connection,
    MicroWorkload,
    Probe,
    TatpWorkload,
    TpccWorkload,
    TpchWorkload,
    Workload,
    ZachmannWorkload,
)
from dbbench.engines.engine import PASSWORD_FILE, SECRET
from dbbench.plan import Cell, Trial, cache_state, plan_seed
from dbbench.plan.cells import connection
from dbbench.plan.sweep import CLIENTS, WORK_PROCESSES
from dbbench.targets import external, names, placement, scripts, security, volumes
from dbbench.targets.context import Context, Manifest
from dbbench.targets.service import AGENT_PORT, HOST_AGENT_PORT, has_host_agent
from dbbench.targets.single_run import job

DRIVER = "driver"
_BARRIER = "127.0.0.1:9592"

_CONNECTION = {Connection.SHARED: "shared", Connection.PER_QUERY: "per-query"}
_CACHE = {CacheState.WARM: "warm", CacheState.COLD: "cold"}
_PROBES = {
    Probe.CLOCK: "clock",
    Probe.SYSTEM_CALL: "system-call",
    Probe.PAGE_FAULT: "page-fault",
    Probe.TLB_MISS: "tlb-miss",
    Probe.CONTEXT_SWITCH: "context-switch",
    Probe.FSYNC: "fsync",
    Probe.MEMORY: "memory",
    Probe.SORT: "sort",
    Probe.READ: "read",
}
_DISTRIBUTION = {"NonUniform": "non-uniform", "Uniform": "uniform"}


def load_job(ctx: Context, target: Target, workload: Workload, attempt: int) -> Manifest:
    """Loads one workload's data into one target, from the same seed for all targets."""
    benchmark, spec = ctx.benchmark, ctx.spec
    labels = names.labels(
        benchmark,
        names.Component.DRIVER,
        target=target.name,
        workload=workload.name,
        attempt=attempt,
        job=names.JobKind.LOAD,
    )
    seed = plan_seed(spec, benchmark.metadata.uid)
    kind, options = load_arguments(workload)
    return job(
        ctx,
        names.load_job_name(benchmark, target.name, workload.name, attempt),
        labels,
        _limit(ctx, spec.timeouts.load),
        _pod(
            ctx,
            target,
            workload,
            [
                [
                    kind,
                    "load",
                    *options,
                    *_anew(one, workload),
                    *_database(ctx, one, workload.name),
                    *_common(ctx, one, seed),
                ]
                for one in spec.instances(target.name)
            ],
        ),
    )


def trial_job(ctx: Context, trial: Trial, attempt: int) -> Manifest:
    """Runs one trial, and what is measured with it. The context is that of its deployments."""
    benchmark, spec = ctx.benchmark, ctx.spec
    workload = spec.workload(trial.cell.workload)
    labels = names.labels(
        benchmark,
        names.Component.DRIVER,
        target=trial.deployment,
        workload=workload.name,
        trial=trial.id,
        partner=next((one.id for one in trial.together[1:]), None),
        attempt=attempt,
        job=names.JobKind.TRIAL,
    )
    kind, options = run_arguments(workload, trial.cell, spec)
    target = spec.target(trial.deployment)
    instances = [one for part in trial.together for one in spec.instances(part.deployment)]
    beside = workload.local is None and spec.placement.inside_targets
    if beside:
        commands = [_beside(ctx, target, workload.name, [kind, "run", *options], trial.seed)]
    else:
        commands = [
            [
                kind,
                "run",
                *options,
                *_together(index, len(instances), apart=bool(trial.partner)),
                *(_database(ctx, one, workload.name) if workload.local is None else ()),
                *_common(ctx, one, trial.seed),
            ]
            for index, one in enumerate(instances)
        ]
    return job(
        ctx,
        names.trial_job_name(benchmark, trial, attempt),
        labels,
        _limit(ctx, spec.timeouts.trial),
        _pod(ctx, target, workload, commands, secret=workload.local is None and not beside),
    )


def _limit(ctx: Context, own: str) -> int:
    """Seconds from when a job is made: its own time begins when its pod does.

    Until then it has the time in which anything must be ready, after which the operator says what
    it waits for. The job's controller would only say that it took too long.
    """
    return duration(ctx.spec.timeouts.ready) + duration(own)


def _beside(ctx: Context, target: Target, workload: str, run: list[str], seed: int) -> list[str]:
    """Has the agent run it inside the target, where the agent alone knows the way to the database.

    The agent beside a guest's hypervisor is read from inside, at the edges of the measured window.
    """
    host = _host(ctx, target)
    outside = ["--host-agent-port", str(HOST_AGENT_PORT)] if has_host_agent(ctx, target) else []
    return [
        "at-target",
        "--agent", f"http://{host}:{AGENT_PORT}",
        *outside,
        "--limit", ctx.spec.timeouts.trial,
        *_reported(seed),
        *run,
        "--schema", workload,
    ]  # fmt: skip


def load_arguments(workload: Workload) -> tuple[str, list[str]]:
    """The driver's workload and its options for `load`; ValueError where nothing is loaded."""
    match workload:
        case Workload(tpch=TpchWorkload() as tpch):
            return "tpch", ["--scale-factor", tpch.scale_factor]
        case Workload(tpcc=TpccWorkload() as tpcc):
            return "tpcc", ["--warehouses", str(tpcc.warehouses)]
        case Workload(tatp=TatpWorkload() as tatp):
            return "tatp", ["--subscribers", str(tatp.subscribers)]
        case Workload(sql=SqlWorkload(setup=Script())):
            return "sql", [*scripts.LOAD_OPTIONS]
    raise ValueError(f"workload {workload.name!r} has no data")


def run_arguments(workload: Workload, cell: Cell, spec: DBBenchmarkSpec) -> tuple[str, list[str]]:
    """The driver's workload and its options for `run`, at one point of the experiment.

    `spec` is that of the deployment at the point.
    """
    if workload.zachmann:
        return "zachmann", _zachmann(workload.zachmann, cell, spec.resources)
    if workload.micro:
        return "micro", _micro(workload.micro)
    if workload.sql:
        return "sql", [*scripts.run_options(workload.sql), *_steady(workload.sql, cell)]
    kind, options = load_arguments(workload)
    match workload:
        case Workload(tpch=TpchWorkload() as tpch):
            cache = cache_state(workload, cell)
            cold = cache is CacheState.COLD
            options += [] if cache is None else ["--cache", _CACHE[cache]]
            options += [
                "--warmup-runs", "0" if cold else str(tpch.warmup_runs),
                "--runs", str(tpch.runs),
                "--connection", _CONNECTION[connection(tpch, cell)],
                "--query-timeout", tpch.query_timeout,
            ]  # fmt: skip
            if tpch.queries is not None:
                options += ["--queries", ",".join(str(query) for query in sorted(tpch.queries))]
        case Workload(tpcc=TpccWorkload() as tpcc):
            options += _steady(tpcc, cell)
        case Workload(tatp=TatpWorkload() as tatp):
            options += [
                *_steady(tatp, cell),
                "--distribution",
                _DISTRIBUTION[tatp.distribution.value],
            ]
    return kind, options


def _steady(workload: TpccWorkload | TatpWorkload | SqlWorkload, cell: Cell) -> list[str]:
    return [
        "--clients", cell.value(CLIENTS, str(workload.clients)),
        "--warmup", workload.warmup,
        "--duration", workload.duration,
    ]  # fmt: skip


def _zachmann(workload: ZachmannWorkload, cell: Cell, resources: Resources) -> list[str]:
    return [
        "--at-target",
        "--work-processes", cell.value(WORK_PROCESSES, str(workload.work_processes)),
        "--table-size", str(quantity(workload.table_size)),
        "--warmup", workload.warmup,
        "--duration", workload.duration,
        "--physical-cpus", str(workload.physical_cpus or resources.cpu),
        "--max-system-time", workload.max_system_time,
    ]  # fmt: skip


def _micro(workload: MicroWorkload) -> list[str]:
    options = [
        "--at-target",
        "--probes", ",".join(text for probe, text in _PROBES.items() if probe in workload.probes),
        "--time", workload.time,
        "--sort-sizes", ",".join(str(size) for size in sorted(workload.sort_sizes)),
        "--file-size", str(quantity(workload.file_size)),
    ]  # fmt: skip
    if workload.threads is not None:
        options += ["--threads", ",".join(str(number) for number in sorted(workload.threads))]
    return options


def _together(index: int, drivers: int, *, apart: bool) -> list[str]:
    """Options of one of several drivers. `apart`: they are of different targets."""
    if drivers == 1:
        return []
    role = "--barrier" if index else "--barrier-listen"
    options = ["--processes", str(drivers), "--process-index", str(index), role, _BARRIER]
    return [*options, "--apart"] if apart else options


def _anew(instance: Target, workload: Workload) -> list[str]:
    """Option of a load that may drop what is in its way.

    A deployed database is the benchmark's own, with what an earlier attempt has left. In an
    external one nothing is dropped but the benchmark's own load that was interrupted. What a
    user's own script makes, it drops itself.
    """
    return ["--replace"] if instance.deployed and workload.sql is None else []


def _database(ctx: Context, instance: Target, workload: str) -> list[str]:
    """Options of every command that talks to the database."""
    if not instance.deployed:
        return external.options(ctx, instance.name, workload)
    return [
        "--url", ctx.engine.driver_url(_host(ctx, instance)),
        "--password-file", PASSWORD_FILE,
        "--schema", workload,
    ]  # fmt: skip


def _common(ctx: Context, instance: Target, seed: int) -> list[str]:
    """Options of every command that looks at the target itself."""
    return [*_agents(ctx, instance), *_reported(seed)]


def _reported(seed: int) -> list[str]:
    """Options of every command. The result is one line of the log, the progress the others."""
    return [
        "--seed", str(seed),
        "--connect-timeout", "60s",
        "--progress", "json",
        "--output", "-",
    ]  # fmt: skip


def _agents(ctx: Context, instance: Target) -> list[str]:
    """Where the agents are, if any."""
    if not instance.has_agent:
        return []
    host = _host(ctx, instance)
    found = ["--agent", f"http://{host}:{AGENT_PORT}"]
    if has_host_agent(ctx, instance):
        found += ["--host-agent", f"http://{host}:{HOST_AGENT_PORT}"]
    return found


def _secret(ctx: Context, target: Target) -> tuple[list[Manifest], list[Manifest]]:
    """Mounts and volumes: the password, or of an external database all that leads to it."""
    if target.external is not None:
        return [external.mount()], [external.volume(target.external)]
    source = volumes.from_secret("secret", names.credentials_name(ctx.benchmark))
    return [volumes.mount("secret", SECRET, read_only=True)], [source]


def _host(ctx: Context, instance: Target) -> str:
    if instance.cloud_native_pg is not None:
        return names.primary_service_name(ctx.benchmark, instance.name)
    return names.service_name(ctx.benchmark, instance.name)


def containers(instances: int) -> list[str]:
    """Names of the containers of a Job's pod, in the order of the instances."""
    return [DRIVER] if instances == 1 else [f"{DRIVER}-{index}" for index in range(instances)]


def _pod(
    ctx: Context,
    target: Target,
    workload: Workload,
    commands: list[list[str]],
    *,
    secret: bool = True,
) -> Manifest:
    """`secret`: whether the drivers need to know how to reach the database."""
    mounts, source = _secret(ctx, target) if secret else ([], [])
    if workload.sql:
        mounts = [*mounts, scripts.mount()]
        source = [*source, scripts.volume(ctx, workload.name)]
    return {
        **placement.on_node(ctx.spec.placement.of_driver),
        "securityContext": security.pod(security.DRIVER_ID),
        "containers": [
            {
                "name": name,
                "image": ctx.images.driver,
                "imagePullPolicy": ctx.images.pull_policy,
                "command": ["/usr/local/bin/dbbench-driver"],
                "args": arguments,
                "resources": placement.driver(),
                "securityContext": security.container(),
                "volumeMounts": mounts,
            }
            for name, arguments in zip(containers(len(commands)), commands, strict=True)
        ],
        "volumes": source,
    }
