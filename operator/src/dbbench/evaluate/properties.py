"""The properties in which targets are compared: the one table of them. No I/O.

What a target reports comes from the driver's result documents, in which the agent's facts stand
word for word (workloads/agent/src/facts.rs), from the spec, and from status.environment.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dbbench.api.machine import Network
from dbbench.api.resources import Medium, Resources
from dbbench.api.spec import DBBenchmarkSpec
from dbbench.api.status import TargetEnvironment
from dbbench.api.target import Target
from dbbench.engines import engine_of
from dbbench.results.driver_result import server_name
from dbbench.targets.context import TargetRuntime
from dbbench.targets.placement import exclusive_cpus, has_exclusive_cpus

Values = Mapping[str, str]
"""Values of a property by key; a property of one value has the key ""."""

SPEC = "the spec"
"""Source of what dbbench has made a target with."""

NOT_REPORTED = "not reported"
ABSENT = "absent"

# The guest's kernel keeps a part of its memory for itself: page tables, its own code, reserves.
# A part above this is another amount of memory.
_KERNEL_SHARE = 0.15


class Kind(StrEnum):
    """What a target is, as far as that makes it differ from others by nature."""

    POD = "pod"
    SANDBOX = "runtimeClassName"
    HOST = "host"
    VIRTUAL_MACHINE = "virtualMachine"
    CLOUD_NATIVE_PG = "cloudNativePG"
    EXTERNAL = "external"


def kind_of(target: Target) -> Kind:
    """A RuntimeClass may give a pod a kernel of its own; which ones do cannot be seen here."""
    if target.external is not None:
        return Kind.EXTERNAL
    if target.cloud_native_pg is not None:
        return Kind.CLOUD_NATIVE_PG
    if target.virtual_machine is not None:
        return Kind.VIRTUAL_MACHINE
    if target.host is not None:
        return Kind.HOST
    if target.pod is not None and target.pod.runtime_class_name:
        return Kind.SANDBOX
    return Kind.POD


@dataclass(frozen=True)
class Seen:
    """What is known of one instance of a target from one trial.

    `result` is the driver's document of the trial, `digests` those of the data by workload.
    """

    spec: DBBenchmarkSpec
    target: Target
    environment: TargetEnvironment | None
    workload: str
    result: Mapping[str, Any]
    digests: Mapping[str, str]

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the agent beside the database sees: in a guest, the guest."""
        return (self.result.get("target") or {}).get("facts") or {}

    @property
    def node_facts(self) -> Mapping[str, Any]:
        """What is seen on the node: by the hypervisor's agent, or where there is no guest."""
        host = (self.result.get("target") or {}).get("host")
        if host:
            return host.get("facts") or {}
        return {} if kind_of(self.target) in OWN_KERNEL else self.facts


def _anything(_baseline: str, _target: str) -> bool:
    return True


def _silence(baseline: str, target: str) -> bool:
    return NOT_REPORTED in (baseline, target)


def _every_target(_target: Target) -> bool:
    return True


def _sets_read_ahead(target: Target) -> bool:
    machine = target.virtual_machine
    return machine is not None and machine.data_disk.read_ahead is not None


def _boots_own_disk(target: Target) -> bool:
    return target.virtual_machine is not None and not target.boots_image


def _kernel_share(baseline: str, target: str) -> bool:
    if not (baseline.isdecimal() and target.isdecimal()):
        return False
    least, most = sorted((int(baseline), int(target)))
    return most - least <= _KERNEL_SHARE * most


@dataclass(frozen=True)
class Nature:
    """When a difference is inherent: with such a target of such a kind, and for these values."""

    kinds: frozenset[Kind]
    allows: Callable[[str, str], bool] = _anything
    words: str = ""
    such: Callable[[Target], bool] = _every_target

    def explains(self, targets: Sequence[Target], baseline: str, target: str) -> bool:
        """Whether two targets differ in these values by nature, on either side."""
        natural = any(kind_of(one) in self.kinds and self.such(one) for one in targets)
        return natural and self.allows(baseline, target)


OWN_KERNEL = frozenset({Kind.SANDBOX, Kind.VIRTUAL_MACHINE})
_NEVER = Nature(frozenset())
_KERNEL = Nature(OWN_KERNEL)
_NETWORK = Nature(OWN_KERNEL | {Kind.HOST})
_UNSEEN = Nature(OWN_KERNEL, _silence, "where the node's view is missing")
_READ_AHEAD = Nature(
    frozenset({Kind.VIRTUAL_MACHINE}),
    words="where dataDisk.readAhead sets it",
    such=_sets_read_ahead,
)
_IMAGE = Nature(
    frozenset({Kind.VIRTUAL_MACHINE}),
    words="where it boots a containerDisk",
    such=_boots_own_disk,
)
_MEMORY = Nature(OWN_KERNEL, _kernel_share, f"up to {_KERNEL_SHARE:.0%}: the guest's kernel")


