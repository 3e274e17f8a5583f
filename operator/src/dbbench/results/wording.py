"""Sentences and names that every form of a report has in common. No I/O."""

from collections.abc import Mapping
from typing import Any

from dbbench.results.figures import least_and_most, level, together
from dbbench.stats.interval import FEWEST_FOR_DRIFT

Document = Mapping[str, Any]

ENVIRONMENT = {
    "databaseNode": "node of the database",
    "driverNode": "node of the driver",
    "cpuModel": "CPU",
    "nodeKernel": "kernel of the node",
    "containerRuntime": "container runtime",
    "kubernetesVersion": "Kubernetes",
}
"""Fields of the environment of a summary, and what people call them."""

TARGET_ENVIRONMENT = {
    "runtime": "runtime",
    "kernel": "kernel",
    "hypervisor": "hypervisor",
    "serverVersion": "server",
    "serverDigest": "server's digest",
    "imageDigest": "image",
    "cpusAllowed": "CPUs",
}
"""The same of each of its targets."""

AGGREGATES = {
    "meanOfSlowdowns": "mean of slowdowns",
    "slowdownOfTotal": "slowdown of total",
    "geometricMean": "geometric mean",
}
"""The same of the aggregates of a comparison."""

GATES = {True: "passed", False: "missed", None: "not evaluated"}
"""What `passed` of a gate means."""


ACCOUNT = (
    "What each cause adds to the time of one unit of work: of one pass of the queries, of one "
    "transaction as its client waits for it, or of one read of a work process. The terms add up to "
    "the difference, indented ones to the term above them. Share: of the difference."
)
"""What an account of a slowdown is."""


REDEPLOYED = (
    "Every block has deployments of its own, with data loaded anew (trials.redeploy): intervals "
    "cover how lucky a deployment was, too."
)
"""What intervals are over besides, where each block is deployed anew."""

SEVERAL_BLOCKS = (
    "Every {count} blocks in a row share deployments, with data loaded anew for them "
    "(trials.blocksPerDeployment). The mean of these blocks is one value, and intervals are over "
    "these values, so that they cover how lucky a deployment was, too."
)
"""The same where several blocks share a deployment."""

DUET = (
    "A duet (trials.mode: Duet): both targets ran at the same time, each on CPUs of its own, and "
    "began every window together. What disturbed the node disturbed both and is not in their "
    "ratio; the values of each are those beside the other one, which shared caches, memory "
    "bandwidth, storage and network with it."
)
"""What slowdowns are of, where two targets ran at the same time."""

CACHES = (
    "What was read during the queries of each trial: blocks by the server from its kernel, bytes "
    "from block devices in the target and, where an agent is outside a guest, by its hypervisor."
)
"""What the table of caches shows."""

CONTAMINATED = (
    "These count although something else than the database disturbed them, for no repetition was "
    "left (spec.trials.contamination):"
)
"""What the list of disturbed trials is."""

CACHE_HEADER = ("workload", "target", "caches", "trials", "blocks", "bytes", "bytes outside")
"""Its columns."""


def cache_rows(document: Document) -> list[list[str]]:
    """Its rows: least and most over the trials; empty where no cell has a cache state."""
    return [
        [
            where(found),
            label(found["target"], is_emulated(document, found["target"])),
            found["state"],
            str(found["trials"]),
            *(least_and_most(found[name]) for name in ("blocksRead", "readBytes", "hostReadBytes")),
        ]
        for found in document["caches"]
    ]


def resources(spec: Document) -> str:
    """What each target has: `4 CPU, 8Gi memory`, with a sweep of them `1, 2, 4 CPU, ...`."""
    swept = (spec.get("sweep") or {}).get("cpu") or [spec["resources"]["cpu"]]
    return f"{', '.join(map(str, swept))} CPU, {spec['resources']['memory']} memory"


def emulation(document: Document) -> tuple[str, str] | None:
    """A headline and what it means; None where every target ran on the node's own CPU."""
    if not document["emulatedTargets"]:
        return None
    names = ", ".join(document["emulatedTargets"])
    return (
        "Emulated: not representative.",
        f"{names} ran under software emulation (TCG): the node has no hardware virtualization. The "
        "figures show that everything works; they do not show what a virtual machine costs.",
    )


