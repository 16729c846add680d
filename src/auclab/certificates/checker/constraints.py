"""Constraints, and the transport condition of multipliers.

With multipliers μ of the rows ``A w ≤ c`` (≥ 0, free for equations) and ν of the bounds, every feasible w has

    objective ≥ (S − μ·c − h(ν)) − (g − Aᵀμ − ν)·w − zS‖w‖ + λΩ(w),     h(ν_k) = ν_k u_k or ν_k l_k by the sign.

μ and ν may be any numbers of the right sign, so those that are stored are taken, cut to it, and what is left of
``g − Aᵀμ`` is taken up by bounds of its sign where that costs nothing, or everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The checker has levels of its own, so that no change of those of the solvers changes what counts as proved.
#: Spacing of the floats at 1.
EPSILON = 2.0**-52
#: What rounding leaves of a few sums; numbers that count as equal.
ROUNDING, EQUAL = 1e-12, 1e-9
#: Below this objective a gap is absolute, in units of it.
SMALL_OBJECTIVE = 1e-3
#: The most steps of a correction.
MOST_STEPS = 200

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


#: Constraints on the columns of a sample, with the arrays lower, upper (n_features,), matrix (n_rows, n_features),
#: limit, equal (n_rows,), and max_features: ``lower ≤ w ≤ upper``, ``matrix w ≤ limit``, or ``=`` where `equal`.
StatedConstraints = Any


@dataclass(frozen=True)
class HeldConstraints:
    """Constraints with the multipliers of their rows and bounds.

    `rows_multipliers`, `bounds_multipliers`: μ, and ν: positive for an upper, negative for a lower bound.
    """

    lower: list[Fraction | None]
    upper: list[Fraction | None]
    rows: list[dict[int, Fraction]]
    limit: list[Fraction]
    rows_multipliers: list[Fraction]
    bounds_multipliers: list[Fraction]

    @classmethod
    def of(cls, stated: StatedConstraints, multipliers: Sequence[float] | None) -> HeldConstraints:
        """Constraints, and multipliers (of rows, fixed columns, upper, lower bounds) cut to their sign."""
        n_rows, n = stated.limit.size, stated.lower.size
        fixed = stated.lower == stated.upper
        above, below = np.isfinite(stated.upper) & ~fixed, np.isfinite(stated.lower) & ~fixed
        columns = np.concatenate([np.flatnonzero(fixed), np.flatnonzero(above), np.flatnonzero(below)])
        found = np.zeros(n_rows + columns.size)
        if multipliers is not None and len(multipliers) == found.size:
            given = np.array([float(value) for value in multipliers])
            found = given if np.isfinite(given).all() else found
        of_rows = np.where(stated.equal, found[:n_rows], np.maximum(found[:n_rows], 0.0))
        of_bounds = [Fraction(0)] * n
        n_fixed, n_above = int(fixed.sum()), int(above.sum())
        for place, (column, value) in enumerate(zip(columns.tolist(), found[n_rows:].tolist(), strict=True)):
            if place < n_fixed:
                of_bounds[column] += Fraction(value)
            elif value > 0:
                of_bounds[column] += Fraction(value) if place < n_fixed + n_above else -Fraction(value)
        return cls(
            [Fraction(value) if math.isfinite(value) else None for value in stated.lower.tolist()],
            [Fraction(value) if math.isfinite(value) else None for value in stated.upper.tolist()],
            [{int(k): Fraction(float(row[k])) for k in np.flatnonzero(row)} for row in stated.matrix],
            [Fraction(value) for value in stated.limit.tolist()],
            [Fraction(value) for value in of_rows.tolist()],
            of_bounds,
        )

    def residual(self, gradient: Sequence[Fraction], *, all_bounds: bool) -> tuple[Fraction, list[Fraction]]:
        """What the constraints take from the bound, and what is left of ``Σ q d``.

        `all_bounds`: whether bounds take up all of a residual of their sign, at its price; else the stored ν, and
        bounds of 0.
        """
        left = self._without_rows(gradient)
        price = sum((m * c for m, c in zip(self.rows_multipliers, self.limit, strict=True)), Fraction(0))
        for k, value in enumerate(left):
            lower, upper = self.lower[k], self.upper[k]
            held = Fraction(0) if all_bounds else self.bounds_multipliers[k]
            rest = value - held
            takes_up = rest > 0 and upper is not None and (all_bounds or upper == 0)
            takes_down = rest < 0 and lower is not None and (all_bounds or lower == 0)
            if takes_up or takes_down:
                held, rest = value, Fraction(0)
            bound = upper if held > 0 else lower
            if held != 0 and bound is None:  # there is no such multiplier
                held, rest = Fraction(0), value
            price += held * (bound or Fraction(0))
            left[k] = rest
        return price, left

    def wanted(self, gradient: Sequence[Fraction]) -> list[Fraction | None]:
        """The change of each ``Σ q d`` with which bounds take up the rest; None where they do already."""
        left = self._without_rows(gradient)
        inside = Fraction(EQUAL) * max((abs(value) for value in gradient), default=Fraction(0))
        changes: list[Fraction | None] = []
        for k, value in enumerate(left):
            taken = (self.upper[k] is not None and value > inside) or (self.lower[k] is not None and value < -inside)
            both = self.upper[k] is not None and self.lower[k] is not None
            changes.append(None if taken or both else -value)
        return changes

    def _without_rows(self, gradient: Sequence[Fraction]) -> list[Fraction]:
        """``g − Aᵀμ``."""
        left = list(gradient)
        for row, multiplier in zip(self.rows, self.rows_multipliers, strict=True):
            for column, entry in row.items():
                left[column] -= entry * multiplier
        return left


def violation(stated: StatedConstraints, coef: Sequence[float]) -> tuple[float, float]:
    """The largest violation of a constraint, exact except for the last rounding, and what rounding explains."""
    point = [Fraction(float(value)) for value in coef]
    worst, terms = Fraction(0), Fraction(0)
    for row, right, is_equal in zip(stated.matrix, stated.limit.tolist(), stated.equal.tolist(), strict=True):
        parts = [Fraction(float(row[k])) * point[k] for k in np.flatnonzero(row)]
        excess = sum(parts, Fraction(0)) - Fraction(right)
        worst = max(worst, abs(excess) if is_equal else excess)
        terms = max(terms, sum(map(abs, parts), abs(Fraction(right))))
    for value, lower, upper in zip(point, stated.lower.tolist(), stated.upper.tolist(), strict=True):
        for bound, sign in ((lower, -1), (upper, 1)):
            if math.isfinite(bound):
                worst = max(worst, sign * (value - Fraction(bound)))
                terms = max(terms, abs(value) + abs(Fraction(bound)))
    return float(worst), ROUNDING * float(terms)


def same_as_stored(stated: StatedConstraints | None, stored: Mapping[str, Any] | None) -> bool:
    """Whether ``certificate.json`` has the constraints that the configuration has on these data."""
    if stated is None or stored is None:
        return stated is None and stored is None
    rows = [{"columns": np.flatnonzero(row).tolist(), "values": row[row != 0].tolist()} for row in stated.matrix]
    found = {"lower": stated.lower, "upper": stated.upper, "limit": stated.limit, "equal": stated.equal}
    same = all(_numbers(stored.get(name)) == values.tolist() for name, values in found.items())
    return same and stored.get("rows") == rows and stored.get("max_features") == stated.max_features


def _numbers(values: Any) -> Any:
    """A list of numbers as files have them, with text for infinities."""
    if not isinstance(values, list):
        return None
    return [float(value) if value in ("inf", "-inf") else value for value in values]
