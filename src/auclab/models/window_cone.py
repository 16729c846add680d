"""The primal program over the margins of a window, in Clarabel's own form: for norms that are not linear.

    min   Σ_k c_k β_k + S − G·w − (Σ q y) b − z S t + λ t (or λ t²)
    s.t.  β_k ≥ 1 − d_k·w − y_k b − z t,   β_k ≥ 0,   ‖w‖ ≤ t,   |w − center| ≤ radius,   A w ≤ c

with the sums S, G of the margins that are surely on. Same call and same answer as `dual_lp.solve_dual`.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.programs import without_squares
from auclab.models.dual_lp import DualPoint, Fixed, Margins, Region
from auclab.models.norm_cone import norm_cone
from auclab.models.timings import Timings
from auclab.types import Array, Status


def solve_cone(
    program: Program,
    margins: Margins,
    fixed: Fixed,
    region: Region | None = None,
    *,
    time_limit: float | None = None,
    constraints: ColumnConstraints | None = None,
) -> DualPoint:
    """Solve the window's program; `value` is the optimum, fixed part included.

    `program`: convex, of any norm. `margins`, `fixed`: the undecided margins and the sums of the others. `region`: in
    the units of w, scores per unit of each feature; without one w is free. `time_limit`: seconds, the building
    included. `constraints`: on w.
    """
    start = perf_counter()
    n_margins, n = margins.directions.shape
    ridge, program = without_squares(program)
    # Columns: w in units of the box or of the entries, b, t, β.
    unit = _entry_units(margins) if region is None else region.radius
    b, t, beta = n, n + 1, n + 2
    size = beta + n_margins
    weight = float(margins.capacity.sum()) or 1.0
    linear = np.zeros(size)
    linear[:n] = -fixed.gradient * unit
    linear[b] = -fixed.balance
    linear[t] = -program.threshold * fixed.total + program.regulariser.slope(0.0)
    linear[beta:] = margins.capacity
    signs = np.zeros(n_margins) if margins.signs is None else margins.signs
    scaled = sp.csc_array(margins.directions) @ sp.diags_array(unit)
    hinge = sp.hstack(
        [scaled, sp.csc_array(np.c_[signs, np.full(n_margins, program.threshold)]), sp.eye_array(n_margins)]
    )
    positive = sp.hstack([sp.csc_array((n_margins, beta)), sp.eye_array(n_margins)])
    box = sp.hstack([sp.eye_array(n), sp.csc_array((n, size - n))])
    rows = [-hinge, -positive]
    right = [np.full(n_margins, -1.0), np.zeros(n_margins)]
    if region is not None:
        middle = region.center / unit
        rows, right = [*rows, box, -box], [*right, middle + 1.0, 1.0 - middle]
    n_equal = 0
    if constraints is not None:
        matrix, limit, equal = constraints.scaled_rows(unit)
        n_equal = int(equal.sum())
        on_w = sp.hstack([sp.csc_array(matrix), sp.csc_array((limit.size, size - n))], format="csr")
        rows, right = [*rows, on_w[~equal], on_w[equal]], [*right, limit[~equal], limit[equal]]
    cones: list[Any] = [clarabel.NonnegativeConeT(sum(part.size for part in right) - n_equal)]
    cones += [clarabel.ZeroConeT(n_equal)] if n_equal else []
    if margins.signs is None:
        rows, right, cones = [_single(b, size), *rows], [np.zeros(1), *right], [clarabel.ZeroConeT(1), *cones]
    of_norm, norm_right, norm_cones = norm_cone(program, unit, t, size)
    n_parts = of_norm.shape[1] - size
    system = sp.vstack([sp.hstack([sp.vstack(rows), sp.csc_array((sum(r.shape[0] for r in rows), n_parts))]), of_norm])
    quadratic = np.zeros(size + n_parts)
    quadratic[:n], quadratic[t] = 2.0 * ridge * unit**2, program.regulariser.curvature
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    if time_limit is not None:
        settings.time_limit = max(float(time_limit) - (perf_counter() - start), 1e-3)
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags_array(quadratic / weight)),
        np.r_[linear, np.zeros(n_parts)] / weight,
        sp.csc_matrix(system),
        np.concatenate([*right, norm_right]),
        [*cones, *norm_cones],
        settings,
    )
    built = perf_counter()
    solution = solver.solve()
    timings = Timings(build=built - start, solve=perf_counter() - built)
    status = {"Solved": Status.OPTIMAL, "AlmostSolved": Status.OPTIMAL, "MaxTime": Status.TIME_LIMIT}.get(
        str(solution.status), Status.FAILED
    )
    x = np.asarray(solution.x)
    first_hinge = 1 if margins.signs is None else 0
    weights = np.asarray(solution.z)[first_hinge : first_hinge + n_margins] * weight
    return DualPoint(
        coef=x[:n] * unit,
        intercept=float(x[b]),
        weights=np.clip(weights, 0.0, margins.capacity),
        status=status,
        value=float(solution.obj_val) * weight + fixed.total,
        iterations=int(solution.iterations),
        timings=timings,
    )


def _entry_units(margins: Margins) -> Array:
    """The inverse of the largest entry of every column, 1 for a column of zeros."""
    columns: Any = sp.csc_array(margins.directions)
    largest = abs(columns).max(axis=0).toarray().ravel()
    return np.asarray(1.0 / np.where(largest > 0, largest, 1.0))


def _single(column: int, size: int) -> Any:
    """The row that selects one column."""
    return sp.csc_array(([1.0], ([0], [column])), shape=(1, size))
