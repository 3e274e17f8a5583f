"""A deliberate difference in each property is found, named, and told with its side."""

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import Environment
from dbbench.api.target import Target
from dbbench.evaluate.fairness import Difference, differences, finding, profiles
from dbbench.evaluate.properties import PROPERTIES, Kind, documentation
from dbbench.results.record import LoadRecord, Outcome, TrialRecord

from .model_cluster import spec

PROJECT = Path(__file__).parents[3]
SCHEMA = json.loads((PROJECT / "workloads/schema/result.schema.json").read_text())
GIB = 2**30
WAYS = {
    Kind.POD: {"pod": {}},
    Kind.SANDBOX: {"pod": {"runtimeClassName": "kata"}},
    Kind.HOST: {"host": {}},
    Kind.VIRTUAL_MACHINE: {"virtualMachine": {"runtime": "QEMU"}},
}
RUNTIMES = {Kind.HOST: "Host", Kind.VIRTUAL_MACHINE: "QEMU"}


def query(plan: str) -> dict[str, Any]:
    return {"name": "Q1", "planFingerprint": f"sha256:{plan}"}


def probe(event: str, seconds: float | None = 1e-7) -> dict[str, Any]:
    """What micro found; without a cost where the machine has no such event."""
    cost = {"cost": {"meanSeconds": seconds}} if seconds else {"unavailable": "there is none"}
    return {"name": event, "probe": cost}


