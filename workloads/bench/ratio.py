"""Ratios of two programs that were measured side by side, and how they are shown."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import asdict, dataclass
from statistics import median

from program import DRIVER


@dataclass(frozen=True)
class Ratio:
    """The median over the rounds of ours / theirs, beside the goal."""

    case: str
    what: str
    ours: float
    theirs: float
    ratio: float
    lowest: float
    highest: float
    goal: str
    reached: bool


def ratio(case: str, what: str, ours: list[float], theirs: list[float], goal: str) -> Ratio:
    """`goal` is `<= 1.0` or `>= 0.9`. Each round gives one ratio: what slows a round slows both."""
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    bound = float(goal.split()[1])
    middle = median(ratios)
    reached = middle <= bound if goal.startswith("<=") else middle >= bound
    return Ratio(
        case, what, median(ours), median(theirs), middle, min(ratios), max(ratios), goal, reached
    )


def show(benchmark: str, ratios: list[Ratio]) -> None:
    """A table for people on standard output, then one line of JSON."""
    print(_line("case", "what", "ours", "theirs", "ratio", "range", "goal", "reached"))
    for one in ratios:
        numbers = (f"{one.ours:.4g}", f"{one.theirs:.4g}", f"{one.ratio:.3f}")
        spread = f"{one.lowest:.2f}..{one.highest:.2f}"
        reached = "yes" if one.reached else "no"
        print(_line(one.case, one.what, *numbers, spread, one.goal, reached))
    host = {"cpus": os.cpu_count(), "kernel": platform.release(), "loadAverage": os.getloadavg()[0]}
    print(
        json.dumps(
            {"benchmark": benchmark, "host": host, "ratios": [asdict(one) for one in ratios]}
        )
    )


def _line(case: str, what: str, *columns: str) -> str:
    widths = (10, 10, 7, 13, 8, 8)
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
