"""Instances of one target side by side: what each got, and how fairly. No I/O."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench.api import status
from dbbench.plan import Cell
from dbbench.results import driver_result
from dbbench.results.driver_result import ResultError
from dbbench.results.figures import decimal
from dbbench.results.instances import jain_index
from dbbench.results.record import TrialRecord
from dbbench.stats import Unit


@dataclass(frozen=True)
class InstanceFigures:
    """The instances of a target in one cell, over all measured trials.

    `values` and `total` are arithmetic means over trials, of each instance and of what is compared:
    the sum of the instances' rates, or the mean of their times. `fairness` is the mean over trials
    of Jain's index of the instances' rates (of times: their reciprocals), `least_fairness` the
    least one.
    """

    cell: Cell
    target: str
    metric: str
    unit: Unit
    values: tuple[float, ...]
    total: float
    fairness: float
    least_fairness: float
    trials: int

    def as_status(self) -> status.InstanceResults:
        """The same as status shows them."""
        return status.InstanceResults(
            workload=self.cell.workload,
            cell=self.cell.name,
            target=self.target,
            metric=self.metric,
            unit=self.unit.value,
            total=decimal(self.total),
            values=[decimal(value) for value in self.values],
            fairness_index=decimal(self.fairness),
            trials=self.trials,
        )


def instance_figures(
    cell: Cell, target: str, metric: str, records: Sequence[TrialRecord]
) -> InstanceFigures | None:
    """From the measured trials of one cell and target; None where none has several instances."""
    trials = [
        (value, shares)
        for record in records
        if record.target == target and (shares := _values(record.instances, metric))
        if (value := _value(record.result, metric)) is not None
    ]
    if not trials:
        return None
    unit = trials[0][0].unit
    each = [[share.value for share in shares] for _, shares in trials]
    indices = [jain_index([_rate(value, unit) for value in values]) for values in each]
    return InstanceFigures(
        cell=cell,
        target=target,
        metric=metric,
        unit=unit,
        values=tuple(statistics.fmean(values) for values in zip(*each, strict=True)),
        total=statistics.fmean(value.value for value, _ in trials),
        fairness=statistics.fmean(indices),
        least_fairness=min(indices),
        trials=len(trials),
    )


def _rate(value: float, unit: Unit) -> float:
    return 1 / value if unit is Unit.SECONDS else value


def _values(documents: Sequence[Mapping[str, Any]], metric: str) -> list[driver_result.Metric]:
    """One of each instance, or none where one of them has no such figure."""
    found = [_value(document, metric) for document in documents]
    return [value for value in found if value is not None] if all(found) else []


def _value(document: Mapping[str, Any] | None, metric: str) -> driver_result.Metric | None:
    try:
        return driver_result.read(document).metrics.get(metric)
    except ResultError:
        return None