def report() -> dict[str, Any]:
    """All that a target of a benchmark can report."""
    facts = {
        "kernel": "6.1",
        "osRelease": "Debian 12",
        "hypervisor": "None",
        "emulated": False,
        "cpuModel": "Xeon",
        "cpusAllowed": [2, 3],
        "cpuTopology": {
            "sockets": 1,
            "cores": 1,
            "threads": 2,
            "siblings": ["2,3"],
            "foreignSiblings": 0,
        },
        "numa": {"cpuNodes": [0], "memoryNodes": [0, 1]},
        "mitigations": {"meltdown": "Mitigation: PTI", "mds": "Not affected"},
        "governor": "performance",
        "memoryBytes": 8 * GIB,
        "clockSource": "tsc",
        "transparentHugepages": "madvise",
        "hugePages": {"2Mi": 2097152},
        "dataMount": {
            "device": "/dev/sdb",
            "fstype": "ext4",
            "options": "rw,relatime",
            "readAheadKb": 128,
        },
        "serverExecutable": {"path": "/usr/bin/postgres", "sha256": "a1"},
        "serverLibraries": {"sha256": "b1", "files": []},
        "networkInterface": {"name": "eth0", "mtu": 1450},
        "limits": {"nofile": 1048576},
    }
    return {
        "environment": {"imageDigest": "postgres@sha256:1"},
        "load": {"data": {"digest": "sha256:1"}},
        "trial": {
            "server": {
                "engine": "PostgreSQL",
                "version": "17.1",
                "settings": {"work_mem": "4MB"},
                "tls": {"protocol": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384"},
            },
            "operations": [query("1"), probe("CLOCK_READ"), probe("FSYNC")],
            "parameters": {"scripts": [{"name": "look", "digest": "sha256:1"}]},
            "target": {"facts": facts},
        },
    }


@dataclass(frozen=True)
class Case:
    """What the second target reports otherwise, by path, and what is told about it.

    `target` is a change of the target itself, `also` names what follows from the same change.
    """

    name: str
    baseline: str
    other: str
    change: tuple[str, Any] | None = None
    target: dict[str, Any] | None = None
    inherent: bool = False
    also: frozenset[str] = frozenset()


FACTS = "trial.target.facts"
CASES = {
    "image digest": Case(
        "image digest", "sha256:1", "sha256:2", ("environment.imageDigest", "postgres@sha256:2")
    ),
    "operating system image": Case(
        "operating system image", "Debian 12", "Alpine", (f"{FACTS}.osRelease", "Alpine")
    ),
    "sha256 of the server": Case(
        "sha256 of the server", "a1", "a2", (f"{FACTS}.serverExecutable.sha256", "a2")
    ),
    "sha256 of the server's libraries": Case(
        "sha256 of the server's libraries",
        "b1",
        "not reported",
        (f"{FACTS}.serverLibraries.sha256", None),
    ),
    "server version": Case(
        "server version", "PostgreSQL 17.1", "PostgreSQL 17.2", ("trial.server.version", "17.2")
    ),
    "setting {}": Case(
        "setting work_mem", "4MB", "8MB", ("trial.server.settings", {"work_mem": "8MB"})
    ),
    "data of {}": Case(
        "data of analytics", "sha256:1", "sha256:2", ("load.data.digest", "sha256:2")
    ),
    "statements of {}": Case(
        "statements of analytics look",
        "sha256:1",
        "sha256:2",
        ("trial.parameters.scripts", [{"name": "look", "digest": "sha256:2"}]),
    ),
    "plan of {}": Case(
        "plan of analytics Q1",
        "sha256:1",
        "sha256:2",
        ("trial.operations", [query("2"), probe("CLOCK_READ"), probe("FSYNC")]),
    ),
    "events with a cost": Case(
        "events with a cost",
        "CLOCK_READ, FSYNC",
        "CLOCK_READ",
        ("trial.operations", [query("1"), probe("CLOCK_READ"), probe("FSYNC", None)]),
    ),
    "instances": Case("instances", "1", "2", target={"pod": {}, "instances": 2}),
    "exclusive CPUs": Case(
        "exclusive CPUs",
        "2",
        "none",
        target={"virtualMachine": {"cpu": {"dedicatedCpuPlacement": False}}},
        also=frozenset({"CPU limit"}),
    ),
    "CPU limit": Case(
        "CPU limit",
        "its exclusive CPUs",
        "2",
        target={"virtualMachine": {"cpu": {"dedicatedCpuPlacement": False}}},
        also=frozenset({"exclusive CPUs"}),
    ),
    "number of CPUs": Case(
        "number of CPUs",
        "2",
        "3",
        (f"{FACTS}.cpusAllowed", [2, 3, 4]),
        also=frozenset({"CPUs of the node"}),
    ),
    "CPUs of the node": Case("CPUs of the node", "2,3", "2,4", (f"{FACTS}.cpusAllowed", [2, 4])),
    "other hardware threads of its cores": Case(
        "other hardware threads of its cores",
        "0",
        "2",
        (f"{FACTS}.cpuTopology.foreignSiblings", 2),
    ),
    "NUMA nodes": Case(
        "NUMA nodes", "0, memory 0,1", "1, memory 0,1", (f"{FACTS}.numa.cpuNodes", [1])
    ),
    "CPU governor": Case(
        "CPU governor", "performance", "powersave", (f"{FACTS}.governor", "powersave")
    ),
    "CPU topology (sockets/cores/threads)": Case(
        "CPU topology (sockets/cores/threads)", "1/1/2", "1/2/2", (f"{FACTS}.cpuTopology.cores", 2)
    ),
    "CPU model": Case("CPU model", "Xeon", "EPYC", (f"{FACTS}.cpuModel", "EPYC")),
    "memory": Case(
        "memory", str(8 * GIB + 2097152), str(4 * GIB + 2097152), (f"{FACTS}.memoryBytes", 4 * GIB)
    ),
    "huge pages of {}": Case(
        "huge pages of 2Mi",
        "2097152",
        "absent",
        (f"{FACTS}.hugePages", {}),
        also=frozenset({"memory"}),
    ),
    "transparent huge pages": Case(
        "transparent huge pages", "madvise", "always", (f"{FACTS}.transparentHugepages", "always")
    ),
    "open files limit": Case(
        "open files limit", "1048576", "unlimited", (f"{FACTS}.limits.nofile", None)
    ),
    "data volume": Case(
        "data volume",
        "PersistentVolumeClaim",
        "EmptyDisk",
        target={"virtualMachine": {"runtime": "KubeVirt", "dataDisk": {"volume": "EmptyDisk"}}},
        inherent=True,
    ),
    "file system of the data": Case(
        "file system of the data", "ext4", "xfs", (f"{FACTS}.dataMount.fstype", "xfs")
    ),
    "mount options": Case(
        "mount options", "rw,relatime", "rw,noatime", (f"{FACTS}.dataMount.options", "rw,noatime")
    ),
    "read-ahead (KiB)": Case(
        "read-ahead (KiB)", "128", "4096", (f"{FACTS}.dataMount.readAheadKb", 4096)
    ),
    "network path": Case("network path", "pod", "node", target={"host": {}}, inherent=True),
    "TLS": Case("TLS", "TLSv1.3 TLS_AES_256_GCM_SHA384", "none", ("trial.server.tls", None)),
    "MTU": Case("MTU", "1450", "9000", (f"{FACTS}.networkInterface.mtu", 9000)),
    "kernel": Case("kernel", "6.1", "6.12", (f"{FACTS}.kernel", "6.12")),
    "clock source": Case("clock source", "tsc", "acpi_pm", (f"{FACTS}.clockSource", "acpi_pm")),
    "mitigation of {}": Case(
        "mitigation of meltdown",
        "Mitigation: PTI",
        "Vulnerable",
        (f"{FACTS}.mitigations.meltdown", "Vulnerable"),
    ),
}
NATURAL = [(entry, kind) for entry in PROPERTIES for kind in entry.nature.kinds]


def changed(change: tuple[str, Any] | None) -> dict[str, Any]:
    found = report()
    if change is not None:
        path, value = change
        *parents, last = path.split(".")
        place = found
        for name in parents:
            place = place[name]
        assert last in place, path
        place[last] = value
    return found


def compare(
    target: dict[str, Any], other: dict[str, Any], **changes: Any
) -> tuple[Difference, ...]:
    """A pod that reports everything, and a target that reports this; `changes` of the spec."""
    body = spec(
        baseline="one",
        targets=[{"name": "one", "pod": {}}, {"name": "other", **target}],
        resources={"cpu": 2},
        **changes,
    )
    parsed = DBBenchmarkSpec.model_validate(body)
    runtime = RUNTIMES.get(next((k for k, way in WAYS.items() if way == target), Kind.POD), "Pod")
    environment, trials, loads = [], [], []
    for name, told in (("one", report()), ("other", other)):
        ran = {"name": name, "runtime": runtime if name == "other" else "Pod"}
        environment.append(ran | told["environment"])
        trials.append(
            TrialRecord(f"b001.{name}.analytics", 1, name, "analytics", "", 1, Outcome.MEASURED,
                        "", "", "", "", told["trial"])
        )  # fmt: skip
        loads.append(
            LoadRecord(name, "analytics", 1, Outcome.MEASURED, "", "", "", "", told["load"])
        )
    found = profiles(parsed, trials, loads, Environment.model_validate({"targets": environment}))
    assert found["one"].keys() == {entry.name for entry in PROPERTIES}
    compared = differences(parsed, found)
    assert compared is not None
    return compared


def test_every_property_has_a_case_and_is_reported() -> None:
    assert CASES.keys() == {entry.name for entry in PROPERTIES}
    assert compare({"pod": {}}, report()) == ()


def test_the_report_is_one_that_an_agent_can_give() -> None:
    facts = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/facts"}
    jsonschema.validate(report()["trial"]["target"]["facts"], facts)
    described = SCHEMA["$defs"]["facts"]["properties"].keys()
    assert report()["trial"]["target"]["facts"].keys() <= described


@pytest.mark.parametrize("name", CASES)
def test_a_difference_is_found_and_named_with_its_side(name: str) -> None:
    case = CASES[name]
    found = compare(case.target or {"pod": {}}, changed(case.change))
    told = Difference("other", case.name, case.baseline, case.other, case.inherent)
    assert told in found
    condition = finding(found)
    assert condition.status == ("True" if case.inherent else "False")
    assert f"{case.name}: {case.baseline} / other {case.other}" in condition.message
    # Nothing else is called unfair.
    unfair = {difference.name for difference in found if not difference.inherent}
    assert unfair == ({case.name} - ({case.name} if case.inherent else set())) | case.also


def test_a_disk_of_its_own_is_another_image_by_nature_and_nothing_else_is() -> None:
    """What its image holds is listed: that the server is another one is unfair all the same."""
    machine = {"runtime": "KubeVirt", "containerDisk": {"image": "debian-postgres:17"}}
    other = changed(("environment.imageDigest", "disk@sha256:2"))
    other["trial"]["target"]["facts"]["serverExecutable"]["sha256"] = "a2"
    found = compare({"virtualMachine": machine}, other)
    told = {difference.name: difference.inherent for difference in found}
    assert told["image digest"] is True
    assert told["sha256 of the server"] is False
    condition = finding(found)
    assert condition.status == "False"
    assert "image digest: sha256:1 / other sha256:2" in condition.message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (entry.name, kind)
        for entry, kind in NATURAL
        if entry.nature.allows("4", "8")
        and entry.nature.such(Target.model_validate({"name": "other", **WAYS[kind]}))
        and CASES[entry.name].change is not None
    ],
)
def test_what_a_kind_of_target_has_by_nature_is_told_and_is_no_unfairness(
    name: str, kind: Kind
) -> None:
    case = CASES[name]
    found = compare(WAYS[kind], changed(case.change))
    assert Difference("other", case.name, case.baseline, case.other, True) in found


