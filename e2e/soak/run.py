"""One run: created, disturbed, judged, deleted, and looked after."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from subprocess import TimeoutExpired

from access.benchmarks import Benchmark, leftovers
from access.documents import benchmark
from access.kubectl import CallError, Kubectl, Manifest, wait
from access.operator import Helm

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block
from soak.faults import Kind, Plan, Shape
from soak.inject import Injector
from soak.machine import left_on_nodes
from soak.verdict import Ended

SEED = 7
_RUN_SECONDS = 1500.0
_GONE_SECONDS = 240.0
_POLL_SECONDS = 0.2
# A look takes several calls of kubectl, which cost a small machine more than the run itself.
_LOOK_SECONDS = 3.0
_AGAIN_SECONDS = 1.0
# Short: a hung guest is to be noticed within minutes. Long enough for an emulated guest to start.
_TIMEOUTS = {"ready": "4m", "disk": "4m", "load": "2m", "trial": "90s"}
_TWINS = [{"name": "pod", "pod": {}}, {"name": "twin", "pod": {}}]
_TRIALS: Manifest = {"min": 2, "seed": SEED, "contamination": {"maxRepeats": 0}}


def document(name: str, shape: Shape) -> Manifest:
    """The benchmark of a run."""
    spec: Manifest = {"timeouts": _TIMEOUTS, "trials": _TRIALS, "targets": _TWINS}
    if shape is Shape.GUEST:
        del spec["targets"]
        spec["trials"] = _TRIALS | {"min": 1}
    found = benchmark(name, **spec)
    if shape is Shape.MEMORY:
        found["spec"]["database"]["storage"] = {"size": "256Mi", "medium": "Memory"}
    return found


@dataclass
class Watched:
    """What was seen of a run while it lasted, so that what is left of it is known afterwards."""

    pods: set[str] = field(default_factory=set)
    volumes: set[str] = field(default_factory=set)
    trials: dict[str, str] = field(default_factory=dict)

    def look(self, run: Benchmark) -> None:
        """Remember what is there now."""
        self.pods |= {pod["metadata"]["uid"] for pod in run.kubectl.list("pods")}
        claims = run.kubectl.list("persistentvolumeclaims")
        names = [claim["spec"].get("volumeName") for claim in claims]
        self.volumes |= {name for name in names if name}
        self.trials |= {
            key: record["trial"]
            for key, record in run.records().items()
            if record["outcome"] == "Measured"
        }


def disturbed(
    plan: Plan,
    operator: Helm,
    inside: Kubectl,
    *,
    usual: float,
    chance: random.Random,
    say: Callable[[str], None],
    injected: Callable[[Kind, bool], None],
) -> tuple[Ended, set[str]]:
    """How it ended, and what it left. `usual`: seconds of an undisturbed run of its shape.

    TimeoutError for one that does not end.
    """
    name = "run"
    inside.apply(document(name, plan.shape))
    run = Benchmark(inside, name)
    injector = Injector(operator, run, chance)
    watched, began, waiting = Watched(), time.monotonic(), list(plan.faults)
    looked = tried = began
    try:
        while True:
            passed = time.monotonic() - began
            if passed > _RUN_SECONDS:
                raise TimeoutError(f"not over after {passed:.0f} s: {run.status}")
            if time.monotonic() - looked >= _LOOK_SECONDS:
                if _over(run, watched):
                    break
                looked = time.monotonic()
            due = waiting and passed >= waiting[0].instant * usual
            if due and time.monotonic() - tried >= _AGAIN_SECONDS:
                what, tried = injector.inject(waiting[0].kind), time.monotonic()
                if what:
                    injected(waiting.pop(0).kind, True)
                    say(f"{passed:5.0f} s  {what}  (step {_step(run)})")
            time.sleep(_POLL_SECONDS)
    finally:
        injector.repair()
    for fault in waiting:
        injected(fault.kind, False)
    wait("the operator is ready", operator.ready, limit=_GONE_SECONDS)
    ended = wait("the end can be read", lambda: _ended(run, watched, passed), limit=60)
    run.delete(limit=_GONE_SECONDS)
    return ended, _left(inside, watched)


def _over(run: Benchmark, watched: Watched) -> bool:
    """False as well while the API server does not answer."""
    try:
        watched.look(run)
        return bool(run.status.get("completionTime"))
    except (CallError, TimeoutExpired):
        return False


def _step(run: Benchmark) -> str:
    try:
        return run.step()
    except (CallError, TimeoutExpired):
        return "unknown: the API server does not answer"


def _ended(run: Benchmark, watched: Watched, seconds: float) -> Ended:
    watched.look(run)
    body = run.body()
    stalled = run.condition("Stalled")
    spec = DBBenchmarkSpec.model_validate(body["spec"])
    blocks = [block(spec, SEED, index) for index in range(1, spec.trials.min + 1)]
    return Ended(
        succeeded=run.condition("Succeeded").get("status") == "True",
        reason=stalled.get("reason", ""),
        message=stalled.get("message", ""),
        trials_done=body["status"]["progress"]["trialsDone"],
        planned=frozenset(trial.id for one in blocks for trial in one.trials),
        records=run.records(),
        seen=dict(watched.trials),
        seconds=seconds,
    )


def _left(inside: Kubectl, watched: Watched) -> set[str]:
    """What is still there after everything had its time to go."""

    def found() -> set[str]:
        return leftovers(inside) | left_on_nodes(watched.pods, watched.volumes)

    deadline = time.monotonic() + _GONE_SECONDS
    while there := found():
        if time.monotonic() > deadline:
            return there
        time.sleep(1)
    return set()
