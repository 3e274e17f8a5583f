"""Monitoring as users of the Prometheus operator have it: the real one finds what the chart makes,
and a real Prometheus with what it writes scrapes the operator, loads the rules, and fires an alert.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from access.benchmarks import Benchmark
from access.documents import benchmark, on_node
from access.kubectl import Kubectl, wait
from access.operator import DEPLOYMENT, NAMESPACE, SETTINGS, Helm
from access.prometheus import Prometheus, running
from access.prometheus_operator import installed, observe, without_discovery

# As kube-prometheus-stack selects: by the name of its own release.
RELEASE = "monitoring"
MONITORED = (
    "metrics.serviceMonitor.enabled=true",
    "metrics.serviceMonitor.interval=1s",
    f"metrics.serviceMonitor.labels.release={RELEASE}",
    "prometheusRule.enabled=true",
    "prometheusRule.failedAfter=1s",
    f"prometheusRule.labels.release={RELEASE}",
)
SCRAPED_SECONDS = 120


@pytest.fixture(scope="module")
def prometheus(operator: Helm, module_namespace: Kubectl) -> Iterator[Prometheus]:
    """One that runs as the Prometheus operator says, itself in a namespace that is `restricted`."""
    enforce = "pod-security.kubernetes.io/enforce=restricted"
    module_namespace("label", "namespace", module_namespace.namespace, enforce, "--overwrite")
    with installed(module_namespace):
        try:
            operator.install(*SETTINGS, *MONITORED)
            written = observe(module_namespace, {"release": RELEASE})
            configuration = without_discovery(operator.kubectl, written.configuration)
            with running(configuration, written.rules) as server:
                yield server
        finally:
            operator.install(*SETTINGS)


def test_the_service_monitor_is_found_and_its_target_is_up(prometheus: Prometheus) -> None:
    (target,) = prometheus.targets()
    assert target["health"] == "up"
    assert target["scrapePool"] == f"serviceMonitor/{NAMESPACE}/{DEPLOYMENT}/0"
    assert target["labels"]["service"] == f"{DEPLOYMENT}-metrics"
    assert target["labels"]["namespace"] == NAMESPACE


def test_series_do_not_change_with_the_operator_s_pod(prometheus: Prometheus) -> None:
    series = wait(
        "series of the operator",
        lambda: prometheus.query("dbbench_operator_reconcile_duration_seconds_count"),
        limit=SCRAPED_SECONDS,
    )
    for one in series:
        assert not {"instance", "pod", "container"} & set(one["metric"])


def test_every_rule_is_loaded_and_healthy(prometheus: Prometheus, operator: Helm) -> None:
    made = operator.kubectl.within(NAMESPACE).get("prometheusrule", DEPLOYMENT)
    assert made is not None
    (group,) = made["spec"]["groups"]

    def evaluated() -> list[dict[str, Any]] | None:
        loaded = prometheus.rule_groups()
        known = all(rule["health"] != "unknown" for one in loaded for rule in one["rules"])
        return loaded if loaded and known else None

    (loaded,) = wait("rules are evaluated", evaluated, limit=SCRAPED_SECONDS)
    assert loaded["name"] == group["name"]
    assert {rule["name"]: rule["health"] for rule in loaded["rules"]} == {
        rule["alert"]: "ok" for rule in group["rules"]
    }


def test_the_alert_of_a_failed_benchmark_fires_and_ends_with_it(
    prometheus: Prometheus, namespace: Kubectl
) -> None:
    """It asks for a node that there is not: nothing of it is ever deployed."""
    placement = {"database": on_node("bench-9"), "driver": on_node("bench-driver")}
    namespace.apply(benchmark("unplaced", placement=placement))
    failed = Benchmark(namespace, "unplaced")
    assert failed.wait_until_stalled(limit=60)["reason"] == "NodeNotFound"

    def firing() -> list[dict[str, Any]]:
        return [
            alert
            for alert in prometheus.alerts()
            if alert["state"] == "firing"
            and alert["labels"]["alertname"] == "DBBenchmarkFailed"
            and alert["labels"]["namespace"] == namespace.namespace
        ]

    (alert,) = wait("its alert fires", firing, limit=SCRAPED_SECONDS)
    assert alert["labels"]["benchmark"] == "unplaced"
    assert alert["labels"]["severity"] == "warning"
    place = f"{namespace.namespace}/unplaced"
    assert alert["annotations"]["summary"] == f"Benchmark {place} failed"
    failed.delete()
    wait("its alert ends", lambda: not firing(), limit=SCRAPED_SECONDS)
