"""Finished benchmarks of one kind in the order of time: what can be compared over months. No I/O.

Two benchmarks belong to one history when their fingerprints are equal: the same experiment on the
same hardware. Versions of software are not part of it: what a new one changed is what a history is
looked at for. They are named where a change begins.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from dbbench.api.benchmark import DBBenchmark
from dbbench.api.status import ConditionStatus, ConditionType
from dbbench.results.differences import differences, measured_spec
from dbbench.results.summary import Document
from dbbench.stats import Sample, Unit

# Which version is measured, and how often: the same experiment all the same.
_FREE_DATABASE = frozenset({"image", "imagePullPolicy"})
# Which of several equal nodes is taken; what it is, the environment says.
_FREE_PLACEMENT = frozenset({"nodeSelector", "tolerations", "occupancy"})
_HARDWARE = ("cpuModel", "nodeCpus")
_TARGET_HARDWARE = ("name", "runtime", "instances", "emulated")


@dataclass(frozen=True)
class Run:
    """A benchmark that has ended, with its summary.json. `source` is where it was read from."""

    benchmark: DBBenchmark
    summary: Document
    source: str

    @property
    def name(self) -> str:
        return self.benchmark.metadata.name

    @property
    def started(self) -> str:
        """RFC 3339; empty where the status does not say it."""
        return self.benchmark.status.start_time or ""

    @property
    def moment(self) -> datetime:
        """The same as a time; without it, before all others."""
        if not self.started:
            return datetime.min.replace(tzinfo=UTC)
        found = datetime.fromisoformat(self.started)
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def condition(self, kind: ConditionType) -> ConditionStatus:
        """Status of a condition; Unknown where there is none."""
        for found in self.benchmark.status.conditions:
            if found.type == kind:
                return found.status
        return ConditionStatus.UNKNOWN


@dataclass(frozen=True)
class Point:
    """One value of a series; `interval` is of a slowdown, None where it has none."""

    trial: str
    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Series:
    """The values of one target and cell in the order of time; `unit` None: they are slowdowns."""

    target: str
    cell: str
    unit: Unit | None
    points: tuple[Point, ...]

    @property
    def times(self) -> list[float]:
        """As times, or ratios of times: greater is slower."""
        if self.unit is None:
            return [1 + point.value for point in self.points]
        return [1 / p.value if self.unit.is_rate else p.value for p in self.points]


@dataclass(frozen=True)
class History:
    """Runs of one fingerprint by the time of their start, each with the label that it goes by.

    `left_out` names the others with the reason.
    """

    fingerprint: str
    baseline: str
    runs: Mapping[str, Run]
    left_out: tuple[tuple[str, str], ...]


def conditions(benchmark: DBBenchmark) -> Document:
    """What must be the same for two benchmarks to be compared over time.

    From the spec as this version of dbbench reads it, so that a field that is new to it has its
    default in old benchmarks, too.
    """
    spec = measured_spec(benchmark)
    spec.pop("trials", None)
    if benchmark.spec.duet:
        spec["trials"] = {"mode": benchmark.spec.trials.mode.value}
    spec["database"] = _without(spec["database"], _FREE_DATABASE)
    spec["placement"] = {
        role: _without(found, _FREE_PLACEMENT) for role, found in spec["placement"].items()
    }
    environment = benchmark.status.environment
    found = environment.document() if environment else {}
    hardware: Document = {key: found.get(key) for key in _HARDWARE}
    hardware["targets"] = [
        {key: target.get(key) for key in _TARGET_HARDWARE} for target in found.get("targets", [])
        if target["name"] in {one.name for one in benchmark.spec.targets}
    ]  # fmt: skip
    return {"spec": spec, "environment": hardware}


def fingerprint(benchmark: DBBenchmark) -> str:
    """Twelve hexadecimal digits of the SHA-256 of `conditions`."""
    text = json.dumps(_sorted(conditions(benchmark)), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def history(runs: Iterable[Run], reference: Run | None = None) -> History:
    """The runs that have the fingerprint of `reference`, or of the latest one.

    Of the same benchmark from several sources the first counts. Raises ValueError without a run.
    """
    once: dict[str, Run] = {}
    left_out = []
    for run in runs:
        if run.benchmark.metadata.uid in once:
            left_out.append((run.source, f"is {run.name} once more"))
        once.setdefault(run.benchmark.metadata.uid, run)
    ordered = sorted(once.values(), key=lambda run: (run.moment, run.benchmark.metadata.uid))
    if not ordered:
        raise ValueError("a history needs a run")
    like = reference or ordered[-1]
    wanted = fingerprint(like.benchmark)
    kept = []
    for run in ordered:
        if fingerprint(run.benchmark) == wanted:
            kept.append(run)
        else:
            left_out.append((run.source, _why(like, run)))
    return History(
        wanted,
        like.benchmark.spec.baseline,
        dict(zip(_labels(kept), kept, strict=True)),
        tuple(left_out),
    )


def slowdowns(found: History) -> list[Series]:
    """What each comparison of a primary metric has come to over time."""
    points: dict[tuple[str, str], list[Point]] = {}
    for label, run in found.runs.items():
        for one in _primary(run):
            bounds = one["interval"]
            interval = None if bounds is None else (bounds["low"], bounds["high"])
            points.setdefault((one["target"], _cell(one)), []).append(
                Point(label, one["slowdown"], interval)
            )
    return [Series(target, cell, None, tuple(values)) for (target, cell), values in points.items()]


def values(found: History) -> list[Series]:
    """What each target, the baseline too, has measured over time in its primary metrics."""
    samples: list[Sample] = []
    for label, run in found.runs.items():
        baselines: set[str] = set()
        for one in _primary(run):
            cell, unit = _cell(one), Unit(one["unit"])
            if cell not in baselines:
                baselines.add(cell)
                samples.append(Sample(found.baseline, cell, label, one["baselineValue"], unit))
            samples.append(Sample(one["target"], cell, label, one["targetValue"], unit))
    return series_of(samples)


def series_of(samples: Iterable[Sample]) -> list[Series]:
    """The samples of each target and cell, in their order."""
    points: dict[tuple[str, str], list[Point]] = {}
    units: dict[tuple[str, str], Unit] = {}
    for sample in samples:
        key = (sample.target, sample.cell)
        units[key] = sample.unit
        points.setdefault(key, []).append(Point(sample.trial, sample.value))
    return [
        Series(target, cell, units[target, cell], tuple(found))
        for (target, cell), found in points.items()
    ]


def news(found: History, label: str) -> list[str]:
    """What a run has otherwise than the one before it, as far as both say it."""
    for (_, before), (name, run) in pairwise(found.runs.items()):
        if name == label:
            return list(dict.fromkeys(_news(before, run)))
    return []


def _news(before: Run, after: Run) -> Iterator[str]:
    one, other = before.benchmark, after.benchmark
    yield from differences("spec", measured_spec(one), measured_spec(other))
    shown = set()
    environments = [b.status.environment.document() if b.status.environment else {}
                    for b in (one, other)]  # fmt: skip
    for line in differences("environment", *environments):
        # The properties of a target repeat some of its fields, and come after them.
        what, _, how = line.partition(": ")
        key = (".".join(what.split(".")[:3]), how)
        if key not in shown:
            shown.add(key)
            yield line
    yield from differences("dbbench", before.summary.get("dbbench"), after.summary.get("dbbench"))


def _labels(runs: Sequence[Run]) -> list[str]:
    """Names, where they tell the runs apart; what is measured again under one name has its time."""
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [f"{run.name}@{run.started}" for run in runs]
    if len(set(names)) < len(names):
        names = [run.benchmark.metadata.uid for run in runs]
    return names


def _primary(run: Run) -> list[Document]:
    return [one for one in run.summary["comparisons"] if one["primary"]]


def _cell(found: Mapping[str, Any]) -> str:
    """As `Cell.key` has it."""
    return f"{found['workload']}/{found['cell']}" if found["cell"] else str(found["workload"])


def _why(like: Run, run: Run) -> str:
    first = next(differences("", conditions(like.benchmark), conditions(run.benchmark)))
    return f"has another fingerprint: {first.removeprefix('.')}"


def _without(found: Mapping[str, Any], names: frozenset[str]) -> Document:
    return {key: value for key, value in found.items() if key not in names}


def _sorted(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Lists of named things by name: their order is no difference."""
    if isinstance(value, Mapping):
        return {key: _sorted(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        found = [_sorted(one) for one in value]
        named = all(isinstance(one, dict) and "name" in one for one in found)
        return sorted(found, key=lambda one: str(one["name"])) if named else found
    return value
