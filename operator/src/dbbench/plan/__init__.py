"""From the spec to the ordered list of blocks and trials: random, but from a recorded seed."""

from dbbench.plan.cells import Cell, cache_state, cells
from dbbench.plan.deployment import deployed
from dbbench.plan.experiment import (
    Block,
    Trial,
    Turn,
    arranged,
    block,
    block_limits,
    plan_seed,
    trial_of,
)

__all__ = [
    "Block",
    "Cell",
    "Trial",
    "Turn",
    "arranged",
    "block",
    "block_limits",
    "cache_state",
    "cells",
    "deployed",
    "plan_seed",
    "trial_of",
]
