"""The step of a Newton method on ``loss(θ) + λ t`` (or ``λ t²``) with ``‖w‖ ≤ t``: a small program in θ = (w, b, t).

    min over Δ    −G·Δ + ½ Δᵀ(H + μD)Δ + penalty(t + Δt)      s.t.   ‖w + Δw‖ ≤ t + Δt

Without a norm it is a linear system; with one, a conic program of n variables for Clarabel.
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from auclab.formulations.base import HingeProgram
from auclab.types import Array

#: Collinear features leave the Hessian singular; this much of its scale keeps the step finite and changes it little.
_RIDGE = 1e-10


def proximal_step(
    program: HingeProgram, hessian: Array, gradient: Array, theta: Array, spread: Array, damping: float = 0.0
) -> Array:
    """The step Δ, shape (n + 2,).

    `gradient` is G, the negative gradient of the loss at `theta`. `spread` is the mean square of the entries of D, the
    natural scale of the Hessian: D is its diagonal, or a thousandth of the spread where a band is nearly empty.
    """
    points, normed = program.over == "points", program.uses_norm
    n = theta.size - 2
    used = np.r_[np.arange(n), [n] if points else [], [n + 1] if normed else []].astype(int)
    scale = np.maximum(hessian.diagonal()[used], 1e-3 * spread[used])
    curved = hessian[np.ix_(used, used)] + np.diag((damping + _RIDGE) * scale)
    step = np.zeros(theta.size)
    if normed:
        solved = _conic(program, curved, gradient[used], theta, points)
        step[used] = solved
    else:
        step[used] = _linear(curved, gradient[used])
    return step


def _linear(matrix: Array, right: Array) -> Array:
    # Scaled to unit diagonal: features may differ in scale by many orders.
    unit = 1.0 / np.sqrt(np.maximum(matrix.diagonal(), 1e-300))
    scaled = matrix * unit[:, None] * unit[None, :]
    try:
        return np.asarray(unit * cho_solve(cho_factor(scaled), unit * right))
    except LinAlgError:
        return np.asarray(unit * lstsq(scaled, unit * right)[0])


def _conic(program: HingeProgram, curved: Array, gradient: Array, theta: Array, points: bool) -> Array:
    """Variables (w_new, [b_new], t_new[, |w| parts for l1]), columns in units of the curvature."""
    n = theta.size - 2
    center = np.r_[theta[:n], theta[n : n + 1] if points else [], theta[-1:]]
    size, t = center.size, center.size - 1
    unit = 1.0 / np.sqrt(np.maximum(curved.diagonal(), 1e-300))
    unit = np.minimum(unit, 1e6 * np.median(unit))
    n_parts = n if program.norm == "l1" else 0
    quadratic = np.zeros((size + n_parts, size + n_parts))
    quadratic[:size, :size] = curved * unit[:, None] * unit[None, :]
    linear = np.zeros(size + n_parts)
    linear[:size] = unit * (-gradient - curved @ center)
    if program.squared:
        quadratic[t, t] += 2.0 * program.penalty * unit[t] ** 2
    else:
        linear[t] += program.penalty * unit[t]
    weights = sp.diags_array(unit[:n])
    top = sp.csc_array(([unit[t]], ([0], [t])), shape=(1, size + n_parts))
    w_rows = sp.hstack([weights, sp.csc_array((n, size - n + n_parts))])
    if program.norm == "l2":
        rows, cones = sp.vstack([-top, -w_rows]), [clarabel.SecondOrderConeT(n + 1)]
    elif program.norm == "linf":
        tops = sp.vstack([top] * n)
        rows, cones = sp.vstack([w_rows - tops, -w_rows - tops]), [clarabel.NonnegativeConeT(2 * n)]
    else:
        parts = sp.hstack([sp.csc_array((n, size)), weights])
        total = sp.csc_array(np.r_[np.zeros(size), unit[:n]][None, :]) - top
        rows, cones = sp.vstack([w_rows - parts, -w_rows - parts, total]), [clarabel.NonnegativeConeT(2 * n + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    strength = max(float(np.abs(linear).max()), 1e-9 * float(quadratic.max()), 1e-300)
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(quadratic / strength)),
        linear / strength,
        sp.csc_matrix(rows),
        np.zeros(rows.shape[0]),
        cones,
        settings,
    ).solve()
    return np.asarray(unit * np.asarray(solution.x)[:size] - center)
