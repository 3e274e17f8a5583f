"""Workloads: what is run against each target. Types only, no I/O."""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from dbbench.api.base import (
    ApiModel,
    DecimalString,
    Duration,
    Name,
    OptionalWait,
    Percent,
    Quantity,
    literal,
    rule,
    rules,
)
from dbbench.api.quantities import DECIMAL_PATTERN
from dbbench.api.sql import SqlWorkload


class Connection(StrEnum):
    SHARED = "Shared"
    PER_QUERY = "PerQuery"


class CacheState(StrEnum):
    WARM = "Warm"
    COLD = "Cold"


class Distribution(StrEnum):
    NON_UNIFORM = "NonUniform"
    UNIFORM = "Uniform"


class TpchWorkload(ApiModel):
    """TPC-H: 22 analytical queries, one after the other."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"!self.scaleFactor.matches({literal(DECIMAL_PATTERN)}) || "
                "double(self.scaleFactor) > 0.0",
                'must be greater than 0, for example "0.01" or "1"',
                field_path=".scaleFactor",
            ),
            rule(
                "!has(self.cache) || self.warmupRuns > 0 || !self.cache.exists(c, c == 'Warm')",
                "cache: Warm needs a pass that warms up: set warmupRuns to 1 or more",
                field_path=".warmupRuns",
            ),
        )
    )

    scale_factor: DecimalString = Field(description='Size of the data in GB, for example "1".')
    queries: list[Annotated[int, Field(ge=1, le=22)]] | None = Field(
        None,
        min_length=1,
        max_length=22,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Numbers of the queries that run; all 22 when absent.",
    )
    connection: list[Connection] = Field(
        default_factory=lambda: [Connection.SHARED],
        min_length=1,
        max_length=2,
        json_schema_extra={"x-kubernetes-list-type": "set", "default": ["Shared"]},
        description="Shared: one connection for all queries. PerQuery: a new one for each. "
        "Each value is a cell of its own.",
    )
    cache: list[CacheState] | None = Field(
        None,
        min_length=1,
        max_length=2,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description=(
            "What the caches hold when a query begins, and is proven; each value is a cell of its "
            "own. Warm: all that it needs, so that the server reads no block. Cold: nothing. "
            "Before each query the database is restarted, with its files out of the page caches of "
            "guest and node, and the query has a connection of its own. A trial without the proof "
            "is invalid. When absent, caches are what the passes before make them, and nothing "
            "is proven."
        ),
    )
    warmup_runs: int = Field(
        1, ge=0, le=100, description="Passes before the measured ones; none when Cold."
    )
    runs: int = Field(3, ge=1, le=1000, description="Measured passes in each trial.")
    query_timeout: Duration = Field("10m", description="Longest time that one query may take.")


class TpccWorkload(ApiModel):
    """TPC-C: order entry, five transactions."""

    warehouses: int = Field(ge=1, le=100000, description="Number of warehouses.")
    clients: int = Field(1, ge=1, le=10000, description="Concurrent terminals, no think time.")
    warmup: OptionalWait = Field("30s", description="Time before the measured window.")
    duration: Duration = Field("2m", description="Length of the measured window.")


class TatpWorkload(ApiModel):
    """TATP: telecom home location register, seven short transactions."""

    subscribers: int = Field(ge=1, le=1000000000, description="Number of subscribers.")
    clients: int = Field(1, ge=1, le=10000, description="Concurrent clients, no think time.")
    warmup: OptionalWait = Field("10s", description="Time before the measured window.")
    duration: Duration = Field("1m", description="Length of the measured window.")
    distribution: Distribution = Field(
        Distribution.NON_UNIFORM, description="How subscriber ids are drawn."
    )


class Probe(StrEnum):
    CLOCK = "Clock"
    SYSTEM_CALL = "SystemCall"
    PAGE_FAULT = "PageFault"
    TLB_MISS = "TLBMiss"
    CONTEXT_SWITCH = "ContextSwitch"
    FSYNC = "Fsync"
    MEMORY = "Memory"
    SORT = "Sort"
    READ = "Read"


class ZachmannWorkload(ApiModel):
    """Zachmann: random reads of tables in memory by several processes, inside each target.

    Boegelsack et al. 2010. It needs no database: the target's stays idle beside it.
    """

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "quantity(self.tableSize).compareTo(quantity('4Ki')) >= 0",
                "must be at least 4Ki, for example 300M",
                field_path=".tableSize",
            ),
            rule(
                "double(self.maxSystemTime.replace('%', '')) > 0.0 "
                "&& double(self.maxSystemTime.replace('%', '')) <= 100.0",
                "must be above 0% and at most 100%, for example 5%",
                field_path=".maxSystemTime",
            ),
        )
    )

    work_processes: int = Field(
        1, ge=1, le=4096, description="Processes that read, each with a table of its own."
    )
    table_size: Quantity = Field(
        "300M",
        description=(
            "Size of each table. All tables together must fit into `resources.memory`, beside the "
            "idle database."
        ),
    )
    warmup: OptionalWait = Field("10s", description="Time before the measured window.")
    duration: Duration = Field("15m", description="Length of the measured window.")
    physical_cpus: int | None = Field(
        None,
        ge=1,
        le=65536,
        alias="physicalCPUs",
        description=(
            "CPUs that the metric throughputPerCpu is divided by: with several instances, those of "
            "the node that they share. The target's own when absent."
        ),
    )
    max_system_time: Percent = Field(
        "5%",
        description=(
            "Share of system time in the CPU time from which on a trial does not count. 5% is the "
            "study's; an emulated guest needs more, since its clock's ticks are emulated too."
        ),
    )


class MicroWorkload(ApiModel):
    """Unit costs of the machine, measured inside each target: what single events take.

    It needs no database: the target's stays idle beside it.
    """

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "quantity(self.fileSize).asApproximateFloat() >= 1048576.0 && "
                "quantity(self.fileSize).asApproximateFloat() <= 1099511627776.0 && "
                "int(quantity(self.fileSize).asApproximateFloat()) % 1048576 == 0",
                "must be a whole number of MiB, at most 1Ti, for example 64Mi",
                field_path=".fileSize",
            ),
        )
    )

    probes: list[Probe] = Field(
        default_factory=lambda: list(Probe),
        min_length=1,
        max_length=len(Probe),
        json_schema_extra={
            "x-kubernetes-list-type": "set",
            "default": [probe.value for probe in Probe],
        },
        description="What is measured; everything when absent.",
    )
    time: Duration = Field(
        "1s", description="How long each figure is measured, after a warm-up of a fifth of it."
    )
    threads: list[Annotated[int, Field(ge=1, le=512)]] | None = Field(
        None,
        min_length=1,
        max_length=16,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description=(
            "Numbers of threads for what is measured against threads, each on a CPU of its own; "
            "powers of two up to the target's CPUs when absent."
        ),
    )
    sort_sizes: list[Annotated[int, Field(ge=1, le=100_000_000)]] = Field(
        default_factory=lambda: [1000, 100_000, 1_000_000],
        min_length=1,
        max_length=16,
        json_schema_extra={
            "x-kubernetes-list-type": "set",
            "default": [1000, 100_000, 1_000_000],
        },
        description="Numbers of integers that the probe Sort sorts.",
    )
    file_size: Quantity = Field(
        "64Mi", description="Size of the file that the probe Read reads, beside the database's."
    )


_KINDS = ("tpch", "tpcc", "tatp", "sql", "zachmann", "micro")


class Workload(ApiModel):
    """One workload with its parameters. Exactly one kind is set."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                " + ".join(f"(has(self.{kind}) ? 1 : 0)" for kind in _KINDS) + " == 1",
                f"a workload has exactly one kind: set one of {', '.join(_KINDS)}",
                message_expression=(
                    '"workload \'" + self.name + "\' must have exactly one kind: set one of '
                    f'{", ".join(_KINDS)}"'
                ),
            )
        )
    )

    name: Name = Field(description="Name of the workload, unique within the benchmark.")
    tpch: TpchWorkload | None = None
    tpcc: TpccWorkload | None = None
    tatp: TatpWorkload | None = None
    sql: SqlWorkload | None = None
    zachmann: ZachmannWorkload | None = None
    micro: MicroWorkload | None = None

    @property
    def kind(self) -> str:
        """Which of its kinds is set, by the field's name."""
        return next(kind for kind in _KINDS if getattr(self, kind) is not None)

    @property
    def has_data(self) -> bool:
        """Whether it has data that are loaded before it runs."""
        return self.local is None and (self.sql is None or self.sql.setup is not None)

    @property
    def local(self) -> str | None:
        """Its kind, where the agent runs it inside the target and not the driver against it."""
        return self.kind if self.zachmann or self.micro else None

    @property
    def served(self) -> TpccWorkload | TatpWorkload | SqlWorkload | None:
        """What has clients that run transactions."""
        return self.tpcc or self.tatp or self.sql

    @property
    def timed(self) -> TpccWorkload | TatpWorkload | SqlWorkload | ZachmannWorkload | None:
        """What has a warm-up and a measured window; None for queries in passes."""
        return self.served or self.zachmann
