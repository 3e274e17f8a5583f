"""Between the turns of deployments: what stops, and what is removed. No I/O."""

from collections.abc import Sequence

from dbbench.api.quantities import duration
from dbbench.api.target import Target
from dbbench.evaluate.harvest import kind_of
from dbbench.evaluate.pods import created, target_pods
from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import Ref, State, labels_of, parse_timestamp
from dbbench.evaluate.step import Waiting
from dbbench.plan import Trial
from dbbench.plan.deployment import blocks_of, confirming_points, deployment_points, of_block
from dbbench.targets.build import instance
from dbbench.targets.names import LABEL_DEPLOYMENT, LABEL_TARGET, place


def stop_all(state: State) -> Waiting | None:
    """Stops every target; None when none runs."""
    return _stop(_deployments(state))


def stop_others(state: State, targets: Sequence[Target]) -> Waiting | None:
    """Stops every target but these."""
    kept = {target.name for target in targets}
    return _stop([one for one in _deployments(state) if one[1].name not in kept])


def _deployments(state: State) -> list[tuple[State, Target]]:
    """Every deployment that can have pods, as a target of the state at its point."""
    spec = state.benchmark.spec
    points = [*deployment_points(spec), *confirming_points(spec)]
    if spec.trials.redeploy:
        there = blocks_of(labels_of(pod).get(LABEL_DEPLOYMENT, "") for pod in state.pods)
        points = [of_block(point, index) for index in there for point in points]
    return [
        (here, target)
        for point in points
        for here in [state.at(point)]
        for target in here.benchmark.spec.measured_targets
        if target.deployed
    ]


def remove_others(state: State, trial: Trial) -> Waiting | None:
    """With `trials.redeploy`: what is not needed any more; None when nothing of it is there.

    A deployment for one block has one turn, so that all others have had theirs; those for several
    stay until all of these blocks are measured. It is waited for, so that the next one has their
    room. Jobs of the driver stay, as long as they always do.
    """
    if not trial.deployed_for:
        return None
    own = [place(one.deployment).items() for one in trial.together]
    several = state.benchmark.spec.trials.blocks_per_deployment > 1
    left = {
        ref: manifest
        for ref, manifest in sorted(state.objects.items())
        if (labels := labels_of(manifest)).get(LABEL_TARGET)
        and not any(place_of_one <= labels.items() for place_of_one in own)
        and not (several and blocks_of([labels.get(LABEL_DEPLOYMENT, "")]) == [trial.deployed_for])
        and kind_of(manifest) not in ("load", "trial")
    }
    if not left:
        return None
    targets = dict.fromkeys(labels_of(manifest)[LABEL_TARGET] for manifest in left.values())
    names = ", ".join(targets)
    first = next(iter(left))
    return Waiting(
        step=f"remove:{'+'.join(targets)}",
        description=f"removing what {names} had",
        removed=tuple(
            ref
            for ref, manifest in left.items()
            if not manifest["metadata"].get("deletionTimestamp")
        ),
        limit_seconds=duration(state.benchmark.spec.timeouts.ready),
        overdue=Problem(
            "TargetNotRemoved",
            f"what an earlier deployment of {names} had is not removed: {first.kind} {first.name} "
            "is still there. `kubectl describe` it: a finalizer or a pod that uses it holds it.",
        ),
    )


def stop_earlier_turn(state: State, targets: Sequence[Target], trial: Trial) -> Waiting | None:
    """The last of a block is often the first of the next; it starts anew like every other."""
    measured = {one.target for one in trial.together}
    before = [
        parse_timestamp(record.started)
        for record in state.trials
        if record.target in measured and record.block < trial.block
    ]
    return _stop(
        [
            (state, target)
            for target in targets
            if before and any(created(pod) < max(before) for pod in target_pods(state, target.name))
        ]
    )


def _stop(deployments: Sequence[tuple[State, Target]]) -> Waiting | None:
    running = [target.name for here, target in deployments if target_pods(here, target.name)]
    if not running:
        return None
    state, _ = deployments[0]
    manifests = [
        instance(here.context, one, running=False)
        for here, target in deployments
        for one in here.benchmark.spec.instances(target.name)
    ]
    stopped = [
        manifest
        for manifest in manifests
        if Ref(manifest["kind"], manifest["metadata"]["name"]) in state.objects
    ]
    names = ", ".join(running)
    return Waiting(
        step=f"stop:{'+'.join(running)}",
        description=f"stopping {names}",
        objects=tuple(stopped),
        limit_seconds=duration(state.benchmark.spec.timeouts.ready),
        overdue=Problem(
            "TargetNotStopped",
            f"target {names} does not stop: its pod is still there. See `kubectl get pods "
            f"-n {state.benchmark.metadata.namespace} -l "
            f"dbbench.io/benchmark={state.benchmark.metadata.name}`.",
        ),
    )
