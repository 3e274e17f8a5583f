"""The causes among which a slowdown is divided. No I/O."""

from enum import StrEnum


class Cause(StrEnum):
    """A part of the time that a unit of work takes."""

    DIFFERENT_WORK = "differentWork"
    """Queries whose plan is not the same on both sides, with all that they take."""

    USER = "user"
    SYSTEM = "system"
    PAGE_FAULTS = "pageFaults"
    SYSTEM_CALLS = "systemCalls"
    CONTEXT_SWITCHES = "contextSwitches"
    OTHER_SYSTEM = "otherSystem"
    """System time that no count of events explains."""

    IO_WAIT = "ioWait"
    CPU_WAIT = "cpuWait"
    RUN_QUEUE = "runQueue"
    THROTTLING = "throttling"
    STEAL = "steal"
    MEMORY = "memory"
    """Stalls of memory: reclaim and refaults."""

    DRIVER = "driver"
    """The driver's own work, and its waiting for a CPU."""

    UNEXPLAINED = "unexplained"


EVENTS = (Cause.PAGE_FAULTS, Cause.SYSTEM_CALLS, Cause.CONTEXT_SWITCHES)
"""Counted, and multiplied with a unit cost: parts of the system time."""

WAITS = (Cause.RUN_QUEUE, Cause.THROTTLING, Cause.STEAL)
"""Parts of the waiting for a CPU."""

PARTS = {
    Cause.SYSTEM: (*EVENTS, Cause.OTHER_SYSTEM),
    Cause.CPU_WAIT: WAITS,
}
"""Causes that are divided further; the parts add up to the whole."""

WHOLES = (
    Cause.DIFFERENT_WORK,
    Cause.USER,
    Cause.SYSTEM,
    Cause.IO_WAIT,
    Cause.CPU_WAIT,
    Cause.MEMORY,
    Cause.DRIVER,
    Cause.UNEXPLAINED,
)
"""Causes that add up to the slowdown, in the order in which they are shown."""
