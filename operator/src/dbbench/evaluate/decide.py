"""decide(State) -> Decision: the one place where it is settled what happens next. No I/O."""

import hashlib
import json
from dataclasses import replace
from datetime import timedelta

from dbbench.api.spec import CleanupPolicy
from dbbench.api.status import (
    Condition,
    ConditionStatus,
    ConditionType,
    ConfirmationVerdict,
    DBBenchmarkStatus,
    Progress,
)
from dbbench.evaluate import credentials, tenure
from dbbench.evaluate.conditions import FALSE, TRUE, Finding, Phase, phase_findings, updated
from dbbench.evaluate.decision import (
    BLOCKED,
    QUEUED,
    RUNNING,
    SOON,
    WAITING,
    Decision,
)
from dbbench.evaluate.expiry import expiry
from dbbench.evaluate.harvest import (
    finished,
    harvest,
    identities,
    kind_of,
    record_identity,
    recorded_identities,
)
from dbbench.evaluate.outcome import assess, results_manifest
from dbbench.evaluate.pods import active_job_pods
from dbbench.evaluate.preflight import problems
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.schedule import Schedule, schedule
from dbbench.evaluate.state import Manifest, Ref, State, labels_of, parse_timestamp, timestamp
from dbbench.evaluate.step import Failed, Waiting, runs_driver
from dbbench.evaluate.steps import RUNNERS, differs, next_step
from dbbench.evaluate.turns import stop_all
from dbbench.plan import plan_seed
from dbbench.results.confirmation import Confirmation
from dbbench.results.gates import GateOutcome
from dbbench.results.record import Outcome
from dbbench.targets.network_policy import network_policies

HASH_ANNOTATION = "dbbench.io/manifest-hash"


def decide(state: State) -> Decision:
    """What to do about a benchmark, from what is in the cluster and nothing else."""
    benchmark = state.benchmark
    if benchmark.status.completion_time is not None:
        return _finished(state)
    if benchmark.status.start_time is None:
        found = problems(state)
        if found:
            return _blocked(state, found)
    records = harvest(state)
    if records:
        # What comes next need not wait for another look: it is done after they are stored.
        return replace(decide(state.with_records(records)), store=records)
    seed = plan_seed(benchmark.spec, benchmark.metadata.uid)
    stand = schedule(state, seed)
    if benchmark.spec.suspend and not active_job_pods(state):
        return _suspended(state, stand)
    if stand.next_trial is None:
        return _succeeded(state, stand)
    if not tenure.holds(benchmark.status):
        return _admitted(state, stand) if state.wait is None else _queued(state, stand, state.wait)
    step = next_step(state, stand.next_trial)
    if isinstance(step, Failed):
        return _failed(state, stand, step.problem)
    if _overdue(state, step) and step.overdue is not None:
        return _failed(state, stand, step.overdue)
    return _running(state, stand, step)


def _overdue(state: State, step: Waiting) -> bool:
    progress = state.benchmark.status.progress
    if step.limit_seconds is None or progress is None or progress.step_start_time is None:
        return False
    if progress.step != step.step:
        return False
    waited = state.now - parse_timestamp(progress.step_start_time)
    return waited > timedelta(seconds=step.limit_seconds)


def _admitted(state: State, stand: Schedule) -> Decision:
    """Takes the nodes, and does nothing else: others see it before there is anything to see."""
    status = _status(
        state, stand, Phase.RUNNING, "Running", "has its nodes", current="starting", step="admitted"
    )
    return Decision(status=status, requeue_after=SOON)


def _queued(state: State, stand: Schedule, wait: tenure.Wait) -> Decision:
    """Nothing is deployed, or nothing any more; a run that has not begun can still be changed."""
    before = state.benchmark.status
    generation = state.benchmark.metadata.generation
    findings = phase_findings(Phase.RUNNING, tenure.QUEUED, wait.message)
    status = before.model_copy(
        update={
            "observed_generation": generation,
            "reason": tenure.QUEUED,
            "conditions": updated(before.conditions, findings, generation, state.now),
            "queue": wait.place,
            "progress": _progress(state, stand, wait.message, "queued", completed=True),
        }
    )
    return Decision(status=status, requeue_after=QUEUED)


def _running(state: State, stand: Schedule, step: Waiting) -> Decision:
    status = _status(
        state,
        stand,
        Phase.RUNNING,
        "Running",
        step.description,
        current=step.description,
        step=step.step,
    )
    policies = network_policies(state.context) if state.network_policies else ()
    before = state.benchmark.status.progress
    begun = before is None or before.step != step.step
    return Decision(
        status=status,
        create_credentials=credentials.to_be_made(state),
        create=step.created,
        apply=tuple(_stamped(m) for m in (*policies, *step.objects) if _needs_apply(state, m)),
        delete=(*_recorded_jobs(state), *step.removed),
        # What is made at once, such as a ConfigMap, has no event that tells of it; a job has.
        requeue_after=RUNNING if runs_driver(step.step) else SOON if begun else WAITING,
    )