@dataclass(frozen=True)
class Property:
    """One property: how it is called, where it is read, and when it differs by nature.

    `name` has {} where the keys go, in properties of many values. `read` returns None where the
    target does not report it.
    """

    name: str
    source: str
    read: Callable[[Seen], str | Values | None]
    nature: Nature = _NEVER

    def values(self, seen: Seen) -> Values | None:
        """What a target reports, by key. The spec says nothing of what dbbench does not deploy."""
        if self.source == SPEC and not seen.target.deployed:
            return None
        found = self.read(seen)
        return {"": found} if isinstance(found, str) else found

    def label(self, key: str) -> str:
        """Its name in messages."""
        return self.name.format(key)

    @property
    def has_many_values(self) -> bool:
        """Whether it has values by key."""
        return "{}" in self.name


def _fact(*path: str) -> Callable[[Seen], str | None]:
    return lambda seen: _at(seen.facts, path)


def _at(found: object, path: Sequence[str]) -> str | None:
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return None if found is None else str(found)


def _image_digest(seen: Seen) -> str | None:
    """Without the name before it, by which one node may know the image and another not."""
    reported = seen.environment.image_digest if seen.environment else ""
    return reported.rpartition("@")[2] or None


def _settings(seen: Seen) -> Values | None:
    left_out = engine_of(seen.spec.database).unequal_settings(seen.spec.resources)
    settings = (seen.result.get("server") or {}).get("settings")
    if settings is None:
        return None
    return {name: str(value) for name, value in settings.items() if name not in left_out}


def _plans(seen: Seen) -> Values:
    return {
        f"{seen.workload} {operation['name']}": str(operation["planFingerprint"])
        for operation in seen.result.get("operations") or []
        if operation.get("planFingerprint")
    }


def _statements(seen: Seen) -> Values:
    """A trial of another workload has none."""
    scripts = (seen.result.get("parameters") or {}).get("scripts") or []
    return {f"{seen.workload} {script['name']}": str(script["digest"]) for script in scripts}


def _events(seen: Seen) -> str | None:
    """What the workload micro could measure: a mean over other events is another one."""
    found = [
        str(operation["name"])
        for operation in seen.result.get("operations") or []
        if (operation.get("probe") or {}).get("cost")
    ]
    return ", ".join(found) or None


def _cpu_limit(resources: Resources, target: Target) -> str:
    """CPUs that the target may use at most; where CPUs are exclusive, there is none beyond them."""
    if has_exclusive_cpus(resources, target):
        return "its exclusive CPUs"
    return "none" if target.host is not None else str(resources.cpu)


def _cpu_count(seen: Seen) -> str | None:
    allowed = seen.facts.get("cpusAllowed")
    return None if allowed is None else str(len(allowed))


def _node_cpus(seen: Seen) -> str | None:
    """Which they are; of a duet, whose targets cannot have the same, how many."""
    allowed = seen.node_facts.get("cpusAllowed")
    if allowed is None:
        return None
    return str(len(allowed)) if seen.spec.duet else _numbers(allowed)


def _numbers(found: Sequence[int]) -> str:
    return ",".join(str(number) for number in found) or "none"


def _topology(seen: Seen) -> str | None:
    found = seen.facts.get("cpuTopology")
    if not found:
        return None
    return "/".join(str(found[name]) for name in ("sockets", "cores", "threads"))


def _numa(seen: Seen) -> str | None:
    found = seen.node_facts.get("numa")
    if not found:
        return None
    return f"{_numbers(found['cpuNodes'])}, memory {_numbers(found['memoryNodes'])}"


def _shared_cores(seen: Seen) -> str | None:
    return _at(seen.node_facts, ("cpuTopology", "foreignSiblings"))


def _memory(seen: Seen) -> str | None:
    """A cgroup's limit does not count huge pages, the memory of a guest's kernel does."""
    memory = seen.facts.get("memoryBytes")
    if memory is None:
        return None
    if kind_of(seen.target) is Kind.VIRTUAL_MACHINE:
        return str(memory)
    return str(memory + sum((seen.facts.get("hugePages") or {}).values()))


def _open_files(seen: Seen) -> str | None:
    limits = seen.facts.get("limits") or {}
    if "nofile" not in limits:
        return None
    return "unlimited" if limits["nofile"] is None else str(limits["nofile"])


def _words(name: str) -> Callable[[Seen], Values | None]:
    def read(seen: Seen) -> Values | None:
        found = seen.facts.get(name)
        return None if found is None else {key: str(value) for key, value in found.items()}

    return read


def _data_volume(seen: Seen) -> str | None:
    if seen.spec.database.storage.medium is not Medium.DISK:
        return None
    return seen.target.data_volume.value


def _network_path(seen: Seen) -> str:
    machine = seen.target.virtual_machine
    if seen.spec.placement.inside_targets:
        return "loopback"
    if seen.target.host is not None:
        return "node"
    if machine is None:
        return "pod"
    if machine.network is Network.TAP:
        # Whether the node's kernel moves the frames is seen there alone.
        return _at(seen.node_facts, ("guestNetwork",)) or machine.network.value
    if machine.network is not None:
        return machine.network.value
    runtime = seen.environment.runtime if seen.environment else ""
    return "User" if runtime == TargetRuntime.QEMU else "Masquerade"


