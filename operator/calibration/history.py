"""Histories whose truth is known: nights without a change, and with one planted."""

from dataclasses import dataclass

import numpy as np

from calibration.experiments import Array, noise
from dbbench.stats import CONFIDENCE
from dbbench.stats.history import SIGNIFICANCE
from dbbench.stats.trend import TrendVerdict, fewest_values, trends

_ALARMS = (TrendVerdict.REGRESSED, TrendVerdict.IMPROVED, TrendVerdict.INCONCLUSIVE)


@dataclass(frozen=True)
class Planted:
    """Of many histories with a step: the share found as a regression; of these the shares whose
    interval holds the step, and whose current stretch begins with the first night after it.
    """

    found: float
    held: float
    exact: float


def false_alarms(kind: str, nights: int, runs: int, random: np.random.Generator) -> float:
    """Share of histories without a change for which anything but Unchanged is said."""
    return float(
        np.mean([_alarm(values) for values in np.exp(noise(kind, (runs, nights), random))])
    )


def alarms_by_night(kind: str, nights: int, runs: int, random: np.random.Generator) -> float:
    """The same for whoever looks every night, and sees an alarm on any of them."""
    histories = np.exp(noise(kind, (runs, nights), random))
    first = fewest_values(SIGNIFICANCE)
    return float(
        np.mean(
            [
                any(_alarm(values[:night]) for night in range(first, nights + 1))
                for values in histories
            ]
        )
    )


def planted(
    kind: str, nights: tuple[int, int], step: float, runs: int, random: np.random.Generator
) -> Planted:
    """Histories that get slower by `step` (0.03 is 3 %), with so many nights before and after."""
    before, after = nights
    truth = float(np.log1p(step))
    shift = np.repeat([0.0, truth], nights)
    regressed = []
    for values in np.exp(noise(kind, (runs, before + after), random) + shift):
        (found,) = trends([values.tolist()], seed=1)
        if found.verdict is TrendVerdict.REGRESSED and found.estimate is not None:
            low, high = found.estimate.bounds(CONFIDENCE) or (-np.inf, np.inf)
            regressed.append((low <= truth <= high, found.current[0] == before))
    held, exact = np.mean(regressed, axis=0) if regressed else (np.nan, np.nan)
    return Planted(len(regressed) / runs, float(held), float(exact))


def _alarm(values: Array) -> bool:
    (found,) = trends([values.tolist()], seed=1)
    return found.verdict in _ALARMS
