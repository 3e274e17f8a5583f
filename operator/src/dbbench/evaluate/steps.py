"""The next step of a run: what must exist now, what is waited for, and for how long. No I/O.

A step is derived from the cluster on every look. `Waiting` is the only outcome that time can turn
into a failure: its limit counts from when the step was first seen (status.progress.stepStartTime).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from dbbench.api.quantities import duration
from dbbench.api.target import Target
from dbbench.evaluate import credentials
from dbbench.evaluate.diagnosis import explain, hopeless
from dbbench.evaluate.harvest import finished, is_final
from dbbench.evaluate.pods import filling_pods, is_ready, target_pods
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.schedule import MAX_ATTEMPTS, attempts_of, loads_of
from dbbench.evaluate.scripts import copies, script_problems, uncopied
from dbbench.evaluate.state import Manifest, Ref, State, labels_of, parse_timestamp
from dbbench.evaluate.step import Failed, Step, Waiting
from dbbench.evaluate.turns import remove_others, stop_earlier_turn, stop_others
from dbbench.plan import Trial
from dbbench.results.record import CONTAMINATED, LoadRecord, Outcome, TrialRecord
from dbbench.targets.build import foundation, instance, preparation
from dbbench.targets.cloud_native_pg import HIBERNATION, PRIMARY, ROLE_LABEL
from dbbench.targets.cloud_native_pg import KIND as CLUSTER
from dbbench.targets.jobs import load_job, trial_job


def next_step(state: State, trial: Trial) -> Step:
    """What must happen so that this trial gets measured.

    In order: the user's scripts are copied; other deployments stop and, where each block has its
    own, are removed; this one stops if it still runs from an earlier block; the guest's disk is
    made, the database starts and answers, each workload is loaded, the trial runs.
    Nothing of it without the password of the databases.
    Of an external target only the copies and the last two; the others stop for it all the same.
    In a duet, two deployments do each of this one after the other, and the last at the same time.
    """
    here = state.at(trial.point)
    targets = [here.benchmark.spec.target(one.deployment) for one in trial.together]
    deployed = [target for target in targets if target.deployed]
    return (
        _password(state)
        or _scripts(state)
        or stop_others(state, targets)
        or remove_others(state, trial)
        or stop_earlier_turn(here, deployed, trial)
        or _of_each(deployed, lambda target: _disk(here, target))
        or _of_each(deployed, lambda target: _start(here, target))
        or _of_each(targets, lambda target: _loads(here, target, trial))
        or _trial(here, trial)
    )


def _of_each(targets: Sequence[Target], step: Callable[[Target], Step | None]) -> Step | None:
    """The step of the first target that needs it; None when none does any more."""
    return next((found for target in targets if (found := step(target)) is not None), None)


def _password(state: State) -> Step | None:
    problem = credentials.problem(state)
    return Failed(problem) if problem else None


def _scripts(state: State) -> Step | None:
    """Keeps what the user's scripts say now; None when all have their copies."""
    workloads = uncopied(state)
    if not workloads:
        return None
    found = state.scripts or {}
    if problem := next(script_problems(state.benchmark, found), None):
        return Failed(problem)
    return Waiting(
        step="scripts",
        description=f"copying the scripts of {', '.join(workloads)}",
        created=copies(state, found),
        limit_seconds=duration(state.benchmark.spec.timeouts.ready),
    )


def _of_instances(
    state: State, target: Target, kind: str, of_one: Callable[[State, Target], Step | None]
) -> Step | None:
    """The same step of all instances at once; None when none of them needs it any more."""
    steps = [of_one(state, one) for one in state.benchmark.spec.instances(target.name)]
    waiting = [step for step in steps if isinstance(step, Waiting)]
    for step in steps:
        if isinstance(step, Failed):
            return step
    if not waiting:
        return None
    first, *others = waiting
    return replace(
        first,
        step=f"{kind}:{target.name}",
        description=first.description + (f" and {len(others)} more" if others else ""),
        objects=tuple(manifest for step in waiting for manifest in step.objects),
        limit_seconds=max(step.limit_seconds or 0 for step in waiting),
    )


