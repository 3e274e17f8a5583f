"""Which trial comes next, and how many there will be. No I/O.

Derived from the plan and the records alone, so that an operator that starts anew goes on exactly
where the last one stopped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dbbench.api.quantities import percent
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.evaluate.environment import emulated_targets
from dbbench.evaluate.state import State
from dbbench.plan import Block, Trial, arranged, block, block_limits
from dbbench.plan.cells import confirms
from dbbench.results.analysis import analyse
from dbbench.results.confirmation import CauseTest, cause_tests, measured_on
from dbbench.results.record import LoadRecord, Outcome, TrialRecord
from dbbench.results.samples import primary_slowdowns
from dbbench.stats.stopping import looks, narrow_enough

MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class Schedule:
    """Where the run stands. `next_trial` is None when everything is measured.

    `blocks_done` are those of the spec's cells; `tests` are of the causes of slowdowns, known when
    all of those are measured. The other counts are of both.
    """

    next_trial: Trial | None
    blocks_done: int
    trials_done: int
    trials_planned: int
    trials_invalid: int
    stop_reason: str = ""
    tests: tuple[CauseTest, ...] = ()
    blocks_of_tests: int = 0

    @property
    def blocks_measured(self) -> int:
        """Of both, when there is no next trial."""
        return self.blocks_done + self.blocks_of_tests


def schedule(state: State, seed: int) -> Schedule:
    """The next trial by the plan, and the counts for the progress."""
    records = tuple(record for record in state.trials if not confirms(record.cell))
    stand = _measuring(replace(state, trials=records), seed)
    if stand.next_trial is not None or not state.benchmark.spec.confirm:
        return stand
    return _testing(state, seed, stand)


def _testing(state: State, seed: int, stand: Schedule) -> Schedule:
    """After the trials: tests of the causes that they name, in blocks that are counted on."""
    spec = state.benchmark.spec
    records = usable_records(state, stand.blocks_done)
    analysis = analyse(state.benchmark, records, emulated_targets(state), latencies=False)
    tests = cause_tests(spec, analysis)
    places = measured_on(spec, tests)
    first = stand.blocks_done + 1
    planned = [
        trial
        for index in range(first, first + spec.trials.min)
        for trial in arranged(places, seed, index, spec.trials.deployed_for(index)).trials
    ]
    measured = measured_trials(state.trials)
    left = [trial for trial in planned if trial.id not in measured]
    return replace(
        stand,
        next_trial=left[0] if left else None,
        trials_done=stand.trials_done + len(planned) - len(left),
        trials_planned=stand.trials_planned + len(planned),
        trials_invalid=sum(one.outcome is not Outcome.MEASURED for one in state.trials),
        tests=tests,
        blocks_of_tests=spec.trials.min if planned else 0,
    )


def _measuring(state: State, seed: int) -> Schedule:
    """The blocks of the spec's cells; the state has their records alone."""
    spec = state.benchmark.spec
    measured = measured_trials(state.trials)
    invalid = sum(record.outcome is not Outcome.MEASURED for record in state.trials)
    per_block = len(block(spec, seed, 1).trials)
    done = 0
    for current in blocks(spec, seed):
        fewest, most = block_limits(spec)
        if current.index > fewest and not _begun(state, current) and may_stop(state, done):
            return Schedule(
                None, done, done * per_block, done * per_block, invalid, "TargetHalfWidthReached"
            )
        for trial in current.trials:
            if trial.id not in measured:
                planned = max(fewest, current.index) * per_block
                return Schedule(trial, done, len(measured), planned, invalid)
        done = current.index
        if done == most:
            break
    reason = ""
    if spec.trials.target_half_width is not None:
        reason = "TargetHalfWidthReached" if precise_enough(state, done) else "MaxBlocksReached"
    return Schedule(None, done, done * per_block, done * per_block, invalid, reason)


def blocks(spec: DBBenchmarkSpec, seed: int) -> Iterator[Block]:
    """All blocks that may be measured, in order."""
    _, most = block_limits(spec)
    for index in range(1, most + 1):
        yield block(spec, seed, index)


def measured_trials(records: tuple[TrialRecord, ...]) -> frozenset[str]:
    """Ids of the trials that have a valid measurement."""
    return frozenset(record.trial for record in records if record.outcome is Outcome.MEASURED)


def _begun(state: State, current: Block) -> bool:
    """Whether it was decided before that this block is measured."""
    return any(record.block >= current.index for record in state.trials)


def may_stop(state: State, complete_blocks: int) -> bool:
    """Whether the run may end here, between `trials.min` and `trials.max`.

    Without a target the answer is always yes: then `trials.min` alone decides.
    """
    if state.benchmark.spec.trials.target_half_width is None:
        return True
    counts = looks(complete_blocks, state.benchmark.spec.trials.blocks_per_deployment)
    return bool(counts) and all(precise_enough(state, count) for count in counts)


def precise_enough(state: State, blocks: int) -> bool:
    """Whether every interval, from so many blocks, is as narrow as `targetHalfWidth`."""
    wanted = state.benchmark.spec.trials.target_half_width
    if wanted is None:
        return True
    found = primary_slowdowns(state.benchmark, usable_records(state, blocks))
    return narrow_enough((slowdown.interval for slowdown in found), percent(wanted))


def usable_records(state: State, blocks_done: int) -> tuple[TrialRecord, ...]:
    """Everything but measurements of a block that is not complete: those compare nothing yet.

    What tests causes stays: it is in no cell of the spec.
    """
    return tuple(
        record
        for record in state.trials
        if record.outcome is not Outcome.MEASURED
        or record.block <= blocks_done
        or confirms(record.cell)
    )


def attempts_of(records: tuple[TrialRecord, ...], trial: Trial) -> list[TrialRecord]:
    """What came of the trial so far."""
    return [record for record in records if record.trial == trial.id]


def loads_of(records: tuple[LoadRecord, ...], deployment: str, workload: str) -> list[LoadRecord]:
    """What came of loading this workload's data into this deployment so far."""
    return [r for r in records if (r.deployed, r.workload) == (deployment, workload)]
