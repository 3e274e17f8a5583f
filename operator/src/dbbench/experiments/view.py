"""Tables that put a study's figures beside the measured ones. No I/O but the study's files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbbench.experiments.figure import Figure, Figures
from dbbench.experiments.measured import Document, Measure


@dataclass(frozen=True)
class View:
    """One table of a row of the catalogue.

    `manifest` is the file whose benchmark it shows, `source` where the paper's figures stand, and
    `sides` what the study's baseline and target were. Without a paper there are measured figures
    alone, and `source` says why.
    """

    manifest: str
    title: str
    measure: Measure
    source: str
    sides: tuple[str, str] = ("", "")
    paper: Callable[[], Figures] | None = None


@dataclass(frozen=True)
class PairedRow:
    """One row: what was printed, and what was measured; None where there is nothing."""

    name: str
    paper: Figure | None
    measured: Figure | None


@dataclass(frozen=True)
class PairedTable:
    """A view of one target of a run."""

    view: View
    baseline: str
    target: str
    emulated: bool
    rows: tuple[PairedRow, ...]


def pair(view: View, summary: Document) -> list[PairedTable]:
    """A table for each target that was compared with the baseline; rows in the paper's order."""
    paper = view.paper() if view.paper else {}
    emulated = set(summary["emulatedTargets"])
    targets = [target["name"] for target in summary["spec"]["targets"]]
    return [
        PairedTable(
            view=view,
            baseline=summary["baseline"],
            target=target,
            emulated=bool({summary["baseline"], target} & emulated),
            rows=_rows(paper, view.measure(summary, target)),
        )
        for target in targets
        if target != summary["baseline"]
    ]


def _rows(paper: Figures, measured: Figures) -> tuple[PairedRow, ...]:
    names: Sequence[str] = list(dict.fromkeys([*paper, *measured]))
    return tuple(PairedRow(name, paper.get(name), measured.get(name)) for name in names)
