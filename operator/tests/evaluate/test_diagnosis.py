"""Why something does not come up, as told from pods and events."""

import dataclasses

import pytest

from dbbench.evaluate.diagnosis import explain, hopeless
from dbbench.evaluate.problem import Problem

from .model_cluster import ModelCluster, spec

FALLBACK = Problem("Fallback", "nothing is to be seen")


def pod(state=None, *, last=None, phase="Pending", conditions=()):
    container = {"name": "database", "image": "postgres:nope", "state": state or {}}
    if last:
        container["lastState"] = last
    return {
        "metadata": {"name": "bench-pod-0"},
        "status": {
            "phase": phase,
            "conditions": list(conditions),
            "containerStatuses": [container] if state is not None else [],
        },
    }


def event(name, reason, message, kind="Pod"):
    return {
        "involvedObject": {"kind": kind, "name": name},
        "reason": reason,
        "message": message,
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }


def found(pods, warnings=(), owners=("bench-pod",)):
    state = dataclasses.replace(ModelCluster(spec()).state(), warnings=tuple(warnings))
    return explain(state, "target 'pod'", list(pods), owners, FALLBACK)


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff"])
def test_image_that_cannot_be_pulled(reason):
    problem = found([pod({"waiting": {"reason": reason}})])
    assert problem.reason == "ImagePullFailed"
    assert "postgres:nope" in problem.message
    assert "spec.database.image" in problem.message


def test_image_that_cannot_be_pulled_is_seen_in_events_before_the_pod_says_so():
    pulled = event("bench-pod-0", "Failed", 'Failed to pull image "postgres:nope": not found')
    again = event("bench-pod-0", "Failed", "Error: ErrImagePull")
    problem = found([pod({"waiting": {"reason": "ContainerCreating"}})], [pulled, again])
    assert problem.reason == "ImagePullFailed"
    assert "postgres:nope" in problem.message
    assert "spec.database.image" in problem.message


def test_a_pull_that_failed_at_first_is_not_why_a_running_pod_is_not_ready():
    pulled = event("bench-pod-0", "Failed", 'Failed to pull image "postgres:17": timeout')
    problem = found([pod({"terminated": {"exitCode": 1}}, phase="Running")], [pulled])
    assert problem.reason == "ContainerFailed"


def test_pulling_may_still_succeed_but_a_bad_name_never_will():
    assert hopeless([pod({"waiting": {"reason": "ImagePullBackOff"}})], "ns") is None
    assert hopeless([pod({"waiting": {"reason": "InvalidImageName"}})], "ns") is not None


def test_crashing_container_names_its_exit_code_and_its_log():
    problem = found(
        [
            pod(
                {"waiting": {"reason": "CrashLoopBackOff"}},
                last={"terminated": {"exitCode": 1, "reason": "Error"}},
                phase="Running",
            )
        ]
    )
    assert problem.reason == "ContainerCrashing"
    assert "exit code 1" in problem.message
    assert "kubectl logs -n ns bench-pod-0" in problem.message
    assert "spec.database.config" in problem.message


def test_container_seen_between_two_starts_has_the_same_usual_causes():
    problem = found([pod({"terminated": {"exitCode": 1, "reason": "Error"}}, phase="Running")])
    assert problem.reason == "ContainerFailed"
    assert "exit code 1" in problem.message
    assert "spec.database.config" in problem.message


def test_pod_that_fits_nowhere():
    condition = {"type": "PodScheduled", "status": "False", "message": "Insufficient cpu"}
    problem = found([pod(conditions=[condition])])
    assert problem.reason == "Unschedulable"
    assert "Insufficient cpu." in problem.message


def test_owner_without_pods_is_explained_by_its_event():
    warning = event("bench-pod", "FailedCreate", "violates PodSecurity", "StatefulSet")
    problem = found([], [warning])
    assert problem.reason == "FailedCreate"
    assert "StatefulSet bench-pod: violates PodSecurity." in problem.message


def test_events_of_others_say_nothing():
    assert found([], [event("another", "FailedCreate", "no")]) is FALLBACK


def test_running_pod_that_is_not_ready_names_log_and_settings():
    problem = found([pod({"running": {}}, phase="Running")])
    assert problem.reason == "NotReady"
    assert "spec.timeouts.ready" in problem.message


def test_nothing_to_be_seen_gives_the_fallback():
    assert found([]) is FALLBACK
