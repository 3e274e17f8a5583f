"""Fairness at each point of a sweep: targets are compared where they are deployed alike. No I/O.

What differs between points, such as the number of CPUs, is what the sweep is for. The deployments
that test causes are points, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.evaluate.fairness import Difference, Profile, differences, profiles
from dbbench.plan import cells
from dbbench.plan.deployment import (
    any_block,
    at_point,
    confirming_points,
    deployment_point,
    deployment_points,
    deployment_suffix,
    point_name,
)
from dbbench.plan.intervention import confirming_places
from dbbench.plan.sweep import Point
from dbbench.results.record import LoadRecord, TrialRecord

ProfilesByPoint = Mapping[Point, Mapping[str, Profile]]
"""Profiles of the targets at each point that is deployed: one, (), without a sweep of those.

Of a point that tests causes, only where all that was measured there has reported.
"""


def profiles_by_point(
    spec: DBBenchmarkSpec,
    trials: Iterable[TrialRecord],
    loads: Iterable[LoadRecord],
    environment: Environment,
) -> ProfilesByPoint:
    """What each target reported at each point."""
    loads = tuple(loads)
    points = deployment_points(spec)
    places = {
        (cell.workload, cell.name): deployment_point(cell)
        for cell in (*cells(spec), *confirming_places(spec))
    }
    at: dict[Point, list[TrialRecord]] = {
        point: [] for point in (*points, *confirming_points(spec))
    }
    for trial in trials:
        if (point := places.get((trial.workload, trial.cell))) is not None:
            at[point].append(trial)
    found = {}
    for point, records in at.items():
        here = at_point(spec, point)
        if point not in points:
            here = _among(here, {spec.baseline, *(record.target for record in records)})
        there = [load for load in loads if any_block(load.deployment) == deployment_suffix(point)]
        found[point] = profiles(here, records, there, environment)
    return {
        point: reported
        for point, reported in found.items()
        if point in points or all(reported.values())
    }


def differences_by_point(
    spec: DBBenchmarkSpec, found: ProfilesByPoint
) -> tuple[Difference, ...] | None:
    """Every difference at any point, with the points; None until all targets have reported at all.

    One that there is at every point of the spec is listed once, without them.
    """
    places: dict[Difference, list[Point]] = {}
    for point, here in found.items():
        at_this = differences(_among(at_point(spec, point), here), here)
        if at_this is None:
            return None
        for difference in at_this:
            places.setdefault(difference, []).append(point)
    everywhere = set(deployment_points(spec))
    return tuple(
        difference
        if everywhere <= set(points)
        else replace(difference, name=f"{difference.name} (at {_listed(points)})")
        for difference, points in places.items()
    )


def _among(spec: DBBenchmarkSpec, names: Iterable[str]) -> DBBenchmarkSpec:
    """With these targets alone, the control among them where it is named."""
    wanted = frozenset(names)
    targets = [target for target in spec.measured_targets if target.name in wanted]
    trials = spec.trials.model_copy(update={"control": False})
    return spec.model_copy(update={"targets": targets, "trials": trials})


def _listed(points: Iterable[Point]) -> str:
    return "; ".join(point_name(point) for point in points)
