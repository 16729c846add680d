"""Floats as integers over a power of two, roots between rationals, elimination."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from auclab.certificates.checker.constraints import integers, root, times_power
from auclab.certificates.checker.correction import solve_exactly
from auclab.certificates.checker.pieces import NORMS

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(arrays(np.float64, st.integers(0, 6), elements=FLOATS))
def test_integers_are_the_floats(values):
    found, exponent = integers(values)
    assert [times_power(int(entry), exponent) for entry in found] == [Fraction(float(value)) for value in values]


@pytest.mark.parametrize("values", [[5e-324, 1.7e308], [0.0, -0.0], [2.0**-1074 * 3, -1.0], []])
def test_integers_at_the_ends_of_the_range(values):
    found, exponent = integers(np.array(values))
    assert [times_power(int(entry), exponent) for entry in found] == [Fraction(value) for value in values]


@given(st.fractions(min_value=0, max_value=10**30))
def test_the_root_is_between(value):
    low, high = root(value)
    assert low**2 <= value <= high**2
    assert high - low <= high * Fraction(1, 2**250)


def test_a_rational_root_is_exact():
    assert root(Fraction(25, 16)) == (Fraction(5, 4), Fraction(5, 4))
    assert root(Fraction(5e-324) ** 2)[0] == Fraction(5e-324)


def test_the_norms():
    vector = [Fraction(1, 3), Fraction(-2), Fraction(0)]
    assert NORMS["l1"].of(vector)[0] == Fraction(7, 3)
    assert NORMS["linf"].of(vector) == (2, 2)
    low, high = NORMS["l2"].of(vector)
    assert low**2 < Fraction(37, 9) < high**2


@given(arrays(np.int64, (3, 4), elements=st.integers(-9, 9)), arrays(np.int64, 4, elements=st.integers(-9, 9)))
def test_equations_are_solved_exactly(matrix, x):
    right = (matrix @ x).astype(object)
    solution = solve_exactly(matrix.astype(object), right)
    assert solution is not None
    assert [sum(Fraction(int(a)) * s for a, s in zip(row, solution, strict=True)) for row in matrix] == list(right)


def test_equations_without_a_solution():
    matrix = np.array([[1, 2], [2, 4], [0, 1]], dtype=object)
    assert solve_exactly(matrix, np.array([1, 2, 1], dtype=object)) == [Fraction(-1), Fraction(1)]
    assert solve_exactly(matrix, np.array([1, 3, 1], dtype=object)) is None
