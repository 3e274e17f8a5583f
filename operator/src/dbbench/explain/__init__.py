"""From counters to the causes of a slowdown. No I/O.

docs/methodology.md has the formulas, what each term is measured by, and the limits.
"""

from dbbench.explain.account import Account, Pair, Side, Term, account
from dbbench.explain.cause import Cause
from dbbench.explain.evidence import Evidence
from dbbench.explain.intervention import TESTS
from dbbench.explain.observation import Events, IoBytes, Observation, Plan, observe, observe_queries

__all__ = [
    "TESTS",
    "Account",
    "Cause",
    "Events",
    "Evidence",
    "IoBytes",
    "Observation",
    "Pair",
    "Plan",
    "Side",
    "Term",
    "account",
    "observe",
    "observe_queries",
]
