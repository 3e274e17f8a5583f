"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.results import figures


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (14.19, "14.19"),
        (798.9, "798.9"),
        (371885.0, "371885"),
        (0.00051234, "0.00051234"),
        (1.0, "1"),
        (10442.84, "10443"),
        (0.0, "0"),
        (100.0, "100"),
        (1.5e-9, "1.5e-09"),
        (-13.55, "-13.55"),
    ],
)
def test_values_have_five_significant_digits(number, text):
    assert figures.value(number) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0782, "+7.82 %"),
        (-0.005, "-0.50 %"),
        (0.0, "0.00 %"),
        (-0.00001, "0.00 %"),
        (1.352, "+135.20 %"),
        (1e7, "+1.0e+09 %"),
    ],
)
def test_percentages_have_two_decimals_and_a_sign(ratio, text):
    assert figures.percent(ratio) == text


def test_intervals_and_units():
    assert figures.interval((-0.01, 0.02)) == "-1.00 to +2.00 %"
    assert figures.interval(None) == "-"
    assert figures.quantity(88448.0, "per_second") == "88448 /s"
    assert figures.milliseconds(0.0051674) == "5.167 ms"
    assert figures.share(0.348) == "34.8 %"


@given(st.floats(1e-6, 1e12))
def test_no_value_is_off_by_more_than_its_last_digit(number):
    assert float(figures.value(number)) == pytest.approx(number, rel=6e-5)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (8.293, "8.29 s"),
        (-31.0, "-31 s"),
        (1234.5, "1234 s"),
        (0.8, "800 ms"),
        (0.00031, "310 us"),
        (3.5e-6, "3.5 us"),
        (-1e-17, "0 s"),
        (0.0, "0 s"),
    ],
)
def test_differences_of_times_have_three_digits(seconds, text):
    assert figures.time(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(271.0, "271"), (12345.0, "12.3 thousand"), (4.5554e6, "4.56 million"), (2e9, "2 billion")],
)
def test_large_counts_are_words(number, text):
    assert figures.three_digits(number) == text
