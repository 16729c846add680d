"""The proximal Newton step as a conic program for Clarabel: any norm, and w = 0 too."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.solvers.feasible_point import nearest_feasible
from auclab.types import Array

_TOLERANCE = 1e-12
#: A constraint is active where its slack, in units of the curvature, is below this and its multiplier.
_NEAR = 1e-5


def conic_step(
    program: Program,
    hessian: Array,
    negative_gradient: Array,
    theta: Array,
    constraints: ColumnConstraints | None = None,
) -> Array:
    """The minimiser of the model in `auclab.solvers.newton.proximal_step`, in the free variables (w, [b,] t).

    Parameters
    ----------
    program : Program
        Gives the norm and λ.
    hessian : array of shape (size, size)
        Positive definite.
    negative_gradient, theta : arrays of shape (size,)
        With the intercept where the program is over points: ``size`` is n + 2 there, else n + 1.
    constraints : ColumnConstraints, optional
        On the new w.

    Returns
    -------
    array of shape (size,)
    """
    size, t = theta.size, theta.size - 1
    n = size - (2 if program.over == "points" else 1)
    # The columns are the new point in units of the curvature, then for l1 a column |w_k| a feature.
    unit = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), 1e-300))
    unit = np.minimum(unit, 1e6 * np.median(unit))
    n_moduli = n if program.uses_norm and program.norm == "l1" else 0
    quadratic = np.zeros((size + n_moduli, size + n_moduli))
    quadratic[:size, :size] = hessian * unit[:, None] * unit[None, :]
    linear = np.zeros(size + n_moduli)
    linear[:size] = unit * (-negative_gradient - hessian @ theta)
    if program.squared:
        quadratic[t, t] += 2.0 * program.penalty * unit[t] ** 2
    else:
        linear[t] += program.penalty * unit[t]
    rows, cones = _norm_cone(program, unit, n, n_moduli)
    right = np.zeros(rows.shape[0])
    if constraints is not None:
        on_w, limit, equal = constraints.scaled_rows(unit[:n])
        order = np.r_[np.flatnonzero(equal), np.flatnonzero(~equal)]
        rows = sp.vstack([rows, sp.hstack([sp.csc_array(on_w[order]), sp.csc_array((order.size, rows.shape[1] - n))])])
        right = np.r_[right, limit[order]]
        cones = [*cones, clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int((~equal).sum()))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
    scale = max(float(np.abs(linear).max()), 1e-9 * float(quadratic.max()), 1e-300)
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(quadratic / scale)),
        linear / scale,
        sp.csc_matrix(rows),
        right,
        cones,
        settings,
    ).solve()
    point = unit * np.asarray(solution.x)[:size]
    if constraints is not None:
        slack, dual = (np.asarray(values)[-order.size :] for values in (solution.s, solution.z))
        active = np.zeros(order.size, dtype=bool)
        active[order] = (slack <= _NEAR) & (dual >= slack)
        point[:n] = _on_bounds(constraints, point[:n], active[constraints.limit.size :], 1.0 / unit[:n])
    return np.asarray(point - theta)


def _on_bounds(constraints: ColumnConstraints, w: Array, active: NDArray[np.bool_], spread: Array) -> Array:
    """The point with its active bounds, in the order of `all_rows`, exactly met, and rows to rounding.

    An interior-point method stops a little inside.
    """
    fixed = constraints.lower == constraints.upper
    above, below = np.isfinite(constraints.upper) & ~fixed, np.isfinite(constraints.lower) & ~fixed
    _, at_upper, at_lower = np.split(active, np.cumsum([fixed.sum(), above.sum()]))
    w = np.clip(w, constraints.lower, constraints.upper)
    columns_above, columns_below = np.flatnonzero(above)[at_upper], np.flatnonzero(below)[at_lower]
    w[columns_above], w[columns_below] = constraints.upper[columns_above], constraints.lower[columns_below]
    found = nearest_feasible(constraints, w, spread)
    return w if found is None else found


def _norm_cone(program: Program, unit: Array, n: int, n_moduli: int) -> tuple[Any, list[Any]]:
    """``‖w‖ ≤ t`` as rows and cones of Clarabel: ``−rows · columns`` lies in the cones."""
    size, t = unit.size, unit.size - 1
    if not program.uses_norm:
        return sp.csc_array((0, size + n_moduli)), []
    weights = sp.diags_array(unit[:n])
    t_row = sp.csc_array(([unit[t]], ([0], [t])), shape=(1, size + n_moduli))
    w_rows = sp.hstack([weights, sp.csc_array((n, size - n + n_moduli))])
    if program.norm == "l2":
        return sp.vstack([-t_row, -w_rows]), [clarabel.SecondOrderConeT(n + 1)]
    if program.norm == "linf":
        t_rows = sp.vstack([t_row] * n)
        return sp.vstack([w_rows - t_rows, -w_rows - t_rows]), [clarabel.NonnegativeConeT(2 * n)]
    moduli = sp.hstack([sp.csc_array((n, size)), weights])
    total = sp.csc_array(np.r_[np.zeros(size), unit[:n]][None, :]) - t_row
    return sp.vstack([w_rows - moduli, -w_rows - moduli, total]), [clarabel.NonnegativeConeT(2 * n + 1)]
