"""Arithmetic on unevaluated sums ``hi + lo`` of two doubles: 32 digits, for sums whose sign must be right.

Error-free transformations after Knuth (sum) and Dekker and Veltkamp (product). All of them need ordinary IEEE
rounding: no fastmath here, and scores between 2⁻⁴⁰⁰ and 2⁴⁰⁰ (the callers scale).
"""

from __future__ import annotations

from auclab.compiled.loop import loop

DoubleDouble = tuple[float, float]

# The relative error of one operation is under 8·2⁻¹⁰⁶.
UNIT = 2.0**-103
_SPLITTER = 134217729.0  # 2²⁷ + 1 splits a double into two halves of 26 bits


@loop()
def two_sum(a: float, b: float) -> tuple[float, float]:
    """``a + b`` exactly, as the rounded sum and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@loop()
def two_product(a: float, b: float) -> tuple[float, float]:
    """``a · b`` exactly, as the rounded product and its error."""
    product = a * b
    shifted = _SPLITTER * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = _SPLITTER * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@loop()
def add(a_hi: float, a_lo: float, b_hi: float, b_lo: float) -> tuple[float, float]:
    """Sum of two double-doubles."""
    high, error = two_sum(a_hi, b_hi)
    low, rest = two_sum(a_lo, b_lo)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + rest)


@loop()
def multiply(a_hi: float, a_lo: float, b_hi: float, b_lo: float) -> tuple[float, float]:
    """Product of two double-doubles."""
    high, error = two_product(a_hi, b_hi)
    return two_sum(high, error + (a_hi * b_lo + a_lo * b_hi))
