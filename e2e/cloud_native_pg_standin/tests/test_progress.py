"""From an empty namespace to a healthy cluster, to hibernation and back: steps and status."""

from typing import Any

from standin.cloud_native_pg import Phase, name_of
from standin.instance import claim, job, pod
from standin.progress import Found, Step, hibernation_step, next_step
from standin.services import services
from standin.status import is_hibernating, next_status, refused
from standin.translation import Cluster, translate

from .test_translation import cluster, document

NOW, LATER = "2026-11-22T08:00:00Z", "2026-11-22T09:00:00Z"
STANDBYS = "cloudnativepg-standbys"


def with_condition(found: dict[str, Any], kind: str) -> dict[str, Any]:
    return found | {"status": {"conditions": [{"type": kind, "status": "True"}]}}


def going(found: dict[str, Any]) -> dict[str, Any]:
    return found | {"metadata": found["metadata"] | {"deletionTimestamp": NOW}}


def filled(found: dict[str, Any]) -> dict[str, Any]:
    annotations = found["metadata"]["annotations"] | {"cnpg.io/pvcStatus": "ready"}
    return found | {"metadata": found["metadata"] | {"annotations": annotations}}


def named(*found: dict[str, Any]) -> dict[str, Any]:
    return {name_of(one): one for one in found}


def grown(wanted: Cluster, instances: int) -> Found:
    """The first instances run and are ready."""
    serials = range(1, instances + 1)
    return Found(
        services=named(*services(wanted)),
        claims=named(*(filled(claim(wanted, serial)) for serial in serials)),
        pods=named(*(with_condition(pod(wanted, serial), "Ready") for serial in serials)),
    )


def made(step: Step) -> list[tuple[str, str]]:
    return [(one["kind"], name_of(one)) for one in step.create]


def test_the_services_come_first() -> None:
    names = [name for _, name in made(next_step(cluster(), Found()))]
    assert names == ["quickstart-cnpg-rw", "quickstart-cnpg-ro", "quickstart-cnpg-r"]


def test_an_instance_gets_its_claim_the_job_that_fills_it_and_then_its_pod() -> None:
    wanted = cluster()
    found = grown(wanted, 0)
    step = next_step(wanted, found)
    assert (step.phase, made(step)) == (
        Phase.FIRST_PRIMARY,
        [("PersistentVolumeClaim", "quickstart-cnpg-1")],
    )
    found.claims.update(named(claim(wanted, 1)))
    assert made(next_step(wanted, found)) == [("Job", "quickstart-cnpg-1-initdb")]

    found.jobs.update(named(job(wanted, 1)))
    assert next_step(wanted, found) == Step(
        Phase.FIRST_PRIMARY, "Creating primary instance quickstart-cnpg-1"
    )
    found.jobs.update(named(with_condition(job(wanted, 1), "Complete")))
    assert next_step(wanted, found).filled == (found.claims["quickstart-cnpg-1"],)

    found.claims.update(named(filled(claim(wanted, 1))))
    step = next_step(wanted, found)
    assert [name_of(one) for one in step.delete_jobs] == ["quickstart-cnpg-1-initdb"]
    found.jobs.clear()
    step = next_step(wanted, found)
    assert (step.phase, made(step)) == (Phase.WAITING, [("Pod", "quickstart-cnpg-1")])
    found.pods.update(named(pod(wanted, 1)))
    assert made(next_step(wanted, found)) == []
    assert next_step(wanted, found).phase is Phase.WAITING
    found.pods.update(named(with_condition(pod(wanted, 1), "Ready")))
    assert next_step(wanted, found) == Step(Phase.HEALTHY)


def test_a_standby_is_begun_when_the_instances_before_it_are_ready() -> None:
    wanted = cluster(STANDBYS)
    step = next_step(wanted, grown(wanted, 1))
    assert (step.phase, made(step)) == (
        Phase.CREATING_REPLICA,
        [("PersistentVolumeClaim", "quickstart-cnpg-2")],
    )
    assert next_step(wanted, grown(wanted, 3)) == Step(Phase.HEALTHY)


def test_a_job_that_has_failed_is_told() -> None:
    wanted = cluster()
    found = grown(wanted, 0)
    found.claims.update(named(claim(wanted, 1)))
    found.jobs.update(named(with_condition(job(wanted, 1), "Failed")))
    step = next_step(wanted, found)
    assert (made(step), step.delete_jobs) == ([], ())
    assert "quickstart-cnpg-1-initdb has failed" in step.reason