def _disk(state: State, target: Target) -> Step | None:
    return _of_instances(state, target, "disk", _disk_of)


def _disk_of(state: State, target: Target) -> Step | None:
    job = preparation(state.context, target)
    if job is None:
        return None
    name = job["metadata"]["name"]
    live = state.objects.get(Ref("Job", name))
    ended = finished(live) if live else None
    what = f"target {target.name!r}: the guest's root disk (job {name})"
    if ended and ended["type"] == "Complete":
        return None
    pods = [pod for pod in state.pods if labels_of(pod).get("job-name") == name]
    if ended:
        fallback = Problem(
            "DiskNotMade",
            f"{what} was not made: {ended.get('message', '')}. Check that "
            "spec.targets[].virtualMachine.rootDiskSize holds the image's files and that the image "
            "is Linux/amd64.",
        )
        found = explain(state, f"{what} was not made", pods, [name], fallback)
        hint = "" if found is fallback else f" {_DISK_HINT}"
        return Failed(Problem("DiskNotMade", found.message + hint))
    if problem := hopeless(pods, state.benchmark.metadata.namespace):
        return Failed(problem)
    return Waiting(
        step=f"disk:{target.name}",
        description=f"making the root disk of {target.name} from the image",
        objects=(*foundation(state.context, target), job),
        limit_seconds=duration(state.benchmark.spec.timeouts.disk)
        if pods and all(_has_started(pod) for pod in pods)
        else duration(state.benchmark.spec.timeouts.ready),
        overdue=explain(
            state,
            what,
            pods,
            [name],
            Problem("DiskNotMade", f"{what} is not finished within its timeout."),
        ),
    )


_DISK_HINT = "The disk holds the image's files: check spec.targets[].virtualMachine.rootDiskSize."


def _has_started(pod: Manifest) -> bool:
    return pod.get("status", {}).get("phase") not in (None, "Pending")


def _start(state: State, target: Target) -> Step | None:
    return _of_instances(state, target, "start", _start_of)


def _start_of(state: State, target: Target) -> Step | None:
    pods = target_pods(state, target.name)
    machine = instance(state.context, target, running=True)
    objects = (*foundation(state.context, target), machine)
    # What somebody deletes in the middle of a run is made anew.
    complete = not any(_missing(state, manifest) for manifest in objects)
    if complete and _answers(state, machine, pods) and not differs(state, machine):
        return None
    pods += filling_pods(state, target.name)
    if problem := hopeless(pods, state.benchmark.metadata.namespace):
        return Failed(Problem(problem.reason, f"target {target.name!r}: {problem.message}"))
    limit = state.benchmark.spec.timeouts.ready
    name = machine["metadata"]["name"]
    return Waiting(
        step=f"start:{target.name}",
        description=f"starting {target.name}",
        objects=objects,
        limit_seconds=duration(limit),
        overdue=explain(
            state,
            f"target {target.name!r} is not ready after {limit}",
            pods,
            [name],
            Problem(
                "TargetNotReady",
                f"target {target.name!r} is not ready after {limit}: {machine['kind']} {name} has "
                "no pod. See `kubectl describe` of it, or raise spec.timeouts.ready.",
            ),
        ),
    )


def _answers(state: State, machine: Manifest, pods: Sequence[Manifest]) -> bool:
    """Whether the database accepts connections; of a cluster the primary's and every standby."""
    if machine["kind"] != CLUSTER:
        return any(is_ready(pod) for pod in pods)
    live = state.objects.get(Ref(CLUSTER, machine["metadata"]["name"]), {})
    wanted = machine["spec"]["instances"]
    ready = [pod for pod in pods if is_ready(pod)]
    primary = any(labels_of(pod).get(ROLE_LABEL) == PRIMARY for pod in ready)
    # Its status lags behind the pods when it has been stopped, so both count.
    reported = live.get("status", {}).get("readyInstances") or 0
    return primary and len(ready) >= wanted and reported >= wanted


def _missing(state: State, manifest: Manifest) -> bool:
    return Ref(manifest["kind"], manifest["metadata"]["name"]) not in state.objects


RUNNERS = ("StatefulSet", "VirtualMachine", CLUSTER)
"""Kinds of what runs a database."""


