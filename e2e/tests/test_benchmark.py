"""A pod against a QEMU VM, with the workloads of a database, from `kubectl apply` to nothing left.

One benchmark runs once; the tests look at it from all sides, in the order of this file.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from access.benchmarks import Benchmark, leftovers
from access.documents import benchmark
from access.kubectl import Kubectl, run, wait
from access.operator import NAMESPACE, Helm
from access.paths import DBBENCH, PROJECT
from access.prometheus import Prometheus, scraping

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.evaluate.properties import PROPERTIES
from dbbench.plan import block

SCRIPTS = {
    "tables.sql": "DROP TABLE IF EXISTS item;\nCREATE TABLE item (id int PRIMARY KEY, stock int);\n"
    "INSERT INTO item SELECT n, n % 7 FROM generate_series(1, 1000) AS n;\n",
    "buy.sql": "\\set id random(1, 1000)\nUPDATE item SET stock = stock - 1 WHERE id = :id;\n",
}
LOOK = (
    "\\set id random(1, 1000)\n-- \U0001f600\n"
    "SELECT '$(HOSTNAME)', stock FROM item WHERE id = :id;\n"
)
WORKLOADS = [
    {"name": "analytics", "tpch": {"scaleFactor": "0.01", "queries": [1, 3, 6, 14], "runs": 1}},
    {"name": "orders", "tpcc": {"warehouses": 1, "warmup": "1s", "duration": "4s"}},
    {"name": "telecom", "tatp": {"subscribers": 1000, "warmup": "1s", "duration": "3s"}},
    {
        "name": "mine",
        "sql": {
            "setup": {"configMapKeyRef": {"name": "shop", "key": "tables.sql"}},
            "scripts": [
                {"name": "look", "weight": 3, "text": LOOK},
                {"name": "buy", "configMapKeyRef": {"name": "shop", "key": "buy.sql"}},
            ],
            "clients": 2,
            "warmup": "1s",
            "duration": "3s",
        },
    },
]
BLOCKS = 2
RUN_SECONDS = 900
METRIC = {"analytics": "totalRuntime"} | dict.fromkeys(("orders", "telecom", "mine"), "throughput")


@pytest.fixture(scope="module")
def prometheus(operator: Helm) -> Iterator[Prometheus]:
    service = operator.kubectl.within(NAMESPACE).get("service", "dbbench-operator-metrics")
    assert service is not None
    with scraping(f"{service['spec']['clusterIP']}:8080") as server:
        yield server


@pytest.fixture(scope="module")
def measured(operator: Helm, prometheus: Prometheus, module_namespace: Kubectl) -> Benchmark:
    """The benchmark after its success."""
    document = benchmark(
        "measured",
        workloads=WORKLOADS,
        trials={"min": BLOCKS, "seed": 20261121, "contamination": {"maxRepeats": 0}},
        gates=[{"workload": "telecom", "target": "vm", "maxSlowdown": "1000000%"}],
    )
    shop = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shop"}, "data": SCRIPTS}
    module_namespace.apply(shop)
    module_namespace.apply(document)
    found = Benchmark(module_namespace, "measured")
    found.wait_until_succeeded(limit=RUN_SECONDS)
    return found


@pytest.fixture(scope="module")
def trials(measured: Benchmark) -> dict[str, dict]:
    return measured.records()


def test_kubectl_wait_sees_the_success(measured: Benchmark) -> None:
    for condition in ("Succeeded", "Ready", "GatesPassed"):
        measured.kubectl("wait", f"--for=condition={condition}", "dbb/measured", "--timeout=1s")


def test_conditions_read_as_done(measured: Benchmark) -> None:
    status = measured.status
    found = {c["type"]: c["status"] for c in status["conditions"]}
    assert found["Succeeded"] == found["Ready"] == found["GatesPassed"] == "True"
    assert found["Reconciling"] == found["Stalled"] == "False"
    assert found["FairnessVerified"] in ("True", "False")
    assert all(c["reason"] for c in status["conditions"])
    assert status["observedGeneration"] == measured.body()["metadata"]["generation"]


def test_every_planned_trial_was_measured_once(
    measured: Benchmark, trials: dict[str, dict]
) -> None:
    spec = DBBenchmarkSpec.model_validate(measured.body()["spec"])
    planned = {t.id for n in range(1, BLOCKS + 1) for t in block(spec, 20261121, n).trials}
    done = [t["trial"] for t in trials.values() if t["outcome"] == "Measured"]
    assert sorted(done) == sorted(planned)
    progress = measured.status["progress"]
    assert (progress["trialsDone"], progress["trialsPlanned"]) == (len(planned), len(planned))
    assert progress["percent"] == 100


def test_raw_results_follow_the_published_schema(trials: dict[str, dict]) -> None:
    schema = json.loads((PROJECT / "workloads/schema/result.schema.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for trial in trials.values():
        validator.validate(trial["result"])
        assert trial["result"]["valid"] is True


def test_both_targets_got_the_same_data(measured: Benchmark) -> None:
    loads = [load for load in measured.records("loads").values() if load["outcome"] == "Measured"]
    for workload in METRIC:
        digests = {
            load["target"]: load["result"]["data"]["digest"]
            for load in loads
            if load["workload"] == workload
        }
        assert set(digests) == {"pod", "vm"}
        assert len(set(digests.values())) == 1


def test_the_users_own_scripts_ran_by_their_weights(trials: dict[str, dict]) -> None:
    for trial in (one for one in trials.values() if one["workload"] == "mine"):
        counts = {o["name"]: o["counts"] for o in trial["result"]["operations"]}
        assert set(counts) == {"look", "buy"}
        assert counts["look"]["ok"] > counts["buy"]["ok"] > 0
        assert not any(count["error"] for count in counts.values())
        assert [one["weight"] for one in trial["result"]["parameters"]["scripts"]] == [3, 1]


def test_both_targets_ran_the_same_server_with_the_same_settings(trials: dict[str, dict]) -> None:
    servers = {t["target"]: t["result"]["server"] for t in trials.values()}
    assert servers["pod"]["version"] == servers["vm"]["version"]
    assert servers["pod"]["settings"] == servers["vm"]["settings"]
    # The server reports this one in blocks of 8 KiB.
    assert int(servers["pod"]["settings"]["shared_buffers"]) * 8192 == 128 * 2**20
    binaries = {
        t["result"]["target"]["facts"]["serverExecutable"]["sha256"] for t in trials.values()
    }
    assert len(binaries) == 1


def test_the_virtual_machine_is_one_and_the_pod_is_none(
    measured: Benchmark, trials: dict[str, dict]
) -> None:
    facts = {t["target"]: t["result"]["target"]["facts"] for t in trials.values()}
    nodes = measured.kubectl.list("nodes", "kubernetes.io/hostname=bench-db")
    (node_kernel,) = {node["status"]["nodeInfo"]["kernelVersion"] for node in nodes}
    assert facts["pod"]["kernel"] == node_kernel
    assert facts["vm"]["kernel"] != node_kernel
    assert facts["vm"]["hypervisor"] in ("KVM", "TCG")
    environment = {t["name"]: t for t in measured.status["environment"]["targets"]}
    assert environment["pod"]["runtime"] == "Pod"
    assert environment["vm"]["runtime"] == "QEMU"
    beside = next(
        t["result"]["target"]["host"]["facts"] for t in trials.values() if t["target"] == "vm"
    )
    assert beside["qemuVersion"]
    named = f"{facts['vm']['hypervisor']}, QEMU {beside['qemuVersion']}"
    assert environment["vm"]["hypervisor"] == named


def test_every_property_that_is_compared_was_reported(measured: Benchmark) -> None:
    # Not every machine has NUMA, sets the frequency of its CPUs, or keeps volumes on a device; and
    # events have a cost where the workload micro measures it.
    optional = {"CPU governor", "NUMA nodes", "read-ahead (KiB)", "events with a cost"}
    expected = {entry.name for entry in PROPERTIES if not entry.has_many_values} - optional
    targets = {t["name"]: t["properties"] for t in measured.status["environment"]["targets"]}
    for name, properties in targets.items():
        assert expected - properties.keys() == set(), name
    message = measured.condition("FairnessVerified")["message"]
    # A guest reads ahead as the node does, where the node tells of it.
    if "read-ahead (KiB)" in targets["pod"]:
        assert "read-ahead" not in message
    for own in ("kernel: ", "network path: pod / vm User"):
        assert own in message.partition("What a target has of its own")[2]
    for equal in ("sha256 of the server", "image digest", "setting ", "data of "):
        assert equal not in message


def test_a_guest_is_also_seen_from_outside(trials: dict[str, dict]) -> None:
    """By the counters of the container that QEMU runs in."""
    for trial in trials.values():
        seen = trial["result"]["target"]
        assert ("host" in seen) is (trial["target"] == "vm")
        if host := seen.get("host"):
            assert host["facts"]["kernel"] != seen["facts"]["kernel"]
            used = [host[when]["processes"]["userSeconds"] for when in ("before", "after")]
            assert used[1] > used[0]


def test_emulation_is_said_everywhere(
    measured: Benchmark, trials: dict[str, dict], prometheus: Prometheus
) -> None:
    emulated = any(t["result"]["target"]["facts"]["emulated"] for t in trials.values())
    status = measured.status
    assert measured.condition("Representative")["status"] == ("False" if emulated else "True")
    assert {c["emulated"] for c in status["comparisons"]} == {emulated}
    labels = {e["metric"]["emulated"] for e in prometheus.query("dbbench_slowdown_ratio")}
    assert labels == {str(emulated).lower()}
    assert ("emulat" in measured.results()["report.md"].lower()) is emulated


def test_slowdowns_follow_from_the_raw_trials(measured: Benchmark, trials: dict[str, dict]) -> None:
    """With the formulas of the docs, computed here once more: ratios within blocks."""
    values: dict[tuple[str, int, str], float] = {}
    for t in trials.values():
        metrics = {m["name"]: m["value"] for m in t["result"]["metrics"]}
        values[t["workload"], t["block"], t["target"]] = metrics[METRIC[t["workload"]]]
    comparisons = {
        c["workload"]: c
        for c in measured.status["comparisons"]
        if c["metric"] == METRIC[c["workload"]]
    }
    assert set(comparisons) == set(METRIC)
    for workload, comparison in comparisons.items():
        ratios = []
        for number in range(1, BLOCKS + 1):
            ratio = values[workload, number, "vm"] / values[workload, number, "pod"]
            ratios.append(ratio if METRIC[workload] == "totalRuntime" else 1 / ratio)
        slowdown = float(comparison["slowdown"])
        expected = math.exp(sum(map(math.log, ratios)) / len(ratios)) - 1
        assert slowdown == pytest.approx(expected, rel=0.02, abs=0.01)
        assert comparison["blocks"] == BLOCKS
        interval = comparison["confidenceInterval"]
        assert float(interval["low"]) <= slowdown <= float(interval["high"])
        assert comparison["verdict"] in ("Slower", "Equivalent", "Faster", "Inconclusive")


def test_tpch_reports_three_aggregates_of_its_queries(measured: Benchmark) -> None:
    (comparison,) = [c for c in measured.status["comparisons"] if c["workload"] == "analytics"]
    assert set(comparison["aggregates"]) == {
        "meanOfSlowdowns",
        "slowdownOfTotal",
        "geometricMean",
    }


def test_every_slowdown_is_divided_among_causes_that_add_up(measured: Benchmark) -> None:
    causes = {c["workload"]: c["cause"] for c in measured.status["comparisons"]}
    found = json.loads(measured.results()["summary.json"])["comparisons"]
    for comparison in (one for one in found if one["primary"]):
        assert comparison["cause"] == causes[comparison["workload"]]
        definite = comparison["verdict"] in ("Slower", "Faster")
        assert bool(comparison["cause"]) is definite
        account = comparison["account"]
        wholes = {t["cause"]: t["seconds"] for t in account["terms"] if t["partOf"] is None}
        assert math.fsum(wholes.values()) == pytest.approx(account["seconds"])
        assert {"user", "system", "driver", "unexplained"} <= set(wholes)
        # Both sides counted faults, and measured what one costs there.
        for side in account["evidence"].values():
            assert side["events"]["pageFaults"]["count"] > 0
            assert side["events"]["pageFaults"]["unitSeconds"] > 0
            assert side["unitCostSeconds"]["SYSTEM_CALL"] > 0
    assert "## Where the time went" in measured.results()["report.md"]


def test_results_are_there_as_json_csv_and_markdown(measured: Benchmark) -> None:
    results = measured.results()
    summary = json.loads(results["summary.json"])
    assert summary
    rows = list(csv.DictReader(io.StringIO(results["summary.csv"])))
    assert {row["workload"] for row in rows} >= set(METRIC)
    for workload in METRIC:
        assert workload in results["report.md"]


def test_dbbench_report_prints_the_table(measured: Benchmark) -> None:
    output = run(
        [DBBENCH, "report", "measured", "-n", measured.kubectl.namespace],
        env=measured.kubectl.environment,
    )
    for workload in METRIC:
        assert workload in output


def test_the_exported_trials_give_the_published_results(
    measured: Benchmark, tmp_path: Path
) -> None:
    archive = str(tmp_path / "measured.tar.gz")
    command = [DBBENCH, "export", "measured", "-n", measured.kubectl.namespace, "-o", archive]
    run(command, env=measured.kubectl.environment)
    offline = {"KUBECONFIG": str(tmp_path / "none")}
    computed = run([DBBENCH, "report", archive, "-o", "json"], env=offline)
    assert computed == measured.results()["summary.json"]


def test_kubectl_get_shows_it_at_a_glance(measured: Benchmark) -> None:
    lines = measured.kubectl("get", "dbb").splitlines()
    header, row = (re.split(r"\s{2,}", line.strip()) for line in lines)
    shown = dict(zip(header, row, strict=True))
    done = str(BLOCKS * 2 * len(WORKLOADS))
    assert (shown["ENGINE"], shown["DONE"], shown["PLANNED"]) == ("PostgreSQL", done, done)
    assert shown["SUCCEEDED"] == "True"
    assert re.fullmatch(r"vm/\w+ [+-][0-9.]+ ?%( \(emulated\))?", shown["WORST-SLOWDOWN"])


def test_prometheus_has_the_slowdowns_of_the_status(
    measured: Benchmark, prometheus: Prometheus
) -> None:
    identity = f'namespace="{measured.kubectl.namespace}",benchmark="measured"'
    status = {
        (c["workload"], c["target"], c["metric"]): float(c["slowdown"])
        for c in measured.status["comparisons"]
    }

    def scraped() -> dict[tuple[str, str, str], float]:
        vector = prometheus.query(f"dbbench_slowdown_ratio{{{identity}}}")
        return {
            (e["metric"]["workload"], e["metric"]["target"], e["metric"]["metric"]): float(
                e["value"][1]
            )
            for e in vector
        }

    wait("the slowdowns are scraped", lambda: scraped() == status, limit=30)
    done = prometheus.query(f'dbbench_trials{{{identity},state="done"}}')
    assert [e["value"][1] for e in done] == [str(BLOCKS * 2 * len(WORKLOADS))]


def test_prometheus_has_runtimes_throughputs_and_latencies(
    measured: Benchmark, prometheus: Prometheus
) -> None:
    identity = f'benchmark="measured",namespace="{measured.kubectl.namespace}"'
    targets = {
        name: {e["metric"]["target"] for e in prometheus.query(f"{name}{{{identity}}}")}
        for name in (
            "dbbench_query_runtime_seconds",
            "dbbench_throughput_transactions_per_second",
            "dbbench_latency_seconds",
        )
    }
    assert all(found == {"pod", "vm"} for found in targets.values()), targets


def test_every_metric_of_dbbench_explains_itself(prometheus: Prometheus) -> None:
    metadata = prometheus.metadata()
    ours = {name: entries for name, entries in metadata.items() if name.startswith("dbbench_")}
    assert ours
    assert all(entry["help"] for entries in ours.values() for entry in entries)


def test_after_the_success_only_the_results_are_left(measured: Benchmark) -> None:
    def only_results() -> bool:
        return all(child.startswith("configmap/") for child in measured.children())

    wait("databases, disks and jobs are deleted", only_results, limit=120)
    contents = {
        config_map["metadata"]["labels"].get("dbbench.io/content")
        for config_map in measured.kubectl.list("configmaps", "dbbench.io/benchmark=measured")
    }
    assert contents == {"trials", "loads", "results"}


def test_the_password_is_nowhere_in_what_is_kept(measured: Benchmark) -> None:
    """No Secret is left, and no result shows a password or a URL with one."""
    kept = json.dumps(
        [measured.records(), measured.records("loads"), measured.results(), measured.body()]
    )
    assert "PGPASSWORD" not in kept
    assert "postgres://dbbench:" not in kept


def test_deletion_leaves_nothing(measured: Benchmark, prometheus: Prometheus) -> None:
    measured.delete()
    wait(
        "everything but the user's own is collected",
        lambda: leftovers(measured.kubectl) == {"configmap/shop"},
        limit=120,
    )
    identity = f'namespace="{measured.kubectl.namespace}"'
    wait(
        "its series end",
        lambda: not prometheus.query(f"dbbench_trials{{{identity}}}"),
        limit=30,
    )


def test_the_operator_was_refused_nothing(operator: Helm, measured: Benchmark) -> None:
    """The chart grants what the operator asks for."""
    log = operator.kubectl.within(NAMESPACE)("logs", "deployment/dbbench-operator")
    assert log, "the operator says what it does"
    assert '"status": 403' not in log


def test_helm_test_passes(operator: Helm) -> None:
    output = operator("test", "dbbench", "--timeout", "2m")
    assert "Succeeded" in output