def test_a_healthy_cluster_says_so() -> None:
    wanted = cluster(STANDBYS)
    status = next_status(document(STANDBYS), wanted, grown(wanted, 3), Step(Phase.HEALTHY), NOW)
    assert status["phase"] == "Cluster in healthy state"
    assert (status["instances"], status["readyInstances"]) == (3, 3)
    assert status["currentPrimary"] == "quickstart-cnpg-1"
    assert status["conditions"] == [
        {
            "type": "Ready",
            "status": "True",
            "reason": "ClusterIsReady",
            "message": "Cluster is Ready",
            "lastTransitionTime": NOW,
        }
    ]


def test_a_condition_keeps_its_time_until_it_changes() -> None:
    wanted, found = cluster(), grown(cluster(), 1)
    body = document()
    for step, now in ((Step(Phase.HEALTHY), NOW), (Step(Phase.HEALTHY), LATER)):
        body["status"] = next_status(body, wanted, found, step, now)
        assert body["status"]["conditions"][0]["lastTransitionTime"] == NOW
    status = next_status(body, wanted, found, Step(Phase.WAITING), LATER)
    assert status["conditions"][0]["lastTransitionTime"] == LATER


def test_the_primary_s_pod_goes_before_the_standbys_and_the_claims_stay() -> None:
    wanted = cluster(STANDBYS)
    found = grown(wanted, 3)
    assert [name_of(one) for one in hibernation_step(found).delete_pods] == ["quickstart-cnpg-1"]
    primary = found.pods.pop("quickstart-cnpg-1")
    found.pods.update(named(going(primary)))
    assert hibernation_step(found) == Step(Phase.HEALTHY)
    del found.pods["quickstart-cnpg-1"]
    assert [name_of(one) for one in hibernation_step(found).delete_pods] == [
        "quickstart-cnpg-2",
        "quickstart-cnpg-3",
    ]


def asleep() -> dict[str, Any]:
    body = document()
    body["metadata"]["annotations"]["cnpg.io/hibernation"] = "on"
    return body


def test_a_hibernated_cluster_says_so_and_forgets_it_when_it_wakes() -> None:
    body = asleep()
    wanted = translate(body)
    found = grown(wanted, 1)
    body["status"] = {"phase": "Cluster in healthy state"}
    reasons = []
    pods = [found.pods, named(going(found.pods["quickstart-cnpg-1"])), {}]
    for left in pods:
        now = Found(found.services, found.claims, {}, left)
        body["status"] = next_status(body, wanted, now, hibernation_step(now), NOW)
        condition = body["status"]["conditions"][1]
        reasons.append((condition["type"], condition["status"], condition["reason"]))
    assert reasons == [
        ("cnpg.io/hibernation", "False", "DeletingPods"),
        ("cnpg.io/hibernation", "False", "WaitingPodsDeletion"),
        ("cnpg.io/hibernation", "True", "Hibernated"),
    ]
    assert body["status"]["readyInstances"] == 0
    assert body["status"]["instances"] == 1

    awake = document() | {"status": body["status"]}
    wanted = translate(awake)
    assert not is_hibernating(wanted, awake["status"])
    step = next_step(wanted, Found(found.services, found.claims))
    assert made(step) == [("Pod", "quickstart-cnpg-1")]
    status = next_status(awake, wanted, Found(found.services, found.claims), step, LATER)
    assert [one["type"] for one in status["conditions"]] == ["Ready"]


def test_only_a_healthy_cluster_begins_to_hibernate() -> None:
    wanted = translate(asleep())
    assert not is_hibernating(wanted, {"phase": "Creating a new replica"})
    assert is_hibernating(wanted, {"phase": "Cluster in healthy state"})
    begun = {"phase": "x", "conditions": [{"type": "cnpg.io/hibernation"}]}
    assert is_hibernating(wanted, begun)


def test_a_refused_cluster_says_why_and_keeps_the_rest() -> None:
    hibernation = {"type": "cnpg.io/hibernation", "status": "False"}
    body = document() | {"status": {"readyInstances": 1, "conditions": [hibernation]}}
    status = refused(body, "spec.backup: not done", NOW)
    assert status["phase"] == "Unable to create required cluster objects"
    assert status["phaseReason"] == "spec.backup: not done"
    assert status["readyInstances"] == 1
    assert [one["type"] for one in status["conditions"]] == ["Ready", "cnpg.io/hibernation"]
