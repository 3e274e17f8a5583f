"""Limits on slowdowns that a pipeline can wait on. No I/O."""

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
