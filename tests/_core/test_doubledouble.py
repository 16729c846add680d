"""Double-double arithmetic against rational numbers."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from auclab._core.accurate import UNIT, add, multiply, two_product, two_sum

NUMBERS = st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60)
DOUBLE_DOUBLES = st.tuples(NUMBERS, st.floats(-1, 1)).map(lambda t: two_sum(t[0], t[0] * t[1] * 2.0**-54))


def exact(pair):
    return Fraction(pair[0]) + Fraction(pair[1])


@given(NUMBERS, NUMBERS)
def test_sum_and_product_of_doubles_are_exact(a, b):
    assert exact(two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert exact(two_product(a, b)) == Fraction(a) * Fraction(b)


@given(DOUBLE_DOUBLES, DOUBLE_DOUBLES)
def test_operations_have_thirty_digits(a, b):
    total, product = exact(a) + exact(b), exact(a) * exact(b)
    assert abs(exact(add(*a, *b)) - total) <= UNIT * (abs(exact(a)) + abs(exact(b)))
    assert abs(exact(multiply(*a, *b)) - product) <= UNIT * abs(product)
