"""What the agents' counters say about one trial, from the driver's result document. No I/O.

A counter that is absent is one that the kernel does not tell; it stays unknown and its time ends in
the unexplained rest.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dbbench.explain.cause import Cause
from dbbench.explain.counters import (
    Document,
    growth,
    is_number,
    number,
    part,
    parts,
    seconds_between,
)

# Bytes of a block of each engine that tells how many it read.
_BLOCK_BYTES = {"PostgreSQL": 8192}

_SECONDS = {
    Cause.USER: ("processes", "userSeconds"),
    Cause.SYSTEM: ("processes", "systemSeconds"),
    Cause.RUN_QUEUE: ("processes", "runQueueSeconds"),
    Cause.STEAL: ("cpu", "stealSeconds"),
    Cause.THROTTLING: ("cpu", "throttledSeconds"),
    Cause.IO_WAIT: ("pressure", "io", "someSeconds"),
    Cause.MEMORY: ("pressure", "memory", "someSeconds"),
}
# Counted for threads that live only: wrong where connections end during the measurement.
_OF_LIVING_THREADS = (Cause.RUN_QUEUE, Cause.CONTEXT_SWITCHES)

# Of the document's driverUsage, which covers the measured window.
_DRIVER = ("userSeconds", "systemSeconds", "runQueueSeconds")

_UNIT_COSTS = {
    Cause.PAGE_FAULTS: "PAGE_FAULT_4K",
    Cause.SYSTEM_CALLS: "SYSTEM_CALL",
    Cause.CONTEXT_SWITCHES: "CONTEXT_SWITCH",
}


@dataclass(frozen=True)
class Events:
    """How often something happened, and what one costs on that side, in seconds."""

    count: float
    unit_seconds: float


@dataclass(frozen=True)
class Plan:
    """Fingerprint of a query's plan, and the query's runtime in seconds."""

    fingerprint: str
    seconds: float


@dataclass(frozen=True)
class IoBytes:
    """Bytes read: needed by the database, read by its container or guest, by the hypervisor."""

    database: float | None = None
    target: float | None = None
    host: float | None = None


@dataclass(frozen=True)
class Observation:
    """One trial: the window, and what happened in it.

    `window_seconds` is its length. `seconds` and `events` are totals of the window, by cause.
    `unit_costs` are those measured on that side, in seconds by the probe's name, also where there
    is no count. `hypervisor_seconds` is the CPU time of the hypervisor's processes, seen from the
    node.
    """

    window_seconds: float
    seconds: Mapping[Cause, float]
    clients: float = 1.0
    events: Mapping[Cause, Events] = field(default_factory=dict)
    plans: Mapping[str, Plan] = field(default_factory=dict)
    unit_costs: Mapping[str, float] = field(default_factory=dict)
    io: IoBytes = IoBytes()
    hypervisor_seconds: float | None = None

    @property
    def client_seconds(self) -> float:
        """The time that the clients had together."""
        return self.window_seconds * self.clients


def observe(document: Document) -> Observation | None:
    """Of the whole window; None without counters of the target from both ends of it.

    Where counters were read around each run of each query, the window is the time of these runs.
    """
    operations = parts(document, "operations")
    if operations and all(map(_runs, operations)):
        return _of_queries(document, operations, _database_bytes(document))
    target = part(document, "target")
    host = part(target, "host")
    # Inside the target the driver's time is in the target's own counters.
    inside = part(document, "parameters").get("atTarget") is True
    return _observation(
        document,
        window=seconds_between(part(target, "before"), part(target, "after")),
        differences=[growth(part(target, "before"), part(target, "after"))],
        hosts=[growth(part(host, "before"), part(host, "after"))],
        driver=None if inside else _total([part(document, "driverUsage")], _DRIVER),
        plans=dict(_plans(parts(document, "operations"))),
        database=_database_bytes(document),
    )


def observe_queries(document: Document) -> dict[str, Observation]:
    """Each query apart, by its name, where counters were read around each of its runs."""
    found = {}
    for operation in parts(document, "operations"):
        runs = _runs(operation)
        blocks = _total([execution for execution, _ in runs], ("blocksRead",)) if runs else None
        own = _of_queries(document, [operation], _bytes_of_blocks(document, blocks))
        if own is not None:
            found[str(operation.get("name"))] = own
    return found


def _of_queries(
    document: Document, operations: Sequence[Document], database: float | None
) -> Observation | None:
    runs = [run for operation in operations for run in _runs(operation)]
    return _observation(
        document,
        window=math.fsum(seconds for _, seconds in runs),
        differences=[part(execution, "target") for execution, _ in runs],
        hosts=[part(execution, "host") for execution, _ in runs],
        driver=None,
        plans=dict(_plans(operations)),
        database=database,
    )


def _observation(
    document: Document,
    *,
    window: float,
    differences: Sequence[Document],
    hosts: Sequence[Document],
    driver: float | None,
    plans: Mapping[str, Plan],
    database: float | None,
) -> Observation | None:
    """From the growth of the counters of target and host; None of an empty window."""
    if not window > 0:
        return None
    parameters = part(document, "parameters")
    unknown = _OF_LIVING_THREADS if parameters.get("connection") == "per-query" else ()
    costs = _unit_costs(part(part(document, "target"), "facts"))
    return Observation(
        window_seconds=window,
        clients=_clients(parameters),
        seconds={
            cause: value
            for cause, path in _SECONDS.items()
            if cause not in unknown and (value := _sum(differences, path)) is not None
        }
        | ({} if driver is None else {Cause.DRIVER: driver}),
        events={
            cause: Events(count, costs[_UNIT_COSTS[cause]])
            for cause, count in _counts(differences).items()
            if cause not in unknown and _UNIT_COSTS[cause] in costs
        },
        plans=plans,
        unit_costs=costs,
        io=IoBytes(
            database=database,
            target=_sum(differences, ("io", "readBytes")),
            host=_sum(hosts, ("io", "readBytes")),
        ),
        hypervisor_seconds=_total(
            [part(host, "cpu") for host in hosts], ("userSeconds", "systemSeconds")
        ),
    )


def _runs(operation: Document) -> list[tuple[Document, float]]:
    """Counters around each measured run, with its runtime; empty where any run lacks them."""
    executions, runtimes = parts(operation, "executions"), _runtimes(operation)
    if len(executions) != len(runtimes):
        return []
    complete = all(part(execution, "target") for execution in executions)
    return list(zip(executions, runtimes, strict=True)) if complete else []


def _counts(differences: Sequence[Document]) -> dict[Cause, float]:
    faults = _sum(differences, ("processes", "minorFaults"))
    switches = _total(
        [part(difference, "processes") for difference in differences],
        ("voluntaryContextSwitches", "involuntaryContextSwitches"),
    )
    found = {Cause.PAGE_FAULTS: faults, Cause.CONTEXT_SWITCHES: switches}
    return {cause: count for cause, count in found.items() if count is not None}


def _unit_costs(facts: Document) -> dict[str, float]:
    """Mean seconds by the name of the probe; what a machine does not have is left out."""
    return {
        str(figure.get("name")): value
        for figure in parts(facts, "unitCosts")
        if (value := number(part(figure, "cost"), "meanSeconds")) is not None and value > 0
    }


def _plans(operations: Sequence[Document]) -> Iterator[tuple[str, Plan]]:
    for operation in operations:
        fingerprint, runtimes = operation.get("planFingerprint"), _runtimes(operation)
        if isinstance(fingerprint, str) and runtimes:
            yield str(operation.get("name")), Plan(fingerprint, statistics.median(runtimes))


def _database_bytes(document: Document) -> float | None:
    return _bytes_of_blocks(document, number(document, "blocksRead"))


def _bytes_of_blocks(document: Document, blocks: float | None) -> float | None:
    size = _BLOCK_BYTES.get(str(part(document, "server").get("engine")))
    return None if blocks is None or size is None else blocks * size


def _clients(parameters: Document) -> float:
    """Clients of all driver processes, or work processes; queries of TPC-H run one at a time."""
    processes = number(parameters, "workProcesses")
    if processes is not None:
        return processes
    clients = number(parameters, "clients")
    return 1.0 if clients is None else clients * (number(parameters, "processes") or 1.0)


def _sum(differences: Sequence[Document], path: Sequence[str]) -> float | None:
    """None where one of them does not have it."""
    values = []
    for difference in differences:
        inner = difference
        for name in path[:-1]:
            inner = part(inner, name)
        values.append(number(inner, path[-1]))
    return None if None in values else math.fsum(value for value in values if value)


def _total(documents: Sequence[Document], names: Sequence[str]) -> float | None:
    """Of all these fields together; None where one of them is missing."""
    values = [_sum(documents, (name,)) for name in names]
    return None if None in values else math.fsum(value for value in values if value)


def _runtimes(operation: Document) -> list[float]:
    runtimes = operation.get("runtimesSeconds")
    return [x for x in runtimes if is_number(x)] if isinstance(runtimes, list) else []
