"""Status of instances and machines."""

import datetime
from typing import Any

import pytest
from standin import machine_status
from standin.instance_status import next_phase, next_status
from standin.kubevirt import Phase, PrintableStatus, RunStrategy
from standin.machine_status import Action, action, printable, start_failure
from standin.translation import translate

from .test_translation import instance

NOW = datetime.datetime(2026, 11, 21, 8, 0, tzinfo=datetime.UTC)
TIME = "2026-11-21T08:00:00Z"


def pod(phase: str, *, computes: bool = False, ready: bool = False) -> dict[str, Any]:
    state = {"running": {"startedAt": TIME}} if computes else {"waiting": {"reason": "x"}}
    return {
        "metadata": {"uid": "p-1", "labels": {}},
        "spec": {"nodeName": "bench-db", "containers": [{"image": "launcher:1"}]},
        "status": {
            "phase": phase,
            "podIP": "10.1.0.7",
            "qosClass": "Guaranteed",
            "containerStatuses": [{"name": "compute", "state": state}],
            "conditions": [{"type": "Ready", "status": str(ready)}],
        },
    }


def follow(*pods: dict[str, Any] | None) -> dict[str, Any]:
    found = instance()
    machine = translate(found["spec"])
    for one in pods:
        found["status"] = next_status(found, machine, one, None, TIME)
    return found


def condition(object_: dict[str, Any], type_: str) -> dict[str, Any]:
    return {c["type"]: c for c in object_["status"]["conditions"]}[type_]


def test_a_start_passes_through_kubevirt_s_phases_in_order() -> None:
    running = pod("Running", computes=True, ready=True)
    found = follow(None, pod("Pending"), running, running, running)
    phases = [entry["phase"] for entry in found["status"]["phaseTransitionTimestamps"]]
    assert phases == ["Pending", "Scheduling", "Scheduled", "Running"]


def test_a_running_instance_tells_its_node_and_address() -> None:
    found = follow(*[pod("Running", computes=True, ready=True)] * 3)
    assert found["status"]["nodeName"] == "bench-db"
    assert found["status"]["interfaces"][0]["ipAddress"] == "10.1.0.7"
    assert condition(found, "Ready")["status"] == "True"


def test_a_running_instance_is_ready_when_its_pod_is() -> None:
    found = follow(*[pod("Running", computes=True)] * 3)
    assert found["status"]["phase"] == "Running"
    assert condition(found, "Ready")["status"] == "False"


@pytest.mark.parametrize(
    ("current", "seen", "expected"),
    [
        (Phase.RUNNING, pod("Failed"), Phase.FAILED),
        (Phase.RUNNING, pod("Succeeded"), Phase.SUCCEEDED),
        (Phase.RUNNING, None, Phase.FAILED),
        (Phase.SCHEDULING, None, Phase.FAILED),
        (Phase.PENDING, None, Phase.PENDING),
        (Phase.FAILED, None, Phase.FAILED),
        (Phase.SUCCEEDED, pod("Running", computes=True), Phase.SUCCEEDED),
    ],
)
def test_the_end_of_the_pod_is_the_end_of_the_instance(
    current: Phase, seen: dict[str, Any] | None, expected: Phase
) -> None:
    assert next_phase(current, seen) is expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("the guest ended by itself (guest-shutdown)", Phase.SUCCEEDED),
        ("the guest failed: no disk with serial data", Phase.SUCCEEDED),
        ("the guest ended by itself (guest-panic)", Phase.FAILED),
        ("QEMU ended with exit code 1", Phase.FAILED),
    ],
)
def test_a_guest_that_switches_itself_off_has_succeeded_as_in_kubevirt(
    message: str, expected: Phase
) -> None:
    ended = pod("Failed")
    ended["status"]["containerStatuses"][0]["state"] = {"terminated": {"message": message}}
    assert next_phase(Phase.RUNNING, ended) is expected


def test_a_status_that_holds_is_written_once() -> None:
    running = pod("Running", computes=True, ready=True)
    found = follow(*[running] * 3)
    later = next_status(found, translate(found["spec"]), running, None, "2026-11-21T09:00:00Z")
    assert later == found["status"]


def vm(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "vm", "generation": 2}, "status": status}


def test_an_instance_that_does_not_fit_shows_as_unschedulable() -> None:
    waiting = pod("Pending")
    waiting["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2"}
    ]
    shown = printable(vm(), RunStrategy.RERUN_ON_FAILURE, follow(None, waiting), NOW)
    assert shown is PrintableStatus.UNSCHEDULABLE


def test_an_image_that_cannot_be_pulled_shows() -> None:
    waiting = pod("Pending")
    waiting["status"]["initContainerStatuses"] = [
        {"name": "kernel-boot", "state": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}
    ]
    shown = printable(vm(), RunStrategy.RERUN_ON_FAILURE, follow(None, waiting), NOW)
    assert shown is PrintableStatus.ERR_IMAGE_PULL


def test_a_missing_claim_shows() -> None:
    found = instance()
    problem = ("FailedPvcNotFound", "PVC bench/x does not exist")
    found["status"] = next_status(found, translate(found["spec"]), None, problem, TIME)
    assert found["status"]["phase"] == "Pending"
    shown = printable(vm(), RunStrategy.RERUN_ON_FAILURE, found, NOW)
    assert shown is PrintableStatus.PVC_NOT_FOUND


@pytest.mark.parametrize(
    ("strategy", "existing", "expected"),
    [
        (RunStrategy.RERUN_ON_FAILURE, None, Action.START),
        (RunStrategy.HALTED, None, Action.NOTHING),
        (RunStrategy.HALTED, "Running", Action.STOP),
        (RunStrategy.RERUN_ON_FAILURE, "Running", Action.NOTHING),
        (RunStrategy.RERUN_ON_FAILURE, "Succeeded", Action.NOTHING),
        (RunStrategy.RERUN_ON_FAILURE, "Failed", Action.STOP),
    ],
)
def test_the_run_strategy_decides(
    strategy: RunStrategy, existing: str | None, expected: Action
) -> None:
    found = {"status": {"phase": existing}} if existing else None
    assert action(vm(), strategy, found, NOW) is expected


def test_a_start_that_fails_is_tried_again_later() -> None:
    failed = {"metadata": {"uid": "i-1"}, "status": {"phase": "Failed"}}
    first = start_failure(vm(), failed, NOW)
    assert first == {
        "consecutiveFailCount": 1,
        "lastFailedVMIUID": "i-1",
        "retryAfterTimestamp": "2026-11-21T08:00:10Z",
    }
    waiting = vm(startFailure=first)
    assert start_failure(waiting, failed, NOW) == first
    assert action(waiting, RunStrategy.RERUN_ON_FAILURE, None, NOW) is Action.NOTHING
    shown = printable(waiting, RunStrategy.RERUN_ON_FAILURE, None, NOW)
    assert shown is PrintableStatus.CRASH_LOOP_BACK_OFF
    later = NOW + datetime.timedelta(seconds=11)
    assert action(waiting, RunStrategy.RERUN_ON_FAILURE, None, later) is Action.START


def test_a_machine_that_cannot_be_translated_says_so() -> None:
    problem = ("FailedCreate", "spec.template.spec.x is not translated by the stand-in")
    status = machine_status.next_status(vm(), RunStrategy.RERUN_ON_FAILURE, None, problem, NOW)
    failure = condition({"status": status}, "Failure")
    assert (failure["status"], failure["message"]) == ("True", problem[1])
    assert status["created"] is False
