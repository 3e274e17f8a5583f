"""How far a benchmark is, in words: of `watch`, `list` and the dashboard. No cluster access."""

from dataclasses import dataclass
from datetime import datetime

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.status import (
    Comparison,
    Condition,
    ConditionStatus,
    ConditionType,
    Confirmation,
)

# By then an operator that runs has looked at a new object many times over.
_OPERATOR_PATIENCE_SECONDS = 20


@dataclass(frozen=True)
class Ending:
    """How a benchmark ended, and why."""

    succeeded: bool
    text: str


def ending(benchmark: DBBenchmark) -> Ending | None:
    """None while it runs, and as long as the operator has not seen the newest spec.

    As kstatus has it: Succeeded=True is success; Succeeded=False and Stalled=True are failures.
    """
    if not _current(benchmark):
        return None
    succeeded = _condition(benchmark, ConditionType.SUCCEEDED)
    stalled = _condition(benchmark, ConditionType.STALLED)
    if succeeded is not None and succeeded.status is ConditionStatus.TRUE:
        return Ending(True, _told(succeeded))
    if stalled is not None and stalled.status is ConditionStatus.TRUE:
        return Ending(False, _told(stalled))
    if succeeded is not None and succeeded.status is ConditionStatus.FALSE:
        return Ending(False, _told(succeeded))
    return None


def line(benchmark: DBBenchmark, now: datetime, waited: float) -> str:
    """The trials and the state."""
    return f"{count(benchmark)} {state(benchmark, now, waited)}".strip()


def news(benchmark: DBBenchmark, waited: float) -> str:
    """As `line`, without the time that is left: it changes all the time and is no news."""
    return f"{count(benchmark)} {_happening(benchmark, waited)}".strip()


def state(benchmark: DBBenchmark, now: datetime, waited: float) -> str:
    """One sentence: what happens now, and when it is expected to end.

    `waited`: seconds for which the operator could have looked at it.
    """
    text = _happening(benchmark, waited)
    left = remaining(benchmark, now) if _runs(benchmark) else ""
    return f"{text} (about {left} left)" if left else text


def count(benchmark: DBBenchmark) -> str:
    """Trials done and planned, and those that tell nothing; empty before there is a plan."""
    progress = benchmark.status.progress
    if progress is None:
        return ""
    text = f"{progress.trials_done}/{progress.trials_planned} trials, {progress.percent} %"
    if progress.trials_invalid:
        text += f", {progress.trials_invalid} not usable"
    if progress.trials_contaminated:
        text += f", {progress.trials_contaminated} contaminated"
    return text


def reason(benchmark: DBBenchmark) -> str:
    """The reason of its state in one word, with its place in the queue; empty without one."""
    status = benchmark.status
    return status.reason + (f" ({status.queue.position})" if status.queue else "")


def remaining(benchmark: DBBenchmark, now: datetime) -> str:
    """The time that is left, as expected; empty where nothing is expected yet."""
    progress = benchmark.status.progress
    if progress is None or progress.estimated_completion_time is None:
        return ""
    seconds = (datetime.fromisoformat(progress.estimated_completion_time) - now).total_seconds()
    minutes, rest = divmod(max(round(seconds), 0), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if minutes else f"{rest} s"


def warnings(benchmark: DBBenchmark) -> list[str]:
    """Findings about the measurements that a reader must know."""
    found = []
    for kind in (ConditionType.REPRESENTATIVE, ConditionType.FAIRNESS_VERIFIED):
        condition = _condition(benchmark, kind)
        if condition is not None and condition.status is ConditionStatus.FALSE:
            found.append(f"{kind.value}=False: {_told(condition)}")
    return found


def tested(found: Confirmation) -> str:
    """What came of the test of a cause."""
    return f"{found.target}/{cell_name(found)}, cause tested: {found.message}"


def cell_name(found: Comparison | Confirmation) -> str:
    """Workload and cell of a comparison, or of the test of its cause."""
    return f"{found.workload}/{found.cell}" if found.cell else found.workload


def bounds(found: Comparison) -> tuple[float, float] | None:
    """The interval of a comparison."""
    if found.confidence_interval is None:
        return None
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _happening(benchmark: DBBenchmark, waited: float) -> str:
    status = benchmark.status
    if not _current(benchmark):
        text = "waiting for the operator"
        if waited > _OPERATOR_PATIENCE_SECONDS:
            text += (
                "; it has not looked at this benchmark yet. Does it run? "
                "kubectl get pods -A -l app.kubernetes.io/name=dbbench-operator"
            )
        return text
    end = ending(benchmark)
    if end is not None:
        return f"{'succeeded' if end.succeeded else 'failed'}: {end.text}"
    return (status.progress.current if status.progress else "") or status.reason or "starting"


def _runs(benchmark: DBBenchmark) -> bool:
    return _current(benchmark) and ending(benchmark) is None


def _current(benchmark: DBBenchmark) -> bool:
    return benchmark.status.observed_generation == benchmark.metadata.generation


def _condition(benchmark: DBBenchmark, kind: ConditionType) -> Condition | None:
    for condition in benchmark.status.conditions:
        if condition.type == kind.value:
            return condition
    return None


def _told(condition: Condition) -> str:
    return f"{condition.reason}: {condition.message}" if condition.message else condition.reason
