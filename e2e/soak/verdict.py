"""What a run that ended amounts to: its reason, and its trials counted. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from soak.faults import Kind, Plan

Record = dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """A run after its end. `seen`: the trial of each measured record that ever was, by its key."""

    succeeded: bool
    reason: str
    message: str
    trials_done: int
    planned: frozenset[str]
    records: dict[str, Record]
    seen: dict[str, str]
    seconds: float = 0.0


@dataclass
class Verdict:
    """`wrong`: sentences about what must not be."""

    lost: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)


def judge(plan: Plan, ended: Ended) -> Verdict:
    """Whether it succeeded or failed for a true reason, with every trial counted once."""
    verdict = Verdict()
    measured = Counter(
        record["trial"] for record in ended.records.values() if record["outcome"] == "Measured"
    )
    doubled = {trial for trial, count in measured.items() if count > 1}
    verdict.doubled = len(doubled)
    lost = ended.planned - measured.keys() if ended.succeeded else frozenset()
    # What somebody deletes by hand is gone, and measured again.
    if not any(fault.kind is Kind.CONFIG_MAP for fault in plan.faults):
        lost |= {ended.seen[key] for key in ended.seen.keys() - ended.records.keys()}
    verdict.lost = len(lost)
    strangers = measured.keys() - ended.planned
    for what, trials in (("lost", lost), ("doubled", doubled), ("not planned", strangers)):
        if trials:
            verdict.wrong.append(f"{what}: {', '.join(sorted(trials))}")
    if ended.succeeded and ended.trials_done != len(ended.planned):
        verdict.wrong.append(f"{ended.trials_done} trials done of {len(ended.planned)} planned")
    if not ended.succeeded and ended.reason not in plan.allowed:
        allowed = ", ".join(sorted(plan.allowed)) or "none: it must succeed"
        verdict.wrong.append(f"failed with {ended.reason}: {ended.message} (allowed: {allowed})")
    if not ended.succeeded and not ended.message:
        verdict.wrong.append(f"failed with {ended.reason} and says nothing about it")
    return verdict


@dataclass
class Totals:
    """Counts over all runs."""

    faults: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    succeeded: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    doubled: int = 0
    left: int = 0
    wrong: int = 0

    def add(self, plan: Plan, ended: Ended, verdict: Verdict, left: Collection[str]) -> None:
        """Count one run that ended."""
        self.succeeded += ended.succeeded
        if not ended.succeeded:
            names = "+".join(fault.kind for fault in plan.faults)
            self.reasons[f"{ended.reason} after {names}"] += 1
        self.lost += verdict.lost
        self.doubled += verdict.doubled
        self.left += len(left)
        self.wrong += len(verdict.wrong)

    @property
    def good(self) -> bool:
        """Whether everything was as it must be."""
        return not (self.lost or self.doubled or self.left or self.wrong)

    def text(self, left_out: Iterable[tuple[str, str]]) -> str:
        """All counts, a line each."""
        failed = sum(self.reasons.values())
        lines = [f"faults injected: {self.faults.total()}"]
        lines += [f"{count:5d}  {kind}" for kind, count in sorted(self.faults.items())]
        if self.missed:
            lines.append("faults that found nothing to break before the run ended:")
            lines += [f"{count:5d}  {kind}" for kind, count in sorted(self.missed.items())]
        lines += [f"left out: {what}: {why}" for what, why in left_out]
        lines.append(f"runs: {self.succeeded} succeeded, {failed} failed with a reason")
        lines += [f"{count:5d}  {reason}" for reason, count in self.reasons.most_common()]
        lines.append(
            f"trials lost {self.lost}, trials doubled {self.doubled}, objects left {self.left}, "
            f"other defects {self.wrong}"
        )
        return "\n".join(lines)
