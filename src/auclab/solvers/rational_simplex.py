"""Small linear programs without a norm, solved exactly: a simplex method in rational arithmetic.

    max Σ_k q_k    subject to    Σ_k q_k d_k = 0,   0 ≤ q_k ≤ c_k

is the dual of ``min_w Σ_k c_k [1 − w·d_k]₊`` over the pairs or points (derivations 7.1). Floating-point solvers end
where margins of 1e-9 next to those of 1 look like rounding; here floats are taken as the rationals they are, and the
optimum is that over every w, however long. The method is the primal simplex method with bounded variables (Chvátal
1983, Linear Programming, chapter 8), from q = 0, with Bland's rule after steps of length 0, so it ends.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from auclab._core.base import Array
from auclab.formulations.problem import Problem
from auclab.models.timings import Clock
from auclab.solvers.registry import is_linear

#: Margins times features, above which rational arithmetic would take longer than a few seconds.
MAX_SIZE = 6_000


@dataclass(frozen=True)
class ExactOptimum:
    """The exact optimum of a linear program, rounded.

    `coef` (n_features,): w, each entry the nearest float. `intercept`: b for the rows of the sample; 0 over pairs.
    `value`: the optimal value, rounded down. `multipliers` (n_pos,) and (n_neg,): the sums of q over the margins of
    every observation.
    """

    coef: Array
    intercept: float
    value: float
    multipliers: tuple[Array, Array]


def is_small_linear(problem: Problem) -> bool:
    """Whether the program is a mean of hinges without a norm, and small enough for rational arithmetic."""
    program = problem.program
    if problem.sample.in_blocks or program.uses_norm or program.kind != "hinge" or not is_linear(program):
        return False
    return problem.n_margins * (problem.sample.n_features + 1) <= MAX_SIZE


def solve_exactly(problem: Problem, clock: Clock) -> ExactOptimum | None:
    """The exact optimum over every w; None if it takes longer, or w leaves the range of floats.

    `problem`: `is_small_linear`. `clock`: says when to stop.
    """
    sample = problem.sample
    rows_pos, rows_neg = sample.arrays()
    units = [_unit(column) for column in np.vstack([rows_pos, rows_neg]).T.tolist()]
    pos, neg = (_integers(rows, units) for rows in (rows_pos, rows_neg))
    margins, nothing = problem.program.comparisons.rows(sample), [0] * sample.n_features
    pos, neg = [*pos, nothing], [*neg, nothing]  # the last one is that of the number −1
    columns = [
        [a - b for a, b in zip(pos[i], neg[j], strict=True)] for i, j in zip(margins.pos, margins.neg, strict=True)
    ]
    if margins.signs is not None:
        columns = [[*column, int(sign)] for column, sign in zip(columns, margins.signs, strict=True)]
    simplex = _Simplex(columns, [Fraction(weight) for weight in margins.weights.tolist()])
    if not simplex.run(clock):
        return None
    try:
        coef = np.array([float(price * unit) for price, unit in zip(simplex.prices, units, strict=False)])
        intercept = problem.program.comparisons.of_intercept(float(simplex.prices[-1]))
    except OverflowError:
        return None
    # The shares are weights over their sum, rounded once or twice, and the weights of pairs are products of them.
    value = float(simplex.value() * (1 - Fraction(1, 2**49)))
    weights = np.array(simplex.weights(), dtype=float)
    return ExactOptimum(coef, intercept, max(0.0, value), margins.marginals(weights, sample.n_pos, sample.n_neg))


def _integers(rows: Array, units: list[int]) -> list[list[int]]:
    return [[int(Fraction(entry) * unit) for entry, unit in zip(row, units, strict=True)] for row in rows.tolist()]


def _unit(column: list[float]) -> int:
    """A power of 2 that makes integers of all entries: w has every feature in its own unit."""
    return max(Fraction(entry).denominator for entry in column)


class _Simplex:
    """The state of the method: a basis, its inverse, and which of the other columns are at their capacity.

    `columns` are the d_k as integers, `prices` is w.

    Columns ``n_margins …`` are unit vectors with bounds [0, 0], the basis to begin with.
    """

    def __init__(self, columns: list[list[int]], capacities: list[Fraction]) -> None:
        self.size, n = len(columns), len(columns[0])
        self.columns = columns + [[int(i == k) for i in range(n)] for k in range(n)]
        self.capacities = capacities + [Fraction(0)] * n
        self.basis = list(range(self.size, self.size + n))
        self.inverse = [[Fraction(int(i == k)) for i in range(n)] for k in range(n)]
        self.values = [Fraction(0)] * n
        self.full = [False] * len(self.columns)
        self.prices = [Fraction(0)] * n

    def run(self, clock: Clock) -> bool:
        """Pivot until optimal; False if the deadline passes."""
        stalled = False
        while True:
            entering = self._entering(first=stalled)
            if entering is None:
                return True
            if clock.is_over:
                return False
            stalled = not self._pivot(entering)

    def value(self) -> Fraction:
        """The objective of the prices, which is that of the multipliers at an optimum."""
        hinges, denominator = self._hinges()
        active = ((c, hinge) for c, hinge in zip(self.capacities, hinges, strict=False) if hinge > 0)
        return sum((c * hinge for c, hinge in active), Fraction(0)) / denominator

    def weights(self) -> list[Fraction]:
        """The multiplier of every margin."""
        weights = [c if full else Fraction(0) for c, full in zip(self.capacities, self.full, strict=True)]
        for k, value in zip(self.basis, self.values, strict=True):
            weights[k] = value
        return weights[: self.size]

    def _hinges(self) -> tuple[list[int], int]:
        """``1 − w·d_k`` of every margin as integers over a common denominator."""
        denominator = math.lcm(*(price.denominator for price in self.prices))
        prices = [price.numerator * (denominator // price.denominator) for price in self.prices]
        columns = self.columns[: self.size]
        return [denominator - sum(map(operator.mul, prices, column)) for column in columns], denominator

    def _entering(self, *, first: bool) -> int | None:
        """A column whose multiplier should change: the one with the largest gain, or the first one."""
        basic = set(self.basis)
        best, largest = None, 0
        for k, hinge in enumerate(self._hinges()[0]):
            if k in basic or not self.capacities[k]:
                continue
            # The reduced cost of q_k is 1 − w·d_k: from 0 the multiplier rises where it is positive, from its capacity
            # it falls where it is negative.
            gain = -hinge if self.full[k] else hinge
            if gain > largest:
                best, largest = k, gain
                if first:
                    break
        return best

    def _pivot(self, entering: int) -> bool:
        """Change a multiplier as far as the bounds allow; False for a step of length 0."""
        sign = -1 if self.full[entering] else 1
        column = self.columns[entering]
        change = [
            -sign * sum((r * d for r, d in zip(row, column, strict=True) if d), Fraction(0)) for row in self.inverse
        ]
        step, leaving, to_full = self.capacities[entering], None, False
        for position, (slope, value) in enumerate(zip(change, self.values, strict=True)):
            if not slope:
                continue
            # The ratio test; of equal ratios the column with the smallest number leaves (Bland 1977).
            room = self.capacities[self.basis[position]] - value if slope > 0 else value
            length = room / abs(slope)
            if length < step or (length == step and leaving is not None and self.basis[position] < self.basis[leaving]):
                step, leaving, to_full = length, position, slope > 0
        self.values = [value + step * slope for value, slope in zip(self.values, change, strict=True)]
        if leaving is None:
            self.full[entering] = not self.full[entering]
            return step > 0
        self.full[self.basis[leaving]] = to_full
        self.values[leaving] = step if sign > 0 else self.capacities[entering] - step
        self.basis[leaving], self.full[entering] = entering, False
        self._replace(leaving, [-sign * slope for slope in change])
        return step > 0

    def _replace(self, leaving: int, column: list[Fraction]) -> None:
        """Update the inverse of the basis, in which `column` is now the new column, and the prices."""
        pivot = [entry / column[leaving] for entry in self.inverse[leaving]]
        self.inverse = [
            pivot if i == leaving else [a - column[i] * b for a, b in zip(row, pivot, strict=True)]
            for i, row in enumerate(self.inverse)
        ]
        # w = c_B B⁻¹, with the cost 1 of a margin and 0 of a unit vector.
        gains = [int(k < self.size) for k in self.basis]
        self.prices = [
            sum((row[k] for gain, row in zip(gains, self.inverse, strict=True) if gain), Fraction(0))
            for k in range(len(self.prices))
        ]
