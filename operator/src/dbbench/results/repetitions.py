"""How many runs of the queries a trial should have, from what varies and what it costs. No I/O."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dbbench.plan import Cell
from dbbench.results.operations import MeasuredTrial
from dbbench.stats.repetitions import Variances, best_within, variances

MOST_RUNS = 100


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


def _totals(trial: MeasuredTrial) -> list[float]:
    """Total runtime of each measured run; empty where queries ran unequally often."""
    runtimes = [operation.runtimes for operation in trial.result.operations]
    if len({len(found) for found in runtimes}) != 1:
        return []
    totals = [math.fsum(run) for run in zip(*runtimes, strict=True)]
    return totals if all(total > 0 for total in totals) else []
