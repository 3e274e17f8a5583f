"""Finished jobs -> records. No I/O.

A job's outcome becomes a record exactly once: the record's identity (trial or load, and attempt)
is in the job's labels, so whoever harvests it again makes the same record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbbench.evaluate import contamination
from dbbench.evaluate.state import Manifest, State, labels_of
from dbbench.plan import Trial, plan_seed, trial_of
from dbbench.results.driver_log import DriverOutput, parse
from dbbench.results.instances import combined, each
from dbbench.results.record import CONTAMINATED, LoadRecord, Outcome, TrialRecord
from dbbench.targets.names import LABEL_PARTNER, LABEL_TRIAL

# Exit codes of the driver after which another attempt can end no differently.
_FINAL = {2: "InvalidArguments", 4: "ConsistencyCheckFailed"}
# A mistake in the user's own statements, of which the message has the line.
_OF_SCRIPTS = "InvalidScript"
_INVALID_EXIT_CODE = 5
# The end of the driver of one instance ends those of the others, which say this.
_CONSEQUENCE = "ProcessLost"


@dataclass(frozen=True)
class Verdict:
    """What a finished job amounts to."""

    outcome: Outcome
    reason: str
    message: str
    result: dict[str, Any] | None
    instances: tuple[dict[str, Any], ...] = ()


def unrecorded_jobs(jobs: list[Manifest], recorded: frozenset[tuple[str, ...]]) -> list[Manifest]:
    """Finished load and trial jobs that have no record yet."""
    return [
        job
        for job in jobs
        if kind_of(job) in ("load", "trial")
        and finished(job) is not None
        and not identities(job) <= recorded
    ]


def recorded_identities(state: State) -> frozenset[tuple[str, ...]]:
    """Identities, as `identities` gives them, of everything that has a record."""
    return frozenset(record_identity(record) for record in state.records)


def record_identity(record: TrialRecord | LoadRecord) -> tuple[str, ...]:
    """The identity of the job that the record is of."""
    if isinstance(record, TrialRecord):
        return ("trial", record.trial, str(record.attempt))
    return ("load", record.target, record.deployment, record.workload, str(record.attempt))


def kind_of(job: Manifest) -> str:
    """`load`, `trial` or `disk`."""
    return labels_of(job).get("dbbench.io/job", "")


def identities(job: Manifest) -> frozenset[tuple[str, ...]]:
    """What the job measures or loads, and which attempt it is; of a duet both trials."""
    labels = labels_of(job)
    attempt = labels["dbbench.io/attempt"]
    if kind_of(job) == "trial":
        trials = (labels[name] for name in (LABEL_TRIAL, LABEL_PARTNER) if name in labels)
        return frozenset(("trial", trial, attempt) for trial in trials)
    place = (labels["dbbench.io/target"], labels.get("dbbench.io/deployment", ""))
    return frozenset({("load", *place, labels["dbbench.io/workload"], attempt)})


def finished(job: Mapping[str, Any]) -> Manifest | None:
    """The condition Complete or Failed of a job that has ended; None while it runs."""
    for condition in (job.get("status") or {}).get("conditions") or []:
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return dict(condition)
    return None


def harvest(state: State) -> tuple[TrialRecord | LoadRecord, ...]:
    """Records of all finished jobs that have none yet and whose log has been looked for."""
    recorded = recorded_identities(state)
    return tuple(
        record
        for job in unrecorded_jobs(state.of_kind("Job"), recorded)
        for logs in [state.logs.get(job["metadata"]["name"])]
        if logs is not None
        for record in _records(state, job, logs)
        if record_identity(record) not in recorded
    )


def _records(
    state: State, job: Manifest, logs: Sequence[str | None]
) -> Sequence[TrialRecord | LoadRecord]:
    """One record; of a duet, one of each of its trials."""
    condition = finished(job)
    if condition is None:
        raise ValueError(f"job {job['metadata']['name']} has not ended")
    status, labels = job["status"], labels_of(job)
    common: dict[str, Any] = {
        "workload": labels["dbbench.io/workload"],
        "attempt": int(labels["dbbench.io/attempt"]),
        "started": status.get("startTime") or job["metadata"]["creationTimestamp"],
        "finished": status.get("completionTime") or condition["lastTransitionTime"],
    }
    if kind_of(job) == "load":
        place = (labels["dbbench.io/target"], labels.get("dbbench.io/deployment", ""))
        common |= dict(zip(("target", "deployment"), place, strict=True))
        return [LoadRecord(**common, **vars(_judge(job, condition, logs)))]
    benchmark = state.benchmark
    seed = plan_seed(benchmark.spec, benchmark.metadata.uid)
    trials = trial_of(benchmark.spec, seed, labels[LABEL_TRIAL]).together
    verdicts = (
        [_judge(job, condition, logs)]
        if len(trials) == 1
        else _judge_duet(job, condition, logs, trials)
    )
    records = [
        TrialRecord(
            trial=trial.id,
            block=trial.block,
            cell=trial.cell.name,
            target=trial.target,
            **common,
            **vars(verdict),
        )
        for trial, verdict in zip(trials, verdicts, strict=True)
    ]
    # Of a duet of which one record is stored already, the other one must get the same verdict.
    before = [one for one in state.trials if record_identity(one) not in identities(job)]
    return _examined(replace(state, trials=tuple(before)), trials, records, seed)


def _examined(
    state: State, trials: Sequence[Trial], records: Sequence[TrialRecord], seed: int
) -> Sequence[TrialRecord]:
    """Measured trials, marked where something disturbed one of them."""
    if any(record.outcome is not Outcome.MEASURED for record in records):
        return records
    found = [
        f"{trial.target}: {sign}" if trial.partner else sign
        for trial, record in zip(trials, records, strict=True)
        for sign in contamination.signs(state, trial, record.documents)
    ]
    if not found:
        return records
    again = contamination.is_repeated(state, trials, seed)
    return [
        replace(
            record,
            outcome=Outcome.INVALID if again else Outcome.MEASURED,
            reason=CONTAMINATED,
            message="; ".join(found),
        )
        for record in records
    ]


def _judge_duet(
    job: Manifest, condition: Manifest, logs: Sequence[str | None], trials: Sequence[Trial]
) -> list[Verdict]:
    """Both trials count, or neither: what one of them lacks, the other one lacks to compare with.

    The reason is that of the worse one in both.
    """
    name = job["metadata"]["name"]
    verdicts = [
        _of_log(f"job {name}, {trial.target}", condition, log)
        for trial, log in zip(trials, logs, strict=True)
    ]
    worst = max(verdicts, key=_weight)
    if worst.outcome is Outcome.MEASURED:
        return [_of_job(job, condition, verdict) for verdict in verdicts]
    return [
        replace(
            verdict,
            outcome=Outcome.INVALID if verdict.outcome is Outcome.MEASURED else verdict.outcome,
            reason=worst.reason,
            message=worst.message,
        )
        for verdict in verdicts
    ]


def _judge(job: Manifest, condition: Manifest, logs: Sequence[str | None]) -> Verdict:
    """Of several instances, the verdict that says most is that of the trial or load."""
    name = job["metadata"]["name"]
    several = len(logs) > 1
    subjects = [f"job {name}{f', instance {n}' if several else ''}" for n in range(len(logs))]
    verdicts = [
        _of_log(subject, condition, log) for subject, log in zip(subjects, logs, strict=True)
    ]
    worst = max(verdicts, key=_weight)
    results = [verdict.result for verdict in verdicts if verdict.result is not None]
    found = worst
    if several and len(results) == len(logs):
        found = replace(worst, result=combined(results), instances=each(results))
    elif several:
        found = replace(worst, result=None)
    return _of_job(job, condition, found)


def _of_job(job: Manifest, condition: Manifest, found: Verdict) -> Verdict:
    """What a measurement amounts to whose job may have failed all the same."""
    if found.outcome is not Outcome.MEASURED or condition["type"] != "Failed":
        return found
    name, message = job["metadata"]["name"], condition.get("message", "")
    return replace(
        found,
        outcome=Outcome.FAILED,
        reason=condition.get("reason") or "JobFailed",
        message=f"job {name} wrote a result but failed: {message}",
    )


def _weight(verdict: Verdict) -> tuple[int, bool]:
    """A cause weighs more than what followed from it."""
    severity = (Outcome.MEASURED, Outcome.INVALID, Outcome.FAILED).index(verdict.outcome)
    return severity, verdict.reason != _CONSEQUENCE


def _of_log(subject: str, condition: Manifest, log: str | None) -> Verdict:
    if log is None:
        if condition.get("reason") == "DeadlineExceeded":
            return Verdict(
                Outcome.FAILED,
                "DeadlineExceeded",
                f"{subject} took longer than its timeout allows; raise spec.timeouts.",
                None,
            )
        return Verdict(
            Outcome.FAILED,
            "ResultLost",
            f"{subject} ended, but its pod and log are gone, as after the loss of a node.",
            None,
        )
    output = parse(log)
    if output.error is not None:
        return _of_error(subject, output)
    if output.result is None:
        return Verdict(
            Outcome.FAILED,
            "NoResult",
            f"{subject} ended ({condition.get('reason') or condition['type']}) without a result "
            "document.",
            None,
        )
    if output.result.get("valid") is not True:
        reasons = ", ".join(output.result.get("invalidReasons") or []) or "no reason given"
        return Verdict(Outcome.INVALID, "Invalid", f"{subject}: {reasons}", output.result)
    return Verdict(Outcome.MEASURED, "Measured", "", output.result)


def _of_error(subject: str, output: DriverOutput) -> Verdict:
    error = output.error or {}
    code = error.get("exitCode")
    outcome = Outcome.INVALID if code == _INVALID_EXIT_CODE else Outcome.FAILED
    reason = str(error.get("reason") or "DriverFailed")
    if reason != _OF_SCRIPTS:
        reason = _FINAL.get(code or 0, reason)
    return Verdict(
        outcome, reason, f"{subject}: {error.get('message', 'no message')}", output.result
    )


def is_final(record: TrialRecord | LoadRecord) -> bool:
    """Whether another attempt can only end in the same way."""
    return record.reason in (*_FINAL.values(), _OF_SCRIPTS)