@pytest.mark.parametrize(
    "name", [entry.name for entry in PROPERTIES if not entry.nature.allows("4", "not reported")]
)
def test_a_value_that_is_missing_is_no_nature(name: str) -> None:
    assert name == "memory"
    found = compare(WAYS[Kind.VIRTUAL_MACHINE], changed((f"{FACTS}.memoryBytes", None)))
    assert [d.inherent for d in found if d.name == name] == [False]


def test_the_memory_that_a_guest_s_kernel_keeps_is_its_nature_and_less_memory_is_not() -> None:
    def inherent(memory: int) -> list[bool]:
        found = compare(WAYS[Kind.VIRTUAL_MACHINE], changed((f"{FACTS}.memoryBytes", memory)))
        return [difference.inherent for difference in found if difference.name == "memory"]

    assert inherent(int(7.8 * GIB)) == [True]
    assert inherent(4 * GIB) == [False]
    # Of a guest all huge pages are a part of its memory, and a pod's are beside its limit.
    assert inherent(8 * GIB + 2097152) == []


def test_a_read_ahead_that_was_asked_for_is_its_nature_and_one_that_came_about_is_not() -> None:
    def inherent(disk: dict[str, Any]) -> list[bool]:
        guest = {"virtualMachine": {"runtime": "QEMU", "dataDisk": disk}}
        found = compare(guest, changed((f"{FACTS}.dataMount.readAheadKb", 0)))
        return [d.inherent for d in found if d.name == "read-ahead (KiB)"]

    assert inherent({"readAhead": "0"}) == [True]
    assert inherent({}) == [False]


