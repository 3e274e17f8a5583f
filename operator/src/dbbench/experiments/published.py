"""The studies' tables, as printed. They are files of this package; no other I/O.

Two files make a table: NAME.csv has the values in the form that `dbbench compare` reads, and
NAME.printed.csv the slowdowns that the study printed beside them, which come from unrounded times.
Wide tables have a row for each query and a column for each value.
"""

import csv
import math
from pathlib import Path

from dbbench.experiments.figure import AGGREGATES, Figure, Figures
from dbbench.stats import Sample, Unit, compare

FOLDER = Path(__file__).parent / "published"


def rows(file: str) -> list[dict[str, str]]:
    """The rows of a file, without its comments; FileNotFoundError when there is none."""
    lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def table(name: str, baseline: str, target: str, *, cells: tuple[str, ...] = ()) -> Figures:
    """Values of both sides for every cell, with the printed slowdown, else the one computed.

    `cells` takes some of them alone. A side that the study does not have is None.
    """
    values: dict[str, dict[str, tuple[float, Unit]]] = {}
    for row in rows(f"{name}.csv"):
        if not cells or row["cell"] in cells:
            of_cell = values.setdefault(row["cell"], {})
            of_cell[row["target"]] = float(row["value"]), Unit(row["unit"])
    slowdowns = _printed(name)
    found = {}
    for cell, sides in values.items():
        one, two = (sides[name][0] if name in sides else None for name in (baseline, target))
        unit = next(unit for _, unit in sides.values())
        slowdown = slowdowns.get(cell)
        if slowdown is None and one and two:
            slowdown = (one / two if unit.is_rate else two / one) - 1
        found[cell] = Figure(unit.value, one, two, slowdown=slowdown)
    return found


def _printed(name: str) -> dict[str, float]:
    """Slowdowns as printed, as ratios by cell; a loss, 1 - target / baseline, is another figure."""
    if not (FOLDER / f"{name}.printed.csv").exists():
        return {}
    return {
        row["cell"]: float(row["relative_pct"]) / 100
        for row in rows(f"{name}.printed.csv")
        if "relative_pct" in row
    }


def total(file: str, column: str, *, scale: float = 1.0) -> float:
    """The sum of a column of a wide table over its queries."""
    return scale * math.fsum(float(row[column]) for row in rows(file))


def aggregates(name: str, baseline: str, target: str) -> Figures:
    """The three aggregates of a table of times, computed from the printed times."""
    samples = [
        Sample(row["target"], row["cell"], row["trial"], float(row["value"]), Unit(row["unit"]))
        for row in rows(f"{name}.csv")
    ]
    found = compare(samples, baseline).aggregate(target, Unit.SECONDS)
    if found is None:
        raise ValueError(f"{name}.csv has no times of {target}")
    ratios = (found.mean_of_slowdowns, found.slowdown_of_total, found.geometric_mean)
    return {
        label: Figure("seconds", slowdown=ratio)
        for label, ratio in zip(AGGREGATES.values(), ratios, strict=True)
    }
