"""What the agents counted while the trials were measured, target beside target. No I/O."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

from dbbench.results.figures import value
from dbbench.results.page.distributions import latest
from dbbench.results.page.markup import Child, Safe, element
from dbbench.results.page.series import Targets
from dbbench.results.page.tables import table
from dbbench.results.record import TrialRecord
from dbbench.results.wording import label

Counters = Mapping[str, Any]


@dataclass(frozen=True)
class _Counter:
    """One line: where the agent's answer has it, and whether it is a time that a bar can show."""

    label: str
    path: tuple[str, ...]
    unit: str = ""
    of_host: bool = False

    @property
    def is_time(self) -> bool:
        return not self.unit


_COUNTERS = (
    _Counter("user CPU time", ("processes", "userSeconds")),
    _Counter("system CPU time", ("processes", "systemSeconds")),
    _Counter("ready, waiting for a CPU", ("processes", "runQueueSeconds")),
    _Counter("stolen by the hypervisor below", ("cpu", "stealSeconds")),
    _Counter("throttled by the CPU limit", ("cpu", "throttledSeconds")),
    _Counter("a task waited for I/O", ("pressure", "io", "someSeconds")),
    _Counter("a task waited for memory", ("pressure", "memory", "someSeconds")),
    _Counter("CPU time of the hypervisor, user", ("processes", "userSeconds"), of_host=True),
    _Counter("CPU time of the hypervisor, system", ("processes", "systemSeconds"), of_host=True),
    _Counter("minor page faults", ("processes", "minorFaults"), "/s"),
    _Counter("major page faults", ("processes", "majorFaults"), "/s"),
    _Counter("voluntary context switches", ("processes", "voluntaryContextSwitches"), "/s"),
    _Counter("involuntary context switches", ("processes", "involuntaryContextSwitches"), "/s"),
    _Counter("read from storage", ("io", "readBytes"), "B/s"),
    _Counter("written to storage", ("io", "writeBytes"), "B/s"),
)


def tables(
    records: Sequence[TrialRecord],
    names: Sequence[str],
    emulated: Collection[str],
    targets: Targets,
) -> list[Child]:
    """One for each workload and cell, with a column for each target; none without an agent."""
    places = dict.fromkeys((one.workload, one.cell) for one in records)
    found = (
        _table(place, [one for one in latest(records) if (one.workload, one.cell) == place],
               names, emulated, targets)
        for place in places
    )  # fmt: skip
    return [one for one in found if one is not None]


def _table(
    place: tuple[str, str],
    records: Sequence[TrialRecord],
    names: Sequence[str],
    emulated: Collection[str],
    targets: Targets,
) -> Safe | None:
    rates = {
        counter: {
            name: rate
            for name in names
            if (rate := _mean_rate(counter, [one for one in records if one.target == name]))
            is not None
        }
        for counter in _COUNTERS
    }
    longest = max(
        (rate for counter, found in rates.items() if counter.is_time for rate in found.values()),
        default=0.0,
    )
    rows: list[Sequence[Child]] = [
        (counter.label, *(_cell(counter, found.get(name), longest, targets, name)
                          for name in names))
        for counter, found in rates.items()
        if any(found.values())
    ]  # fmt: skip
    if not rows:
        return None
    where = f"{place[0]}/{place[1]}" if place[1] else place[0]
    header = [
        "for each second of the measurement",
        *(label(name, name in emulated) for name in names),
    ]
    return table(where, header, rows, texts=range(len(header)), kind="counters")


def _cell(
    counter: _Counter, rate: float | None, longest: float, targets: Targets, name: str
) -> Child:
    if rate is None:
        return "-"
    if not counter.is_time:
        return (
            _bytes(rate)
            if counter.unit == "B/s"
            else f"{value(float(f'{rate:.3g}'))} {counter.unit}"
        )
    bar = element(
        "svg",
        element("rect", x=0, y=1, width=f"{100 * rate / longest:.2f}%", height=8,
                class_=f"bar {targets.colour(name)}"),
        width="100%",
        height=10,
        aria_hidden="true",
    )  # fmt: skip
    return [element("span", f"{value(float(f'{rate:.3g}'))} s"), bar]


def _bytes(rate: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if rate < 1024:
            return f"{rate:.3g} {unit}/s"
        rate /= 1024
    return f"{rate:.3g} GiB/s"


def _mean_rate(counter: _Counter, records: Sequence[TrialRecord]) -> float | None:
    """Growth for each second between the agent's two answers, mean of the trials that have both."""
    rates = [rate for one in records if (rate := _rate(counter, one)) is not None]
    return fmean(rates) if rates else None


def _rate(counter: _Counter, record: TrialRecord) -> float | None:
    agent = (record.result or {}).get("target") or {}
    if counter.of_host:
        agent = agent.get("host") or {}
    before, after = agent.get("before") or {}, agent.get("after") or {}
    try:
        seconds = (_moment(after) - _moment(before)).total_seconds()
        growth = _at(after, counter.path) - _at(before, counter.path)
    except (KeyError, TypeError, ValueError):
        # A counter that this kernel or engine does not have.
        return None
    # Counters of processes that have ended are gone: what shrinks says nothing.
    return growth / seconds if growth >= 0 and seconds > 0 else None


def _moment(counters: Counters) -> datetime:
    return datetime.fromisoformat(counters["takenAt"])


def _at(counters: Counters, path: Sequence[str]) -> float:
    found: Any = counters
    for name in path:
        found = found[name]
    return float(found)
