"""Status of a DBBenchmark: small; the data is in the ConfigMaps that it names. No I/O."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from dbbench.api.base import ApiModel

Text = Annotated[str, Field(max_length=1024)]
Label = Annotated[str, Field(max_length=253)]
Number = Annotated[str, Field(max_length=32)]


class ConditionType(StrEnum):
    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"
    FAIRNESS_VERIFIED = "FairnessVerified"
    REPRESENTATIVE = "Representative"
    GATES_PASSED = "GatesPassed"


class ConditionStatus(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Verdict(StrEnum):
    SLOWER = "Slower"
    EQUIVALENT = "Equivalent"
    FASTER = "Faster"
    INCONCLUSIVE = "Inconclusive"


class Intervention(StrEnum):
    """A single change of a benchmark that takes a cause away, on both sides where both have it."""

    SHARED_CONNECTION = "SharedConnection"
    DATA_DISK_CACHE_NONE = "DataDiskCacheNone"
    DATA_DISK_READ_AHEAD_ZERO = "DataDiskReadAheadZero"


class ConfirmationVerdict(StrEnum):
    CONFIRMED = "Confirmed"
    NOT_CONFIRMED = "NotConfirmed"
    INCONCLUSIVE = "Inconclusive"
    NOT_TESTED = "NotTested"


class Condition(ApiModel):
    """A condition as in metav1.Condition."""

    type: Annotated[str, Field(max_length=316)] = Field(
        description="Ready, Reconciling, Stalled, Succeeded, FairnessVerified, Representative or "
        "GatesPassed."
    )
    status: ConditionStatus = Field(description="True, False, or Unknown.")
    reason: Annotated[str, Field(min_length=1, max_length=1024)] = Field(
        description="Why, in one word; docs/reference/conditions.md has all of them."
    )
    message: Annotated[str, Field(max_length=32768)] = Field("", description="Why, for people.")
    last_transition_time: Annotated[str, Field(max_length=32)] = Field(
        description="When the status last changed."
    )
    observed_generation: int = Field(
        0, description="Generation of the object that the condition is of."
    )


class Progress(ApiModel):
    """How far the run is."""

    trials_done: int = Field(0, description="Valid trials that are stored.")
    trials_planned: int = Field(0, description="Trials of the plan, as far as it is known now.")
    trials_invalid: int = Field(0, description="Trials that failed or were invalid, and repeated.")
    trials_contaminated: int = Field(
        0,
        description=(
            "Trials that count although something else disturbed them: no repetition was left."
        ),
    )
    percent: int = Field(0, description="Share of the planned trials that is done.")
    current: Text = Field("", description="What runs now.")
    step: Label = Field("", description="Machine-readable name of the step that runs now.")
    step_start_time: Annotated[str, Field(max_length=32)] | None = Field(
        None, description="When that step began; timeouts count from here."
    )
    estimated_completion_time: Annotated[str, Field(max_length=32)] | None = Field(
        None, description="When the run will have ended, from its own pace."
    )


class ConfidenceInterval(ApiModel):
    """Of a slowdown, as ratios: 0.05 is 5 % slower."""

    low: Number = Field(description="Lower bound.")
    high: Number = Field(description="Upper bound.")
    level: Number = Field("0.95", description="Confidence level.")


class Aggregates(ApiModel):
    """Three aggregates of per-query slowdowns; they can differ in sign, so always together."""

    mean_of_slowdowns: Number = Field(description="Mean of the queries' slowdowns.")
    slowdown_of_total: Number = Field(description="Slowdown of the sum of all runtimes.")
    geometric_mean: Number = Field(description="Of the queries' ratios, minus 1.")


class Comparison(ApiModel):
    """One target against the baseline, for one metric of one cell."""

    workload: Label = Field(description="Name of the workload.")
    cell: Label = Field(description="The point of the experiment, for example connection=Shared.")
    target: Label = Field(description="Name of the target.")
    metric: Label = Field(description="totalRuntime, throughput, ...")
    unit: Label = Field(description="Of the values: seconds, per_second or per_minute.")
    baseline_value: Number = Field(description="What the baseline reached: mean over blocks.")
    target_value: Number = Field(description="What the target reached: mean over blocks.")
    slowdown: Number = Field(description='Relative slowdown; "0.078" is 7.8 % slower.')
    confidence_interval: ConfidenceInterval | None = Field(
        None, description="Of the slowdown; absent with fewer than two blocks."
    )
    verdict: Verdict = Field(
        description="What the interval allows to say, for all comparisons together."
    )
    blocks: int = Field(description="Blocks that the figures come from.")
    noise_floor: Number | None = Field(
        None,
        description=(
            "With trials.control: how far from 0 the interval of the baseline against itself "
            "reaches, as a ratio. There is no verdict below it."
        ),
    )
    emulated: bool = Field(False, description="True when a side ran under software emulation.")
    aggregates: Aggregates | None = Field(None, description="Of the queries, for TPC-H.")
    cause: Text = Field(
        "",
        description=(
            "The largest cause of the slowdown in one sentence, with its share; begins with "
            "unexplained when it is. Empty where the verdict is neither Slower nor Faster."
        ),
    )


class Confirmation(ApiModel):
    """The test of one slowdown's cause: measured again with the cause taken away."""

    workload: Label = Field(description="Name of the workload.")
    cell: Label = Field(description="The point of the experiment whose slowdown is tested.")
    target: Label = Field(description="Name of the target.")
    cause: Label = Field("", description="The cause that is tested; empty where none is named.")
    intervention: Intervention | None = Field(
        None, description="What was changed; absent where nothing tests the cause."
    )
    slowdown_before: Number = Field(description="Slowdown in the trials, without the change.")
    slowdown_after: Number | None = Field(None, description="Slowdown with the change.")
    reduction: Number | None = Field(
        None,
        description=(
            "(1 + slowdownBefore) / (1 + slowdownAfter) - 1: above 0 where the change made the "
            "slowdown smaller."
        ),
    )
    confidence_interval: ConfidenceInterval | None = Field(
        None, description="Of the reduction; absent with fewer than two blocks."
    )
    verdict: ConfirmationVerdict = Field(
        description=(
            "NotConfirmed: the reduction's interval lies within the margin of equivalence, or "
            "below 0. Confirmed: it lies above 0 and beyond the margin. Inconclusive: neither, or "
            "not measured yet. NotTested: no cause is named, or nothing tests it."
        ),
    )
    blocks: int = Field(0, description="Blocks that were measured with the change.")
    message: Text = Field("", description="The same in one sentence.")


