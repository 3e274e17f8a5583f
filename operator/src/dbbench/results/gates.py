"""Limits on slowdowns that a pipeline can wait on, and the worst of them. No I/O."""

from dataclasses import dataclass

from dbbench.api.quantities import percent
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.results.analysis import Analysis


@dataclass(frozen=True)
class GateOutcome:
    """What a gate says. `slowdown` and `passed` are None as long as nothing was compared.

    With several cells, the worst cell decides; `cell` names it. `limit` and `slowdown` are ratios.
    """

    workload: str
    cell: str
    target: str
    limit: float
    slowdown: float | None
    passed: bool | None

    @property
    def message(self) -> str:
        """One sentence for a condition."""
        point = f" ({self.cell})" if self.cell else ""
        where = f"{self.workload}{point} on {self.target}"
        limit = f"{self.limit * 100:.6g} %"
        if self.slowdown is None:
            return f"{where} has not been compared yet; the limit is {limit}."
        relation = "within" if self.passed else "beyond"
        slowdown = f"{self.slowdown * 100:+.3g} %"
        return f"{where} has a slowdown of {slowdown}, {relation} the limit of {limit}."


def gates(spec: DBBenchmarkSpec, analysis: Analysis) -> list[GateOutcome]:
    """Each gate of the spec: it passes when the estimated slowdown is at most its limit."""
    outcomes = []
    for gate in spec.gates or []:
        limit = percent(gate.max_slowdown)
        found = [
            one
            for one in analysis.primary
            if (one.cell.workload, one.slowdown.target) == (gate.workload, gate.target)
        ]
        worst = max(found, key=lambda one: one.slowdown.relative, default=None)
        outcomes.append(
            GateOutcome(
                workload=gate.workload,
                cell=worst.cell.name if worst else "",
                target=gate.target,
                limit=limit,
                slowdown=worst.slowdown.relative if worst else None,
                passed=None if worst is None else worst.slowdown.relative <= limit,
            )
        )
    return outcomes


def worst_slowdown(analysis: Analysis) -> str:
    """The greatest slowdown of a primary metric, such as `vm/orders +135.2%`; empty when none.

    Emulation is named in the same breath: this text stands alone in a column of kubectl.
    """
    if not analysis.primary:
        return ""
    worst = max(analysis.primary, key=lambda found: found.slowdown.relative)
    text = f"{worst.slowdown.target}/{worst.cell.workload} {worst.slowdown.relative:+.1%}"
    return f"{text} (emulated)" if worst.emulated else text
