"""The primal program over points in Clarabel's own form, with any norm.

    min   Σ_k c_k β_k + λ t (or λ t²)
    s.t.  β_k ≥ 1 − d_k·w − y_k b − z t,   β_k ≥ 0,   ‖w‖ ≤ t,   A w ≤ c

Same answer as `dual_lp.solve_dual`.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.composed import without_squares
from auclab.models.dual_lp import DualPoint, Margins
from auclab.models.norm_cone import norm_cone
from auclab.models.timings import Timings
from auclab.types import Array, Status


def solve_cone(
    program: Program,
    margins: Margins,
    *,
    time_limit: float | None = None,
    constraints: ColumnConstraints | None = None,
) -> DualPoint:
    """Solve the program; `value` is the optimum.

    `program`: convex, of any norm. `margins`: of all points. `time_limit`: seconds, the building included.
    `constraints`: on w.
    """
    assert margins.signs is not None
    start = perf_counter()
    n_margins, n = margins.directions.shape
    ridge, program = without_squares(program)
    # Columns: w in units of the entries, b, t, β.
    unit = _entry_units(margins)
    b, t, beta = n, n + 1, n + 2
    size = beta + n_margins
    weight = float(margins.capacity.sum()) or 1.0
    linear = np.zeros(size)
    linear[t] = program.regulariser.slope(0.0)
    linear[beta:] = margins.capacity
    scaled = sp.csc_array(margins.directions) @ sp.diags_array(unit)
    hinge = sp.hstack(
        [scaled, sp.csc_array(np.c_[margins.signs, np.full(n_margins, program.threshold)]), sp.eye_array(n_margins)]
    )
    positive = sp.hstack([sp.csc_array((n_margins, beta)), sp.eye_array(n_margins)])
    rows = [-hinge, -positive]
    right = [np.full(n_margins, -1.0), np.zeros(n_margins)]
    n_equal = 0
    if constraints is not None:
        matrix, limit, equal = constraints.scaled_rows(unit)
        n_equal = int(equal.sum())
        on_w = sp.hstack([sp.csc_array(matrix), sp.csc_array((limit.size, size - n))], format="csr")
        rows, right = [*rows, on_w[~equal], on_w[equal]], [*right, limit[~equal], limit[equal]]
    cones: list[Any] = [clarabel.NonnegativeConeT(sum(part.size for part in right) - n_equal)]
    cones += [clarabel.ZeroConeT(n_equal)] if n_equal else []
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
    weights = np.asarray(solution.z)[:n_margins] * weight
    return DualPoint(
        coef=x[:n] * unit,
        intercept=float(x[b]),
        weights=np.clip(weights, 0.0, margins.capacity),
        status=status,
        value=float(solution.obj_val) * weight,
        iterations=int(solution.iterations),
        timings=timings,
    )


def _entry_units(margins: Margins) -> Array:
    """The inverse of the largest entry of every column, 1 for a column of zeros."""
    columns: Any = sp.csc_array(margins.directions)
    largest = abs(columns).max(axis=0).toarray().ravel()
    return np.asarray(1.0 / np.where(largest > 0, largest, 1.0))
