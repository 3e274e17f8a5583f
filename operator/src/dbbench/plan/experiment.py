"""Blocks, turns and trials. No I/O.

A block measures every cell once on every target. Within a block each deployment of a target has
one turn: it is started, runs its trials, and is stopped, so that targets never share the node's
CPUs and a node needs room for one target only. The turns at one point of a sweep follow one
another, so that what is compared is close in time. The order of points, of turns, and of cells
within a turn, is drawn anew for each pair of blocks, so that slow drift of the machine cancels in
the mean of blocks.

In a duet the turns of both targets at a point are one: both are started, in that order, and each
trial of the first runs at the same time as that of the same cell on the second.
"""

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.plan.cells import Cell, cells
from dbbench.plan.deployment import deployed_name, deployment_point, of_block
from dbbench.plan.intervention import confirming_places
from dbbench.plan.sweep import Point


@dataclass(frozen=True)
class Trial:
    """One execution of one cell on one target.

    `deployed_for`: the first of the blocks that share its deployment; 0 where all blocks do.
    `partner`: the target on which the same cell is measured at the same time, in a duet; empty
    where there is none.
    """

    block: int
    target: str
    cell: Cell
    seed: int
    deployed_for: int = 0
    partner: str = ""

    @property
    def together(self) -> tuple["Trial", ...]:
        """All trials that run at the same time: this one, and in a duet that of the partner."""
        if not self.partner:
            return (self,)
        return self, replace(self, target=self.partner, partner=self.target)

    @property
    def point(self) -> Point:
        """Where the deployment stands that it is measured on; empty where a target has only one."""
        point = deployment_point(self.cell)
        return of_block(point, self.deployed_for) if self.deployed_for else point

    @property
    def deployment(self) -> str:
        """Name of that deployment; the target's own where it has only one."""
        return deployed_name(self.target, self.point)

    @property
    def point_hash(self) -> str:
        """Tells the points of one workload apart in names; empty where there is one point.

        Longer with a sweep, which has so many points that four digits would soon meet again, and
        where a cause is tested.
        """
        if not self.cell.point:
            return ""
        digits = 8 if self.cell.swept or self.cell.intervention else 4
        return hashlib.sha256(self.cell.name.encode()).hexdigest()[:digits]

    @property
    def id(self) -> str:
        """Unique within a benchmark, usable as a label's value: `b002.vm.analytics.1f3a`."""
        parts = (f"b{self.block:03d}", self.target, self.cell.workload, self.point_hash)
        return ".".join(part for part in parts if part)


@dataclass(frozen=True)
class Turn:
    """The trials of one deployment of a target within a block, in order."""

    block: int
    target: str
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Block:
    """One trial of every cell on every target, close in time, in random order."""

    index: int
    turns: tuple[Turn, ...]

    @property
    def trials(self) -> tuple[Trial, ...]:
        return tuple(trial for turn in self.turns for trial in turn.trials)


def block(spec: DBBenchmarkSpec, seed: int, index: int) -> Block:
    """Block number `index` (from 1). The same seed gives the same block, whatever came before.

    Every target runs the cells in the same order and with the same workload seed: within a block
    the targets differ in nothing but themselves and the time of their turn.
    """
    targets = [target.name for target in spec.measured_targets]
    places = dict.fromkeys(cells(spec), targets)
    return arranged(places, seed, index, spec.trials.deployed_for(index), duet=spec.duet)


def arranged(
    targets_of: Mapping[Cell, Sequence[str]],
    seed: int,
    index: int,
    deployed_for: int = 0,
    *,
    duet: bool = False,
) -> Block:
    """The block of these cells, each on the targets that it is measured on.

    `deployed_for`: the first of the blocks that have these deployments for themselves; 0 where
    all blocks share theirs. `duet`: on its two targets at the same time.
    """
    first = index - (index - 1) % 2
    order = random.Random(f"{seed}/{first}")
    by_point: dict[Point, list[Cell]] = {}
    for cell in targets_of:
        by_point.setdefault(deployment_point(cell), []).append(cell)
    points = list(by_point)
    order.shuffle(points)
    turns: list[tuple[str, list[Cell]]] = []
    for point in points:
        ordered = by_point[point]
        targets = list(dict.fromkeys(name for cell in ordered for name in targets_of[cell]))
        order.shuffle(targets)
        order.shuffle(ordered)
        turns += [
            (target, [cell for cell in ordered if target in targets_of[cell]]) for target in targets
        ]
    if index != first:
        turns = [(target, ordered[::-1]) for target, ordered in reversed(turns)]
    return Block(
        index,
        tuple(
            Turn(
                index,
                target,
                tuple(
                    Trial(
                        index,
                        target,
                        cell,
                        workload_seed(seed, index, cell),
                        deployed_for,
                        partner=_partner(target, targets_of[cell]) if duet else "",
                    )
                    for cell in ordered
                ),
            )
            for target, ordered in turns
        ),
    )


def _partner(target: str, both: Sequence[str]) -> str:
    (other,) = (name for name in both if name != target)
    return other


def trial_of(spec: DBBenchmarkSpec, seed: int, trial_id: str) -> Trial:
    """The trial with that id, one that tests a cause too; KeyError when there can be none such."""
    match = re.match(r"b([0-9]+)\.", trial_id)
    if match is None:
        raise KeyError(trial_id)
    index = int(match[1])
    tests = arranged(confirming_places(spec), seed, index, spec.trials.deployed_for(index))
    return {
        trial.id: trial for found in (block(spec, seed, index), tests) for trial in found.trials
    }[trial_id]


def workload_seed(seed: int, index: int, cell: Cell) -> int:
    """Seed of a trial's random choices: 32 bits, different for each block and cell."""
    digest = hashlib.sha256(f"{seed}/{index}/{cell.key}".encode()).digest()
    return int.from_bytes(digest[:4])


def plan_seed(spec: DBBenchmarkSpec, uid: str) -> int:
    """The seed of the whole plan: from the spec, else from the object's uid (32 bits)."""
    if spec.trials.seed is not None:
        return spec.trials.seed
    return int.from_bytes(hashlib.sha256(uid.encode()).digest()[:4])


def block_limits(spec: DBBenchmarkSpec) -> tuple[int, int]:
    """Fewest and most blocks."""
    return spec.trials.min, spec.trials.max or spec.trials.min
