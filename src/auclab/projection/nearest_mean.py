"""The weighted mean of some rows that is nearest to a point: a program over the weights, arrays in and out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab.precision import ORDINARY, SMALLEST
from auclab.projection.nearest_mean_euclidean import nearest_mean_euclidean
from auclab.regularisers import VectorNorm
from auclab.types import Array


def nearest_mean(X: sp.csr_matrix | Array, capacity: Array, total: float, target: Array, norm: VectorNorm) -> Array:
    """Argmin of ``‖target − Xᵀq‖_*`` over ``0 ≤ q ≤ capacity``, ``Σ q = total``.

    `capacity` (n_points,): largest weights, ≥ 0; they sum to at least `total`. `total`: sum of the weights, > 0.
    `target` (n_features,): in the units of ``Xᵀq``. `norm`: ‖·‖_* is its dual norm. Returns: the weights q; their sum
    is `total` to rounding.
    """
    if total >= capacity.sum() * (1 - 1e-15):
        return capacity.copy()
    found = _nearest_mean(X, capacity, total, target, norm)
    away: Any = X if sp.issparse(X) else X - target / total
    unit: Array = np.asarray(abs(away).mean(axis=0), dtype=np.float64).ravel()
    unit = np.where(unit > SMALLEST, unit, 1.0)
    if unit.max() > ORDINARY * unit.min() and np.isfinite(abs(target).max() / unit.min()):
        # A mean that meets the target does so in any units, and is found in those of the columns.
        scaled: Any = X @ sp.diags_array(1.0 / unit) if sp.issparse(X) else X / unit
        other = _nearest_mean(scaled, capacity, total, target / unit, norm)
        found = min(found, other, key=lambda weights: norm.dual(target - X.T @ weights))
    return found


def _nearest_mean(X: sp.csr_matrix | Array, capacity: Array, total: float, target: Array, norm: VectorNorm) -> Array:
    if not norm.is_polyhedral:  # of another round norm a point near the optimum: the level is then an upper bound
        return nearest_mean_euclidean(X, capacity, total, target)
    weights = np.clip(_nearest_mean_polyhedral(sp.csc_array(X.T), capacity, total, target, norm), 0.0, capacity)
    # The point proves a bound only if the sum is exact: what is missing is distributed where capacity is left.
    missing = total - weights.sum()
    left = capacity - weights if missing > 0 else weights
    return np.asarray(weights + missing * left / left.sum()) if left.sum() > 0 else weights


def _nearest_mean_polyhedral(
    columns: sp.csc_array, capacity: Array, total: float, target: Array, norm: VectorNorm
) -> Array:
    """A linear program: ``‖v‖_* ≤ t`` iff the rows of ``‖w‖ ≤ t`` have multipliers y ≥ 0 that combine to v and −t."""
    from scipy.optimize import linprog  # half of SciPy's import time, and few programs need it

    n_features, n_points = columns.shape
    rows: Any = sp.csc_array(norm.epigraph(np.ones(n_features)).linear.T)
    n_multipliers, n_parts = rows.shape[1], rows.shape[0] - n_features - 1
    of_t = rows[[n_features]].toarray().ravel()
    system: list[list[Any]] = [
        [columns, rows[:n_features]],
        [sp.csc_array(np.ones((1, n_points))), None],
        *([[None, rows[n_features + 1 :]]] if n_parts else []),
    ]
    matrix: Any = sp.block_array(system, format="csc")
    bounds: Any = np.c_[np.zeros(n_points + n_multipliers), np.r_[capacity, np.full(n_multipliers, np.inf)]]
    result = linprog(
        np.r_[np.zeros(n_points), -of_t],
        A_eq=matrix,
        b_eq=np.r_[target, total, np.zeros(n_parts)],
        bounds=bounds,
        method="highs",
    )
    if result.x is None:  # HiGHS met numbers that it cannot solve with: any weights have a distance, if a larger one
        return capacity * (total / capacity.sum())
    return np.asarray(result.x[:n_points])
