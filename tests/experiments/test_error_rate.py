"""Moments of the AUC at a fixed number of errors against a list of every order, and where the closed forms end."""

from fractions import Fraction

import pytest
from experiments.cortes_mohri_2003.error_rate import (
    enumerated,
    moments,
    moments_in_doubles,
    published_mean,
    published_variance,
)


@pytest.mark.parametrize(("m", "n"), [(1, 4), (3, 3), (5, 2)])
def test_the_sum_is_the_list_of_every_order(m, n):
    for k in range(m + n + 1):
        assert moments(m, n, k) == enumerated(m, n, k)


def test_no_error_is_a_perfect_order_and_all_errors_a_reversed_one():
    assert moments(4, 7, 0) == (Fraction(1), Fraction(0))
    assert moments(4, 7, 11) == (Fraction(0), Fraction(0))


def test_the_closed_forms_hold_up_to_the_smaller_class_only():
    for k in range(4):
        assert (published_mean(3, 9, k), published_variance(3, 9, k)) == moments(3, 9, k)
    assert moments(1, 4, 4)[0] == Fraction(11, 28)
    assert round(float(published_mean(1, 4, 4)), 3) == -0.961


def test_large_samples_in_doubles():
    mean, variance = moments_in_doubles(30, 45, 12)
    exact = moments(30, 45, 12)
    assert mean == pytest.approx(float(exact[0]), rel=1e-12)
    assert variance == pytest.approx(float(exact[1]), rel=1e-10)
    mean, _ = moments_in_doubles(20_000, 20_000, 4_000)
    assert mean == pytest.approx(0.9, rel=1e-9)  # even classes: the accuracy
