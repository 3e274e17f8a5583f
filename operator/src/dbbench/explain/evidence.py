"""What the terms of an account rest on: counts, unit costs, bytes read at each level. No I/O."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbbench.explain.cause import EVENTS, Cause
from dbbench.explain.observation import Events, IoBytes, Observation


@dataclass(frozen=True)
class Evidence:
    """Of one side, for one unit of work: means over its trials; only what all of them have.

    `unit_costs` are seconds by the probe's name, `hypervisor_seconds` the CPU time of the
    hypervisor's processes.
    """

    events: Mapping[Cause, Events]
    unit_costs: Mapping[str, float]
    io: IoBytes
    hypervisor_seconds: float | None

    @property
    def magnification(self) -> float | None:
        """Bytes read by the host / bytes needed by the database (Minhas et al. 2008).

        Where no hypervisor is looked at, the bytes read by the database's container or guest. None
        where one of them is not known or the database needed none.
        """
        read = self.io.target if self.io.host is None else self.io.host
        return read / self.io.database if read is not None and self.io.database else None


def evidence(trials: Sequence[tuple[Observation, float]]) -> Evidence:
    """From at least one trial: what was observed, and the seconds of one unit of work."""
    observations = [observation for observation, _ in trials]

    def for_one_unit(of: Callable[[Observation], float | None]) -> float | None:
        return _mean(
            None if (total := of(observation)) is None
            else total * seconds / observation.client_seconds
            for observation, seconds in trials
        )  # fmt: skip

    events = {}
    for cause in EVENTS:
        count = for_one_unit(lambda found, of=cause: _count(found, of))  # type: ignore[misc]
        if count is not None:
            costs = (found.events[cause].unit_seconds for found in observations)
            events[cause] = Events(count, _mean(costs) or 0.0)
    names = sorted(set.intersection(*(set(found.unit_costs) for found in observations)))
    return Evidence(
        events=events,
        unit_costs={
            name: _mean(found.unit_costs[name] for found in observations) or 0.0 for name in names
        },
        io=IoBytes(
            database=for_one_unit(lambda found: found.io.database),
            target=for_one_unit(lambda found: found.io.target),
            host=for_one_unit(lambda found: found.io.host),
        ),
        hypervisor_seconds=for_one_unit(lambda found: found.hypervisor_seconds),
    )


def _count(observation: Observation, cause: Cause) -> float | None:
    return observation.events[cause].count if cause in observation.events else None


def _mean(values: Iterable[float | None]) -> float | None:
    """None where one of them is."""
    found = list(values)
    return None if None in found else math.fsum(x for x in found if x) / len(found)
