"""Deployments: what of a target has to be deployed anew, with volumes and data of its own. No I/O.

Some axes of a sweep are resources or options of what is deployed. At each of their points every
target is deployed apart from the other points, under a name of its own: `vm@cpu2-diskCachenone`;
also a target that the point says nothing about, because writing workloads age what they write to,
and what is compared must be of the same age. So it is for a test that
changes targets: `vm@confirmDataDiskCacheNone`; and with `trials.redeploy` for each block, or for so
many in a row, by the first of them: `vm@cpu2-instances3-block4`.
"""

import hashlib
import math
import re
from collections.abc import Iterable

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Intervention
from dbbench.plan.cells import CACHE, CONFIRM, CONNECTION, Cell, cells
from dbbench.plan.intervention import REDEPLOYED, confirming_places, intervened
from dbbench.plan.sweep import ARGUMENTS, CPU, INSTANCES, Point
from dbbench.plan.variant import varied

BLOCK = "block"
"""No axis, for nothing differs on purpose: tells apart what blocks have deployed for themselves."""

_ON_ONE_DEPLOYMENT = frozenset((CACHE, CONNECTION, CONFIRM, *ARGUMENTS))
_LONGEST_SUFFIX = 50
"""Characters. With the number of a block it fits into a label's value, which has at most 63."""

_OF_BLOCK = re.compile(rf"(?:^|-){BLOCK}([0-9]+)$")


def deployment_point(cell: Cell) -> Point:
    """The part of a cell's point that needs a deployment of its own; empty where nothing does."""
    return tuple(one for one in cell.point if one[0] not in _ON_ONE_DEPLOYMENT or one in REDEPLOYED)


def deployment_points(spec: DBBenchmarkSpec) -> tuple[Point, ...]:
    """Points at which every target is deployed, in the order of the cells: one without such axes.

    All workloads have these axes, so that each of them has cells on every deployment.
    """
    return tuple(dict.fromkeys(deployment_point(cell) for cell in cells(spec)))


def confirming_points(spec: DBBenchmarkSpec) -> tuple[Point, ...]:
    """Points at which targets may be deployed after the trials, to test causes."""
    points = dict.fromkeys(deployment_point(cell) for cell in confirming_places(spec))
    return tuple(point for point in points if not REDEPLOYED.isdisjoint(point))


def point_name(point: Point) -> str:
    """As in a cell's name: `cpu=2,instances=3`."""
    return Cell("", point).name


def deployed_name(target: str, point: Point) -> str:
    """The name of a target's deployment: the target's own where it has only one.

    No name of a target has an @.
    """
    return f"{target}@{deployment_suffix(point)}" if point else target


def deployment_suffix(point: Point) -> str:
    """What tells the deployments of a target apart, as the value of a label: `cpu2-instances3`.

    Where that would be too long, a hash stands for its end.
    """
    parts = [f"{axis}{value}" for axis, value in point if axis != BLOCK]
    text = "-".join(parts)
    if len(text) > _LONGEST_SUFFIX:
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        text = f"{text[: _LONGEST_SUFFIX - 9].rstrip('-')}-{digest}"
    own = [f"{axis}{value}" for axis, value in point if axis == BLOCK]
    return "-".join(part for part in (text, *own) if part)


def of_block(point: Point, index: int) -> Point:
    """Where the deployments stand that are made at a point for block `index`, or from it on."""
    return (*point, (BLOCK, str(index)))


def blocks_of(suffixes: Iterable[str]) -> list[int]:
    """Numbers of the blocks that such deployments were made for, in order."""
    return sorted({int(match[1]) for suffix in suffixes if (match := _OF_BLOCK.search(suffix))})


def any_block(suffix: str) -> str:
    """The suffix without the block: deployments of which nothing but the block differs share it."""
    return _OF_BLOCK.sub("", suffix)


def at_point(spec: DBBenchmarkSpec, point: Point) -> DBBenchmarkSpec:
    """The spec as if it had no sweep and said what the point says."""
    if not point:
        return spec
    values = dict(point)
    spec = varied(spec, point)
    resources, targets = spec.resources, spec.targets
    if CPU in values:
        resources = resources.model_copy(update={"cpu": int(values[CPU])})
    if INSTANCES in values:
        changed = {"instances": int(values[INSTANCES])}
        targets = [target.model_copy(update=changed) for target in targets]
    here = spec.model_copy(update={"sweep": None, "resources": resources, "targets": targets})
    return intervened(here, Intervention(values[CONFIRM])) if CONFIRM in values else here


def deployed(spec: DBBenchmarkSpec, point: Point) -> DBBenchmarkSpec:
    """The spec of the deployments at a point, as targets of their own, the control among them."""
    if not point:
        return spec
    here = at_point(spec, point)
    targets = [
        target.model_copy(update={"name": deployed_name(target.name, point)})
        for target in here.measured_targets
    ]
    return here.model_copy(
        update={
            "baseline": deployed_name(spec.baseline, point),
            "targets": targets,
            "trials": here.trials.model_copy(update={"control": False}),
        }
    )


def largest_first(points: tuple[Point, ...]) -> list[Point]:
    """Deployment points by what they need of a node, the most first."""
    return sorted(points, key=_size, reverse=True)


def _size(point: Point) -> int:
    """CPUs of all instances, up to a factor that the points have in common."""
    return math.prod(int(value) for axis, value in point if axis in (CPU, INSTANCES))


def overcommitment(
    spec: DBBenchmarkSpec, target: str, point: Point, node_cpus: int | None
) -> float | None:
    """Sum of the instances' CPUs to those of the node, as a ratio; None where those are unknown.

    Boegelsack et al. 2010: O = sum of vCPUs / physical CPUs.
    """
    here = at_point(spec, point)
    if not node_cpus or not here.target(target).deployed:
        return None
    return here.target(target).instances * here.resources.cpu / node_cpus