class TargetEnvironment(ApiModel):
    """What a target ran on, as seen from inside it."""

    name: Label = Field(description="Name of the target.")
    runtime: Label = Field(description="Pod, Host, KubeVirt, QEMU or External.")
    instances: int = Field(
        1, description="Databases side by side; with a sweep, at its largest point."
    )
    overcommitment: Number = Field(
        "",
        description=(
            'Sum of the instances\' CPUs to those of the node, for example "150%"; with a sweep, '
            "at its largest point."
        ),
    )
    kernel: Text = Field("", description="Kernel that the database ran on: a guest has its own.")
    hypervisor: Label = Field(
        "",
        description="As the CPU names it, with QEMU's version where that is known; empty on the "
        "bare node.",
    )
    emulated: bool = Field(False, description="True when the guest ran under software emulation.")
    server_version: Text = Field("", description="As the server tells it.")
    server_digest: Label = Field("", description="sha256 of the server's executable.")
    image_digest: Text = Field("", description="Digest of the image that ran.")
    cpus_allowed: Text = Field("", description="CPUs that the database might use.")
    properties: Annotated[dict[str, Text], Field(max_length=64)] = Field(
        default_factory=dict,
        description=(
            "What FairnessVerified compares, by its name in docs/targets.md; properties of many "
            "values, such as settings, are in the raw records."
        ),
    )


class Environment(ApiModel):
    """What the figures were measured on."""

    database_node: Label = Field("", description="Node that the targets ran on.")
    driver_node: Label = Field("", description="Node that the driver ran on.")
    cpu_model: Text = Field("", description="CPU model of the database's node.")
    node_kernel: Text = Field("", description="Kernel of the database's node.")
    node_cpus: int | None = Field(None, description="CPUs of the database's node.")
    container_runtime: Label = Field("", description="Of the database's node, with version.")
    kubernetes_version: Label = Field("", description="Version of the node's kubelet.")
    targets: Annotated[
        list[TargetEnvironment],
        Field(
            max_length=20,
            json_schema_extra={
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
            },
        ),
    ] = Field(default_factory=list, description="What each target ran on.")


class InstanceResults(ApiModel):
    """The instances of one target in one cell, where there are several: means over trials."""

    workload: Label = Field(description="Name of the workload.")
    cell: Label = Field(description="The point of the experiment.")
    target: Label = Field(description="Name of the target.")
    metric: Label = Field(description="totalRuntime, throughput, ...")
    unit: Label = Field(description="Of the values: seconds, per_second or per_minute.")
    total: Number = Field(
        description="What is compared: the sum of rates, or the mean of times, of the instances."
    )
    values: Annotated[list[Number], Field(max_length=16)] = Field(
        description="Of each instance, in their order."
    )
    fairness_index: Number = Field(
        description="Jain's index of the instances' rates: 1 when all are equal."
    )
    trials: int = Field(description="Trials that the figures come from.")


class QueuePlace(ApiModel):
    """What a benchmark waits for before it may use its nodes."""

    position: int = Field(
        description="1 is next; one more for each waiting benchmark that goes before this one."
    )
    node: Text = Field(description="A node that it needs and cannot have now.")
    benchmark: Label = Field(
        description="Namespace and name of the benchmark that has the node, or is to get it first."
    )


class ResultsRef(ApiModel):
    """Where the results are."""

    config_map: Label = Field(description="ConfigMap with summary.json, summary.csv, report.md.")


class DBBenchmarkStatus(ApiModel):
    """Observed state."""

    observed_generation: int = Field(
        -1,
        description="Generation of the object that the operator has looked at; -1 before it has.",
    )
    seed: int | None = Field(None, description="Seed of the plan.")
    start_time: Annotated[str, Field(max_length=32)] | None = Field(
        None, description="When the run began; from then on the spec cannot be changed."
    )
    completion_time: Annotated[str, Field(max_length=32)] | None = Field(
        None, description="When it ended, well or not."
    )
    reason: Label = Field("", description="Reason of the most telling condition.")
    worst_slowdown: Label = Field("", description="The greatest slowdown, for kubectl get.")
    conditions: Annotated[
        list[Condition],
        Field(
            max_length=20,
            json_schema_extra={
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
            },
        ),
    ] = Field(default_factory=list, description="What tools wait for, one of each type.")
    queue: QueuePlace | None = Field(
        None, description="Present while the benchmark waits for its nodes."
    )
    progress: Progress | None = None
    comparisons: Annotated[list[Comparison], Field(max_length=500)] = Field(
        default_factory=list, description="Every target against the baseline."
    )
    confirmations: Annotated[list[Confirmation], Field(max_length=500)] = Field(
        default_factory=list, description="With spec.confirm: the test of every slowdown's cause."
    )
    instances: Annotated[list[InstanceResults], Field(max_length=500)] = Field(
        default_factory=list, description="Of targets with several instances."
    )
    environment: Environment | None = None
    results_ref: ResultsRef | None = None
