"""Quantities, durations and percentages mean what Kubernetes and Go mean by them."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.api.quantities import (
    DURATION_PATTERN,
    PERCENT_PATTERN,
    QUANTITY_PATTERN,
    duration,
    percent,
    quantity,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("512Mi", 512 * 2**20),
        ("2Gi", 2 * 2**30),
        ("1.5Gi", 3 * 2**29),
        ("10G", 10**10),
        ("100k", 100_000),
        ("1Ti", 2**40),
        ("1.0000001k", 1001),  # rounded up, never down
    ],
)
def test_quantity_in_bytes(text: str, expected: int) -> None:
    assert quantity(text) == expected


@pytest.mark.parametrize("text", ["", "2gb", "-1Gi", "Gi", "1 Gi", "1e3", "0x10"])
def test_other_spellings_of_a_quantity_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a quantity; write for example 512Mi or 2Gi"):
        quantity(text)


@given(st.integers(0, 10**9), st.sampled_from(["", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"]))
def test_what_the_api_server_lets_through_is_parsed(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    assert re.fullmatch(QUANTITY_PATTERN, text)
    base = 2**10 if suffix.endswith("i") else 10**3
    power = "kMGT".lower().find(suffix[:1].lower()) + 1 if suffix else 0
    assert quantity(text) == number * base**power


@given(st.decimals(0, 10**6, places=3), st.sampled_from(["Ki", "M", "Gi"]))
def test_a_fraction_of_a_byte_is_rounded_up(number: Decimal, suffix: str) -> None:
    factor = {"Ki": 2**10, "M": 10**6, "Gi": 2**30}[suffix]
    exact = number * factor
    assert exact <= quantity(f"{number:f}{suffix}") < exact + 1


@pytest.mark.parametrize(
    ("text", "expected"), [("45s", 45), ("5m", 300), ("2h", 7200), ("1h30m", 5400), ("0s", 0)]
)
def test_duration_in_seconds(text: str, expected: int) -> None:
    assert duration(text) == expected


@pytest.mark.parametrize("text", ["", "5", "5 m", "1d", "s", "30s5m", "-3s", "1.5h"])
def test_other_spellings_of_a_duration_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration; write for example 30s, 5m or 1h30m"):
        duration(text)


@given(st.integers(0, 99), st.integers(0, 999), st.integers(0, 999))
def test_every_duration_of_the_api_is_parsed(hours: int, minutes: int, seconds: int) -> None:
    text = f"{hours}h{minutes}m{seconds}s"
    assert re.fullmatch(DURATION_PATTERN, text)
    assert duration(text) == hours * 3600 + minutes * 60 + seconds


@pytest.mark.parametrize(("text", "expected"), [("10%", 0.1), ("2.5%", 0.025), ("0%", 0.0)])
def test_percentage_as_a_ratio(text: str, expected: float) -> None:
    assert percent(text) == pytest.approx(expected)
    assert re.fullmatch(PERCENT_PATTERN, text)


@pytest.mark.parametrize("text", ["10", "%", "-1%", "1e2%", "10 %"])
def test_other_spellings_of_a_percentage_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a percentage; write for example 10% or 2\.5%"):
        percent(text)
