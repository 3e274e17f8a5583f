"""How often to repeat at each level, from what varies there and what it costs. No I/O."""

import math
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dbbench.plan import Cell
from dbbench.results.operations import MeasuredTrial
from dbbench.stats.repetitions import Variances, best_within, variances

MOST_RUNS = 100
MOST_BLOCKS = 100
"""What `trials.blocksPerDeployment` may be."""


@dataclass(frozen=True)
class Repetitions:
    """Of one TPC-H cell and target: `runs` in each trial now, and the number that tells most.

    `variances` are of the log ratio of one run's total to the baseline's, within and between
    blocks.
    """

    cell: Cell
    target: str
    runs: int
    best: int
    variances: Variances


@dataclass(frozen=True)
class BlocksPerDeployment:
    """Of one cell and target: `blocks` on each deployment now, and the number that tells most.

    `variances` are of the log ratio of the primary metric to the baseline's, within and between
    `deployments`.
    """

    cell: Cell
    target: str
    deployments: int
    blocks: int
    best: int
    variances: Variances


def repetitions(
    cell: Cell, baseline: Sequence[MeasuredTrial], target: Sequence[MeasuredTrial]
) -> Repetitions | None:
    """None below two blocks of two runs on both sides, or without the times of the trials.

    A new block costs what its two trials took besides the measured runs: jobs, connections,
    warm-up. The start of the targets comes on top, so that the best number is rather higher.
    """
    before = {trial.block: trial for trial in baseline}
    groups, runs_seconds, others = [], [], []
    for trial in target:
        if trial.block not in before:
            continue
        mine, base = _totals(trial), _totals(before[trial.block])
        if len(mine) != len(base) or len(mine) < 2:
            return None
        groups.append([math.log(one / other) for one, other in zip(mine, base, strict=True)])
        seconds = math.fsum(mine) + math.fsum(base)
        runs_seconds.append(seconds / len(mine))
        others.append(trial.seconds + before[trial.block].seconds - seconds)
    if len(groups) < 2 or math.fsum(others) <= 0:
        return None
    found = variances(groups)
    best = best_within(found, math.fsum(others), math.fsum(runs_seconds), MOST_RUNS)
    return Repetitions(cell, target[0].target, len(groups[0]), best, found)


def blocks_per_deployment(
    cell: Cell, metric: str, baseline: Sequence[MeasuredTrial], target: Sequence[MeasuredTrial]
) -> BlocksPerDeployment | None:
    """None unless at least two deployments had several blocks each, all of them as many.

    A block costs what passes from its first trial in the cell to that of the next one on the same
    deployment; a deployment costs what passes more where the next one is on another.
    """
    before = {trial.block: trial for trial in baseline}
    groups: dict[str, list[float]] = defaultdict(list)
    began: dict[int, tuple[float, str]] = {}
    for trial in target:
        if trial.deployment and trial.block in before:
            sides = (trial, before[trial.block])
            value, base = (side.result.metrics[metric].value for side in sides)
            groups[trial.deployment].append(math.log(value / base))
            start = min(side.started for side in sides)
            began[int(trial.block)] = start, trial.deployment
    if len(groups) < 2 or len({len(group) for group in groups.values()}) != 1:
        return None
    steps: dict[bool, list[float]] = {True: [], False: []}
    for (index, (start, own)), (following, (later, other)) in pairwise(sorted(began.items())):
        if following == index + 1:
            steps[own == other].append(later - start)
    if not steps[True] or not steps[False]:
        return None
    block = statistics.fmean(steps[True])
    deployment = statistics.fmean(steps[False]) - block
    if not (block > 0 and deployment > 0):
        return None
    found = variances(list(groups.values()))
    best = best_within(found, deployment, block, MOST_BLOCKS)
    size = len(next(iter(groups.values())))
    return BlocksPerDeployment(cell, target[0].target, len(groups), size, best, found)


def _totals(trial: MeasuredTrial) -> list[float]:
    """Total runtime of each measured run; empty where queries ran unequally often."""
    runtimes = [operation.runtimes for operation in trial.result.operations]
    if len({len(found) for found in runtimes}) != 1:
        return []
    totals = [math.fsum(run) for run in zip(*runtimes, strict=True)]
    return totals if all(total > 0 for total in totals) else []
