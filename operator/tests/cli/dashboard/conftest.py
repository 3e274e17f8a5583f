"""Benchmarks in every state behind an API server, a dashboard of them, and a browser."""

import copy

import pytest

from dbbench.cli.dashboard.connection import Connection
from dbbench.cli.dashboard.server import Server
from dbbench.cli.where import Where
from tests.cli.dashboard import chromium

GROUP = "/apis/dbbench.io/v1alpha1"
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\'&amp;</td>'


def comparison(slowdown, **more):
    return {
        "workload": "orders", "cell": "", "target": "vm", "metric": "throughput",
        "unit": "per_second", "baselineValue": "150", "targetValue": "100",
        "slowdown": str(slowdown), "verdict": "Slower", "blocks": 2,
        "confidenceInterval": {"low": str(slowdown - 0.1), "high": str(slowdown + 0.1)},
        **more,
    }  # fmt: skip


@pytest.fixture
def named(body_of):
    """A benchmark of that name in the namespace db, or in another."""

    def make(name, *conditions, namespace="db", **status):
        body = copy.deepcopy(body_of(*conditions, **status))
        body["metadata"] |= {
            "name": name, "namespace": namespace, "uid": f"u-{name}",
            "creationTimestamp": "2026-11-21T07:00:00Z",
        }  # fmt: skip
        return body

    return make


@pytest.fixture
def running(named):
    """Half done, with a result that is emulated, and text that would like to be markup."""
    return named(
        "running",
        ("Succeeded", "Unknown", "Running"),
        ("Representative", "False", "Emulated", f"no hardware virtualization {HOSTILE}"),
        reason="Running",
        startTime="2026-11-21T08:00:00Z",
        progress={
            "trialsDone": 3, "trialsPlanned": 6, "percent": 50, "current": f"measuring {HOSTILE}",
            "estimatedCompletionTime": "2200-01-01T00:00:00Z",
        },
        comparisons=[
            comparison(0.5, emulated=True, cause=f"exits: 60 % of it {HOSTILE}"),
            comparison(0.02, cell="clients=8", verdict="Inconclusive"),
        ],
        confirmations=[
            {"workload": "orders", "cell": "", "target": "vm", "cause": "exits",
             "slowdownBefore": "0.5", "verdict": "Confirmed", "message": f"confirmed {HOSTILE}"},
        ],
    )  # fmt: skip


@pytest.fixture
def every_state(named, running):
    """One in each state."""
    return [
        named("new", observedGeneration=-1),
        named("queued", reason="Queued", queue={"position": 2, "node": "node a",
                                                "benchmark": "db/running"}),
        named("next", reason="Queued", queue={"position": 1, "node": "node a",
                                              "benchmark": "db/running"}),
        running,
        named("early", ("Succeeded", "True", "Measured", "6 trials"),
              completionTime="2026-11-20T08:00:00Z", comparisons=[
                  comparison(-0.1, verdict="Faster"), comparison(-0.2, verdict="Equivalent")]),
        named("late", ("Stalled", "True", "GateFailed", "too slow"),
              completionTime="2026-11-21T08:00:00Z"),
    ]  # fmt: skip


@pytest.fixture
def put(api):
    """Makes these benchmarks those that the API server has from now on."""

    def replace(*bodies, namespace="db"):
        answer = (200, {"items": list(bodies), "metadata": {}})
        api.answers[f"{GROUP}/namespaces/{namespace}/dbbenchmarks"] = [answer]
        api.answers[f"{GROUP}/dbbenchmarks"] = [answer]
        for body in bodies:
            place = body["metadata"]["namespace"]
            path = f"{GROUP}/namespaces/{place}/dbbenchmarks/{body['metadata']['name']}"
            api.answers[path] = [(200, body)]

    return replace


@pytest.fixture
async def dashboard(api):
    """A dashboard of the namespace db: the address of its first page."""
    async with (
        Connection(Where(None, None, None), everywhere=False) as connection,
        Server(connection, "127.0.0.1", 0) as server,
    ):
        yield server.url


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A Chromium for all tests of a file: where its DevTools are."""
    with chromium.running(tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
async def tab(browser):
    """A page in it with nothing of other tests."""
    async with chromium.tab(browser) as found:
        yield found
