"""What happens to a run when the operator dies, and when the object is deleted."""

from collections import Counter

from access.benchmarks import Benchmark, leftovers
from access.documents import benchmark
from access.kubectl import Kubectl, wait
from access.operator import NAMESPACE, Helm

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan import block

STEP_SECONDS = 300
RUN_SECONDS = 900
SEED = 7
# Repetitions of disturbed trials would make the time depend on what else the machine does.
TWO_BLOCKS = {"min": 2, "seed": SEED, "contamination": {"maxRepeats": 0}}
# The first block begins with the guest where the seed is SEED, and with the pod where it is this.
POD_FIRST = 1
REDEPLOYED = TWO_BLOCKS | {"min": 1, "redeploy": True}


def test_killing_the_operator_three_times_changes_nothing_but_the_time(
    operator: Helm, namespace: Kubectl
) -> None:
    namespace.apply(benchmark("killed", trials=TWO_BLOCKS))
    run = Benchmark(namespace, "killed")
    spec = DBBenchmarkSpec.model_validate(run.body()["spec"])
    first, second = (block(spec, SEED, number).turns for number in (1, 2))

    # While data are loaded, in the middle of a trial, and while a target of the next block starts.
    for step in (
        f"load:{first[0].target}/",
        f"trial:{first[1].trials[0].id}",
        f"start:{second[1].target}",
    ):
        run.wait_for_step(step, limit=STEP_SECONDS)
        assert operator.kill()
        wait("a new operator is ready", operator.ready, limit=120)
    run.wait_until_succeeded(limit=RUN_SECONDS)

    records = run.records()
    planned = {trial.id for turn in (*first, *second) for trial in turn.trials}
    assert Counter(record["trial"] for record in records.values()) == dict.fromkeys(planned, 1)
    assert {record["outcome"] for record in records.values()} == {"Measured"}
    assert {record["attempt"] for record in records.values()} == {1}
    loads = run.records("loads").values()
    assert [load for load in loads if load["outcome"] != "Measured"] == []
    assert set(Counter((load["target"], load["workload"]) for load in loads).values()) == {1}
    assert run.status["progress"]["trialsInvalid"] == 0

    run.delete()
    wait("nothing is left", lambda: not leftovers(namespace), limit=120)


def test_deletion_in_the_middle_of_a_run_leaves_nothing(operator: Helm, namespace: Kubectl) -> None:
    namespace.apply(benchmark("deleted", trials={"min": 5, "seed": POD_FIRST}))
    run = Benchmark(namespace, "deleted")
    run.wait_for_step("trial:b001.pod.", limit=RUN_SECONDS)
    kinds = {child.split("/")[0] for child in run.children()}
    assert {"pod", "statefulset.apps", "job.batch", "persistentvolumeclaim", "secret"} <= kinds

    run.delete()
    wait("nothing is left", lambda: not leftovers(namespace), limit=180)
    # The operator does not bring anything back.
    assert operator.kill()
    wait("a new operator is ready", operator.ready, limit=120)
    assert not leftovers(namespace)


def test_deletion_while_the_operator_is_away_leaves_nothing(
    operator: Helm, namespace: Kubectl
) -> None:
    namespace.apply(benchmark("orphaned", trials={"min": 5, "seed": SEED}))
    run = Benchmark(namespace, "orphaned")
    run.wait_for_step("trial:b001.vm.", limit=RUN_SECONDS)
    system = operator.kubectl.within(NAMESPACE)
    system("scale", "deployment", "dbbench-operator", "--replicas=0")
    try:
        wait("the operator is gone", lambda: not operator.pods(), limit=60)
        run.delete()
        wait("nothing is left", lambda: not leftovers(namespace), limit=180)
    finally:
        system("scale", "deployment", "dbbench-operator", "--replicas=1")
    wait("the operator is back", operator.ready, limit=120)


def test_suspend_stops_and_resume_goes_on_with_what_was_deployed_for_the_block(
    operator: Helm, namespace: Kubectl
) -> None:
    """With `redeploy`: of the first deployment nothing is there when the second has its turn."""
    namespace.apply(benchmark("paused", trials=REDEPLOYED))
    run = Benchmark(namespace, "paused")
    run.wait_for_step("trial:", limit=RUN_SECONDS)
    patch = '{{"spec": {{"suspend": {value}}}}}'
    namespace("patch", "dbb", "paused", "--type=merge", "-p", patch.format(value="true"))

    def stopped() -> bool:
        databases = namespace.list("pods", "app.kubernetes.io/component=target")
        return run.status.get("reason") == "Suspended" and not databases

    wait("every target is stopped", stopped, limit=STEP_SECONDS)
    finished = set(run.records())
    assert finished, "the trial that ran is kept"
    assert targets_with_objects(namespace) == {"vm"}
    namespace("patch", "dbb", "paused", "--type=merge", "-p", patch.format(value="false"))
    run.wait_for_step("load:pod@block1/", limit=RUN_SECONDS)
    assert targets_with_objects(namespace) == {"pod"}
    run.wait_until_succeeded(limit=RUN_SECONDS)
    assert finished <= set(run.records())
    loads = run.records("loads").values()
    assert [load for load in loads if load["outcome"] != "Measured"] == []
    assert sorted(load["target"] for load in loads) == ["pod", "vm"]
    assert {load["deployment"] for load in loads} == {"block1"}


def targets_with_objects(namespace: Kubectl) -> set[str]:
    """Targets that have anything of a deployment."""
    kinds = "persistentvolumeclaims,statefulsets,services,configmaps"
    found = namespace.list(kinds, "dbbench.io/target")
    return {one["metadata"]["labels"]["dbbench.io/target"] for one in found}


def test_two_on_the_same_nodes_take_turns_and_are_gone_in_time(
    operator: Helm, namespace: Kubectl
) -> None:
    """Neither gets further than its image, so that it has its nodes for the time of one step."""
    database = {
        **benchmark("x")["spec"]["database"],
        "image": "localhost/dbbench/no-such-image:1",
    }
    first, second = Benchmark(namespace, "first"), Benchmark(namespace, "second")
    spec = {
        "database": database,
        "timeouts": {"ready": "15s", "disk": "15s"},
        "cleanupPolicy": "Always",
        "ttlAfterFinished": "20s",
    }
    namespace.apply(benchmark("first", **spec))
    wait("the first has its nodes", lambda: first.status.get("startTime"), limit=STEP_SECONDS)
    namespace.apply(benchmark("second", **spec))

    def waits() -> bool:
        return bool(second.condition("Reconciling").get("reason") == "Queued")

    wait("the second waits", waits, limit=STEP_SECONDS)
    assert "startTime" not in second.status
    place = second.status["queue"]
    assert (place["position"], place["benchmark"]) == (1, f"{namespace.namespace}/first")
    assert namespace.list("pods", "dbbench.io/benchmark=second") == []
    first.wait_until_stalled(limit=STEP_SECONDS)
    given_back = first.status["completionTime"]
    second.wait_until_stalled(limit=STEP_SECONDS)
    assert given_back <= second.status["startTime"]
    for run in (first, second):
        wait(f"{run.name} is deleted", lambda run=run: not run.exists(), limit=STEP_SECONDS)
    wait("nothing is left", lambda: not leftovers(namespace), limit=STEP_SECONDS)
