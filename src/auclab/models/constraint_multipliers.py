"""Multipliers of constraints on w that go with given multipliers of the margins: a small conic program in Clarabel.

With ``g = Σ q d`` and ``S = Σ q`` a program has, on ``{w : A w ≤ c, lower ≤ w ≤ upper}``, the lower bound

    S + min_w [ (λ − zS)‖w‖ − g·w ]      (or λ‖w‖² − g·w),

and the multipliers μ of the rows and ν of the bounds in this minimum make it that of the Lagrangian,
``S − μ·c − Σ h(ν) − (g − Aᵀμ − ν)·w + …`` for every w, ``h(ν_k)`` being ``ν_k upper_k`` or ``ν_k lower_k`` by the sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab._core.base import Array
from auclab._core.tolerances import ROUNDING
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import without_squares
from auclab.models.bundle import norm_cone
from auclab.regularisers import EUCLIDEAN

#: Where a length is not known, w is at most this many times as long as a w that is.
FARTHER = 10.0


@dataclass(frozen=True)
class ConstraintMultipliers:
    """Multipliers μ of the rows and ν of the bounds of `ColumnConstraints`.

    `rows` (n_rows,): ≥ 0, free for equations. `bounds` (n_features,): positive for an upper bound, negative for a lower
    one; 0 where there is none on that side.
    """

    rows: Array
    bounds: Array

    def in_order_of_rows(self, constraints: ColumnConstraints) -> Array:
        """One array, in the order of `ColumnConstraints.all_rows`: ≥ 0 except for equations."""
        fixed = constraints.lower == constraints.upper
        above, below = np.isfinite(constraints.upper) & ~fixed, np.isfinite(constraints.lower) & ~fixed
        up, down = np.maximum(self.bounds, 0.0), np.maximum(-self.bounds, 0.0)
        return np.r_[self.rows, self.bounds[fixed], up[above], down[below]]

    def cost(self, constraints: ColumnConstraints) -> float:
        """``μ·c + Σ h(ν)``, in working precision."""
        bound = np.where(self.bounds > 0, constraints.upper, np.where(self.bounds < 0, constraints.lower, 0.0))
        return float(self.rows @ constraints.limit + self.bounds @ bound)

    def residual(self, constraints: ColumnConstraints, gradient: Array) -> Array:
        """``g − Aᵀμ − ν``."""
        return np.asarray(gradient - self.rows @ constraints.matrix - self.bounds)


def constraint_multipliers(
    program: Program, constraints: ColumnConstraints, gradient: Array, total: float, spread: Array, coef: Array
) -> ConstraintMultipliers:
    """The multipliers of the constraints with approximately the largest lower bound.

    `program`: convex. `gradient` (n_features,): ``Σ q d``. `total`: ``Σ q``. `spread` (n_features,): a positive scale
    of every feature. `coef` (n_features,): a point, whose length says how far w is looked for.

    Examples
    --------
    Without a norm the residual has to vanish, and bounds take up what has their sign:

    >>> from auclab.formulations import BufferedAUC
    >>> signs = ColumnConstraints.of(2, lower=[0.0, 0.0])
    >>> found = constraint_multipliers(BufferedAUC(), signs, np.array([-0.5, 0.2]), 0.3, np.ones(2), np.ones(2))
    >>> found.bounds.tolist(), found.residual(signs, np.array([-0.5, 0.2])).tolist()
    ([-0.5, 0.0], [0.0, 0.2])
    """
    # Of a cone of signs an absolute norm of the residual is least where the bounds absorb all that they can.
    if not constraints.limit.size and program.used_norm.is_absolute and (constraints.is_cone or not program.uses_norm):
        return ConstraintMultipliers(np.zeros(0), absorbed(constraints, gradient))
    return _of_conic_program(program, constraints, gradient, total, 1.0 / spread, coef)


def absorbed(constraints: ColumnConstraints, residual: Array) -> Array:
    """The residual that bounds can absorb: its positive part by upper, its negative part by lower bounds.

    Examples
    --------
    >>> absorbed(ColumnConstraints.of(3, lower=[0.0, 0.0, -1.0]), np.array([-2.0, 3.0, -1.0])).tolist()
    [-2.0, 0.0, -1.0]
    """
    positive = np.where(np.isfinite(constraints.upper), np.maximum(residual, 0.0), 0.0)
    return np.asarray(positive + np.where(np.isfinite(constraints.lower), np.minimum(residual, 0.0), 0.0))


def _of_conic_program(
    program: Program, constraints: ColumnConstraints, gradient: Array, total: float, unit: Array, coef: Array
) -> ConstraintMultipliers:
    """Columns: x with ``w = x·unit``, t in units of ‖unit‖, parts of the norm. Rows: constraints, a ball, the norm."""
    n = unit.size
    ridge, program = without_squares(program)
    matrix, limit, equal = constraints.all_rows()
    matrix = matrix * unit
    size_of_row = abs(matrix).max(axis=1, initial=0.0)
    size_of_row = np.where(size_of_row > 0, size_of_row, 1.0)
    order = np.r_[np.flatnonzero(equal), np.flatnonzero(~equal)]
    rows = (matrix / size_of_row[:, None])[order]
    radius = FARTHER * max(1.0, EUCLIDEAN(coef / unit))
    size, unit_t = n + 1, program.used_norm(unit) or 1.0
    in_norm, _, norm_cones = norm_cone(program, unit, n, size, scale=np.r_[np.ones(n), unit_t])
    n_parts = in_norm.shape[1] - size
    blocks: list[Any] = [
        sp.hstack([sp.csc_array(rows), sp.csc_array((len(rows), 1 + n_parts))]),
        sp.csc_array((1, size + n_parts)),
        sp.hstack([-sp.eye_array(n), sp.csc_array((n, 1 + n_parts))]),
        in_norm,
    ]
    right = np.r_[(limit / size_of_row)[order], radius, np.zeros(n), np.zeros(in_norm.shape[0])]
    n_equal = int(equal.sum())
    cones: list[Any] = [clarabel.ZeroConeT(n_equal), clarabel.NonnegativeConeT(len(rows) - n_equal)]
    cones += [clarabel.SecondOrderConeT(n + 1), *norm_cones]
    linear, quadratic = np.zeros(size + n_parts), np.zeros(size + n_parts)
    linear[:n] = -gradient * unit
    linear[n] = unit_t * (program.regulariser.slope(0.0) - program.threshold * total)
    quadratic[:n], quadratic[n] = 2.0 * ridge * unit**2, unit_t**2 * program.regulariser.curvature
    scale = max(float(abs(linear).max()), 1e-300)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = ROUNDING
    solution = clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags_array(quadratic / scale)),
        linear / scale,
        sp.csc_matrix(sp.vstack(blocks)),
        right,
        cones,
        settings,
    ).solve()
    found = np.zeros(len(rows))
    found[order] = np.asarray(solution.z)[: len(rows)] * scale
    found = found / size_of_row
    if not np.isfinite(found).all():
        return ConstraintMultipliers(np.zeros(constraints.limit.size), absorbed(constraints, gradient))
    return _split(constraints, np.where(equal, found, np.maximum(found, 0.0)))


def _split(constraints: ColumnConstraints, found: Array) -> ConstraintMultipliers:
    """Multipliers of `ColumnConstraints.all_rows` as those of rows and bounds."""
    n_rows = constraints.limit.size
    fixed = constraints.lower == constraints.upper
    above, below = np.isfinite(constraints.upper) & ~fixed, np.isfinite(constraints.lower) & ~fixed
    bounds = np.zeros(constraints.n_features)
    parts = np.split(found[n_rows:], np.cumsum([fixed.sum(), above.sum()]))
    bounds[fixed] += parts[0]
    bounds[above] += parts[1]
    bounds[below] -= parts[2]
    return ConstraintMultipliers(found[:n_rows], bounds)
