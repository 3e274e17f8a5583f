"""Limits on slowdowns that a pipeline can wait on, and the worst of them. No I/O."""

from dataclasses import dataclass

from dbbench.api.quantities import percent
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.results.analysis import Analysis


@dataclass(frozen=True)
class GateOutcome:
    """What a gate says. `slowdown` and `passed` are None as long as nothing was compared.

    With several cells, the worst cell decides. `limit` and `slowdown` are ratios.
    """

    workload: str
    target: str
    limit: float
    slowdown: float | None
    passed: bool | None

    @property
    def message(self) -> str:
        """One sentence for a condition."""
        where = f"{self.workload} on {self.target}"
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
        slowdown = max(
            (
                found.slowdown.relative
                for found in analysis.primary
                if (found.cell.workload, found.slowdown.target) == (gate.workload, gate.target)
            ),
            default=None,
        )
        passed = None if slowdown is None else slowdown <= limit
        outcomes.append(GateOutcome(gate.workload, gate.target, limit, slowdown, passed))
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
