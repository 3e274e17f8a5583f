"""Which changes of a benchmark are a reason to look at it."""

import pytest

from dbbench.handlers import is_news, is_news_of_job, is_news_of_pod
from dbbench.targets.names import LABEL_JOB


@pytest.mark.parametrize(
    ("metadata", "status", "expected"),
    [
        ({"generation": 1}, None, True),
        ({"generation": 1}, {"phase": "Running", "observedGeneration": 1}, False),
        ({"generation": 2}, {"phase": "Running", "observedGeneration": 1}, True),
        ({"generation": 1, "deletionTimestamp": "2026-01-01T00:00:00Z"},
         {"observedGeneration": 1}, True),
    ],
)  # fmt: skip
def test_what_the_operator_itself_wrote_is_no_news(metadata, status, expected):
    assert is_news({"metadata": metadata, "status": status}) is expected


@pytest.mark.parametrize(
    ("metadata", "status", "expected"),
    [
        ({}, {}, False),
        ({}, {"active": 1, "ready": 1}, False),
        ({}, {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}, True),
        ({}, {"conditions": [{"type": "Failed", "status": "True"}]}, True),
        ({}, {"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}, False),
        ({"deletionTimestamp": "2026-11-23T10:00:00Z"}, {"active": 1}, True),
    ],
)
def test_of_a_job_its_end_is_news(metadata, status, expected):
    assert is_news_of_job({"metadata": metadata, "status": status}) is expected


def test_a_job_that_goes_before_its_end_is_news():
    ended = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert is_news_of_job({"metadata": {}, "status": {"active": 1}}, gone=True)
    assert not is_news_of_job({"metadata": {}, "status": ended}, gone=True)


def driver(**status):
    return {"metadata": {"labels": {LABEL_JOB: "trial"}}, "status": status}


def container(state, *, restarts=0):
    return {"name": "driver", "restartCount": restarts, "state": state}


UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


def test_a_driver_that_goes_is_news_unless_it_has_done_its_work():
    assert is_news_of_pod(driver(phase="Running"), gone=True)
    assert not is_news_of_pod(driver(phase="Succeeded"), gone=True)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (driver(), False),
        (driver(phase="Pending", containerStatuses=[]), False),
        (
            driver(containerStatuses=[container({"waiting": {"reason": "ContainerCreating"}})]),
            False,
        ),
        (driver(phase="Running", containerStatuses=[container({"running": {}})]), False),
        (driver(phase="Succeeded", containerStatuses=[container({"terminated": {}})]), False),
        (driver(phase="Failed"), True),
        (driver(conditions=[UNSCHEDULABLE]), True),
        (driver(containerStatuses=[container({"waiting": {"reason": "ErrImagePull"}})]), True),
        (driver(initContainerStatuses=[container({"running": {}}, restarts=1)]), True),
        (driver() | {"metadata": {"labels": {}}}, True),
        (driver() | {"metadata": {"labels": {LABEL_JOB: "load"}, "deletionTimestamp": "x"}}, True),
    ],
)
def test_of_a_driver_all_but_its_usual_way_is_news(pod, expected):
    assert is_news_of_pod(pod) is expected
