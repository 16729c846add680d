"""Linear programs with boxed variables and few rows, solved exactly in integers.

    max cost·q   s.t.   A q = right,   0 ≤ q ≤ upper          (a feasible q must exist)
    min over w   right·w + Σ_k upper_k [cost_k − A_k·w]₊       (its dual, a convex piecewise linear function)

The dual simplex method with long steps walks from vertex to vertex of the second line, always downwards. A basis to
start from is guessed with SciPy in floats; nothing is taken on trust from it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

#: Steps after which something must be wrong.
MAX_STEPS = 20_000


class NotSolvedError(RuntimeError):
    """The method did not end; no verdict."""


def boxed_optimum(
    columns: Sequence[Mapping[int, Fraction]],
    right: Sequence[Fraction],
    cost: Sequence[Fraction],
    upper: Sequence[Fraction],
) -> tuple[Fraction, list[Fraction]]:
    """The optimum and a w that attains it in the dual.

    Parameters
    ----------
    columns : sequence of {row: entry}
    right : sequence, one entry a row
    cost, upper : sequence, one entry a column
        ``upper ≥ 0``.
    """
    used = [k for k, most in enumerate(upper) if most > 0]
    rows = len(right)
    # Integers: every row times its denominator, every variable times one for all, every cost likewise.
    per_row = [math.lcm(*(columns[k][i].denominator for k in used if i in columns[k]), 1) for i in range(rows)]
    entries = [[int(columns[k].get(i, 0) * per_row[i]) for i in range(rows)] for k in used]
    common = [math.gcd(*(column[i] for column in entries)) or 1 for i in range(rows)]
    entries = [[a // common[i] for i, a in enumerate(column)] for column in entries]
    scale = [Fraction(per_row[i], common[i]) for i in range(rows)]
    b = [right[i] * scale[i] for i in range(rows)]
    unit = math.lcm(*(a.denominator for a in b), *(upper[k].denominator for k in used), 1)
    price = math.lcm(*(cost[k].denominator for k in used), 1)
    vertex = _Simplex(
        entries, [int(a * unit) for a in b], [int(cost[k] * price) for k in used], [int(upper[k] * unit) for k in used]
    )
    optimum, point = vertex.solve()
    return optimum / (unit * price), [Fraction(p) * scale[i] / price for i, p in enumerate(point)]


class _Simplex:
    """The method on integers; columns of number `size` and above are unit columns boxed to 0."""

    def __init__(self, entries: list[list[int]], right: list[int], cost: list[int], upper: list[int]) -> None:
        self.entries, self.right, self.cost, self.upper = entries, right, cost, upper
        self.rows, self.size = len(right), len(entries)
        self.random = random.Random(0)

    def column(self, k: int) -> list[int]:
        """Column k, a unit column beyond the last."""
        return self.entries[k] if k < self.size else [int(i == k - self.size) for i in range(self.rows)]

    def price(self, k: int) -> int:
        return self.cost[k] if k < self.size else 0

    def box(self, k: int) -> int:
        return self.upper[k] if k < self.size else 0

    def solve(self) -> tuple[Fraction, list[Fraction]]:
        """The optimum and its vertex."""
        basis = self._independent(self._guess())
        at_upper: list[bool] | None = None
        still = 0
        for _ in range(MAX_STEPS):
            inverse, det = _inverse([self.column(k) for k in basis])
            prices = [self.price(k) for k in basis]
            # w = B⁻ᵀ c_B; the columns of the basis are the rows of the matrix inverted here.
            w = [sum(inverse[i][r] * prices[r] for r in range(self.rows) if prices[r]) for i in range(self.rows)]
            reduced = [
                c * det - sum(a * v for a, v in zip(col, w, strict=True) if a)
                for col, c in zip(self.entries, self.cost, strict=True)
            ]
            inside = set(basis)
            if at_upper is None:
                at_upper = [value > 0 for value in reduced]
            else:
                at_upper = [value > 0 or (value == 0 and old) for value, old in zip(reduced, at_upper, strict=True)]
            left = list(self.right)
            for k in range(self.size):
                if at_upper[k] and k not in inside:
                    most = self.upper[k]
                    for i, a in enumerate(self.entries[k]):
                        if a:
                            left[i] -= a * most
            basic = [sum(inverse[i][r] * left[i] for i in range(self.rows) if left[i]) for r in range(self.rows)]
            wrong = [r for r in range(self.rows) if basic[r] < 0 or basic[r] > self.box(basis[r]) * det]
            if not wrong:
                total = sum(self.upper[k] * self.cost[k] for k in range(self.size) if at_upper[k] and k not in inside)
                total_basic = sum(prices[r] * basic[r] for r in range(self.rows))
                return Fraction(total) + Fraction(total_basic, det), [Fraction(v, det) for v in w]
            r = self.random.choice(wrong) if still else max(wrong, key=lambda r: self._excess(basis[r], basic[r], det))
            entering, step_is_zero = self._step(basis, inverse, det, basic, r, reduced, at_upper, inside)
            still = still + 1 if step_is_zero else 0
            basis[r] = entering
        raise NotSolvedError("too many steps")

    def _excess(self, k: int, value: int, det: int) -> float:
        """About how far a basic variable is out of its box, as the logarithm of its units."""
        most = self.box(k) * det
        over = -value if value < 0 else value - most
        return math.inf if most == 0 else over.bit_length() - most.bit_length()

    def _step(self, basis, inverse, det, basic, r, reduced, at_upper, inside) -> tuple[int, bool]:
        """The column that enters for the one of row r; columns that are passed change their bound in `at_upper`."""
        leaving = basis[r]
        above = basic[r] > 0
        sign = -1 if above else 1
        slope = (self.box(leaving) * det - basic[r]) if above else basic[r]  # < 0, times 1/det
        direction = [sign * inverse[i][r] for i in range(self.rows)]
        kinks = []
        for k in range(self.size):
            if k in inside:
                continue
            alpha = sum(a * d for a, d in zip(self.entries[k], direction, strict=True) if a)
            if alpha and (alpha > 0) == at_upper[k]:
                kinks.append((Fraction(reduced[k], alpha), self.random.random() if reduced[k] == 0 else 0.0, k, alpha))
        kinks.sort()
        if leaving < self.size:
            at_upper[leaving] = above
        for length, _, k, alpha in kinks:
            slope += self.upper[k] * abs(alpha)
            if slope >= 0:
                return k, length == 0
            at_upper[k] = not at_upper[k]
        raise NotSolvedError("no feasible q")

    def _guess(self) -> list[int]:
        """Columns in the order in which they may belong to the basis of an optimum, from a solve in floats."""
        matrix = np.array(
            [[_ratio(a * u, 1 << s) for a, u in zip(row, self.upper, strict=True)] for row, s in self._scaled()]
        )
        right = np.array([_ratio(b, 1 << s) for b, (_, s) in zip(self.right, self._scaled(), strict=True)])
        top = max((abs(c * u).bit_length() for c, u in zip(self.cost, self.upper, strict=True)), default=0)
        cost = np.array([_ratio(c * u, 1 << top) for c, u in zip(self.cost, self.upper, strict=True)])
        try:
            result = linprog(
                -cost, A_eq=matrix, b_eq=right, bounds=(0.0, 1.0), method="highs", options={"time_limit": 5.0}
            )
        except ValueError:
            return []
        if result.x is None:
            return []
        q = result.x
        inner = np.minimum(q, 1.0 - q)
        reduced = np.abs(cost + matrix.T @ result.eqlin.marginals) / np.maximum(
            np.abs(cost) + np.abs(matrix.T) @ np.abs(result.eqlin.marginals), 1e-300
        )
        order = np.lexsort((reduced, -np.round(inner, 12)))
        most = 3 * self.rows + int((inner > 1e-9).sum())
        return [int(k) for k in order[:most]]

    def _scaled(self) -> list[tuple[list[int], int]]:
        """Rows of the matrix with the power of two that brings them to size 1."""
        rows = []
        for i in range(self.rows):
            row = [column[i] for column in self.entries]
            bits = max((abs(a * u).bit_length() for a, u in zip(row, self.upper, strict=True)), default=0)
            rows.append((row, bits))
        return rows

    def _independent(self, order: list[int]) -> list[int]:
        """The first independent columns in this order, filled up with unit columns."""
        basis: list[int] = []
        reduced: list[tuple[int, list[Fraction]]] = []
        for k in [*order, *range(self.size, self.size + self.rows)]:
            column = [Fraction(a) for a in self.column(k)]
            for pivot, row in reduced:
                factor = column[pivot]
                if factor:
                    column = [a - factor * b for a, b in zip(column, row, strict=True)]
            pivot = next((i for i, a in enumerate(column) if a), None)
            if pivot is None:
                continue
            reduced.append((pivot, [a / column[pivot] for a in column]))
            basis.append(k)
            if len(basis) == self.rows:
                break
        return basis


def _ratio(number: int, power: int) -> float:
    """A quotient of integers of any length as a float."""
    return number / power


def _inverse(rows: list[list[int]]) -> tuple[list[list[int]], int]:
    """``det·M⁻¹`` of an integer matrix and ``det > 0`` (both signs turned if it is negative), without fractions.

    `rows` are the columns of the basis; entry ``[i][r]`` of what is returned belongs to row i of the program and
    member r of the basis.
    """
    size = len(rows)
    work = [[*row, *(int(i == k) for k in range(size))] for i, row in enumerate(rows)]
    previous, sign = 1, 1
    for k in range(size):
        swap = next((i for i in range(k, size) if work[i][k]), None)
        if swap is None:
            raise NotSolvedError("singular basis")
        if swap != k:
            work[k], work[swap], sign = work[swap], work[k], -sign
        pivot = work[k][k]
        for i in range(size):
            if i != k:
                factor = work[i][k]
                work[i] = [(pivot * a - factor * b) // previous for a, b in zip(work[i], work[k], strict=True)]
        previous = pivot
    det = previous
    # Gauss–Jordan without fractions leaves det on the diagonal; the inverse of M (rows = basis columns) is right of it.
    inverse = [row[size:] for row in work]
    del sign
    if det < 0:
        det, inverse = -det, [[-a for a in row] for row in inverse]
    return inverse, det
