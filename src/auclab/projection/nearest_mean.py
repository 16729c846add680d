"""The weighted mean of some rows that is nearest to a point: a linear or a quadratic program, arrays in and out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from auclab.types import Array, AuclabError, Norm


def nearest_mean(X: sp.csr_matrix | Array, capacity: Array, total: float, target: Array, norm: Norm) -> Array:
    """Argmin of ``‖target − Xᵀq‖_*`` over ``0 ≤ q ≤ capacity``, ``Σ q = total``."""
    if total >= capacity.sum() * (1 - 1e-15):
        return capacity.copy()
    solve = _nearest_mean_euclidean if norm == "l2" else _nearest_mean_polyhedral
    weights = np.clip(solve(sp.csc_array(X.T), capacity, total, target, norm), 0.0, capacity)
    # The sum must be right exactly, or the point proves nothing: put what is missing where there is room.
    missing = total - weights.sum()
    room = capacity - weights if missing > 0 else weights
    return np.asarray(weights + missing * room / room.sum()) if room.sum() > 0 else weights


def _nearest_mean_polyhedral(columns: sp.csc_array, capacity: Array, total: float, target: Array, norm: Norm) -> Array:
    """A linear program: the dual norm of l1 is the largest, of linf the summed deviation."""
    n_features, n_points = columns.shape
    n_deviations = 1 if norm == "l1" else n_features
    deviation = np.ones((n_features, 1)) if norm == "l1" else sp.eye_array(n_features)
    result = linprog(
        np.r_[np.zeros(n_points), np.ones(n_deviations)],
        A_ub=sp.vstack([sp.hstack([columns, -deviation]), sp.hstack([-columns, -deviation])], format="csc"),
        b_ub=np.r_[target, -target],
        A_eq=sp.csc_array(np.r_[np.ones(n_points), np.zeros(n_deviations)][None, :]),
        b_eq=[total],
        bounds=[(0.0, c) for c in capacity] + [(0.0, None)] * n_deviations,
        method="highs",
    )
    if result.x is None:
        raise AuclabError(
            f"the level at which w = 0 becomes optimal was not found ({result.message}); scale the features"
        )
    return np.asarray(result.x[:n_points])


def _nearest_mean_euclidean(columns: sp.csc_array, capacity: Array, total: float, target: Array, norm: Norm) -> Array:
    """A quadratic program, ``min ½‖r‖²`` with ``r = target − Xᵀq``."""
    from auclab.projection.quadratic import solve_quadratic

    n_features, n_points = columns.shape
    identity = sp.eye_array(n_points)
    nothing = sp.csc_array((n_points, n_features))
    point = solve_quadratic(
        sp.diags_array(np.r_[np.zeros(n_points), np.ones(n_features)], format="csc"),
        np.zeros(n_points + n_features),
        equal=(
            sp.vstack(
                [
                    sp.hstack([columns, sp.eye_array(n_features)]),
                    sp.csc_array(np.r_[np.ones(n_points), np.zeros(n_features)][None, :]),
                ]
            ),
            np.r_[target, total],
        ),
        at_most=(
            sp.vstack([sp.hstack([identity, nothing]), sp.hstack([-identity, nothing])]),
            np.r_[capacity, np.zeros(n_points)],
        ),
    )
    if point is None:
        raise AuclabError("the level at which w = 0 becomes optimal was not found; scale the features")
    return point[:n_points]
