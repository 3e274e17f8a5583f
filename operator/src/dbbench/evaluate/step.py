"""A step of a run: what must exist, what must not, and how long it may take. Plain data. No I/O."""

from dataclasses import dataclass

from dbbench.evaluate.problem import Problem
from dbbench.evaluate.state import Manifest, Ref


@dataclass(frozen=True)
class Waiting:
    """A step that goes on: objects that must exist, and when to lose patience.

    `created`: more of them, which never change. `removed`: objects that must go.
    `limit_seconds` None: something else (a job's own deadline) ends the step.
    """

    step: str
    description: str
    objects: tuple[Manifest, ...] = ()
    created: tuple[Manifest, ...] = ()
    removed: tuple[Ref, ...] = ()
    limit_seconds: int | None = None
    overdue: Problem | None = None


@dataclass(frozen=True)
class Failed:
    """The run cannot go on."""

    problem: Problem


Step = Waiting | Failed


def runs_driver(name: str) -> bool:
    """Whether the step of that name is a load or trial: a job of the driver is all there is."""
    return name.startswith(("load:", "trial:"))
