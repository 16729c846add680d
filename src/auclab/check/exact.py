"""Floating-point numbers as the exact rationals they are: integers over a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.check.levels import EPSILON

#: Arrays of Python integers (dtype object): sums and products of any size are exact.
Integers = NDArray[Any]
#: Multipliers are rounded down to multiples of 1/UNIT, which any dual point may be; it costs as much of the bound.
PLACES = 160
UNIT = 1 << PLACES
#: The relative step by which a rational number is put on the right side of a limit.
TINY = Fraction(EPSILON)


def integers(values: NDArray[np.float64]) -> tuple[Integers, int]:
    """Integers a and an exponent e, as small as possible, with ``values = a / 2^e`` exactly."""
    fraction, power = np.frexp(np.asarray(values, dtype=np.float64))
    mantissa = (fraction * 2.0**53).astype(np.int64)
    trailing = np.frexp((mantissa & -mantissa).astype(np.float64))[1].astype(np.int64) - 1
    trailing[mantissa == 0] = 0
    mantissa >>= trailing
    place = power.astype(np.int64) - 53 + trailing
    place[mantissa == 0] = place[mantissa != 0].min(initial=2000) if mantissa.any() else 0
    exponent = -int(place.min(initial=0 if not mantissa.any() else 2000))
    return mantissa.astype(object) << (place + exponent).astype(object), exponent


def fixed_point(values: NDArray[np.float64]) -> Integers:
    """Floats in units of 1/`UNIT`, rounded down."""
    found, exponent = integers(values)
    return np.asarray(found << (PLACES - exponent) if exponent <= PLACES else found >> (exponent - PLACES))


def times_power(value: int, exponent: int) -> Fraction:
    """``value / 2^exponent``."""
    return Fraction(value, 1 << exponent) if exponent >= 0 else Fraction(value << -exponent)


def aligned(parts: Sequence[tuple[Integers, int]]) -> tuple[list[Integers], int]:
    """The same numbers over one power of two."""
    exponent = max((e for _, e in parts), default=0)
    return [part << (exponent - e) if e != exponent else part for part, e in parts], exponent


def in_units(scores: Integers, exponent: int, start: Fraction, offset: Fraction) -> tuple[Integers, int, int, Fraction]:
    """Scores over a power of two, and two rationals over powers of two, as integers in one unit; and the unit."""
    place = max(start.denominator.bit_length(), offset.denominator.bit_length()) - 1
    constants = np.array([int(start * 2**place), int(offset * 2**place)], dtype=object)
    (scores, (one, other)), exponent = aligned([(scores, exponent), (constants, place)])
    return scores, one, other, Fraction(2) ** -exponent


def root(value: Fraction) -> tuple[Fraction, Fraction]:
    """Two rationals over powers of two, at most a relative 2⁻³⁰⁰ apart, with the square root between them."""
    if value == 0:
        return Fraction(0), Fraction(0)
    # floor(√(v 4^k)) / 2^k, with k so large that the floor has twice as many bits as multipliers.
    k = max(0, 2 * PLACES - (value.numerator.bit_length() - value.denominator.bit_length()) // 2)
    scaled = (value.numerator << (2 * k)) // value.denominator
    floor = isqrt(scaled)
    exact = floor * floor * value.denominator == value.numerator << (2 * k)
    return Fraction(floor, 1 << k), Fraction(floor + (0 if exact else 1), 1 << k)
