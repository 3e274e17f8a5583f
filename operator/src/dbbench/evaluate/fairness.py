"""Whether the targets were measured under equal conditions, by what both sides reported. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbbench.api.resources import Medium, Resources
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.target import Target
from dbbench.engines import engine_of
from dbbench.evaluate.conditions import FALSE, TRUE, UNKNOWN, Finding
from dbbench.results.driver_result import server_name
from dbbench.results.record import LoadRecord, Outcome, TrialRecord
from dbbench.targets.placement import has_exclusive_cpus

# Facts that differ because a target is what it is: told, but no reason for False.
_INHERENT_FACTS = {"kernel": "kernel", "clock source": "clockSource", "CPU model": "cpuModel"}
_INHERENT = {*_INHERENT_FACTS, "data volume"}
_MAX_LISTED = 10


@dataclass(frozen=True)
class Difference:
    """One property in which a target differs from the baseline."""

    target: str
    name: str
    baseline_value: str
    target_value: str
    inherent: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.baseline_value} / {self.target} {self.target_value}"


def differences(
    spec: DBBenchmarkSpec, trials: Iterable[TrialRecord], loads: Iterable[LoadRecord]
) -> tuple[Difference, ...] | None:
    """Every difference between a target and the baseline; None until all have reported."""
    common = _measured_everywhere(spec, trials)
    profiles = {
        target.name: _profile(spec, target, common, loads) for target in spec.measured_targets
    }
    baseline = profiles.pop(spec.baseline)
    if not baseline or not all(profiles.values()):
        return None
    return tuple(
        Difference(
            target,
            name,
            baseline.get(name, "absent"),
            profile.get(name, "absent"),
            inherent=name in _INHERENT,
        )
        for target, profile in profiles.items()
        for name in sorted(baseline.keys() | profile.keys())
        if baseline.get(name) != profile.get(name)
    )


def finding(found: tuple[Difference, ...] | None) -> Finding:
    """The condition FairnessVerified."""
    if found is None:
        return Finding(UNKNOWN, "NotYetReported", "not every target has been measured yet")
    inherent = [difference for difference in found if difference.inherent]
    others = [difference for difference in found if not difference.inherent]
    own = f". What a target has of its own: {_listed(inherent)}" if inherent else ""
    if not others:
        return Finding(
            TRUE,
            "Equal",
            "server binary, version, settings, data, number of CPUs, exclusive CPUs, file system, "
            f"limits and huge pages are equal{own}",
        )
    count = "1 difference" if len(others) == 1 else f"{len(others)} differences"
    message = f"{count} (baseline / target): {_listed(others)}{own}"
    return Finding(FALSE, "Different", message)


def _listed(found: Sequence[Difference]) -> str:
    listed = "; ".join(str(difference) for difference in found[:_MAX_LISTED])
    more = f"; and {len(found) - _MAX_LISTED} more" if len(found) > _MAX_LISTED else ""
    return listed + more


def _measured_everywhere(spec: DBBenchmarkSpec, trials: Iterable[TrialRecord]) -> list[TrialRecord]:
    """Measured trials of the workloads that every target has run, in the order of the spec.

    Each workload sets some settings of its session, so only equal workloads can be compared.
    """
    measured = [trial for trial in trials if trial.outcome is Outcome.MEASURED]
    ran = {(trial.workload, trial.target) for trial in measured}
    return [
        trial
        for workload in spec.workloads
        if all((workload.name, target.name) in ran for target in spec.measured_targets)
        for trial in measured
        if trial.workload == workload.name
    ]


def _profile(
    spec: DBBenchmarkSpec,
    target: Target,
    trials: Iterable[TrialRecord],
    loads: Iterable[LoadRecord],
) -> dict[str, str]:
    """Comparable properties of a target, by name; empty when it has not been measured."""
    left_out = engine_of(spec.database).unequal_settings(spec.resources)
    profile: dict[str, str] = {}
    for trial in trials:
        if trial.target == target.name and trial.documents:
            profile |= _of_all(
                [
                    _server(one, left_out) | _facts(one) | _plans(trial.workload, one)
                    for one in trial.documents
                ]
            )
    if not profile:
        return {}
    profile["instances"] = str(target.instances)
    profile["exclusive CPUs"] = _exclusive_cpus(spec.resources, target)
    profile["CPU limit"] = _cpu_limit(spec.resources, target)
    if spec.database.storage.medium is Medium.DISK:
        profile["data volume"] = target.data_volume.value
    for load in loads:
        if load.target == target.name and load.outcome is Outcome.MEASURED and load.documents:
            name = f"data of {load.workload}"
            profile |= _of_all([{name: _digest(one)} for one in load.documents])
    return profile


def _of_all(instances: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Properties of a target; where its instances differ, every value that there is."""
    names = dict.fromkeys(name for one in instances for name in one)
    return {
        name: " and ".join(sorted({one.get(name, "absent") for one in instances})) for name in names
    }


def _digest(load: Mapping[str, Any]) -> str:
    return str((load.get("data") or {}).get("digest", "absent"))


def _exclusive_cpus(resources: Resources, target: Target) -> str:
    """Number of the node's CPUs that nobody else may use while the target runs.

    KubeVirt gives a guest more than its vCPUs: one for an isolated emulator thread, and one for
    each thread of a supplemental pool.
    """
    if not has_exclusive_cpus(resources, target):
        return "none"
    cpus, machine = resources.cpu, target.virtual_machine
    if machine is not None:
        cpus += 1 if machine.cpu and machine.cpu.isolate_emulator_thread else 0
        cpus += machine.io_threads.supplemental_pool_thread_count if machine.io_threads else 0
    return str(cpus)


def _cpu_limit(resources: Resources, target: Target) -> str:
    """CPUs that the target may use at most; where CPUs are exclusive, there is none beyond them."""
    if has_exclusive_cpus(resources, target):
        return "its exclusive CPUs"
    return "none" if target.host is not None else str(resources.cpu)


def _server(result: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, str]:
    server = result.get("server") or {}
    profile = {"server version": server_name(server) or "absent"}
    for name, value in (server.get("settings") or {}).items():
        if name not in left_out:
            profile[f"setting {name}"] = str(value)
    return profile


def _plans(workload: str, result: Mapping[str, Any]) -> dict[str, str]:
    """Fingerprints of the plans of queries: what the server chose to do with the same data."""
    return {
        f"plan of {workload} {operation['name']}": str(operation["planFingerprint"])
        for operation in result.get("operations") or []
        if operation.get("planFingerprint")
    }


def _facts(result: Mapping[str, Any]) -> dict[str, str]:
    facts = (result.get("target") or {}).get("facts") or {}
    executable = facts.get("serverExecutable") or {}
    mount = facts.get("dataMount") or {}
    limits = facts.get("limits") or {}
    pages = facts.get("hugePages") or {}
    return {
        **{f"huge pages of {size}": str(count) for size, count in pages.items()},
        **{name: str(facts.get(key, "absent")) for name, key in _INHERENT_FACTS.items()},
        "sha256 of the server": str(executable.get("sha256", "absent")),
        "operating system image": str(facts.get("osRelease", "absent")),
        "number of CPUs": str(len(facts.get("cpusAllowed") or [])),
        "file system of the data": str(mount.get("fstype", "absent")),
        "open files limit": str(limits.get("nofile", "absent")),
        "transparent huge pages": str(facts.get("transparentHugepages", "absent")),
    }
