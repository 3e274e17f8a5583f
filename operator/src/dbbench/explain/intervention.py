"""Which interventions test which causes. No I/O."""

from dbbench.api.status import Intervention
from dbbench.explain.cause import Cause

# A connection of its own for each query means a process of its own, which the kernel makes, maps
# and ends: all of that is system time.
_OF_CONNECTIONS = (Intervention.SHARED_CONNECTION,)

TESTS = {
    Cause.IO_WAIT: (
        Intervention.DATA_DISK_CACHE_NONE,
        Intervention.DATA_DISK_READ_AHEAD_ZERO,
    ),
    Cause.SYSTEM: _OF_CONNECTIONS,
    Cause.PAGE_FAULTS: _OF_CONNECTIONS,
    Cause.SYSTEM_CALLS: _OF_CONNECTIONS,
    Cause.OTHER_SYSTEM: _OF_CONNECTIONS,
}
"""What tests a cause, the best first. What is no key here cannot be taken away by one change."""
