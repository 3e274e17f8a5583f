"""A benchmark in the states that `watch` sees, and an HTTP server that answers with it."""

import asyncio
import base64
import threading

import pytest
import yaml
from aiohttp import web

from dbbench.api.benchmark import DBBenchmark
from dbbench.evaluate.recompute import recompute
from dbbench.plan import block, plan_seed
from dbbench.results import storage
from dbbench.results.archive import Archive, described
from dbbench.results.documents import results_data
from dbbench.results.record import Outcome, TrialRecord

GROUP = "/apis/dbbench.io/v1alpha1"
QUICK = f"{GROUP}/namespaces/db/dbbenchmarks/quick"
CONFIG_MAPS = "/api/v1/namespaces/db/configmaps"

SPEC = {
    "database": {"engine": "PostgreSQL", "image": "postgres:17"},
    "placement": {
        "database": {"nodeSelector": {"kubernetes.io/hostname": "a"}},
        "driver": {"nodeSelector": {"kubernetes.io/hostname": "b"}},
    },
    "baseline": "pod",
    "targets": [{"name": "pod", "pod": {}}, {"name": "vm", "virtualMachine": {}}],
    "workloads": [{"name": "orders", "tpcc": {"warehouses": 5}}],
}


def condition(kind, status, reason="Measured", message=""):
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-11-21T08:00:00Z",
    }


@pytest.fixture
def body_of():
    """A DBBenchmark as the API server returns it, with that status."""

    def make(*conditions, **status):
        return {
            "apiVersion": "dbbench.io/v1alpha1",
            "kind": "DBBenchmark",
            "metadata": {"name": "quick", "namespace": "db", "uid": "u", "generation": 1},
            "spec": SPEC,
            "status": {
                "observedGeneration": 1,
                "conditions": [condition(*one) for one in conditions],
                **status,
            },
        }

    return make


@pytest.fixture
def benchmark_of(body_of):
    """The same as the commands have it."""

    def make(*conditions, **status):
        return DBBenchmark.parse(body_of(*conditions, **status))

    return make


class ApiServer:
    """Answers GET requests from lists: each answer once, and the last one for ever.

    An answer is (HTTP status, body), a log's body a text; a path without answers gives 404 as an
    API server does for an object or, for an unknown resource, in plain text. What is sent with POST
    is kept in `created`, unless `refusals` has an HTTP status for its path or it is a dry run. What
    is deleted is kept in `deleted`, and has no answers any more. `appears` are answers from when
    something has been created.
    """

    def __init__(self):
        self.answers = {}
        self.requested = []
        self.created = []
        self.deleted = []
        self.appears = {}
        self.refusals = {}

    async def create(self, request):
        self.requested.append(request.path)
        if status := self.refusals.get(request.path):
            return web.json_response({"message": "refused by the test"}, status=status)
        body = await request.json()
        if "dryRun" not in request.query:
            self.created.append(body)
            self.answers |= self.appears
        return web.json_response(body, status=201)

    async def delete(self, request):
        self.deleted.append((request.path, await request.json()))
        self.answers.pop(request.path, None)
        return web.json_response({"kind": "Status"})

    async def handle(self, request):
        self.requested.append(request.path)
        queue = self.answers.get(request.path)
        if not queue:
            return web.Response(status=404, text="404 page not found\n")
        status, body = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(body, str):
            return web.Response(text=body, status=status)
        return web.json_response(body, status=status)


@pytest.fixture
def api(monkeypatch, tmp_path):
    """The server, running on a port of its own, with a kubeconfig that leads there."""
    server = ApiServer()
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    ports = []

    async def serve():
        application = web.Application()
        application.router.add_get("/{path:.*}", server.handle)
        application.router.add_post("/{path:.*}", server.create)
        application.router.add_delete("/{path:.*}", server.delete)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        ports.append(runner.addresses[0][1])
        return runner

    def run():
        asyncio.set_event_loop(loop)
        runner = loop.run_until_complete(serve())
        # Not before: a test that ends at once would stop the loop before it runs for ever.
        loop.call_soon(ready.set)
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{ports[0]}"}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
                "contexts": [
                    {"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "db"}}
                ],
                "current-context": "x",
            }
        )
    )
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    yield server
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


def record(trial, vm, pod):
    """A trial of `orders`: transactions per second of its target, a little more in each block."""
    rate = (vm if trial.target == "vm" else pod) + trial.block
    return TrialRecord(
        trial=trial.id, block=trial.block, target=trial.target, workload="orders", cell="",
        attempt=1, outcome=Outcome.MEASURED, reason="Measured", message="",
        started="2026-11-21T08:00:00Z", finished="2026-11-21T08:01:00Z",
        result={
            "metrics": [{"name": "throughput", "unit": "per_second", "value": rate}],
            "operations": [],
            "target": {"facts": {"kernel": "6.1"}},
        },
    )  # fmt: skip


@pytest.fixture
def record_of():
    """Makes the record of a trial."""
    return record


@pytest.fixture
def exported(body_of):
    """A benchmark with two blocks, and the documents that belong to them."""
    body = body_of(
        ("Succeeded", "True"), resultsRef={"configMap": "quick-results"},
        completionTime="2026-11-21T09:00:00Z",
    )  # fmt: skip
    benchmark = DBBenchmark.parse(body)
    seed = plan_seed(benchmark.spec, "u")
    trials = tuple(
        record(trial, vm=100.0, pod=150.0)
        for n in (1, 2, 3)
        for trial in block(benchmark.spec, seed, n).trials
    )
    records = tuple(sorted(trials, key=lambda one: (one.block, one.trial)))
    return Archive(
        described(body), records, (),
        results_data(recompute(Archive(described(body), records, (), {}))),
    )  # fmt: skip


@pytest.fixture
def served(api, exported):
    """The API server with that benchmark, and a ConfigMap that only looks as if it belonged."""
    owner = {"apiVersion": "dbbench.io/v1alpha1", "kind": "DBBenchmark", "name": "quick"}
    items = [
        {
            "metadata": {"name": name, "ownerReferences": [owner | {"uid": "u"}]},
            "binaryData": data,
        }
        for name, data in storage.shard("quick", exported.trials).items()
    ]
    foreign = base64.b64encode(b"no gzip").decode()
    items.append(
        {
            "metadata": {"name": "other", "ownerReferences": [owner | {"uid": "another"}]},
            "binaryData": {"b001.vm.orders.1.json.gz": foreign},
        }
    )
    body = exported.body | {"metadata": exported.body["metadata"] | {"annotations": {"a": "b"}}}
    api.answers[QUICK] = [(200, body)]
    api.answers[CONFIG_MAPS] = [(200, {"items": items, "metadata": {}})]
    api.answers[f"{CONFIG_MAPS}/quick-results"] = [(200, {"data": exported.published})]
    return api
