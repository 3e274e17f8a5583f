"""How numbers are written for people: values, slowdowns and intervals. No I/O."""

import math
from collections.abc import Mapping

_SIGNS = {"seconds": " s", "per_second": " /s", "per_minute": " /min"}


def value(number: float) -> str:
    """Five significant digits, and never an integer digit less: `14.19`, `0.00051234`, `371885`."""
    if number == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(number)))
    if not -7 < magnitude < 16:
        return f"{number:.5g}"
    text = f"{number:.{max(4 - magnitude, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def quantity(number: float, unit: str) -> str:
    """A value with its unit: `14.19 s`, `371885 /s`."""
    return value(number) + _SIGNS[unit]


def percent(ratio: float) -> str:
    """A slowdown or a bound of one: `+7.82 %`; 0.0782 is 7.82 %."""
    return f"{signed(ratio * 100)} %"


def interval(bounds: tuple[float, float] | None) -> str:
    """An interval of slowdowns: `+6.90 to +8.75 %`; a dash when there is none."""
    if bounds is None:
        return "-"
    return f"{signed(bounds[0] * 100)} to {percent(bounds[1])}"


def least_and_most(found: Mapping[str, int] | None) -> str:
    """Counts over trials: `0`, `1200 to 1300`; a dash when nothing was counted."""
    if found is None:
        return "-"
    least, most = found["least"], found["most"]
    return str(least) if least == most else f"{least} to {most}"


def share(ratio: float) -> str:
    """A share of a whole: `12.3 %`."""
    return f"{ratio * 100:.1f} %"


def level(confidence: float) -> str:
    """A confidence level: `95 %`."""
    return f"{confidence * 100:g} %"


def signed(number: float) -> str:
    """Two decimals and a sign, but no sign on zero; `+1.2e+09` when that would be too long."""
    text = f"{number:+.2f}" if abs(number) < 1e7 else f"{number:+.1e}"
    return text[1:] if float(text) == 0 else text


def milliseconds(seconds: float) -> str:
    """A latency: `5.167 ms`, to the three significant digits and one that a histogram has."""
    return f"{value(float(f'{seconds * 1000:.4g}'))} ms"


def bounds(found: tuple[float, float] | None) -> dict[str, float] | None:
    """An interval as JSON documents write it."""
    return None if found is None else {"low": found[0], "high": found[1]}


def together(comparisons: int, confidence: float) -> str:
    """What verdicts of several comparisons promise, and why an interval alone does not decide."""
    return (
        f"The verdicts of {comparisons} comparisons hold together, with {level(confidence)} "
        "confidence (Holm): one whose interval excludes 0 can be Inconclusive among many."
    )


def seconds(number: float) -> str:
    """A duration, to the second: `45 s`, `12 min 5 s`, `3 h 10 min`."""
    total = round(number)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def three_digits(number: float) -> str:
    """Three significant digits, large numbers in words: `4.53 million`, `12.3 thousand`, `271`."""
    for size, word in ((1e9, " billion"), (1e6, " million"), (1e4, None)):
        if abs(number) >= size:
            return f"{_short(number / size)}{word}" if word else f"{_short(number / 1e3)} thousand"
    return _short(number)


def time(seconds: float) -> str:
    """A difference of times, to three significant digits: `8.28 s`, `-310 us`, `3.5 us`."""
    magnitude = abs(seconds)
    if magnitude < 5e-12:
        # What is left of sums that cancel.
        return "0 s"
    if magnitude >= 1:
        return f"{_short(seconds)} s"
    if magnitude >= 1e-3:
        return f"{_short(seconds * 1e3)} ms"
    return f"{_short(seconds * 1e6)} us"


def _short(number: float) -> str:
    """Three significant digits, and never an integer digit less."""
    return value(round(number)) if abs(number) >= 100 else value(float(f"{number:.3g}"))


def decimal(value: float) -> str:
    """A number as status shows it: up to six significant digits."""
    return f"{value:.6g}"
