"""Metrics, rebuilt from the API server at each scrape, and the HTTP server that shows them.

Series come from status and from the results of finished runs, so they survive a restart of the
operator and disappear with the object. Names have the prefix `dbbench_` and base units; nothing
that identifies a single run is a label.
"""

from collections.abc import Iterator
from typing import Any

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from dbbench.api.quantities import percent
from dbbench.api.spec import Mode
from dbbench.api.status import ConfirmationVerdict
from dbbench.kube.cluster import Cluster, Manifest
from dbbench.kube.kinds import CONFIG_MAP, DBBENCHMARK
from dbbench.reconciler import Reconciler, Statistics
from dbbench.results.series import Series, series_of
from dbbench.results.storage import CONTENT_LABEL, CONTENT_RESULTS
from dbbench.settings import Settings
from dbbench.targets.names import LABEL_MANAGED_BY, MANAGED_BY

_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_CONDITION_STATUSES = ("True", "False", "Unknown")


class Server:
    """Serves /metrics, /healthz and /readyz."""

    def __init__(self, cluster: Cluster, reconciler: Reconciler, settings: Settings) -> None:
        self._cluster = cluster
        self._reconciler = reconciler
        self._settings = settings
        application = web.Application()
        application.router.add_get("/metrics", self._metrics)
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._healthz)
        self._runner = web.AppRunner(application, access_log=None)

    async def start(self) -> None:
        """Listen on all addresses."""
        await self._runner.setup()
        await web.TCPSite(self._runner, port=self._settings.port).start()

    async def stop(self) -> None:
        """Close the listener."""
        await self._runner.cleanup()

    async def _healthz(self, _: web.Request) -> web.Response:
        if self._reconciler.healthy():
            return web.Response(text="ok\n")
        return web.Response(status=503, text="a worker ended or the API server is out of reach\n")

    async def _metrics(self, _: web.Request) -> web.Response:
        benchmarks: list[Manifest] = []
        results: list[Manifest] = []
        selector = f"{LABEL_MANAGED_BY}={MANAGED_BY},{CONTENT_LABEL}={CONTENT_RESULTS}"
        for namespace in self._settings.namespaces or (None,):
            async for page in self._cluster.pages(DBBENCHMARK, namespace):
                benchmarks += map(_shown, page)
            results += await self._cluster.list(CONFIG_MAP, namespace, labels=selector)
        families = [
            *benchmark_families(benchmarks),
            *confirmation_families(benchmarks),
            *result_families(benchmarks, results),
            *own_families(self._reconciler.statistics, len(self._reconciler.queue)),
        ]
        return web.Response(body=render(families), headers={"Content-Type": _CONTENT_TYPE})


def _shown(body: Manifest) -> Manifest:
    """The parts that series are made of: a thousand benchmarks are in memory at once."""
    parts = {
        "metadata": ("namespace", "name", "uid"),
        "spec": ("trials",),
        "status": (
            "comparisons", "conditions", "confirmations", "environment", "progress", "queue",
        ),
    }  # fmt: skip
    return {
        name: {key: body[name][key] for key in keys if key in body[name]}
        for name, keys in parts.items()
        if isinstance(body.get(name), dict)
    }


def render(families: list[Metric]) -> bytes:
    """The Prometheus text format."""

    class Families:
        def collect(self) -> Iterator[Metric]:
            yield from families

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Families())
    return generate_latest(registry)


def benchmark_families(benchmarks: list[Manifest]) -> list[Metric]:
    """Trials, conditions and slowdowns, from the status of each benchmark."""
    identity = ["namespace", "benchmark"]
    info = GaugeMetricFamily(
        "dbbench_benchmark_info",
        "1, with how the targets are measured: mode is Sequential or Duet (at the same time).",
        labels=[*identity, "mode"],
    )
    trials = GaugeMetricFamily(
        "dbbench_trials",
        "Trials of a benchmark, by state: planned, done, invalid (repeated), contaminated (counted "
        "all the same).",
        labels=[*identity, "state"],
    )
    condition = GaugeMetricFamily(
        "dbbench_condition",
        "1 for the status that a condition has.",
        labels=[*identity, "type", "status"],
    )
    position = GaugeMetricFamily(
        "dbbench_queue_position",
        "Place in the queue for the nodes, 1 is next; absent when a benchmark does not wait.",
        labels=identity,
    )
    compared = [*identity, "workload", "cell", "target", "metric", "emulated"]
    slowdown = GaugeMetricFamily(
        "dbbench_slowdown_ratio",
        "Relative slowdown against the baseline: 0.078 is 7.8 % slower.",
        labels=compared,
    )
    bound = GaugeMetricFamily(
        "dbbench_slowdown_bound_ratio",
        "Bounds of the 95 % confidence interval of the slowdown: low, high.",
        labels=[*compared, "bound"],
    )
    floor = GaugeMetricFamily(
        "dbbench_noise_floor_ratio",
        "How far from 0 the interval of the baseline against itself reaches (trials.control).",
        labels=compared,
    )
    overcommitment = GaugeMetricFamily(
        "dbbench_overcommitment_ratio",
        "Sum of the CPUs of a target's instances to those of the node: 1.5 is 150 %.",
        labels=[*identity, "target"],
    )
    for body in benchmarks:
        ident = _identity(body)
        status = body.get("status") or {}
        info.add_metric([*ident, _mode(body)], 1)
        for target in (status.get("environment") or {}).get("targets") or []:
            if target.get("overcommitment"):
                overcommitment.add_metric(
                    [*ident, target["name"]], percent(target["overcommitment"])
                )
        if queue := status.get("queue"):
            position.add_metric(ident, queue["position"])
        progress = status.get("progress") or {}
        for state in ("planned", "done", "invalid", "contaminated"):
            trials.add_metric([*ident, state], progress.get(f"trials{state.capitalize()}", 0))
        for entry in status.get("conditions") or []:
            for value in _CONDITION_STATUSES:
                condition.add_metric([*ident, entry["type"], value], entry["status"] == value)
        for entry in status.get("comparisons") or []:
            labels = [*ident, *_place(entry), entry["metric"], _emulated(entry)]
            slowdown.add_metric(labels, float(entry["slowdown"]))
            if entry.get("noiseFloor"):
                floor.add_metric(labels, float(entry["noiseFloor"]))
            interval = entry.get("confidenceInterval")
            for name in ("low", "high") if interval else ():
                bound.add_metric([*labels, name], float(interval[name]))
    return [info, trials, condition, position, slowdown, bound, floor, overcommitment]


