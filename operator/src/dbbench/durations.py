"""How long something took, over all times that it was done: counts in Prometheus's buckets."""

import bisect
from dataclasses import dataclass, field
from itertools import accumulate

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets, seconds; what took longer is in one more."""


@dataclass
class Durations:
    """`counts`: one for each bucket; `total`: the sum, seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more; on a bound it belongs to the bucket below."""
        self.counts[bisect.bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Bound and how many took no longer, as Prometheus has it."""
        bounds = [*map(str, BOUNDS), "+Inf"]
        return list(zip(bounds, map(float, accumulate(self.counts)), strict=True))