def differs(state: State, manifest: Manifest) -> bool:
    """Whether what runs a database is to be started or stopped: it is not what was asked for."""
    live = state.objects.get(Ref(manifest["kind"], manifest["metadata"]["name"]))
    if live is None:
        return True
    if manifest["kind"] == CLUSTER:
        asked, given = (one["metadata"].get("annotations") or {} for one in (manifest, live))
        return bool(given.get(HIBERNATION) != asked[HIBERNATION])
    if manifest["kind"] == "StatefulSet":
        return bool(live["spec"].get("replicas") != manifest["spec"]["replicas"])
    return bool(live["spec"].get("runStrategy") != manifest["spec"]["runStrategy"])


def _loads(state: State, target: Target, trial: Trial) -> Step | None:
    """All workloads before the first trial; where a cause is tested, those that are slower."""
    for workload in state.benchmark.spec.workloads:
        if not workload.has_data:
            continue
        if trial.cell.intervention and workload.name != trial.cell.workload:
            continue
        records = loads_of(state.loads, target.name, workload.name)
        kept = [record for record in records if not _lost(state, target, record)]
        if any(record.outcome is Outcome.MEASURED for record in kept):
            continue
        what = f"loading {workload.name} into {target.name}"
        attempt = len(records) + 1
        job = load_job(state.context, target, workload, attempt)
        return _job_step(state, f"load:{target.name}/{workload.name}", what, job, kept, attempt)
    return None


def _lost(state: State, target: Target, record: LoadRecord) -> bool:
    """Whether the record is of an earlier start, and the data of that one ended with it."""
    if state.benchmark.spec.keeps_data(target):
        return False
    pods = target_pods(state, target.name)
    return any(parse_timestamp(record.started) < _last_start(pod) for pod in pods)


def _last_start(pod: Manifest) -> datetime:
    """When what holds such data began: a guest begins anew with its container."""
    statuses = pod.get("status", {}).get("containerStatuses") or []
    running = [status.get("state", {}).get("running") or {} for status in statuses]
    starts = [state["startedAt"] for state in running if state.get("startedAt")]
    return max(map(parse_timestamp, [pod["metadata"]["creationTimestamp"], *starts]))


def _trial(state: State, trial: Trial) -> Step:
    records = attempts_of(state.trials, trial)
    cell = f" ({trial.cell.name})" if trial.cell.name else ""
    targets = " and ".join(one.target for one in trial.together)
    what = f"{targets}: {trial.cell.workload}{cell}, block {trial.block}"
    job = trial_job(state.context, trial, len(records) + 1)
    return _job_step(state, f"trial:{trial.id}", what, job, records, len(records) + 1)


def _job_step(
    state: State,
    step: str,
    what: str,
    job: Manifest,
    records: list[TrialRecord] | list[LoadRecord],
    attempt: int,
) -> Step:
    """Runs the job, unless the attempts before it say that it makes no sense.

    `attempt` is the job's own number; it exceeds the records' count where older ones do not count.
    """
    failures = [record for record in records if record.reason != CONTAMINATED]
    if records and (len(failures) >= MAX_ATTEMPTS or is_final(records[-1])):
        last = failures[-1]
        count = f"{len(records)} attempts" if len(records) > 1 else "the first attempt"
        return Failed(Problem(last.reason, f"{what} failed after {count}: {last.message}"))
    name = job["metadata"]["name"]
    pods = [pod for pod in state.pods if labels_of(pod).get("job-name") == name]
    if problem := hopeless(pods, state.benchmark.metadata.namespace):
        return Failed(Problem(problem.reason, f"{what}: {problem.message}"))
    started = any(_has_started(pod) for pod in pods)
    suffix = f", attempt {len(records) + 1}" if records else ""
    return Waiting(
        step=f"{step}/{attempt}",
        description=what + suffix,
        objects=(job,),
        limit_seconds=None if started else duration(state.benchmark.spec.timeouts.ready),
        overdue=explain(
            state,
            f"{what}: job {name} does not start",
            pods,
            [name],
            Problem("JobNotStarted", f"{what}: the pod of job {name} does not start."),
        ),
    )
