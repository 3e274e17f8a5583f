"""Parses the three textual number formats of the API: quantities, durations and percentages."""

import re
from decimal import ROUND_CEILING, Decimal

_FACTORS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
}

QUANTITY_PATTERN = r"^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$"
DURATION_PATTERN = r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?$"
PERCENT_PATTERN = r"^[0-9]+(\.[0-9]+)?%$"
DECIMAL_PATTERN = r"^[0-9]+(\.[0-9]+)?$"


def quantity(text: str) -> int:
    """A Kubernetes quantity such as `2Gi` in its base unit (bytes), rounded up."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", text)
    if match is None or match[2] not in _FACTORS:
        raise ValueError(f"{text!r} is not a quantity; write for example 512Mi or 2Gi")
    value = Decimal(match[1]) * _FACTORS[match[2]]
    return int(value.to_integral_value(ROUND_CEILING))


def duration(text: str) -> int:
    """A duration such as `1h30m` or `45s`, in seconds."""
    match = re.fullmatch(r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?", text)
    if match is None or not text:
        raise ValueError(f"{text!r} is not a duration; write for example 30s, 5m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def percent(text: str) -> float:
    """A percentage such as `10%` as a ratio (0.1)."""
    if re.fullmatch(PERCENT_PATTERN, text) is None:
        raise ValueError(f"{text!r} is not a percentage; write for example 10% or 2.5%")
    return float(text[:-1]) / 100


def cpus(text: str) -> float:
    """CPUs as nodes report them: `4`, `3920m`."""
    return int(text[:-1]) / 1000 if text.endswith("m") else float(text)