def test_the_node_of_a_guest_is_seen_by_its_hypervisor_or_not_at_all() -> None:
    names = ("CPUs of the node", "NUMA nodes", "CPU governor")

    def told(host: dict[str, Any] | None) -> dict[str, tuple[str, bool]]:
        guest = report()
        guest["trial"]["target"]["facts"] |= {"cpusAllowed": [0, 1], "governor": None}
        if host is not None:
            guest["trial"]["target"]["host"] = {"facts": host}
        found = compare(WAYS[Kind.VIRTUAL_MACHINE], guest)
        return {d.name: (d.target_value, d.inherent) for d in found if d.name in names}

    facts = report()["trial"]["target"]["facts"]
    assert told(None) == dict.fromkeys(names, ("not reported", True))
    assert told(facts) == {}
    assert told(facts | {"cpusAllowed": [4, 5]}) == {"CPUs of the node": ("4,5", False)}


def test_of_a_duet_the_number_of_cpus_is_compared_and_not_which_they_are() -> None:
    def told(allowed: list[int], **trials: str) -> list[str]:
        found = compare(WAYS[Kind.POD], changed((f"{FACTS}.cpusAllowed", allowed)), trials=trials)
        return [d.target_value for d in found if d.name == "CPUs of the node"]

    assert told([4, 5]) == ["4,5"]
    assert told([4, 5], mode="Duet") == []
    assert told([4, 5, 6], mode="Duet") == ["3"]


@pytest.mark.parametrize(
    ("network", "told", "path"),
    [
        ("User", {}, "User"),
        ("Tap", {}, "Tap"),
        ("Tap", {"guestNetwork": "Tap"}, "Tap"),
        ("Tap", {"guestNetwork": "Tap with vhost-net"}, "Tap with vhost-net"),
    ],
)
def test_the_network_path_of_a_guest_says_what_moves_its_frames(
    network: str, told: dict[str, str], path: str
) -> None:
    guest = report()
    guest["trial"]["target"]["host"] = {"facts": guest["trial"]["target"]["facts"] | told}
    machine = {"virtualMachine": {"runtime": "QEMU", "network": network}}
    found = compare(machine, guest)
    assert Difference("other", "network path", "pod", path, True) in found


def test_a_difference_by_nature_needs_a_target_of_that_nature() -> None:
    two = copy.deepcopy(report())
    two["trial"]["target"]["facts"]["kernel"] = "6.12"
    assert [d.inherent for d in compare({"pod": {}}, two)] == [False]
    assert {d.inherent for d in compare(WAYS[Kind.SANDBOX], two) if d.name == "kernel"} == {True}


def test_the_page_has_the_table_of_all_properties() -> None:
    """docs/targets.md; a line that differs is to be copied from the failure's text."""
    page = (PROJECT / "docs/targets.md").read_text()
    for name, source, nature in documentation():
        assert f"| {name} | {source} | {nature or 'never'} |\n" in page
