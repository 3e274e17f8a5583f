"""Whether the targets were measured under equal conditions, by what both sides reported. No I/O."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.api.target import Target
from dbbench.evaluate.conditions import FALSE, TRUE, UNKNOWN, Finding
from dbbench.evaluate.properties import (
    ABSENT,
    NOT_REPORTED,
    PROPERTIES,
    Property,
    Seen,
    Values,
)
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

Profile = Mapping[str, Values]
"""Values of a target, by the property's name; without those that it does not report."""

# Characters of a value, and of each of the three lists; a condition's message has at most 32768.
_MAX_VALUE = 120
_MAX_LIST = 10_000
_NOT_COMPARABLE = (
    ". Not comparable, because nothing of dbbench's runs beside one of the two databases"
)


@dataclass(frozen=True)
class Difference:
    """One property in which a target differs from the baseline.

    Or in which it may: `comparable` is False where nothing of dbbench's reports it.
    """

    target: str
    name: str
    baseline_value: str
    target_value: str
    inherent: bool = False
    comparable: bool = True

    def __str__(self) -> str:
        baseline, target = _short(self.baseline_value), _short(self.target_value)
        return f"{self.name}: {baseline} / {self.target} {target}"


def profiles(
    spec: DBBenchmarkSpec,
    trials: Iterable[TrialRecord],
    loads: Iterable[LoadRecord],
    environment: Environment,
) -> dict[str, Profile]:
    """What each target reported, by its name; empty for those that have not been measured.

    Each workload sets some settings of its session, so only those that every target has run count.
    """
    measured = [trial for trial in trials if trial.outcome is Outcome.MEASURED]
    ran = {(trial.workload, trial.target) for trial in measured}
    common = [
        workload.name
        for workload in spec.workloads
        if all((workload.name, target.name) in ran for target in spec.measured_targets)
    ]
    trials = [trial for name in common for trial in measured if trial.workload == name]
    loads = [load for load in loads if load.workload in common]
    return {
        target.name: _profile(spec, target, trials, loads, environment)
        for target in spec.measured_targets
    }


def differences(
    spec: DBBenchmarkSpec, found: Mapping[str, Profile]
) -> tuple[Difference, ...] | None:
    """Every difference between a target and the baseline; None until all have reported."""
    if not all(found.values()):
        return None
    baseline = spec.target(spec.baseline)
    return tuple(
        difference
        for target in spec.measured_targets
        if target.name != baseline.name
        for entry in PROPERTIES
        for difference in _compared(
            entry,
            (baseline, target),
            found[baseline.name].get(entry.name),
            found[target.name].get(entry.name),
        )
    )


def finding(found: tuple[Difference, ...] | None) -> Finding:
    """The condition FairnessVerified."""
    if found is None:
        return Finding(UNKNOWN, "NotYetReported", "not every target has been measured yet")
    unknown = [difference for difference in found if not difference.comparable]
    inherent = [difference for difference in found if difference.inherent]
    others = [
        difference for difference in found if difference.comparable and not difference.inherent
    ]
    own = f". What a target has of its own: {_listed(inherent)}" if inherent else ""
    if unknown:
        own = f"{_NOT_COMPARABLE}: {_silent(unknown)}{own}"
    if not others and unknown:
        return Finding(FALSE, "NotComparable", f"what both sides report is equal{own}")
    if not others:
        return Finding(
            TRUE,
            "Equal",
            "every property that is compared is equal: image, server and libraries, settings, "
            f"data, plans, CPUs, memory, file system, limits and the node's state{own}",
        )
    count = "1 difference" if len(others) == 1 else f"{len(others)} differences"
    message = f"{count} (baseline / target): {_listed(others)}{own}"
    return Finding(FALSE, "Different", message)


def _silent(found: Sequence[Difference]) -> str:
    """The names of properties that cannot be compared, by target."""
    names: dict[str, list[str]] = {}
    for difference in found:
        names.setdefault(difference.target, []).append(difference.name)
    return _listed([f"{target}: {', '.join(those)}" for target, those in names.items()])


def _listed(found: Sequence[object]) -> str:
    shown: list[str] = []
    left = _MAX_LIST
    for text in map(str, found):
        left -= len(text) + len("; ")
        if left < 0:
            return "; ".join([*shown, f"and {len(found) - len(shown)} more"])
        shown.append(text)
    return "; ".join(shown)


def _short(value: str) -> str:
    return value if len(value) <= _MAX_VALUE else f"{value[: _MAX_VALUE - 3]}..."


def _compared(
    entry: Property,
    targets: tuple[Target, Target],
    baseline_values: Values | None,
    target_values: Values | None,
) -> Iterator[Difference]:
    silent = baseline_values is None or target_values is None
    if silent and not all(one.has_agent for one in targets):
        # Silence on both sides proves nothing either.
        name = entry.label("...")
        yield Difference(targets[1].name, name, NOT_REPORTED, NOT_REPORTED, comparable=False)
        return
    for key in sorted((baseline_values or {}).keys() | (target_values or {}).keys()):
        baseline, other = _value(baseline_values, key), _value(target_values, key)
        if baseline != other:
            inherent = entry.nature.explains(targets, baseline, other)
            yield Difference(targets[1].name, entry.label(key), baseline, other, inherent)


def _value(values: Values | None, key: str) -> str:
    return NOT_REPORTED if values is None else values.get(key, ABSENT)


def _profile(
    spec: DBBenchmarkSpec,
    target: Target,
    trials: Iterable[TrialRecord],
    loads: Iterable[LoadRecord],
    environment: Environment,
) -> Profile:
    """The latest value of each property; of instances that differ, every value that there is."""
    own = next((one for one in environment.targets if one.name == target.name), None)
    digests = {
        load.workload: _together({str((one.get("data") or {}).get("digest", ABSENT)) for one in
                                  load.documents})
        for load in loads
        if load.target == target.name and load.outcome is Outcome.MEASURED and load.documents
    }  # fmt: skip
    profile: dict[str, dict[str, str]] = {}
    for trial in trials:
        if trial.target != target.name or not trial.documents:
            continue
        instances = [
            Seen(spec, target, own, trial.workload, document, digests)
            for document in trial.documents
        ]
        for entry in PROPERTIES:
            reported = [entry.values(seen) for seen in instances]
            if any(values is not None for values in reported):
                profile[entry.name] = profile.get(entry.name, {}) | _of_all(reported)
    return profile


def _of_all(instances: Sequence[Values | None]) -> dict[str, str]:
    keys = dict.fromkeys(key for one in instances for key in one or {})
    return {key: _together({_value(one, key) for one in instances}) for key in keys}


def _together(values: set[str]) -> str:
    return " and ".join(sorted(values))
