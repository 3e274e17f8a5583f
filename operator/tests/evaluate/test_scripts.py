"""The user's own statements: what is missing is named, and a run keeps what they said."""

from typing import Any

import pytest

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.preflight import problems
from dbbench.evaluate.scripts import config_maps_of
from dbbench.evaluate.state import Ref
from dbbench.kube.gather import gather

from .model_cluster import IMAGES, ModelCluster, spec

COPY = Ref("ConfigMap", "bench-mine-scripts")
ORDER = {"name": "order", "configMapKeyRef": {"name": "orders", "key": "order.sql"}}
LOOK = {"name": "look", "weight": 3, "text": "SELECT 1"}
SETUP = {"configMapKeyRef": {"name": "orders", "key": "tables.sql"}}
THERE = {"orders": {"order.sql": "UPDATE a", "tables.sql": "CREATE TABLE a ()", "more": "x"}}


def workloads() -> list[dict[str, Any]]:
    mine = {"name": "mine", "sql": {"setup": SETUP, "scripts": [LOOK, ORDER]}}
    return [{"name": "telecom", "tatp": {"subscribers": 1000}}, mine]


def cluster(scripts: dict[str, dict[str, str]] | None) -> ModelCluster:
    return ModelCluster(spec(workloads=workloads()), scripts=scripts)


@pytest.mark.parametrize(
    ("scripts", "reason", "says"),
    [
        (
            {},
            "ConfigMapNotFound",
            "spec.workloads[1].sql.setup.configMapKeyRef.name: ConfigMap 'orders' does not exist "
            "in namespace ns. Make it with `kubectl create configmap orders -n ns "
            "--from-file=tables.sql=FILE`.",
        ),
        (
            {"orders": THERE["orders"] | {"order.sql": ""}},
            "ConfigMapKeyMissing",
            "spec.workloads[1].sql.scripts[1].configMapKeyRef.key: ConfigMap 'orders' in namespace "
            "ns has no text under the key 'order.sql'; its keys are: more, order.sql, tables.sql. ",
        ),
        (
            {"orders": {"tables.sql": "x", "order.sql": "-" * 950_000}},
            "ScriptsTooLarge",
            "spec.workloads[1].sql: setup and scripts have 950009 bytes together",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_script_that_is_missing_stalls_the_benchmark_until_it_is_there(
    scripts: dict[str, dict[str, str]], reason: str, says: str
) -> None:
    model = cluster(scripts)
    model.step()
    stalled = model.condition("Stalled")
    assert (stalled["status"], stalled["reason"]) == ("True", reason)
    assert says in stalled["message"]
    assert model.objects == {}
    model.scripts = THERE
    model.run()
    assert model.condition("Succeeded")["status"] == "True"


def test_scripts_of_config_maps_that_may_not_be_read_are_not_judged() -> None:
    assert problems(cluster(None).state()) == ()


def test_a_run_keeps_what_the_scripts_said_when_it_began() -> None:
    model = cluster(THERE)
    texts = []
    for _ in range(200):
        model.step()
        if COPY in model.objects:
            texts.append(model.objects[COPY]["data"])
            # Changed by the user, and gone.
            model.scripts = {}
        if "completionTime" in model.status:
            break
    assert model.condition("Succeeded")["status"] == "True"
    wanted = {"_setup.sql": "CREATE TABLE a ()", "look.sql": "SELECT 1", "order.sql": "UPDATE a"}
    assert texts
    assert all(text == wanted for text in texts)
    loads = {name for name in model.jobs_run if "-load-" in name}
    assert {"bench-load-pod-mine-1", "bench-load-vm-mine-1"} < loads


def test_a_copy_is_made_before_anything_is_deployed() -> None:
    model = cluster(THERE)
    while not model.starts:
        model.step()
        if model.objects:
            assert COPY in model.objects


def test_without_a_setup_nothing_is_loaded() -> None:
    model = cluster({})
    model.spec["workloads"][1]["sql"] = {"scripts": [LOOK]}
    model.run()
    assert not any("-load-" in name and "mine" in name for name in model.jobs_run)
    assert any("-mine-" in name for name in model.jobs_run)


def test_a_copy_that_cannot_be_made_anew_ends_the_run() -> None:
    model = cluster(THERE)
    while COPY not in model.objects:
        model.step()
    del model.objects[COPY]
    model.scripts = {}
    model.run()
    assert model.condition("Stalled")["reason"] == "ConfigMapNotFound"


def test_a_mistake_in_a_script_is_not_repeated_and_its_line_is_told() -> None:
    error = '{"kind":"Error","exitCode":2,"reason":"InvalidScript","message":"look.sql:2: no"}'
    model = cluster(THERE)
    model.fail = lambda job: error if "-mine-" in job["metadata"]["name"] else None
    model.run()
    stalled = model.condition("Stalled")
    assert stalled["reason"] == "InvalidScript"
    assert "failed after the first attempt" in stalled["message"]
    assert "look.sql:2: no" in stalled["message"]


class Cluster:
    """An API server with two ConfigMaps of the user's, and nothing else."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def serves(self, _kind: Any) -> bool:
        return False

    async def readable(self, _kind: Any) -> tuple[()]:
        return ()

    async def version(self) -> str:
        return "v1.34.4"

    async def list(self, kind: Any, _namespace: str, *, labels: str = "", fields: str = "") -> Any:
        if fields:
            self.asked.append(f"{kind.name} {fields}")
            return [{"metadata": {"name": "orders"}, "data": THERE["orders"]}]
        owner = {"ownerReferences": [{"uid": "u"}]}
        copy = {"kind": kind.name, "metadata": {"name": "bench-mine-scripts", **owner}}
        return [copy] if kind.name == "ConfigMap" and "bench" in labels else []


async def test_the_users_config_maps_are_read_until_there_is_a_copy() -> None:
    body: dict[str, Any] = {
        "metadata": {"name": "bench", "namespace": "ns", "uid": "u"},
        "spec": spec(workloads=workloads(), targets=[{"name": n, "pod": {}} for n in ("pod", "b")]),
    }
    before = Cluster()
    state = await gather(before, DBBenchmark.parse(body), IMAGES, privileged_targets=False)  # type: ignore[arg-type]
    assert before.asked == ["ConfigMap metadata.name=orders"]
    assert state.scripts == THERE
    body["status"] = {"startTime": "2026-01-01T00:00:00Z"}
    after = Cluster()
    state = await gather(after, DBBenchmark.parse(body), IMAGES, privileged_targets=False)  # type: ignore[arg-type]
    assert config_maps_of(state) == set()
    assert not any("orders" in one for one in after.asked)
