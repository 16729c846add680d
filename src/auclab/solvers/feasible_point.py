"""Points that satisfy constraints on w, and whether there are any."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.precision import EQUAL, FEW_ROUNDINGS, FEW_STEPS, HALF_OF_DIGITS, ORDINARY
from auclab.projection.projection import solve_quadratic
from auclab.types import Array, AuclabError


def satisfies(
    constraints: ColumnConstraints, coef: Array, tolerance: float = EQUAL, spread: Array | None = None
) -> bool:
    """Whether bounds are satisfied exactly, and rows up to a fraction of the size of their terms.

    If the spreads of the columns are given, a w whose scores hardly differ is judged as if they differed by 1e-3.

    Examples
    --------
    >>> half = ColumnConstraints.of(2, lower=[0.0, 0.0], matrix=[[1.0, 1.0]], limit=[1.0])
    >>> satisfies(half, np.array([0.5, 0.5 + 1e-12])), satisfies(half, np.array([1.0, -1e-12]))
    (True, False)
    """
    in_bounds = bool(((coef >= constraints.lower) & (coef <= constraints.upper)).all())
    size = _size(constraints, coef)
    if spread is not None:
        size = size + (abs(constraints.matrix) @ (1.0 / spread)) / ORDINARY
    return in_bounds and not (_excess(constraints, coef) > tolerance * size).any()


def nearest_feasible(constraints: ColumnConstraints, coef: Array, spread: Array) -> Array | None:
    """The point that satisfies the constraints and is nearest to a given one in units of the spreads.

    Bounds are satisfied exactly, rows to rounding. A point that does so already is returned as it is.

    `constraints`: convex. `spread` (n_features,): positive. Returns: None where none was found.

    Examples
    --------
    >>> simplex = ColumnConstraints.of(2, lower=[0.0, 0.0], matrix=[[1.0, 1.0]], limit=[1.0], equal=[True])
    >>> nearest_feasible(simplex, np.array([2.0, 0.0]), np.ones(2)).round(9).tolist()
    [1.0, 0.0]
    """
    if satisfies(constraints, coef, FEW_ROUNDINGS):
        return coef
    clipped = np.clip(coef, constraints.lower, constraints.upper)
    if not constraints.limit.size:
        return clipped
    near = _moved_onto_rows(constraints, clipped, spread)
    step = abs(near - coef) * spread
    small = step.max(initial=0.0) <= 1e-6 * max(1e-300, (abs(coef) * spread).max(initial=0.0))
    if small and satisfies(constraints, near, spread=spread):
        return near
    projected = _projected(constraints, coef, spread)
    if projected is None:
        return near if satisfies(constraints, near, spread=spread) else None
    found = _moved_onto_rows(constraints, np.clip(projected, constraints.lower, constraints.upper), spread)
    return found if satisfies(constraints, found, spread=spread) else None


def check_not_contradictory(constraints: ColumnConstraints) -> None:
    """Raise `AuclabError` if no w satisfies the constraints, naming rows that contradict each other.

    Bounds alone were checked when the constraints were made. A linear program minimises the sum of the violations; its
    prices have to prove the contradiction, since the program itself drops small entries.
    """
    n_rows, n = constraints.matrix.shape
    if not n_rows:
        return
    size = abs(constraints.matrix).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    A, c = constraints.matrix / size[:, None], constraints.limit / size
    unit = abs(A).max(axis=0, initial=0.0)
    unit = np.where(unit > 0, unit, 1.0)
    A = A / unit
    lower, upper = constraints.lower * unit, constraints.upper * unit
    equal = constraints.equal
    identity = np.eye(n_rows)
    over, under = np.hstack([A, -identity, 0.0 * identity]), np.hstack([-A, 0.0 * identity, -identity])
    rows, right = np.vstack([over, under[equal]]), np.r_[c, -c[equal]]
    cost = np.r_[np.zeros(n), np.ones(2 * n_rows)]
    bounds = [*zip(lower, upper, strict=True), *[(0.0, None)] * (2 * n_rows)]
    found = linprog(cost, A_ub=rows, b_ub=right, bounds=bounds, method="highs")
    if found.x is None or found.fun is None or found.status != 0:
        return  # the linear program is inconclusive: leave it to the solver
    if found.fun <= HALF_OF_DIGITS * max(1.0, float(abs(c).max())):
        return
    prices = -found.ineqlin.marginals
    of_row = prices[:n_rows].copy()
    of_row[equal] -= prices[n_rows:]
    involved = np.flatnonzero(abs(of_row) > 1e-9)
    if not _contradict(A[involved], c[involved], of_row[involved], lower, upper):
        return
    names = " and ".join(f"row {row}" for row in involved)
    raise AuclabError(
        f"the constraints contradict each other: no coefficients satisfy {names} together with the bounds (they miss "
        f"by {found.fun:.3g} at least); drop or loosen one of them"
    )


def _contradict(A: Array, c: Array, prices: Array, lower: Array, upper: Array) -> bool:
    """Whether ``Σ p_i a_i·w ≤ Σ p_i c_i`` fails for every w within the bounds (Farkas).

    Sums that must vanish are made to vanish up to rounding of the entries, because prices are known only to the
    tolerance of a linear program.
    """
    terms = abs(A).T @ abs(prices)
    sums = A.T @ prices
    vanish = abs(sums) <= 1e-8 * terms
    prices = prices - np.linalg.lstsq(A[:, vanish].T, sums[vanish], rcond=None)[0] if vanish.any() else prices
    sums = A.T @ prices
    sums[vanish & (abs(sums) <= FEW_ROUNDINGS * terms)] = 0.0
    ends = np.where(sums > 0, lower, upper)
    used = sums != 0
    least = float(sums[used] @ ends[used]) if np.isfinite(ends[used]).all() else -np.inf
    size = abs(sums[used]) @ abs(ends[used]) + abs(prices) @ abs(c) if np.isfinite(least) else 1.0
    return least > float(prices @ c) + 1e-12 * float(size)


def _excess(constraints: ColumnConstraints, coef: Array) -> Array:
    left = constraints.matrix @ coef - constraints.limit
    return np.asarray(np.where(constraints.equal, abs(left), np.maximum(left, 0.0)))


def _size(constraints: ColumnConstraints, coef: Array) -> Array:
    """The size of the terms of every row."""
    return np.asarray(abs(constraints.matrix) @ abs(coef) + abs(constraints.limit))


def _moved_onto_rows(constraints: ColumnConstraints, coef: Array, spread: Array) -> Array:
    """The shortest steps onto the rows that are violated, within the bounds."""
    A, c, equal = constraints.matrix, constraints.limit, constraints.equal
    active = equal.copy()
    for _ in range(FEW_STEPS):
        violated = _excess(constraints, coef) > FEW_ROUNDINGS * _size(constraints, coef)
        if not violated.any():
            break
        active |= violated
        free = (coef > constraints.lower) & (coef < constraints.upper)
        system = A[active][:, free] / spread[free]
        if not system.size:
            break
        step = np.linalg.lstsq(system, (c - A @ coef)[active], rcond=None)[0]
        moved = coef.copy()
        moved[free] += step / spread[free]
        coef = np.clip(moved, constraints.lower, constraints.upper)
    return coef


def _projected(constraints: ColumnConstraints, coef: Array, spread: Array) -> Array | None:
    """The projection, as a quadratic program in the step in units of the spreads."""
    matrix, limit, equal = constraints.scaled_rows(1.0 / spread)
    rows: Any = sp.csr_array(matrix)
    right = limit - matrix @ (coef * spread)
    unit = max(float(abs(right).max(initial=0.0)), 1e-300)
    quadratic = sp.eye_array(coef.size, format="csc")
    equations = (rows[equal], right[equal] / unit) if equal.any() else None
    step = solve_quadratic(quadratic, np.zeros(coef.size), equations, (rows[~equal], right[~equal] / unit))
    return None if step is None else coef + unit * step / spread
