"""Fairness at each point of a sweep: targets are compared where they are deployed alike. No I/O.

What differs between points, such as the number of CPUs, is what the sweep is for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.evaluate.fairness import Difference, Profile, differences, profiles
from dbbench.plan import cells
from dbbench.plan.deployment import (
    at_point,
    deployment_point,
    deployment_points,
    deployment_suffix,
    point_name,
)
from dbbench.plan.sweep import Point
from dbbench.results.record import LoadRecord, TrialRecord

ProfilesByPoint = Mapping[Point, Mapping[str, Profile]]
"""Profiles of the targets at each point that is deployed: one, (), without a sweep of those."""


def profiles_by_point(
    spec: DBBenchmarkSpec,
    trials: Iterable[TrialRecord],
    loads: Iterable[LoadRecord],
    environment: Environment,
) -> ProfilesByPoint:
    """What each target reported at each point."""
    trials, loads = tuple(trials), tuple(loads)
    points = deployment_points(spec)
    if points == ((),):
        return {(): profiles(spec, trials, loads, environment)}
    places = {(cell.workload, cell.name): deployment_point(cell) for cell in cells(spec)}
    return {
        point: profiles(
            at_point(spec, point),
            [trial for trial in trials if places.get((trial.workload, trial.cell)) == point],
            [load for load in loads if load.deployment == deployment_suffix(point)],
            environment,
        )
        for point in points
    }


def differences_by_point(
    spec: DBBenchmarkSpec, found: ProfilesByPoint
) -> tuple[Difference, ...] | None:
    """Every difference at any point, with the points; None until all targets have reported at all.

    One that there is at every point is listed once, without them.
    """
    places: dict[Difference, list[str]] = {}
    for point, here in found.items():
        at_this = differences(at_point(spec, point), here)
        if at_this is None:
            return None
        for difference in at_this:
            places.setdefault(difference, []).append(point_name(point))
    return tuple(
        difference
        if len(names) == len(found)
        else replace(difference, name=f"{difference.name} (at {'; '.join(names)})")
        for difference, names in places.items()
    )
