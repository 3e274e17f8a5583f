"""Simulated experiments on a machine that drifts, remembers and stumbles.

All figures are logarithms of runtimes: 0.01 is 1 %. A run has two trials in each block, in the
order that the plan draws: at random for each pair of blocks, reversed in the second block.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

NOISE = 0.01
"""Standard deviation of a single trial, whatever its distribution."""


@dataclass(frozen=True)
class Setting:
    """How a machine misbehaves.

    `noise`: distribution of a trial's own error, with standard deviation NOISE. `drift`: how much
    slower the machine gets over the whole run, steadily. `memory`, `sway`: correlation from trial
    to trial, and standard deviation, of a disturbance that trials share (AR(1)). `unequal`: how
    many times the baseline's noise the target has.
    """

    name: str
    noise: str = "normal"
    drift: float = 0.0
    memory: float = 0.0
    sway: float = 0.0
    unequal: float = 1.0


SETTINGS = (
    Setting("quiet"),
    Setting("drift of 10 %", drift=0.1),
    Setting("drift of 30 %", drift=0.3),
    Setting("AR(1) 0.7", memory=0.7, sway=0.02),
    Setting("AR(1) 0.95", memory=0.95, sway=0.05),
    Setting("heavy tails: t3", noise="t3"),
    Setting("heavy tails: lognormal", noise="lognormal"),
    Setting("unequal noise, t3", noise="t3", unequal=3),
    Setting("drift 10 %, AR(1) 0.7, t3", noise="t3", drift=0.1, memory=0.7, sway=0.02),
    Setting(
        "drift 10 %, AR(1) 0.7, lognormal", noise="lognormal", drift=0.1, memory=0.7, sway=0.02
    ),
)
"""What 95 % intervals are held to."""

SKEWED = Setting("lognormal, target three times as noisy", noise="lognormal", unequal=3)
"""Where one side alone has rare, large excesses: no method is right here with few blocks."""


@dataclass(frozen=True)
class Runs:
    """Many runs of one setting: rows are runs, columns blocks.

    `ratios` are the log ratios of the interleaved blocks, `gaps` +1 where the target came second
    and -1 where it came first. `baseline` and `target` are the trials of the same number when all
    of the baseline's are made first: the run that does not interleave.
    """

    ratios: Array
    gaps: Array
    baseline: Array
    target: Array


def simulate(
    setting: Setting, blocks: int, runs: int, truth: float, random: np.random.Generator
) -> Runs:
    """Runs of a target that is slower by `truth` (a log ratio)."""
    machine = _machine(setting, 2 * blocks, runs, random)
    baseline = noise(setting.noise, (runs, blocks), random)
    target = truth + setting.unequal * noise(setting.noise, (runs, blocks), random)
    gaps = _order(blocks, runs, random)
    first, second = machine[:, 0::2], machine[:, 1::2]
    ratios = (target + np.where(gaps > 0, second, first)) - (
        baseline + np.where(gaps > 0, first, second)
    )
    return Runs(ratios, gaps, baseline + machine[:, :blocks], target + machine[:, blocks:])


def deployed(measured: Runs, luck: float, random: np.random.Generator, *, each: int) -> Runs:
    """The same runs where each deployment of a target has luck of its own, with that deviation.

    Baseline and target have a deployment for every `each` blocks, or with 0 one for all of them.
    """
    runs, blocks = measured.ratios.shape
    own = random.normal(0, luck, (2, runs, -(-blocks // each) if each else 1))
    added = np.repeat(own[1] - own[0], each or blocks, axis=1)[:, :blocks]
    return replace(measured, ratios=measured.ratios + added)


def by_deployment(measured: Runs, each: int) -> Runs:
    """One value for each deployment, the mean of its `each` blocks, as `dbbench` takes them."""
    runs = len(measured.ratios)
    means = {
        name: getattr(measured, name).reshape(runs, -1, each).mean(axis=2)
        for name in ("ratios", "gaps")
    }
    return replace(measured, **means)


def _order(blocks: int, runs: int, random: np.random.Generator) -> Array:
    pairs = random.choice([-1.0, 1.0], (runs, (blocks + 1) // 2))
    return np.stack([pairs, -pairs], axis=2).reshape(runs, -1)[:, :blocks]


def _machine(setting: Setting, trials: int, runs: int, random: np.random.Generator) -> Array:
    """What the machine adds to each trial, in the order of time."""
    shared = np.empty((runs, trials))
    fresh = random.normal(size=(runs, trials))
    shared[:, 0] = fresh[:, 0]
    for index in range(1, trials):
        shared[:, index] = (
            setting.memory * shared[:, index - 1] + np.sqrt(1 - setting.memory**2) * fresh[:, index]
        )
    drift = setting.drift * (np.arange(trials) + 0.5) / trials
    return np.asarray(setting.sway * shared + drift)


def noise(kind: str, shape: tuple[int, int], random: np.random.Generator) -> Array:
    """Mean 0, standard deviation NOISE."""
    if kind == "normal":
        return random.normal(0, NOISE, shape)
    if kind == "t3":
        return np.asarray(random.standard_t(3, shape) * (NOISE / np.sqrt(3)))
    if kind == "lognormal":
        sigma2 = 0.64
        mean = np.exp(sigma2 / 2)
        deviation = mean * np.sqrt(np.exp(sigma2) - 1)
        return np.asarray(
            (random.lognormal(0, np.sqrt(sigma2), shape) - mean) * (NOISE / deviation)
        )
    raise ValueError(f"no noise is called {kind!r}")
