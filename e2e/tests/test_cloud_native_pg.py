"""The path through CloudNativePG's API, from spec to comparison, with real PostgreSQL.

CloudNativePG itself cannot be installed here: the API server serves CloudNativePG's own schema, and
the stand-in of e2e/cloud_native_pg_standin runs the clusters.
"""

from collections.abc import Iterator

import pytest
from access import cloud_native_pg as standin
from access.benchmarks import Benchmark, leftovers
from access.documents import DATABASE_NODE, benchmark
from access.kubectl import Kubectl, Manifest, wait
from access.operator import Helm, Refusals

RUN_SECONDS = 600
OPTIONS = {"instances": 3, "synchronous": {"method": "any", "number": 1}}
# Long enough to look at the standbys meanwhile.
WORKLOAD = {"name": "telecom", "tatp": {"subscribers": 100, "warmup": "1s", "duration": "10s"}}
TARGETS = [{"name": "pod", "pod": {}}, {"name": "cnpg", "cloudNativePG": OPTIONS}]
KIND = "clusters.postgresql.cnpg.io"
SETTINGS = ("logLevel=DEBUG", "crds.enabled=true")


@pytest.fixture(scope="module")
def cloud_native_pg(operator: Helm, kubectl: Kubectl, refusals: Refusals) -> Iterator[None]:
    """CloudNativePG's API and the stand-in, without the operator's right to use it."""
    standin.install(kubectl)
    yield
    with refusals.meant():
        operator.install(*SETTINGS)
    standin.remove(kubectl)


@pytest.fixture
def restricted(namespace: Kubectl) -> Kubectl:
    """A namespace in which CloudNativePG's pods are allowed, and none that asks for more."""
    enforce = "pod-security.kubernetes.io/enforce=restricted"
    namespace("label", "namespace", namespace.namespace, enforce, "--overwrite")
    return namespace


def instances(kubectl: Kubectl, cluster: str) -> list[Manifest]:
    """Pods of the cluster's servers."""
    return kubectl.list("pods", f"cnpg.io/cluster={cluster},cnpg.io/podRole=instance")


def hibernated(kubectl: Kubectl, cluster: str) -> bool:
    """Whether its pods have gone, and its claims are still there."""
    found = kubectl.get(KIND, cluster) or {}
    conditions = {c["type"]: c["status"] for c in found.get("status", {}).get("conditions", [])}
    if conditions.get("cnpg.io/hibernation") != "True" or instances(kubectl, cluster):
        return False
    claims = kubectl.list("persistentvolumeclaims", f"cnpg.io/cluster={cluster}")
    return len(claims) == OPTIONS["instances"]


def standbys_follow(kubectl: Kubectl, cluster: str) -> None:
    """Its standbys stream from the primary, and it waits for a quorum of them."""
    sql = "SELECT application_name, state, sync_state FROM pg_stat_replication ORDER BY 1"
    psql = ["psql", "--username=postgres", "--no-psqlrc", "-At", "-F", " ", "-c", sql]
    found = kubectl("exec", f"{cluster}-1", "--", *psql).splitlines()
    assert found == [f"{cluster}-2 streaming quorum", f"{cluster}-3 streaming quorum"]
    status = (kubectl.get(KIND, cluster) or {})["status"]
    assert (status["phase"], status["readyInstances"]) == ("Cluster in healthy state", 3)
    pods = instances(kubectl, cluster)
    assert {pod["spec"]["nodeName"] for pod in pods} == {DATABASE_NODE}
    roles = [pod["metadata"]["labels"]["cnpg.io/instanceRole"] for pod in pods]
    assert sorted(roles) == ["primary", "replica", "replica"]


def test_a_primary_with_synchronous_standbys_is_compared_with_a_pod_once_it_may_be_made(
    operator: Helm, cloud_native_pg: None, restricted: Kubectl, refusals: Refusals
) -> None:
    # A hypervisor below this machine takes what it takes: that is not what is looked at here.
    undisturbed = {"maxRepeats": 0, "maxSteal": "100%", "maxMemoryStall": "100%"}
    trials = {"min": 2, "contamination": undisturbed}
    run = Benchmark(restricted, "managed")
    with refusals.meant():
        # Shared CPUs: all three are on the one node, which has fewer.
        resources = {"cpu": 1, "memory": "512Mi", "dedicatedCPUs": False}
        document = benchmark(
            "managed",
            targets=TARGETS,
            workloads=[WORKLOAD],
            resources=resources,
            trials=trials,
        )
        restricted.apply(document)
        stalled = run.wait_until_stalled(limit=60)
        assert stalled["reason"] == "CloudNativePGNotAllowed"
        assert "--set cloudNativePG.enabled=true" in stalled["message"]
        operator.install(*SETTINGS, "cloudNativePG.enabled=true")
    wait(
        "the operator goes on",
        lambda: run.condition("Stalled").get("status") != "True",
        limit=300,
    )

    run.wait_for_step("trial:b001.cnpg.", limit=RUN_SECONDS)
    standbys_follow(restricted, "managed-cnpg")
    # In every order of turns the cluster stops for the pod, or before a turn of its own.
    wait(
        "the cluster hibernates", lambda: hibernated(restricted, "managed-cnpg"), limit=RUN_SECONDS
    )
    run.wait_until_succeeded(limit=RUN_SECONDS)

    (comparison,) = [c for c in run.status["comparisons"] if c["metric"] == "throughput"]
    assert comparison["target"] == "cnpg"
    assert float(comparison["baselineValue"]) > 0
    assert float(comparison["targetValue"]) > 0
    measured = [record["target"] for record in run.records().values()]
    assert sorted(measured) == ["cnpg", "cnpg", "pod", "pod"]
    # What was loaded has outlasted the hibernation.
    loaded = [record["target"] for record in run.records("loads").values()]
    assert sorted(loaded) == ["cnpg", "pod"]
    (target,) = [t for t in run.status["environment"]["targets"] if t["name"] == "cnpg"]
    assert target["runtime"] == "CloudNativePG"
    assert "PostgreSQL 15" in target["serverVersion"]

    fairness = run.condition("FairnessVerified")
    assert fairness["status"] == "False"
    # CloudNativePG's own settings are told, and what nothing of dbbench's can see there.
    assert "setting max_worker_processes: 8 / cnpg 32" in fairness["message"]
    not_comparable = fairness["message"].partition("Not comparable")[2].partition("cnpg: ")[2]
    assert "kernel" in not_comparable.split(", ")
    representative = run.condition("Representative")
    assert (representative["status"], representative["reason"]) == ("Unknown", "NotReported")

    run.delete()
    wait("nothing is left", lambda: not leftovers(restricted), limit=180)
