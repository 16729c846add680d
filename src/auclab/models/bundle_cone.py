"""The two conic programs of a level bundle method, in Clarabel's own form, in steps δ = (δx, δb, δt) from a centre.

    minimise the model:    min  max(0, max_c e_c − G_c·δ) + penalty(t + δt)       s.t.   ‖(x + δx)·unit‖ ≤ t + δt
    project on its level:  min  ½ δᵀMδ    s.t.  the model at most `level`, and the same

with ``e_c`` the value of cut c at the centre. Steps and levels are small against the values themselves near the
optimum: both programs are stated in the differences, so that no digits cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.formulations.programs import without_squares
from auclab.models.bundle_master import MasterPoint
from auclab.models.norm_cone import norm_cone
from auclab.types import Array, Status


@dataclass(frozen=True)
class Cuts:
    """``loss ≥ constants[c] − slopes[c]·(x, b, t)``, of shapes (n_cuts,) and (n_cuts, n_features + 2)."""

    constants: Array
    slopes: Array

    def excess(self, theta: Array) -> Array:
        """The value of every cut at a point."""
        return self.constants - self.slopes @ theta


def minimise_model(
    program: Program,
    unit: Array,
    cuts: Cuts,
    center: Array,
    time_limit: float | None = None,
    constraints: ColumnConstraints | None = None,
) -> MasterPoint:
    """The minimum of the model: columns δ, v and the norm's own.

    `unit` (n_features,): ``w = x·unit``. `cuts`: in the same x. `center` (n_features + 2,): (x, b, t); b and t in
    scores. `time_limit`: seconds. `constraints`: on w.
    """
    n, n_cuts = unit.size, cuts.constants.size
    given, (ridge, program) = program, without_squares(program)
    size = n + 3
    hinge = sp.coo_array(np.vstack([np.c_[-cuts.slopes, -np.ones(n_cuts)], np.r_[np.zeros(n + 2), -1.0]]))
    # A sum of squares needs no cone: it is quadratic in x itself, and a t that is in nothing else stays where it is.
    norm_rows, norm_right, norm_cones = norm_cone(program, unit, n + 1, size, center=center)
    n_parts = norm_rows.shape[1] - size
    on_step, step_right, step_cones = _constraint_rows(constraints, unit, center, 1.0)
    rows = [hinge, on_step, norm_rows]
    right = [-cuts.excess(center), np.zeros(1), step_right, norm_right]
    cones = [clarabel.NonnegativeConeT(n_cuts + 1), *step_cones, *norm_cones]
    if program.comparisons.name == "pairs":
        rows, right, cones = [*rows, _single(n)], [*right, np.zeros(1)], [*cones, clarabel.ZeroConeT(1)]
    quadratic, linear = np.zeros(size + n_parts), np.zeros(size + n_parts)
    linear[n + 2] = 1.0
    quadratic[:n] = 2.0 * ridge * unit**2
    linear[:n] = quadratic[:n] * center[:n]
    quadratic[n + 1], linear[n + 1] = program.regulariser.curvature, program.regulariser.slope(float(center[-1]))
    solution = _solve(_diagonal(quadratic), linear, rows, right, cones, time_limit)
    status = _status(solution)
    if status is not Status.OPTIMAL:
        # Without weight on any cut the bound is 0, because a mean of hinges is not negative.
        return MasterPoint(center, 0.0, np.zeros(n_cuts), False, status)
    step = np.asarray(solution.x)[: n + 2]
    weights = np.maximum(np.asarray(solution.z)[:n_cuts], 0.0)
    weights /= max(1.0, float(weights.sum()))
    constant, slope = float(weights @ cuts.constants), weights @ cuts.slopes
    if constraints is not None:
        price, taken = _taken_by(constraints, unit, np.asarray(solution.z)[n_cuts + 1 :])
        constant, slope = constant - price, slope - np.r_[taken, 0.0, 0.0]
    proved = proved_bound(given, unit, constant, slope, float(center[-1]))
    return MasterPoint(center + step, max(0.0, proved), weights, False, status)


def project_on_level(
    program: Program,
    unit: Array,
    cuts: Cuts,
    center: Array,
    level: float,
    metric: Any,
    scale: float,
    time_limit: float | None = None,
    constraints: ColumnConstraints | None = None,
) -> tuple[Array, Array] | None:
    """The step to the nearest point where the model is at most `level`, and the dual values of the cuts.

    `program`, `unit`, `cuts`, `center`: as in `minimise_model`. `level`: a value of the model, between its minimum and
    its value at the centre. `metric` (n_features + 1, n_features + 1), or (n_features + 1,): m over (x, b), a matrix or
    its diagonal. `scale`: about the length of the step in M. `time_limit`: seconds. `constraints`: on w. Returns: None
    if Clarabel does not find it.
    """
    n, n_cuts = unit.size, cuts.constants.size
    ridge, program = without_squares(program)
    t, regulariser = float(center[-1]), program.regulariser
    values = cuts.excess(center)
    squares = np.r_[math.sqrt(ridge) * unit, 0.0, math.sqrt(0.5 * regulariser.curvature)]
    value = max(0.0, float(values.max())) + regulariser.slope(0.0) * t + float((squares * center) @ (squares * center))
    depth = max(value - level, 1e-300)
    used = np.flatnonzero(squares)
    size = n + 2 + (1 if used.size else 0)
    slopes = np.vstack([-cuts.slopes, np.zeros(n + 2)]) * (scale / depth)
    slopes[:, n + 1] += regulariser.slope(0.0) * scale / depth
    right = (level - np.r_[values, 0.0] - regulariser.slope(0.0) * t) / depth
    if used.size:
        # A last column s ≥ ‖q‖², in units of the level: the rotated cone 4κ‖q‖² ≤ 4κs.
        slopes = np.c_[slopes, np.full(n_cuts + 1, level / depth)]
        rooted, last = 2.0 * squares[used] / math.sqrt(level), used.size + 1
        entries = np.r_[-rooted * scale, -1.0, 1.0]
        places = np.r_[1:last, 0, last], np.r_[used, n + 2, n + 2]
        square = sp.coo_array((entries, places), shape=(last + 1, size))
        square_right = np.r_[1.0, rooted * center[used], 1.0]
    norm_rows, norm_right, norm_cones = norm_cone(program, unit, n + 1, size, center=center, scale=scale)
    n_parts = norm_rows.shape[1] - size
    on_step, step_right, step_cones = _constraint_rows(constraints, unit, center, scale)
    rows = [sp.coo_array(slopes), on_step, norm_rows]
    rights = [right, step_right, norm_right]
    cones = [clarabel.NonnegativeConeT(n_cuts + 1), *step_cones, *norm_cones]
    if used.size:
        rows, rights = [*rows, square], [*rights, square_right]
        cones = [*cones, clarabel.SecondOrderConeT(used.size + 2)]
    if program.comparisons.name == "pairs":
        rows, rights = [*rows, _single(n)], [*rights, np.zeros(1)]
        cones = [*cones, clarabel.ZeroConeT(1)]
    quadratic: Any = _diagonal(metric) if metric.ndim == 1 else sp.coo_array(np.triu(metric))
    quadratic.resize((size + n_parts, size + n_parts))
    solution = _solve(quadratic, np.zeros(size + n_parts), rows, rights, cones, time_limit)
    if _status(solution) is not Status.OPTIMAL:
        return None
    return scale * np.asarray(solution.x)[: n + 2], np.asarray(solution.z)[:n_cuts]


def proved_bound(program: Program, unit: Array, total: float, slope: Array, length: float) -> float:
    """The lower bound that a mean of cuts proves, ``loss ≥ total − slope·(x, b, t)``, for all ‖w‖ up to ten `length`.

    What Clarabel calls optimal may be inaccurate at extreme scales.

    `total`: the weighted sum of the constants of the cuts, a mean loss. `slope` (n_features + 2,): the weighted sum of
    their slopes. `length`: ‖w‖.
    """
    if total <= 0:
        return 0.0
    gradient, slack = slope[:-2] / unit, -float(slope[-1])  # the last is z Σ q
    if program.regulariser.weight > 0:
        return program.regulariser.dual_value(gradient, slack, total)[0]
    return total - 10.0 * max(1.0, length) * program.regulariser.size(gradient, slack)


def _constraint_rows(
    constraints: ColumnConstraints | None, unit: Array, center: Array, scale: float
) -> tuple[Any, Array, list[Any]]:
    """The constraints on ``w = (x + scale·dx)·unit``: equations first."""
    if constraints is None:
        return sp.coo_array((0, 0)), np.zeros(0), []
    matrix, limit, equal = constraints.scaled_rows(unit)
    order = np.r_[np.flatnonzero(equal), np.flatnonzero(~equal)]
    left = limit - matrix @ center[: unit.size]
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int((~equal).sum()))]
    return sp.coo_array(scale * matrix[order]), left[order], cones


def _taken_by(constraints: ColumnConstraints, unit: Array, dual: Array) -> tuple[float, Array]:
    """``μ·c`` and Aᵀμ, in the units of x, from the dual values of the rows above and all rows after them."""
    matrix, limit, equal = constraints.scaled_rows(unit)
    order = np.r_[np.flatnonzero(equal), np.flatnonzero(~equal)]
    found = np.empty(order.size)
    found[order] = dual[: order.size]
    found = np.where(equal, found, np.maximum(found, 0.0))
    return float(found @ limit), found @ matrix


def _solve(
    quadratic: Any, linear: Array, rows: list[Any], right: list[Array], cones: list[Any], time_limit: float | None
) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    if time_limit is not None:
        settings.time_limit = max(time_limit, 1e-3)
    return clarabel.DefaultSolver(
        sp.csc_matrix(quadratic), linear, _stacked(rows, linear.size), np.concatenate(right), cones, settings
    ).solve()


def _status(solution: Any) -> Status:
    """Clarabel's status as ours; an almost solved step or bound is accepted, since every bound is verified later."""
    return {"Solved": Status.OPTIMAL, "AlmostSolved": Status.OPTIMAL, "MaxTime": Status.TIME_LIMIT}.get(
        str(solution.status), Status.FAILED
    )


def _stacked(rows: list[Any], n_columns: int) -> Any:
    """Rows stacked vertically, with zeros in missing columns; `sp.vstack` takes far longer."""
    blocks = [each.tocoo() for each in rows]
    tops = np.cumsum([0, *(block.shape[0] for block in blocks)])
    entries = np.concatenate([block.data for block in blocks])
    row_numbers = np.concatenate([block.row + top for block, top in zip(blocks, tops, strict=False)])
    columns = np.concatenate([block.col for block in blocks])
    return sp.csc_matrix((entries, (row_numbers, columns)), shape=(int(tops[-1]), n_columns))


def _single(column: int) -> Any:
    return sp.coo_array(([1.0], ([0], [column])))


def _diagonal(entries: Array) -> Any:
    places = np.arange(entries.size)
    return sp.coo_array((entries, (places, places)))
