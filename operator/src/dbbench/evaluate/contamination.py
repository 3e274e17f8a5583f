"""Whether a measured trial was disturbed, and whether it is run again for that. No I/O.

docs/methodology.md says which signs there are. A contaminated trial is run again while the budget
lasts (spec.trials.contamination.maxRepeats), and counts after that; it is never dropped silently.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from dbbench.api.quantities import percent
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.evaluate.state import State
from dbbench.explain.disturbance import Limits, changed_plans, disturbances
from dbbench.plan import Trial, block
from dbbench.results.record import CONTAMINATED, Outcome, TrialRecord
from dbbench.targets.placement import has_exclusive_cpus

_MOST_OF_ONE_TRIAL = 2


def signs(state: State, trial: Trial, documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """What disturbed the trial, in words; `documents` has the driver's result of each instance."""
    spec = state.at(trial.point).benchmark.spec
    target = spec.target(trial.deployment)
    chosen = spec.trials.contamination
    limits = Limits(
        steal=percent(chosen.max_steal),
        throttling=percent(chosen.max_throttling),
        memory_stall=percent(chosen.max_memory_stall),
    )
    found = [
        sign
        for document in documents
        for sign in disturbances(
            document,
            limits,
            guest=target.virtual_machine is not None,
            exclusive_cpus=has_exclusive_cpus(spec.resources, target),
        )
    ]
    before = _counted_before(state.trials, trial)
    if before is not None:
        for old, new in zip(before.documents, documents, strict=False):
            if changed := changed_plans(old, new):
                found.append(
                    f"the plan of {', '.join(changed)} is another one than in block {before.block}"
                )
    return list(dict.fromkeys(found))


def is_repeated(state: State, trials: Sequence[Trial], seed: int) -> bool:
    """Whether there is a repetition left for this trial, or for both of a duet.

    One trial has at most two of them, so that the budget is not spent in one place.
    """
    repeated = [
        record
        for record in state.trials
        if record.outcome is Outcome.INVALID and record.reason == CONTAMINATED
    ]
    ids = [trial.id for trial in trials]
    own = sum(record.trial in ids for record in repeated)
    left = budget(state.benchmark.spec, seed) - len(repeated)
    return own < _MOST_OF_ONE_TRIAL * len(ids) and len(ids) <= left


def budget(spec: DBBenchmarkSpec, seed: int) -> int:
    """Trials that may be run again over the whole run: by default one in four of those planned."""
    chosen = spec.trials.contamination.max_repeats
    if chosen is not None:
        return chosen
    return ceil(spec.trials.min * len(block(spec, seed, 1).trials) / 4)


def _counted_before(records: Sequence[TrialRecord], trial: Trial) -> TrialRecord | None:
    """The trial of an earlier block that counts for the same target and cell.

    None of another deployment: other statistics of the data are a part of what it is.
    """
    found = [
        record
        for record in records
        if record.outcome is Outcome.MEASURED
        and trial.deployed_for <= record.block < trial.block
        and (record.target, record.workload, record.cell)
        == (trial.target, trial.cell.workload, trial.cell.name)
    ]
    return max(found, key=lambda record: (record.block, record.attempt), default=None)
