"""What a run on a model cluster should have measured, and what it has."""

from dbbench.plan import block, plan_seed
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

from .model_cluster import ModelCluster


def planned(cluster: ModelCluster) -> list[str]:
    found = cluster.benchmark()
    seed = plan_seed(found.spec, found.metadata.uid)
    return [
        trial.id
        for index in range(1, found.spec.trials.min + 1)
        for trial in block(found.spec, seed, index).trials
    ]


def measured(cluster: ModelCluster) -> list[str]:
    return [
        record.trial
        for record in cluster.records.values()
        if isinstance(record, TrialRecord) and record.outcome is Outcome.MEASURED
    ]


def loads(cluster: ModelCluster) -> list[LoadRecord]:
    return [record for record in cluster.records.values() if isinstance(record, LoadRecord)]
