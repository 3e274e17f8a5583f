"""Finished jobs -> records. No I/O.

A job's outcome becomes a record exactly once: the record's identity (trial or load, and attempt)
is in the job's labels, so whoever harvests it again makes the same record.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dbbench.evaluate import contamination
from dbbench.evaluate.state import Manifest, State, labels_of
from dbbench.plan import plan_seed, trial_of
from dbbench.results.driver_log import DriverOutput, parse
from dbbench.results.instances import combined, each
from dbbench.results.record import CONTAMINATED, LoadRecord, Outcome, TrialRecord

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
        and identity(job) not in recorded
    ]


def recorded_identities(state: State) -> frozenset[tuple[str, ...]]:
    """Identities, as `identity` gives them, of everything that has a record."""
    return frozenset(record_identity(record) for record in state.records)


def record_identity(record: TrialRecord | LoadRecord) -> tuple[str, ...]:
    """The identity of the job that the record is of."""
    if isinstance(record, TrialRecord):
        return ("trial", record.trial, str(record.attempt))
    return ("load", record.target, record.deployment, record.workload, str(record.attempt))


def kind_of(job: Manifest) -> str:
    """`load`, `trial` or `disk`."""
    return labels_of(job).get("dbbench.io/job", "")


def identity(job: Manifest) -> tuple[str, ...]:
    """What the job measures or loads, and which attempt it is."""
    labels = labels_of(job)
    attempt = labels["dbbench.io/attempt"]
    if kind_of(job) == "trial":
        return ("trial", labels["dbbench.io/trial"], attempt)
    deployment = labels.get("dbbench.io/deployment", "")
    return (
        "load", labels["dbbench.io/target"], deployment, labels["dbbench.io/workload"], attempt
    )  # fmt: skip


def finished(job: Manifest) -> Manifest | None:
    """The condition Complete or Failed of a job that has ended; None while it runs."""
    for condition in job.get("status", {}).get("conditions") or []:
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return dict(condition)
    return None


def harvest(state: State) -> tuple[TrialRecord | LoadRecord, ...]:
    """Records of all finished jobs that have none yet and whose log has been looked for."""
    recorded = recorded_identities(state)
    records = []
    for job in unrecorded_jobs(state.of_kind("Job"), recorded):
        name = job["metadata"]["name"]
        if name in state.logs:
            records.append(_record(state, job, state.logs[name]))
    return tuple(records)


def _record(state: State, job: Manifest, logs: Sequence[str | None]) -> TrialRecord | LoadRecord:
    condition = finished(job)
    if condition is None:
        raise ValueError(f"job {job['metadata']['name']} has not ended")
    verdict = _judge(job, condition, logs)
    status, labels = job["status"], labels_of(job)
    common: dict[str, Any] = {
        "target": labels["dbbench.io/target"],
        "workload": labels["dbbench.io/workload"],
        "attempt": int(labels["dbbench.io/attempt"]),
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "message": verdict.message,
        "started": status.get("startTime") or job["metadata"]["creationTimestamp"],
        "finished": status.get("completionTime") or condition["lastTransitionTime"],
        "result": verdict.result,
        "instances": verdict.instances,
    }
    if kind_of(job) == "load":
        return LoadRecord(deployment=labels.get("dbbench.io/deployment", ""), **common)
    benchmark = state.benchmark
    seed = plan_seed(benchmark.spec, benchmark.metadata.uid)
    trial = trial_of(benchmark.spec, seed, labels["dbbench.io/trial"])
    record = TrialRecord(trial=trial.id, block=trial.block, cell=trial.cell.name, **common)
    if record.outcome is not Outcome.MEASURED:
        return record
    found = contamination.signs(state, trial, record.documents)
    if not found:
        return record
    again = contamination.is_repeated(state, trial, seed)
    return replace(
        record,
        outcome=Outcome.INVALID if again else Outcome.MEASURED,
        reason=CONTAMINATED,
        message="; ".join(found),
    )


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
    if worst.outcome is Outcome.MEASURED and condition["type"] == "Failed":
        return replace(
            found,
            outcome=Outcome.FAILED,
            reason=condition.get("reason") or "JobFailed",
            message=f"job {name} wrote a result but failed: {condition.get('message', '')}",
        )
    return found


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
