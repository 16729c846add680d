"""Newton steps after a conic step, on its nonzero entries, where the norm is smooth.

An interior-point method ends at a distance of the root of its tolerance from the minimum, where the multipliers do not
yet prove a small gap. If zero entries are fixed, the norm is twice differentiable near the point
(`VectorNorm.smooth_at`), and with ``t = ‖w‖`` so is the model.
"""

from __future__ import annotations

import numpy as np

from auclab.formulations.base import Program
from auclab.precision import EPSILON, HALF_OF_DIGITS
from auclab.types import Array


def polished(program: Program, hessian: Array, linear: Array, point: Array, n: int) -> Array:
    """The minimum of ``½ vᵀHv − c·v + φ(t)`` on ``t = ‖w‖`` next to a point, or the point itself.

    `program`: gives the norm and φ. `linear` (size,): c. `point` (size,): ``v = (w, [b,] t)``. `n`: the number of
    entries of w.
    """
    regulariser, v, best = program.regulariser, point.copy(), np.inf
    found = point
    while True:
        smooth = regulariser.norm.smooth_at(v[:n])
        if smooth is None:
            return point
        used, slope, curvature = smooth
        v[:n] = np.where(used, v[:n], 0.0)
        v[-1] = regulariser.norm(v[:n])
        gradient = hessian @ v - linear
        gradient[-1] += regulariser.slope(v[-1])
        free = np.r_[used, np.ones(v.size - 1 - n, dtype=bool)]
        along = np.zeros(v.size - 1)
        along[:n] = slope
        reduced = (gradient[:-1] + gradient[-1] * along)[free]
        terms = abs(hessian) @ abs(v) + abs(linear)
        error = float((abs(reduced) / terms[:-1][free]).max(initial=0.0))
        if not error < best:
            break
        best, found = error, v.copy()
        if error <= EPSILON:
            break
        cross = np.outer(along, hessian[-1, :-1])
        matrix = hessian[:-1, :-1] + cross + cross.T
        matrix += (hessian[-1, -1] + regulariser.curvature) * np.outer(along, along)
        matrix[:n, :n] += max(float(gradient[-1]), 0.0) * curvature
        try:
            step = np.linalg.solve(matrix[np.ix_(free, free)], reduced)
        except np.linalg.LinAlgError:
            break
        v[:-1][free] -= step
    return found if _is_minimum(program, hessian, linear, found, n) else point


def _is_minimum(program: Program, hessian: Array, linear: Array, v: Array, n: int) -> bool:
    """Whether the dual norm of the gradient in w is at most the slope in t, as at a minimum on the cone."""
    gradient = hessian @ v - linear
    pull = float(gradient[-1]) + program.regulariser.slope(float(v[-1]))
    return program.regulariser.norm.dual(gradient[:n]) <= pull * (1.0 + HALF_OF_DIGITS)