def _suspended(state: State, stand: Schedule) -> Decision:
    waiting = stop_all(state)
    if waiting and state.benchmark.status.start_time:
        # Its nodes are its own until nothing of it runs there.
        phase, reason, said = Phase.RUNNING, "Suspending", f"{waiting.description}"
    else:
        phase, reason, said = Phase.SUSPENDED, tenure.SUSPENDED, "nothing new is started"
    status = _status(
        state,
        stand,
        phase,
        reason,
        f"spec.suspend is true: {said}",
        current=reason.lower(),
        step=reason.lower(),
    )
    return Decision(
        status=status,
        apply=tuple(_stamped(m) for m in waiting.objects if _needs_apply(state, m))
        if waiting
        else (),
        delete=_recorded_jobs(state),
        requeue_after=WAITING if waiting else None,
    )


def _blocked(state: State, found: tuple[Problem, ...]) -> Decision:
    """Nothing has been deployed; looked at again, since what is missing can appear."""
    message = " ".join(problem.message for problem in found)
    base = state.benchmark.status
    status = base.model_copy(
        update={
            "observed_generation": state.benchmark.metadata.generation,
            "reason": found[0].reason,
            "queue": None,
            "conditions": updated(
                base.conditions,
                phase_findings(Phase.STALLED, found[0].reason, message),
                state.benchmark.metadata.generation,
                state.now,
            ),
        }
    )
    return Decision(status=status, requeue_after=BLOCKED)


def _failed(state: State, stand: Schedule, problem: Problem) -> Decision:
    status = _status(
        state,
        stand,
        Phase.STALLED,
        problem.reason,
        problem.message,
        current=f"failed: {problem.reason}",
        step="failed",
        completed=True,
    )
    return _terminal(state, stand, status)


def _succeeded(state: State, stand: Schedule) -> Decision:
    assessment = assess(state, stand)
    missed = missed_gates(assessment.gates)
    if missed:
        phase, reason, message = Phase.GATE_FAILED, "GateFailed", missed
    else:
        phase, reason = Phase.SUCCEEDED, "Measured"
        message = f"{stand.trials_done} trials in {stand.blocks_measured} blocks are measured"
        if stand.stop_reason:
            message += f" ({stand.stop_reason})"
        message += _tested(assessment.confirmations)
    status = _status(
        state, stand, phase, reason, message, current="done", step="done", completed=True
    )
    return _terminal(state, stand, status)


def _tested(confirmations: tuple[Confirmation, ...]) -> str:
    """`; causes of slowdowns: 1 Confirmed, 2 NotTested`; empty where there are none to test."""
    verdicts = [found.verdict for found in confirmations]
    counts = [
        f"{verdicts.count(one)} {one.value}" for one in ConfirmationVerdict if one in verdicts
    ]
    return f"; causes of slowdowns: {', '.join(counts)}" if counts else ""


def _terminal(state: State, stand: Schedule, status: DBBenchmarkStatus) -> Decision:
    return Decision(
        status=status,
        apply=(_stamped(results_manifest(state, assess(state, stand, latencies=True))),),
        delete=_leftovers(state, status),
        requeue_after=SOON,
    )


def _finished(state: State) -> Decision:
    """After the end: results stay, the rest goes as the policy says; in time, all of it goes."""
    status = state.benchmark.status
    expires = expiry(state.benchmark.spec.ttl_after_finished, status.completion_time)
    left = None if expires is None else (expires - state.now).total_seconds()
    if left is not None and left <= 0:
        return Decision(status=status, expired=True, requeue_after=WAITING)
    leftovers = _leftovers(state, status)
    observed = status.model_copy(
        update={"observed_generation": state.benchmark.metadata.generation}
    )
    again = left if not leftovers else min(WAITING, left or WAITING)
    return Decision(status=observed, delete=leftovers, requeue_after=again)


def _leftovers(state: State, status: DBBenchmarkStatus) -> tuple[Ref, ...]:
    policy = state.benchmark.spec.cleanup_policy
    succeeded = any(
        condition.type == ConditionType.STALLED and condition.status == ConditionStatus.FALSE
        for condition in status.conditions
    )
    if policy is CleanupPolicy.NEVER or (policy is CleanupPolicy.ON_SUCCESS and not succeeded):
        return ()
    # The password last: without it, databases look as if somebody had deleted it.
    objects = sorted(state.objects.items(), key=lambda item: (item[0].kind == "Secret", item[0]))
    return tuple(
        ref
        for ref, manifest in objects
        if labels_of(manifest).get("app.kubernetes.io/component") != "results"
        and not manifest["metadata"].get("deletionTimestamp")
    )