def noise_floor(document: Document) -> str:
    """What the comparison of the baseline with itself is for."""
    return (
        f"{document['baseline']} compared with itself (A/A), on a second deployment in the same "
        "blocks. There is no verdict on a slowdown no farther from 0 than this interval reaches, "
        "and no equivalence where it reaches beyond the margin."
    )


def aggregates(document: Document) -> str:
    """What the aggregates of a query workload are."""
    return (
        "Three aggregates of the slowdowns of single queries, with their "
        f"{level(document['confidence'])} intervals over blocks. They answer different questions "
        "and can differ in sign."
    )


def shares(document: Document) -> str:
    """What stands beside the queries, and what their verdicts promise."""
    return (
        "Share of total: of the baseline's total runtime. Contribution: the query's part of the "
        f"slowdown of the total. {judged(document['queries'], document['confidence'])}".rstrip()
    )


def judged(found: list[Document], confidence: float) -> str:
    """What several verdicts promise together; empty for a single one."""
    count = sum(one["interval"] is not None for one in found)
    return together(count, confidence) if count > 1 else ""


def latencies(document: Document) -> str:
    """Which trials quantiles are of."""
    return (
        f"Of all measured trials together: {document['baseline']} -> target (slowdown, "
        f"{level(document['confidence'])} interval over blocks)."
    )


def method(document: Document) -> str:
    """How slowdowns, intervals and equivalence come about."""
    return (
        "Slowdown is target / baseline - 1 for times and baseline / target - 1 for throughput, "
        "from the mean of log ratios over blocks, with Student's t interval; from "
        f"{FEWEST_FOR_DRIFT} blocks on without the drift within blocks. Equivalent: the whole "
        f"interval lies within ±{document['equivalenceMargin'] * 100:g} %."
        + _redeployed(document["spec"]["trials"])
        + (f" {DUET}" if document["spec"]["trials"].get("mode") == "Duet" else "")
    )


def _redeployed(trials: Document) -> str:
    if not trials.get("redeploy"):
        return ""
    count = trials.get("blocksPerDeployment", 1)
    return f" {SEVERAL_BLOCKS.format(count=count) if count > 1 else REDEPLOYED}"


def repetitions(document: Document) -> list[str]:
    """Where other numbers of runs, or of blocks on a deployment, would tell more in that time."""
    return _of_runs(document) + _of_blocks(document)


def _of_blocks(document: Document) -> list[str]:
    return [
        f"Next time: {where(found)} on {found['target']} would tell most with "
        f"`blocksPerDeployment: {found['bestBlocksPerDeployment']}` instead of "
        f"{found['blocksPerDeployment']}, and the time saved or spent on fewer or more deployments "
        f"(from {found['deployments']} of them)."
        for found in document["deployments"]
        if found["bestBlocksPerDeployment"] != found["blocksPerDeployment"]
    ]


def _of_runs(document: Document) -> list[str]:
    return [
        f"Next time: {where(found)} on {found['target']} would tell most with "
        f"`runs: {found['bestRuns']}` in each trial instead of {found['runs']}, and the time saved "
        "or spent on fewer or more blocks."
        for found in document["repetitions"]
        if found["bestRuns"] != found["runs"]
    ]


def where(found: Document) -> str:
    """Workload and cell of anything that has them."""
    return f"{found['workload']}/{found['cell']}" if found["cell"] else str(found["workload"])


def label(name: str, emulated: bool) -> str:
    """A target's name, which never stands without the word where it was emulated."""
    return f"{name} (emulated)" if emulated else name


def is_emulated(document: Document, name: str) -> bool:
    """Whether a figure that compares the target with the baseline rests on emulation."""
    return bool({name, document["baseline"]} & set(document["emulatedTargets"]))


def bounds_of(found: Document) -> tuple[float, float] | None:
    """The interval of a comparison."""
    interval = found["interval"]
    return (interval["low"], interval["high"]) if interval else None
