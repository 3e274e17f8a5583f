"""Spec of a DBBenchmark: what is compared, where, and how often. Types only, no I/O."""

from enum import StrEnum

from pydantic import ConfigDict, Field

from dbbench.api.base import (
    DEFAULTED,
    ApiModel,
    Duration,
    Name,
    OptionalWait,
    Percent,
    rule,
    rules,
)
from dbbench.api.cache_rules import CACHE_RULES
from dbbench.api.cloud_native_pg_rules import CLOUD_NATIVE_PG_RULES
from dbbench.api.confirm_rules import CONFIRM_RULES
from dbbench.api.database import Database
from dbbench.api.duet_rules import DUET_RULES
from dbbench.api.machine import DiskVolume
from dbbench.api.placement import PLACEMENT_RULES, Placement
from dbbench.api.redeploy_rules import BLOCKS_PER_DEPLOYMENT_RULES, REDEPLOY_RULES
from dbbench.api.resources import Medium, Resources
from dbbench.api.sweep import SWEEP_RULES, Sweep
from dbbench.api.target import Target
from dbbench.api.target_rules import (
    CONTAINER_DISK_RULES,
    EXTERNAL_RULES,
    MACHINE_RULES,
    STORAGE_RULES,
)
from dbbench.api.variant_rules import VARIANT_RULES
from dbbench.api.workload import CacheState, Workload
from dbbench.api.workload_rules import WORKLOAD_RULES


class CleanupPolicy(StrEnum):
    ALWAYS = "Always"
    ON_SUCCESS = "OnSuccess"
    NEVER = "Never"


class Mode(StrEnum):
    SEQUENTIAL = "Sequential"
    DUET = "Duet"


CONTROL = "control"
"""Name of the target that `trials.control` adds: the baseline once again."""


class Contamination(ApiModel):
    """When something else than the database disturbed a trial, and what is done then."""

    max_steal: Percent = Field(
        "5%",
        description=(
            "Greatest share of a trial's time in which a hypervisor below the node took the "
            "database's CPUs away, and which does not count as a disturbance."
        ),
    )
    max_throttling: Percent = Field(
        "1%",
        description=(
            "Greatest share of a trial's time in which exclusive CPUs were throttled. CPUs that "
            "are shared have a quota and are throttled by it: that is no disturbance."
        ),
    )
    max_memory_stall: Percent = Field(
        "1%",
        description=(
            "Greatest share of a trial's time in which all that runs the database waited for "
            "memory, as the kernel's pressure accounting (PSI) tells."
        ),
    )
    max_repeats: int | None = Field(
        None,
        ge=0,
        le=20000,
        description=(
            "Contaminated trials that are run again, over the whole run and at most two for each "
            "trial; one for every four trials of the first min blocks when absent. When they are "
            "used up, contaminated trials count, and condition Representative is False."
        ),
    )