def _recorded_jobs(state: State) -> tuple[Ref, ...]:
    """Jobs whose successful result is safe. Failed ones stay to be looked at until the end."""
    kept = {record_identity(record) for record in state.records if record.outcome is Outcome.FAILED}
    recorded = recorded_identities(state) - kept
    return tuple(
        Ref("Job", job["metadata"]["name"])
        for job in state.of_kind("Job")
        if kind_of(job) in ("load", "trial")
        and finished(job)
        and identities(job) <= recorded
        and not job["metadata"].get("deletionTimestamp")
    )


def _status(
    state: State,
    stand: Schedule,
    phase: Phase,
    reason: str,
    message: str,
    *,
    current: str,
    step: str,
    completed: bool = False,
) -> DBBenchmarkStatus:
    benchmark, before = state.benchmark, state.benchmark.status
    assessment = assess(state, stand)
    findings: dict[ConditionType, Finding] = phase_findings(phase, reason, message)
    findings[ConditionType.FAIRNESS_VERIFIED] = assessment.fairness
    findings[ConditionType.REPRESENTATIVE] = assessment.representative
    if benchmark.spec.gates:
        findings[ConditionType.GATES_PASSED] = _gates_finding(assessment.gates, completed)
    conditions: list[Condition] = updated(
        before.conditions, findings, benchmark.metadata.generation, state.now
    )
    # Suspended from the beginning, a run has not started: its spec can still be changed.
    start = before.start_time or (None if phase is Phase.SUSPENDED else timestamp(state.now))
    return before.model_copy(
        update={
            "observed_generation": benchmark.metadata.generation,
            "seed": plan_seed(benchmark.spec, benchmark.metadata.uid),
            "start_time": start,
            "completion_time": timestamp(state.now) if completed else None,
            "reason": reason,
            "worst_slowdown": assessment.worst_slowdown,
            "conditions": conditions,
            "queue": None,
            "progress": _progress(state, stand, current, step, completed),
            "comparisons": list(assessment.analysis.comparisons),
            "confirmations": [found.as_status() for found in assessment.confirmations],
            "instances": list(assessment.analysis.instance_results),
            "environment": assessment.environment,
            "results_ref": assessment.results_ref if completed else before.results_ref,
        }
    )


def missed_gates(outcomes: tuple[GateOutcome, ...]) -> str:
    """Names every gate that did not pass; empty when all did."""
    return " ".join(outcome.message for outcome in outcomes if not outcome.passed)


def _gates_finding(outcomes: tuple[GateOutcome, ...], completed: bool) -> Finding:
    if not completed:
        return Finding(ConditionStatus.UNKNOWN, "Running", "gates are evaluated at the end")
    missed = missed_gates(outcomes)
    if missed:
        return Finding(FALSE, "SlowdownTooGreat", missed)
    return Finding(TRUE, "Passed", f"{len(outcomes)} gates passed")


def _progress(state: State, stand: Schedule, current: str, step: str, completed: bool) -> Progress:
    before = state.benchmark.status.progress
    same = before is not None and before.step == step and before.step_start_time
    began = before.step_start_time if same and before else timestamp(state.now)
    planned = max(stand.trials_planned, 1)
    return Progress(
        trials_done=stand.trials_done,
        trials_planned=stand.trials_planned,
        trials_invalid=stand.trials_invalid,
        trials_contaminated=sum(record.counts_though_contaminated for record in state.trials),
        percent=100 * stand.trials_done // planned,
        current=current[:1024],
        step=step[:253],
        step_start_time=began,
        estimated_completion_time=None if completed else _estimate(state, stand),
    )


def _estimate(state: State, stand: Schedule) -> str | None:
    """Now plus the remaining trials, at the pace since the first trial began."""
    measured = [r for r in state.trials if r.outcome is Outcome.MEASURED]
    if not measured:
        return None
    first = min(parse_timestamp(record.started) for record in measured)
    last = max(parse_timestamp(record.finished) for record in measured)
    pace = (last - first) / len(measured)
    remaining = pace * max(stand.trials_planned - stand.trials_done, 0)
    return timestamp(max(last + remaining, state.now))


def _needs_apply(state: State, manifest: Manifest) -> bool:
    live = state.objects.get(Ref(manifest["kind"], manifest["metadata"]["name"]))
    if live is None:
        return True
    if live["metadata"].get("deletionTimestamp"):
        return False
    annotations = live["metadata"].get("annotations") or {}
    if annotations.get(HASH_ANNOTATION) != manifest_hash(manifest):
        return True
    # Somebody has started or stopped it by hand.
    return manifest["kind"] in RUNNERS and differs(state, manifest)


def manifest_hash(manifest: Manifest) -> str:
    """Identifies what was asked for, so that an object is written only when that changes."""
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _stamped(manifest: Manifest) -> Manifest:
    annotations = (manifest["metadata"].get("annotations") or {}) | {
        HASH_ANNOTATION: manifest_hash(manifest)
    }
    return manifest | {"metadata": manifest["metadata"] | {"annotations": annotations}}
