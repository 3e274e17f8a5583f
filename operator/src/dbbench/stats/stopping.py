"""When a run has measured enough. No I/O.

A run that stops at the first interval that looks narrow stops where the noise happens to be
underestimated: its intervals then hold the truth less often than they say (88 % instead of 95 %
in the calibration). So a run looks after whole pairs of blocks only, and stops when several looks
in a row found every interval narrow.
"""

from collections.abc import Iterable

FIRST_LOOK = 6
"""Blocks of the first look, or deployments where several blocks share one."""

LOOKS = 3
"""Looks in a row that have to agree."""

Bounds = tuple[float, float] | None


def looks(blocks: int, per_value: int = 1) -> list[int]:
    """The numbers of blocks whose intervals decide whether a run of `blocks` may stop.

    Empty when it may not: between looks, and before there were enough of them. `per_value`: how
    many blocks each value is the mean of that intervals rest on.
    """
    values, rest = divmod(blocks, per_value)
    found = [values - 2 * back for back in reversed(range(LOOKS))]
    if rest or values % 2 or found[0] < FIRST_LOOK:
        return []
    return [count * per_value for count in found]


def narrow_enough(intervals: Iterable[Bounds], half_width: float) -> bool:
    """Whether every interval reaches at most `half_width` to each side of its middle."""
    return all(
        bounds is not None and (bounds[1] - bounds[0]) / 2 <= half_width for bounds in intervals
    )