class Trials(ApiModel):
    """How often everything is measured."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.max) || self.min <= self.max",
                "min must not be greater than max: lower min or raise max",
            ),
            *BLOCKS_PER_DEPLOYMENT_RULES,
            rule(
                "!has(self.targetHalfWidth) || has(self.max)",
                "targetHalfWidth needs max: the number of blocks to stop at if the interval stays "
                "wider",
                field_path=".targetHalfWidth",
            ),
        )
    )

    min: int = Field(3, ge=1, le=1000, description="Blocks that are always measured.")
    max: int | None = Field(
        None, ge=1, le=1000, description="Blocks that are measured at most; min when absent."
    )
    target_half_width: Percent | None = Field(
        None,
        description=(
            "Between min and max, go on until the 95 % confidence interval of every comparison is "
            'at most this wide on each side, for example "1%", at three looks in a row: after 6, '
            "8, 10, ... blocks."
        ),
    )
    mode: Mode = Field(
        Mode.SEQUENTIAL,
        description=(
            "Sequential: one target runs at a time. Duet: both targets run at the same time, each "
            "on CPUs of its own, and begin each measured window at the same instant, so that what "
            "disturbs the node disturbs both. Their ratio is that of two databases that share the "
            "rest of the node."
        ),
    )
    control: bool = Field(
        False,
        description=(
            "Measure the baseline against itself (A/A): one more target, called control, that is "
            "the baseline once again with a volume of its own, in every block. Its interval is the "
            "noise floor, below which there is no verdict."
        ),
    )
    redeploy: bool = Field(
        False,
        description=(
            "Deploy every target anew for each block, with new volumes and data loaded again, and "
            "remove what the earlier deployment had. So intervals cover the luck of a deployment, "
            "too. When false, all blocks of a target are measured on one deployment."
        ),
    )
    blocks_per_deployment: int = Field(
        1,
        ge=1,
        le=100,
        description=(
            "With redeploy: how many blocks in a row are measured on a deployment before the next "
            "one is made. min and max are multiples of it. Intervals rest on deployments, each "
            "with the mean of its blocks: more of them pay where a load takes much longer than "
            "the trials of a block."
        ),
    )
    contamination: Contamination = Field(
        default_factory=Contamination,
        json_schema_extra=DEFAULTED,
        description="What makes a trial contaminated, and how many of them are run again.",
    )
    seed: int | None = Field(
        None,
        ge=0,
        le=9007199254740991,
        description=(
            "Seed of the order of targets and of the workloads' random choices; derived from the "
            "object's uid when absent, and recorded in status."
        ),
    )

    def deployed_for(self, block: int) -> int:
        """The first of the blocks that share a deployment with this one; 0 where all do."""
        return block - (block - 1) % self.blocks_per_deployment if self.redeploy else 0


class Timeouts(ApiModel):
    """How long each step may take before the benchmark is declared failed."""

    ready: Duration = Field(
        "10m", description="A target, from its start until its database answers."
    )
    load: Duration = Field(
        "2h",
        description=(
            "Loading one workload's data into one target; until the driver's pod runs, ready "
            "counts as well."
        ),
    )
    trial: Duration = Field("2h", description="One trial; the same holds for it.")
    disk: Duration = Field("30m", description="Making a guest's root disk from the image.")


class Gate(ApiModel):
    """A limit that a pipeline can wait on: condition GatesPassed."""

    workload: Name = Field(description="Name of a workload.")
    target: Name = Field(description="Name of a target other than the baseline.")
    max_slowdown: Percent = Field(description='Greatest slowdown that passes, for example "10%".')


class DBBenchmarkSpec(ApiModel):
    """What is compared, where, and how often."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "self.targets.exists(t, t.name == self.baseline)",
                "must be the name of one of spec.targets",
                field_path=".baseline",
            ),
            rule(
                "!self.trials.control || !self.targets.exists(t, t.name == 'control')",
                "with trials.control, no target may be called control: dbbench adds one of that "
                "name; rename the target",
                field_path=".targets",
            ),
            rule(
                "!has(self.gates) || self.gates.all(g, g.target != self.baseline && "
                "self.targets.exists(t, t.name == g.target))",
                "each gate's target must be the name of one of the targets, and not the baseline",
                field_path=".gates",
            ),
            rule(
                "!has(self.gates) || self.gates.all(g, self.workloads.exists(w, "
                "w.name == g.workload))",
                "each gate's workload must be the name of one of the workloads",
                field_path=".gates",
            ),
            *MACHINE_RULES,
            *CONTAINER_DISK_RULES,
            *EXTERNAL_RULES,
            *CLOUD_NATIVE_PG_RULES,
            *STORAGE_RULES,
            *PLACEMENT_RULES,
            *CACHE_RULES,
            *WORKLOAD_RULES,
            *SWEEP_RULES,
            *VARIANT_RULES,
            *CONFIRM_RULES,
            *REDEPLOY_RULES,
            *DUET_RULES,
        )
    )

    database: Database
    resources: Resources = Field(default_factory=Resources, json_schema_extra=DEFAULTED)
    placement: Placement
    baseline: Name = Field(description="Name of the target that the others are compared with.")
    targets: list[Target] = Field(
        min_length=2,
        max_length=20,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        description="The ways of running the database that are compared.",
    )
    workloads: list[Workload] = Field(
        min_length=1,
        max_length=20,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        description="What is run against each target.",
    )
    sweep: Sweep | None = Field(
        None,
        description="Axes whose values multiply the cells: scaling curves, and comparisons of "
        "variants. None when absent.",
    )
    trials: Trials = Field(default_factory=Trials, json_schema_extra=DEFAULTED)
    confirm: bool = Field(
        False,
        description=(
            "After the trials, test the cause of every slowdown: take it away by one change, and "
            "measure the slower targets and the baseline again, in trials.min blocks more "
            "(status.confirmations)."
        ),
    )
    timeouts: Timeouts = Field(default_factory=Timeouts, json_schema_extra=DEFAULTED)
    gates: list[Gate] | None = Field(
        None,
        max_length=50,
        json_schema_extra={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["workload", "target"],
        },
        description="Limits on slowdowns.",
    )
    cleanup_policy: CleanupPolicy = Field(
        CleanupPolicy.ON_SUCCESS,
        description=(
            "When databases, disks and jobs are deleted after the run: Always, OnSuccess (kept "
            "after a failure, to look into), Never. Results are always kept."
        ),
    )
    ttl_after_finished: OptionalWait | None = Field(
        None,
        description=(
            "How long after its end, well or not, the DBBenchmark is deleted, and with it all that "
            "it owns, its results too; for example 24h, or 0s for at once. Never when absent."
        ),
    )
    suspend: bool = Field(
        False,
        description="Start nothing new while true; a trial that runs is finished and kept.",
    )

    @property
    def has_cold_cells(self) -> bool:
        """Whether any workload is measured with cold caches."""
        return any(w.tpch and CacheState.COLD in (w.tpch.cache or ()) for w in self.workloads)

    @property
    def duet(self) -> bool:
        """Whether the two targets are measured at the same time."""
        return self.trials.mode is Mode.DUET

    @property
    def measured_targets(self) -> list[Target]:
        """The targets and, where it is asked for, the control: all that is deployed."""
        if not self.trials.control:
            return self.targets
        return [*self.targets, self.target(self.baseline).model_copy(update={"name": CONTROL})]

    def target(self, name: str) -> Target:
        """The target of that name, the control too; KeyError when there is none."""
        found = {target.name: target for target in self.targets}
        if name == CONTROL and self.trials.control:
            return found[self.baseline].model_copy(update={"name": CONTROL})
        return found[name]

    def instances(self, name: str) -> list[Target]:
        """The databases of a target's deployment, as targets of their own: itself, where it is one.

        Several are called T.0, T.1, ...: no name of a target has a dot.
        """
        target = self.target(name)
        if target.instances == 1:
            return [target]
        return [
            target.model_copy(update={"name": f"{name}.{index}"})
            for index in range(target.instances)
        ]

    def keeps_data(self, target: Target) -> bool:
        """Whether the target's data outlive its stop; else they are loaded in every turn."""
        if not target.deployed:
            return True
        if self.database.storage.medium is Medium.MEMORY:
            return False
        return target.data_volume is not DiskVolume.EMPTY_DISK

    def workload(self, name: str) -> Workload:
        """The workload of that name; KeyError when there is none."""
        return {workload.name: workload for workload in self.workloads}[name]
