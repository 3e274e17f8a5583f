"""Ratios of two programs that were measured side by side, and how they are shown."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import asdict, dataclass
from math import comb
from statistics import median

from program import DRIVER

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratio:
    """The median over the rounds of ours / theirs, beside the goal.

    `low` and `high` are its confidence interval. `verdict`: `reached` or `missed` where the whole
    interval says so, `undecided` where the goal lies within.
    """

    case: str
    what: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    rounds: int
    goal: str
    verdict: str


def ratio(case: str, what: str, ours: list[float], theirs: list[float], goal: str) -> Ratio:
    """`goal` is `<= 1.0` or `>= 0.9`. Each round gives one ratio: what slows a round slows both."""
    ratios = sorted(mine / other for mine, other in zip(ours, theirs, strict=True))
    left_out = _left_out(len(ratios))
    low, high = ratios[left_out], ratios[-1 - left_out]
    bound = float(goal.split()[1])
    meets = [end <= bound if goal.startswith("<=") else end >= bound for end in (low, high)]
    verdict = "reached" if all(meets) else "undecided" if any(meets) else "missed"
    middle = median(ratios)
    return Ratio(
        case, what, median(ours), median(theirs), middle, low, high, len(ratios), goal, verdict
    )


def _left_out(rounds: int) -> int:
    """How many ratios at each end lie outside the interval of the median.

    From the order of the ratios alone (the sign test turned round), whatever their distribution is.
    Fewer than 6 rounds cannot give 95 %: all of them are the interval then.
    """
    tail, outside = 0.0, 0
    while outside < rounds // 2:
        tail += comb(rounds, outside) / 2**rounds
        if 2 * tail > 1 - CONFIDENCE:
            break
        outside += 1
    return max(outside - 1, 0)


def show(benchmark: str, ratios: list[Ratio]) -> None:
    """A table for people on standard output, then one line of JSON."""
    print(_line("case", "what", "ours", "theirs", "ratio", "95 %", "goal", "verdict"))
    for one in ratios:
        numbers = (f"{one.ours:.4g}", f"{one.theirs:.4g}", f"{one.ratio:.3f}")
        interval = f"{one.low:.2f}..{one.high:.2f}"
        print(_line(one.case, one.what, *numbers, interval, one.goal, one.verdict))
    host = {"cpus": os.cpu_count(), "kernel": platform.release(), "loadAverage": os.getloadavg()[0]}
    print(
        json.dumps(
            {"benchmark": benchmark, "host": host, "ratios": [asdict(one) for one in ratios]}
        )
    )


def _line(case: str, what: str, *columns: str) -> str:
    widths = (10, 10, 7, 13, 8, 10)
    cells = [f"{text:>{width}}" for text, width in zip(columns, widths, strict=True)]
    return " ".join([f"{case:<22}", f"{what:<28}", *cells])


def parser(description: str | None, rounds: int) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--driver", default=str(DRIVER), help="the driver's release binary [%(default)s]"
    )
    options.add_argument(
        "--rounds", type=int, default=rounds, help="how often both are measured [%(default)s]"
    )
    return options
