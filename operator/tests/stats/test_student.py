"""Student's t against published tables and against its own closed forms."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.stats import student


# Values of the usual printed tables (for example Abramowitz and Stegun, table 26.10).
@pytest.mark.parametrize(
    ("probability", "degrees", "printed"),
    [
        (0.975, 1, 12.706),
        (0.975, 2, 4.303),
        (0.975, 3, 3.182),
        (0.975, 4, 2.776),
        (0.975, 9, 2.262),
        (0.975, 29, 2.045),
        (0.975, 120, 1.980),
        (0.95, 5, 2.015),
        (0.995, 10, 3.169),
        (0.9995, 3, 12.924),
    ],
)
def test_quantiles_are_those_of_the_printed_tables(probability, degrees, printed):
    assert student.quantile(probability, degrees) == pytest.approx(printed, abs=0.0005)


@given(st.floats(0.001, 0.999))
def test_one_degree_of_freedom_is_the_cauchy_distribution(probability):
    expected = math.tan(math.pi * (probability - 0.5))
    assert student.quantile(probability, 1) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.floats(0.001, 0.999))
def test_two_degrees_of_freedom_have_the_closed_form(probability):
    alpha = 4 * probability * (1 - probability)
    expected = 2 * (probability - 0.5) * math.sqrt(2 / alpha)
    assert student.quantile(probability, 2) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_many_degrees_of_freedom_are_the_normal_distribution():
    assert student.quantile(0.975, 1e7) == pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-6)


@given(st.floats(0.001, 0.999), st.floats(0.5, 500))
def test_the_distribution_is_the_inverse_of_the_quantile(probability, degrees):
    t = student.quantile(probability, degrees)
    assert student.distribution(t, degrees) == pytest.approx(probability, abs=1e-9)


@given(st.floats(0.5, 0.999), st.floats(0.5, 500))
def test_the_distribution_is_symmetric(probability, degrees):
    assert student.quantile(1 - probability, degrees) == pytest.approx(
        -student.quantile(probability, degrees), rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("probability", [0, 1, -0.1, 1.1, math.nan])
def test_an_impossible_probability_is_refused(probability):
    with pytest.raises(ValueError, match="probability"):
        student.quantile(probability, 3)


@pytest.mark.parametrize("degrees", [0, -1, math.nan])
def test_impossible_degrees_of_freedom_are_refused(degrees):
    with pytest.raises(ValueError, match="degrees"):
        student.quantile(0.9, degrees)