def _tls(seen: Seen) -> str | None:
    server = seen.result.get("server")
    if server is None:
        return None
    found = server.get("tls")
    return f"{found['protocol']} {found['cipher']}" if found else "none"


def _server_version(seen: Seen) -> str | None:
    return server_name(seen.result.get("server") or {}) or None


_NODE = "; under QEMU by the launcher's agent"

PROPERTIES: tuple[Property, ...] = (
    Property(
        "image digest",
        "the database's container, the root disk's Job, or the containerDisk's container",
        _image_digest,
        _IMAGE,
    ),
    Property("operating system image", "`/etc/os-release`", _fact("osRelease")),
    Property(
        "sha256 of the server", "`/proc/PID/exe`, hashed", _fact("serverExecutable", "sha256")
    ),
    Property(
        "sha256 of the server's libraries",
        "the executable mappings of `/proc/PID/maps`, hashed, in the order of their paths",
        _fact("serverLibraries", "sha256"),
    ),
    Property("server version", "the server", _server_version),
    Property("setting {}", "the server: `pg_settings`, `SHOW GLOBAL VARIABLES`", _settings),
    Property("data of {}", "digest of what was loaded", lambda seen: seen.digests),
    Property("statements of {}", "sha256 of each script of the workload sql", _statements),
    Property("plan of {}", "`EXPLAIN`, without costs and counts", _plans),
    Property("events with a cost", "the workload micro: what the machine has", _events),
    Property("instances", SPEC, lambda seen: str(seen.target.instances)),
    Property(
        "exclusive CPUs",
        SPEC,
        lambda seen: str(exclusive_cpus(seen.spec.resources, seen.target) or "none"),
    ),
    Property("CPU limit", SPEC, lambda seen: _cpu_limit(seen.spec.resources, seen.target)),
    Property("number of CPUs", "`Cpus_allowed_list` of `/proc/self/status`", _cpu_count),
    Property("CPUs of the node", f"the same on the node{_NODE}", _node_cpus, _UNSEEN),
    Property(
        "other hardware threads of its cores",
        f"`thread_siblings_list` of those CPUs{_NODE}",
        _shared_cores,
        _UNSEEN,
    ),
    Property(
        "NUMA nodes",
        f"`/sys/devices/system/node`, `Mems_allowed_list`{_NODE}",
        _numa,
        _UNSEEN,
    ),
    Property(
        "CPU governor", f"`scaling_governor`{_NODE}",
        lambda seen: _at(seen.node_facts, ("governor",)), _UNSEEN,
    ),
    Property(
        "CPU topology (sockets/cores/threads)",
        "`/sys/devices/system/cpu/cpu*/topology`",
        _topology,
        _KERNEL,
    ),
    Property("CPU model", "`/proc/cpuinfo`", _fact("cpuModel"), _KERNEL),
    Property("memory", "the cgroup's limit and its huge pages, or `MemTotal`", _memory, _MEMORY),
    Property("huge pages of {}", "the cgroup's limit, or `nr_hugepages`", _words("hugePages")),
    Property(
        "transparent huge pages",
        "`/sys/kernel/mm/transparent_hugepage/enabled`",
        _fact("transparentHugepages"),
    ),
    Property("open files limit", "`/proc/PID/limits`", _open_files),
    Property("data volume", SPEC, _data_volume, _KERNEL),
    Property("file system of the data", "`/proc/self/mountinfo`", _fact("dataMount", "fstype")),
    Property("mount options", "`/proc/self/mountinfo`", _fact("dataMount", "options"), _KERNEL),
    Property(
        "read-ahead (KiB)",
        "`/sys/class/bdi/*/read_ahead_kb`",
        _fact("dataMount", "readAheadKb"),
        _READ_AHEAD,
    ),
    Property("network path", SPEC, _network_path, _NETWORK),
    Property("TLS", "the driver's connection: version and cipher suite", _tls),
    Property(
        "MTU",
        "`/sys/class/net/*/mtu` of the default route's interface",
        _fact("networkInterface", "mtu"),
        _NETWORK,
    ),
    Property("kernel", "`uname -r`", _fact("kernel"), _KERNEL),
    Property(
        "clock source",
        "`/sys/devices/system/clocksource/clocksource0/current_clocksource`",
        _fact("clockSource"),
        _KERNEL,
    ),
    Property(
        "mitigation of {}",
        "`/sys/devices/system/cpu/vulnerabilities`",
        _words("mitigations"),
        _KERNEL,
    ),
)  # fmt: skip
"""In the order in which differences are listed."""


def documentation() -> Iterator[tuple[str, str, str]]:
    """Name, source and inherent differences of each property, for docs/targets.md."""
    for entry in PROPERTIES:
        kinds = ", ".join(f"{kind}" for kind in Kind if kind in entry.nature.kinds)
        words = f" ({entry.nature.words})" if entry.nature.words else ""
        yield entry.label("..."), entry.source, kinds + words
