"""How far a point is from the weighted means of some rows: a conic program on arrays."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab.precision import SMALLEST
from auclab.regularisers import VectorNorm
from auclab.types import Array


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
