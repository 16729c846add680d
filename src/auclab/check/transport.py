"""Rational arithmetic of the checker: exact numbers, transport."""

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


def transport_factor(pos: Integers, neg: Integers, share_pos: Integers, share_neg: Integers, unit: int) -> Fraction:
    """The largest τ ≤ 1 for which τ(α, β) are row and column sums of some ``0 ≤ q_ij ≤ u_i v_j``.

    A flow from the rows over the entries to the columns carries all of τα iff no set I of rows asks for more than the
    columns can take from it (max-flow/min-cut):

        τ α(I) ≤ Σ_j min(τ β_j, u(I) v_j),     that is     α(I) ≤ φ(u(I)/τ),     φ(c) = Σ_j min(β_j, c v_j).

    Of all sets with one u(I) the largest α(I) is that of the rows with the largest α_i/u_i, a concave function of u(I)
    that is linear between two such sets; minus φ it is convex there, so that these sets are all that count. With
    ``c = φ⁻¹(α(I))`` the condition is ``τ ≤ u(I)/c``.

    `pos`, `neg`: ``unit·α`` and ``unit·β``, ≥ 0, with equal sums. `share_pos`, `share_neg` ≥ 0: proportional to u and
    v, which both sum to 1.
    """
    if not pos.any():
        return Fraction(1)
    whole_pos, whole_neg = int(share_pos.sum()), int(share_neg.sum())
    columns = _by_density(neg, share_neg)
    best = Fraction(1)
    # φ is linear between the levels β_j/v_j: what lies below a level gives β_j, the rest c·v_j.
    at, below, rest = 0, 0, whole_neg
    demand = room = 0
    for row in reversed(_by_density(pos, share_pos)):
        demand += int(pos[row])
        room += int(share_pos[row])
        if pos[row] == 0:
            break
        while at < len(columns):
            j = columns[at]
            if (demand - below) * share_neg[j] <= neg[j] * rest:
                break
            below += int(neg[j])
            rest -= int(share_neg[j])
            at += 1
        if rest <= 0 or demand <= below:
            raise ArithmeticError("the sums of the two classes differ")
        # c = (demand − below)/unit · whole_neg/rest,  τ ≤ (room/whole_pos)/c
        if room * rest * unit * best.denominator < best.numerator * whole_pos * whole_neg * (demand - below):
            best = Fraction(room * rest * unit, whole_pos * whole_neg * (demand - below))
    return best


def _by_density(values: Integers, share: Integers) -> list[int]:
    """Numbers of the rows with a share, in ascending order of values/share."""
    used = np.flatnonzero(share != 0)
    values, share = values[used], share[used]
    if (share == share[0]).all():
        order = np.argsort(values, kind="stable")
    else:
        # Two different quotients differ by at least 1/(share·share'): the floor of a finer multiple tells them apart.
        fine = 2 * max(int(entry) for entry in share).bit_length() + 1
        order = np.argsort((values << fine) // share, kind="stable")
    return [int(row) for row in used[order]]
