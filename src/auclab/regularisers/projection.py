"""Projection onto convex hulls: quadratic programs, and distances between hulls.

The hard-margin separator ``w = Σ_k y_k α_k x_k`` with ``y_k (w·x_k + b) ≥ 1`` is a quadratic program over one
multiplier a row,

    max  Σ α − ½ Σ_kl α_k y_k K_kl y_l α_l      s.t.   α ≥ 0,   Σ y α = 0,

whatever the number of columns. It is solved by block principal pivoting: the rows with α > 0 are guessed, their linear
system is solved, and all rows of the wrong sign change sides at once; where that brings no progress for a while, one of
them does (Júdice & Pires 1994; Kim & Park 2011). Of wide tables most rows are support vectors, and two to fifteen
systems are solved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.tolerances import EQUAL, ROUNDING, SMALLEST, TOLERANCE
from auclab.regularisers import VectorNorm

#: Steps after which the method, which converges in far fewer, is stopped.
MOST_STEPS = 200
#: Steps without progress after which the method changes, or ends.
PATIENCE = 3


def solve_quadratic(
    quadratic: Any, linear: Array, equal: tuple[Any, Array] | None, at_most: tuple[Any, Array]
) -> Array | None:
    """Argmin of ``½ xᵀ quadratic x + linear·x`` with ``equal[0] x = equal[1]`` and ``at_most[0] x ≤ at_most[1]``.

    `quadratic` (n, n): positive semidefinite; its upper triangle is read. `equal`, `at_most`: `equal` may be None.
    Returns: None if Clarabel does not report it solved, to 1e-12 in its own measures.
    """
    found = solve_quadratic_pair(quadratic, linear, equal, at_most)
    return None if found is None else found[0]


def solve_quadratic_pair(
    quadratic: Any, linear: Array, equal: tuple[Any, Array] | None, at_most: tuple[Any, Array]
) -> tuple[Array, Array] | None:
    """The argmin of `solve_quadratic`, and the multipliers ≥ 0 of `at_most`, shape (n_rows,)."""
    blocks: list[Any] = []
    right: list[Array] = []
    cones: list[Any] = []
    if equal is not None:
        blocks, right, cones = [equal[0]], [equal[1]], [clarabel.ZeroConeT(equal[1].size)]
    matrix = sp.vstack([*blocks, at_most[0]], format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(quadratic),
        linear,
        sp.csc_matrix(matrix),
        np.concatenate([*right, at_most[1]]),
        [*cones, clarabel.NonnegativeConeT(at_most[1].size)],
        settings,
    ).solve()
    if "Solved" not in str(solution.status):
        return None
    return np.asarray(solution.x), np.maximum(np.asarray(solution.z)[-at_most[1].size :], 0.0)


def separating_multipliers(gram: Array, sides: Array, stopped: Callable[[], bool] = lambda: False) -> Array | None:
    """The multipliers α of the hard-margin separator, shape (n_rows,).

    `gram` (n_rows, n_rows): ``K_kl = x_k·x_l``, or any matrix with ``vᵀKv = ‖Σ v_k x_k‖²`` for ``Σ v = 0``. `sides`
    (n_rows,): y, ±1. `stopped`: asked before every system; True gives up. Returns: None if the classes are not
    separable, or no sign pattern was found.
    """
    unit = float(gram.diagonal().mean())
    if not unit > 0:
        return None
    # Because Σ y α = 0, a constant added to K makes it definite without changing any sum.
    signed = (gram + unit) * np.outer(sides, sides)
    signed[np.diag_indices_from(signed)] += ROUNDING * unit
    inside = np.ones(sides.size, dtype=bool)
    fewest, patience = sides.size + 1, PATIENCE
    for _ in range(MOST_STEPS):
        if stopped():
            return None
        found = _solved(signed, sides, inside)
        if found is None:
            return None
        multipliers, intercept = found
        lacking = 1.0 - (signed @ multipliers + intercept * sides)
        wrong = np.where(inside, multipliers < -EQUAL * abs(multipliers).max(), lacking > EQUAL)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            # Of classes that touch, Σ α = ‖w‖² + ridge ‖α‖² holds by the ridge alone.
            of_ridge = ROUNDING * unit * float(multipliers @ multipliers)
            return np.maximum(multipliers, 0.0) if of_ridge <= TOLERANCE * float(multipliers.sum()) else None
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong[: int(np.flatnonzero(wrong)[-1])] = False
        inside ^= wrong
    return None


def _solved(signed: Array, sides: Array, inside: NDArray[np.bool_]) -> tuple[Array, float] | None:
    """α and b with a margin of 1 for the rows inside and ``Σ y α = 0``; None if rounding leaves no solution."""
    rows = np.flatnonzero(inside)
    y = sides[rows]
    if not (y > 0).any() or not (y < 0).any():
        return None
    try:
        factor = la.cho_factor(signed[np.ix_(rows, rows)], lower=True, overwrite_a=True, check_finite=False)
    except la.LinAlgError:
        return None
    ones, of_sides = la.cho_solve(factor, np.c_[np.ones(rows.size), y], check_finite=False).T
    intercept = float(y @ ones) / float(y @ of_sides)
    multipliers = np.zeros(sides.size)
    multipliers[rows] = ones - intercept * of_sides
    return multipliers, intercept


def distance_to_means(X: Any, capacity: Array, total: float, target: Array, norm: VectorNorm) -> float:
    """``min ‖target − Xᵀq‖_*`` over ``0 ≤ q ≤ capacity``, ``Σ q = total``.

    The program is that of w, whose multipliers are q:

        max  target·w − total·β − Σ_k capacity_k [x_k·w − β]₊      s.t.   ‖w‖ ≤ 1.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_points, n_features)
    capacity : array of shape (n_points,)
        Largest weights, ≥ 0; they sum to at least `total`.
    total : float > 0
    target : array of shape (n_features,)
        In the units of ``Xᵀq``.
    norm : VectorNorm
        ‖·‖_* is its dual norm.

    Examples
    --------
    >>> from auclab.regularisers import L2
    >>> X, capacity = np.array([[0.0], [4.0]]), np.array([0.75, 0.75])     # means from 1 to 3
    >>> [round(distance_to_means(X, capacity, 1.0, np.array([c]), L2()), 9) for c in (-1.0, 2.5)]
    [2.0, 0.0]
    """
    weights = capacity * (total / capacity.sum())
    if total < capacity.sum() * (1 - 1e-15):
        found = _weights(X, capacity, total, target, norm)
        weights = min(weights, found, key=lambda q: norm.dual(target - X.T @ q))
    return norm.dual(target - X.T @ weights)


def _weights(X: Any, capacity: Array, total: float, target: Array, norm: VectorNorm) -> Array:
    """The q of the nearest mean, within the capacities and with their sum."""
    (m, n), sparse = X.shape, sp.issparse(X)
    away: Any = X if sparse else X - target / total  # the same distances: Σ q is given
    size = np.asarray(abs(away).mean(axis=0), dtype=np.float64).ravel()
    largest = float(size.max(initial=0.0))
    if not largest > SMALLEST:
        return np.asarray(capacity * (total / capacity.sum()))
    unit = largest / np.where(size > SMALLEST * largest, size, largest)  # w = x·unit, on rows in units of the largest
    scaled: Any = sp.csc_array(away @ sp.diags_array(unit / largest) if sparse else away / largest * unit)
    epigraph = norm.epigraph(unit)
    rows: Any = sp.csc_array(sp.vstack([epigraph.linear, -epigraph.conic]))
    parts = epigraph.n_parts(n)
    # Columns x, u, β and the hinges; rows of the hinges, of their signs, and of ‖w‖ ≤ 1.
    system: Any = sp.block_array(
        [
            [scaled, sp.csc_array((m, parts)), sp.csc_array(-np.ones((m, 1))), -sp.eye_array(m)],
            [None, None, None, -sp.eye_array(m)],
            [rows[:, :n], rows[:, n + 1 :], None, None],
        ],
        format="csc",
    )
    of_target = target / largest * unit if sparse else np.zeros(n)
    linear = np.concatenate([-of_target, np.zeros(parts), [total], capacity])
    right = np.concatenate([np.zeros(2 * m), -rows[:, [n]].toarray().ravel()])
    n_linear = epigraph.linear.shape[0]
    cones = [clarabel.NonnegativeConeT(2 * m + n_linear), *(clarabel.SecondOrderConeT(k) for k in epigraph.sizes)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    square = sp.csc_matrix((linear.size, linear.size))
    solution = clarabel.DefaultSolver(square, linear, sp.csc_matrix(system), right, cones, settings).solve()
    weights = np.clip(np.nan_to_num(np.asarray(solution.z)[:m]), 0.0, capacity)
    missing = total - float(weights.sum())
    left = capacity - weights if missing > 0 else weights
    return np.asarray(weights + missing * left / left.sum()) if left.sum() > 0 else weights