def confirmation_families(benchmarks: list[Manifest]) -> list[Metric]:
    """What came of the tests of causes (spec.confirm), from the status of each benchmark."""
    tested = [
        "namespace", "benchmark", "workload", "cell", "target", "cause", "intervention", "emulated",
    ]  # fmt: skip
    verdict = GaugeMetricFamily(
        "dbbench_confirmation",
        "1 for the verdict that the test of a slowdown's cause has: Confirmed, NotConfirmed, "
        "Inconclusive, NotTested. `intervention` is empty where nothing tests the cause, `cause` "
        "where none is named.",
        labels=[*tested, "verdict"],
    )
    reduction = GaugeMetricFamily(
        "dbbench_confirmation_reduction_ratio",
        "(1 + slowdown without the intervention) / (1 + slowdown with it) - 1: above 0 where it "
        "made the slowdown smaller.",
        labels=tested,
    )
    bound = GaugeMetricFamily(
        "dbbench_confirmation_reduction_bound_ratio",
        "Bounds of the 95 % confidence interval of the reduction: low, high.",
        labels=[*tested, "bound"],
    )
    for body in benchmarks:
        status = body.get("status") or {}
        emulated = {_place(one): _emulated(one) for one in status.get("comparisons") or []}
        for entry in status.get("confirmations") or []:
            place = _place(entry)
            changed = (entry.get("cause", ""), entry.get("intervention") or "")
            labels = [*_identity(body), *place, *changed, emulated.get(place, "")]
            for value in ConfirmationVerdict:
                verdict.add_metric([*labels, value.value], entry["verdict"] == value)
            if entry.get("reduction"):
                reduction.add_metric(labels, float(entry["reduction"]))
            interval = entry.get("confidenceInterval")
            for name in ("low", "high") if interval else ():
                bound.add_metric([*labels, name], float(interval[name]))
    return [verdict, reduction, bound]


def _place(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["workload"], entry["cell"], entry["target"]


def _mode(body: Manifest) -> str:
    """From a spec that the API server may have taken before there was a rule for it."""
    trials = (body.get("spec") or {}).get("trials")
    mode = trials.get("mode") if isinstance(trials, dict) else None
    return Mode.DUET.value if mode == Mode.DUET else Mode.SEQUENTIAL.value


def _emulated(comparison: dict[str, Any]) -> str:
    return str(comparison.get("emulated", False)).lower()


def result_families(benchmarks: list[Manifest], results: list[Manifest]) -> list[Metric]:
    """Runtimes, throughputs and latencies, from the results ConfigMaps of existing benchmarks."""
    owners = {body["metadata"]["uid"]: body for body in benchmarks}
    families: dict[str, GaugeMetricFamily] = {}
    for config_map in results:
        for reference in config_map["metadata"].get("ownerReferences") or []:
            body = owners.get(reference["uid"])
            if body is not None:
                for series in series_of(config_map.get("data") or {}):
                    _add(families, _identity(body), series)
    return list(families.values())


def _add(families: dict[str, GaugeMetricFamily], ident: list[str], series: Series) -> None:
    name, labels = series.family.name, series.family.labels
    if name not in families:
        families[name] = GaugeMetricFamily(
            name, series.family.help, labels=["namespace", "benchmark", *labels]
        )
    families[name].add_metric([*ident, *(series.labels[label] for label in labels)], series.value)


def _identity(body: dict[str, Any]) -> list[str]:
    return [body["metadata"]["namespace"], body["metadata"]["name"]]


def own_families(statistics: Statistics, queue_length: int) -> list[Metric]:
    """What the operator counts about itself."""
    reconciles = CounterMetricFamily(
        "dbbench_operator_reconciles", "Looks at a benchmark.", value=statistics.reconciles
    )
    errors = CounterMetricFamily(
        "dbbench_operator_reconcile_errors",
        "Looks that failed and were tried again.",
        value=statistics.errors,
    )
    durations = HistogramMetricFamily(
        "dbbench_operator_reconcile_duration_seconds",
        "How long one look at a benchmark took.",
        buckets=statistics.durations.buckets(),
        sum_value=statistics.durations.total,
    )
    waits = HistogramMetricFamily(
        "dbbench_operator_queue_wait_seconds",
        "How long a look that was due waited for a worker.",
        buckets=statistics.waits.buckets(),
        sum_value=statistics.waits.total,
    )
    waiting = GaugeMetricFamily(
        "dbbench_operator_queue_length",
        "Benchmarks that wait to be looked at.",
        value=queue_length,
    )
    return [reconciles, errors, durations, waits, waiting]
