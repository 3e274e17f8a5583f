"""Whether the targets were measured under equal conditions, by what both sides reported. No I/O."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.evaluate.conditions import FALSE, TRUE, UNKNOWN, Finding
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

# Reported settings that follow from what a target is, or that change by themselves.
_INHERENT_SETTINGS = frozenset({"huge_pages_status", "in_hot_standby", "max_open_files"})
_MAX_LISTED = 10


@dataclass(frozen=True)
class Difference:
    """One property in which a target differs from the baseline."""

    target: str
    name: str
    baseline_value: str
    target_value: str

    def __str__(self) -> str:
        return f"{self.name}: {self.baseline_value} / {self.target} {self.target_value}"


def differences(
    spec: DBBenchmarkSpec, trials: Iterable[TrialRecord], loads: Iterable[LoadRecord]
) -> tuple[Difference, ...] | None:
    """Every difference between a target and the baseline; None until all have reported."""
    common = _measured_everywhere(spec, trials)
    profiles = {target.name: _profile(target.name, common, loads) for target in spec.targets}
    baseline = profiles.pop(spec.baseline)
    if not baseline or not all(profiles.values()):
        return None
    return tuple(
        Difference(target, name, baseline.get(name, "absent"), profile.get(name, "absent"))
        for target, profile in profiles.items()
        for name in sorted(baseline.keys() | profile.keys())
        if baseline.get(name) != profile.get(name)
    )


def finding(found: tuple[Difference, ...] | None) -> Finding:
    """The condition FairnessVerified."""
    if found is None:
        return Finding(UNKNOWN, "NotYetReported", "not every target has been measured yet")
    if not found:
        return Finding(
            TRUE,
            "Equal",
            "server binary, version, settings, data, number of CPUs, file system, limits and huge "
            "pages are equal; kernel, clock source and page cache are a virtual machine's own",
        )
    listed = "; ".join(str(difference) for difference in found[:_MAX_LISTED])
    more = f"; and {len(found) - _MAX_LISTED} more" if len(found) > _MAX_LISTED else ""
    count = "1 difference" if len(found) == 1 else f"{len(found)} differences"
    message = f"{count} (baseline / target): {listed}{more}"
    return Finding(FALSE, "Different", message)


def _measured_everywhere(spec: DBBenchmarkSpec, trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Measured trials of the workloads that every target has run, in the order of the spec.

    Each workload sets some settings of its session, so only equal workloads can be compared.
    """
    measured = [trial for trial in trials if trial.outcome is Outcome.MEASURED]
    ran = {(trial.workload, trial.target) for trial in measured}
    return [
        trial
        for workload in spec.workloads
        if all((workload.name, target.name) in ran for target in spec.targets)
        for trial in measured
        if trial.workload == workload.name
    ]


def _profile(
    target: str, trials: Iterable[TrialRecord], loads: Iterable[LoadRecord]
) -> dict[str, str]:
    """Comparable properties of a target, by name; empty when it has not been measured."""
    profile: dict[str, str] = {}
    for trial in trials:
        if trial.target == target and trial.result:
            profile |= _server(trial.result) | _facts(trial.result)
    if not profile:
        return {}
    for load in loads:
        if load.target == target and load.outcome is Outcome.MEASURED and load.result:
            data = load.result.get("data") or {}
            profile[f"data of {load.workload}"] = str(data.get("digest", "absent"))
    return profile


def _server(result: Mapping[str, Any]) -> dict[str, str]:
    server = result.get("server") or {}
    profile = {"server version": str(server.get("version", "absent"))}
    for name, value in (server.get("settings") or {}).items():
        if name not in _INHERENT_SETTINGS:
            profile[f"setting {name}"] = str(value)
    return profile


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    facts = (result.get("target") or {}).get("facts") or {}
    executable = facts.get("serverExecutable") or {}
    mount = facts.get("dataMount") or {}
    limits = facts.get("limits") or {}
    return {
        "sha256 of the server": str(executable.get("sha256", "absent")),
        "operating system image": str(facts.get("osRelease", "absent")),
        "number of CPUs": str(len(facts.get("cpusAllowed") or [])),
        "file system of the data": str(mount.get("fstype", "absent")),
        "open files limit": str(limits.get("nofile", "absent")),
        "transparent huge pages": str(facts.get("transparentHugepages", "absent")),
    }
