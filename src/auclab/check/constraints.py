"""Constraints on w in rational arithmetic: whether a point satisfies them, and what their multipliers prove.

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
from typing import Any

import numpy as np

from auclab.check.levels import EQUAL, ROUNDING

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
