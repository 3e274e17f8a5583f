"""From values to places on an axis, and the ticks of the axis. No I/O."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_STEPS = (1, 2, 5)
_MOST_TICKS = 7
# Percent of the axis: room for a label in the narrowest plot.
_CLOSEST_TICKS = 21


@dataclass(frozen=True)
class Scale:
    """A linear axis from `low` to `high`; `at` gives percent of its length."""

    low: float
    high: float

    def at(self, value: float) -> float:
        return 100 * (value - self.low) / (self.high - self.low)

    def within(self, value: float) -> float:
        """As `at`, but a value outside the axis is put at its end."""
        return min(max(self.at(value), 0.0), 100.0)


@dataclass(frozen=True)
class Logarithmic:
    """An axis of values above 0 whose equal distances are equal ratios."""

    low: float
    high: float

    def at(self, value: float) -> float:
        return self._scale.at(math.log(value))

    def within(self, value: float) -> float:
        """As `at`, but a value outside the axis is put at its end."""
        return self._scale.within(math.log(max(value, math.nextafter(0, 1))))

    @property
    def _scale(self) -> Scale:
        return Scale(math.log(self.low), math.log(self.high))


def linear_ticks(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between `low` and `high`, ends included."""
    step = next(step for step in _steps(high - low) if (high - low) / step <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def logarithmic_ticks(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """1, 2 and 5 times powers of ten, or powers of ten alone where those would be too many."""
    for steps in (_STEPS, (1, 3), (1,)):
        found = [
            step * 10.0**power
            for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
            for step in steps
            if low * (1 - 1e-9) <= step * 10.0**power <= high * (1 + 1e-9)
        ]
        if len(found) <= most:
            return found
    return found[:: math.ceil(len(found) / most)]


def slowdown_ticks(scale: Logarithmic) -> list[float]:
    """Slowdowns (not ratios) to mark on an axis of ratios: 0 first, and no two too close."""
    if scale.high / scale.low < 3:
        found = linear_ticks(scale.low - 1, scale.high - 1)
    else:
        found = [ratio - 1 for ratio in logarithmic_ticks(scale.low, scale.high)]
    marked = [0.0]
    for slowdown in sorted(found, key=abs):
        place = scale.at(1 + slowdown)
        if all(abs(place - scale.at(1 + other)) >= _CLOSEST_TICKS for other in marked):
            marked.append(slowdown)
    return marked


def slowdown_axis(
    slowdowns: Sequence[float], intervals: Iterable[tuple[float, float]], margin: float
) -> Logarithmic:
    """An axis of ratios that shows every slowdown, 0, and what it can of the intervals.

    A hopelessly wide interval must not press all others together: beyond the estimates the axis
    goes on by no more than they span themselves.
    """
    logs = [math.log1p(slowdown) for slowdown in slowdowns]
    low, high = min([*logs, -2 * margin]), max([*logs, 2 * margin])
    room = high - low
    ends = [math.log1p(end) for interval in intervals for end in interval]
    low = max(min([low, *ends]), low - room)
    high = min(max([high, *ends]), high + room)
    pad = 0.06 * (high - low)
    return Logarithmic(math.exp(low - pad), math.exp(high + pad))


def _steps(span: float) -> Iterable[float]:
    power = math.floor(math.log10(span)) - 2
    while True:
        yield from (step * 10.0**power for step in _STEPS)
        power += 1
