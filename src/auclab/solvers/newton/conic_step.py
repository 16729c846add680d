"""The proximal Newton step as a conic program for Clarabel: any norm, and w = 0 too."""

from __future__ import annotations

import math

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.bundle import norm_cone
from auclab.precision import ROUNDING
from auclab.solvers.feasible_point import nearest_feasible
from auclab.solvers.newton.polished_step import polished
from auclab.types import Array

#: A constraint is active where its slack, in units of the curvature, is below this and its multiplier.
_NEAR = 1e-5


def conic_step(
    program: Program,
    hessian: Array,
    negative_gradient: Array,
    theta: Array,
    constraints: ColumnConstraints | None = None,
    time_limit: float | None = None,
) -> Array:
    """The minimiser of the model in `auclab.solvers.newton.proximal_step`, in the free variables (w, [b,] t).

    `program`: gives the norm and λ. `hessian` (size, size): positive definite. `negative_gradient`, `theta` (size,):
    with the intercept where the program is over points: ``size`` is n + 2 there, else n + 1. `constraints`: on the new
    w. `time_limit`: seconds.
    """
    size, t = theta.size, theta.size - 1
    n = size - (2 if program.comparisons.name == "points" else 1)
    # The columns are the new point in units of the curvature, then those that the norm needs.
    unit = 1.0 / np.sqrt(np.maximum(hessian.diagonal(), 1e-300))
    # Where the Hessian is flat, an absolute norm leaves w = 0; another one ties the column to the rest, at its scale.
    flat = 1e6 if not program.uses_norm or program.regulariser.norm.is_absolute else 1.0
    unit = np.minimum(unit, flat * np.median(unit))
    rows, right, cones = norm_cone(program, np.ones(n), t, size, scale=np.r_[unit[:n], unit[t]])
    n_columns = rows.shape[1]
    quadratic = np.zeros((n_columns, n_columns))
    quadratic[:size, :size] = hessian * unit[:, None] * unit[None, :]
    quadratic[t, t] += program.regulariser.curvature * unit[t] ** 2
    linear = np.zeros(n_columns)
    linear[:size] = unit * (-negative_gradient - hessian @ theta)
    linear[t] += program.regulariser.slope(0.0) * unit[t]
    if constraints is not None:
        on_w, limit, equal = constraints.scaled_rows(unit[:n])
        order = np.r_[np.flatnonzero(equal), np.flatnonzero(~equal)]
        rows = sp.vstack([rows, sp.hstack([sp.csc_array(on_w[order]), sp.csc_array((order.size, rows.shape[1] - n))])])
        right = np.r_[right, limit[order]]
        cones = [*cones, clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int((~equal).sum()))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.time_limit = math.inf if time_limit is None else time_limit
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ROUNDING
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
    else:
        point = polished(program, hessian, negative_gradient + hessian @ theta, point, n)
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
