"""Finished jobs become records."""

import dataclasses
import json

import pytest

from dbbench.evaluate.harvest import harvest
from dbbench.evaluate.state import Ref
from dbbench.plan import block, plan_seed
from dbbench.results.record import LoadRecord, Outcome, TrialRecord
from dbbench.targets.jobs import load_job, trial_job

from .model_cluster import ModelCluster, spec

RESULT = {"kind": "Result", "schemaVersion": 1, "valid": True, "invalidReasons": [], "metrics": []}


def state_with(job_of, log, ended="Complete", reason=""):
    state = ModelCluster(spec()).state()
    job = job_of(state)
    job["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    job["status"] = {
        "startTime": "2026-01-01T00:00:01Z",
        "conditions": [
            {
                "type": ended,
                "status": "True",
                "reason": reason,
                "lastTransitionTime": "2026-01-01T00:01:00Z",
            }
        ],
    }
    name = job["metadata"]["name"]
    return dataclasses.replace(state, objects={Ref("Job", name): job}, logs={name: (log,)})


def trial(state):
    benchmark = state.benchmark
    first = block(benchmark.spec, plan_seed(benchmark.spec, benchmark.metadata.uid), 1).trials[0]
    return trial_job(state.context, first, 2)


def load(state):
    benchmark = state.benchmark
    return load_job(state.context, benchmark.spec.targets[0], benchmark.spec.workloads[1], 1)


def line(document):
    return json.dumps(document, separators=(",", ":")) + "\n"


def test_measured_trial_keeps_its_result_word_for_word():
    (record,) = harvest(state_with(trial, line(RESULT)))
    assert isinstance(record, TrialRecord)
    assert (record.block, record.attempt, record.outcome) == (1, 2, Outcome.MEASURED)
    assert record.result == RESULT
    assert record.started == "2026-01-01T00:00:01Z"


def test_load_is_recorded_with_target_and_workload():
    (record,) = harvest(state_with(load, line(RESULT)))
    assert isinstance(record, LoadRecord)
    assert (record.target, record.workload, record.attempt) == ("pod", "telecom", 1)


@pytest.mark.parametrize(
    ("log", "ended", "outcome", "reason"),
    [
        (None, "Complete", Outcome.FAILED, "ResultLost"),
        ("only noise\n", "Complete", Outcome.FAILED, "NoResult"),
        (line(RESULT), "Failed", Outcome.FAILED, "BackoffLimitExceeded"),
        (line(RESULT | {"valid": False}), "Complete", Outcome.INVALID, "Invalid"),
        (
            '{"kind":"Error","exitCode":3,"reason":"DatabaseUnreachable","message":"x"}\n',
            "Failed",
            Outcome.FAILED,
            "DatabaseUnreachable",
        ),
        (
            '{"kind":"Error","exitCode":5,"reason":"DriverSaturated","message":"x"}\n',
            "Failed",
            Outcome.INVALID,
            "DriverSaturated",
        ),
        (
            '{"kind":"Error","exitCode":4,"reason":"SchemaMissing","message":"x"}\n',
            "Failed",
            Outcome.FAILED,
            "ConsistencyCheckFailed",
        ),
        (
            '{"kind":"Error","exitCode":2,"reason":"InvalidScript","message":"look.sql:2: x"}\n',
            "Failed",
            Outcome.FAILED,
            "InvalidScript",
        ),
        (
            '{"kind":"Error","exitCode":2,"reason":"Unsupported","message":"x"}\n',
            "Failed",
            Outcome.FAILED,
            "InvalidArguments",
        ),
    ],
)
def test_what_is_no_measurement_is_recorded_with_its_reason(log, ended, outcome, reason):
    (record,) = harvest(state_with(trial, log, ended, "BackoffLimitExceeded"))
    assert (record.outcome, record.reason) == (outcome, reason)
    assert record.message


def test_job_that_ran_out_of_time_says_so():
    (record,) = harvest(state_with(trial, None, "Failed", "DeadlineExceeded"))
    assert record.reason == "DeadlineExceeded"
    assert "spec.timeouts" in record.message


def test_job_whose_log_could_not_be_read_yet_waits():
    state = state_with(trial, line(RESULT))
    assert harvest(dataclasses.replace(state, logs={})) == ()


def test_recorded_job_is_not_recorded_again():
    state = state_with(trial, line(RESULT))
    (record,) = harvest(state)
    assert harvest(dataclasses.replace(state, trials=(record,))) == ()


STOLEN = {
    "before": {"takenAt": "2026-01-01T00:00:00Z", "cpu": {"stealSeconds": 5.0}},
    "after": {"takenAt": "2026-01-01T00:00:10Z", "cpu": {"stealSeconds": 7.0}},
    "facts": {"cpusAllowed": [1]},
}
DISTURBED = line(RESULT | {"target": STOLEN | {"host": STOLEN}})


def with_repeats(state, repeats):
    spec = state.benchmark.spec
    chosen = spec.trials.contamination.model_copy(update={"max_repeats": repeats})
    trials = spec.trials.model_copy(update={"contamination": chosen})
    benchmark = state.benchmark.model_copy(
        update={"spec": spec.model_copy(update={"trials": trials})}
    )
    return dataclasses.replace(state, benchmark=benchmark)


def test_a_disturbed_trial_is_kept_and_run_again():
    (record,) = harvest(state_with(trial, DISTURBED))
    assert (record.outcome, record.reason) == (Outcome.INVALID, "Contaminated")
    assert "20.0 % of the time" in record.message
    assert record.result is not None


def test_without_a_repetition_left_it_counts_and_says_so():
    (record,) = harvest(with_repeats(state_with(trial, DISTURBED), 0))
    assert (record.outcome, record.reason) == (Outcome.MEASURED, "Contaminated")
    assert record.counts_though_contaminated
    assert "20.0 % of the time" in record.message


def test_what_was_run_again_comes_off_the_budget():
    state = with_repeats(state_with(trial, DISTURBED), 1)
    (record,) = harvest(state)
    assert record.outcome is Outcome.INVALID
    elsewhere = dataclasses.replace(record, trial="b001.other.telecom", attempt=1)
    (record,) = harvest(dataclasses.replace(state, trials=(elsewhere,)))
    assert record.outcome is Outcome.MEASURED


def test_one_trial_is_run_again_twice_at_most():
    state = with_repeats(state_with(trial, DISTURBED), 100)
    (record,) = harvest(state)
    before = tuple(dataclasses.replace(record, attempt=number) for number in (0, 1))
    (record,) = harvest(dataclasses.replace(state, trials=before))
    assert record.outcome is Outcome.MEASURED
