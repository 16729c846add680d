"""Master programs of cutting planes: for HiGHS, and as cones for Clarabel.

min  v + λt   s.t.   v ≥ S_c − G_c·(x, b, t) for every cut c,   v ≥ 0,   ‖x·unit‖ ≤ t

in features scaled to ``x = w / unit``. Its optimum is a lower bound of the hinge program, and the weights of the cuts,
the row duals, combine their multipliers to those that prove it. A box around a centre keeps the first, unbounded
minima nearby; the bound holds where the box does not bind, and after `minimise` without a radius. Constraints are rows.

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
import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.programs import without_squares
from auclab.models.dual_lp import highs_status, quiet_highs


def norm_cone(
    program: Program, unit: Array, t: int, size: int, *, center: Array | None = None, scale: float | Array = 1.0
) -> tuple[Any, Array, list[Any]]:
    """``‖(x₀ + scale·x)·unit‖ ≤ t₀ + scale·t`` as rows, right-hand side and cones.

    `program`: gives the norm; without one t is 0. `t`, `size`: the column of t, and the number of columns of the model;
    x are the first. What the norm needs besides follows them. `center` (n_features + …,): x₀ first, t₀ last; zeros if
    left out. Stated in steps, small ones keep their digits. `scale` (n_features + 1,): the units of the steps in x and
    t; what the norm needs besides has units to match. Returned `cones`: of Clarabel, for ``right − rows·columns``.
    """
    n = unit.size
    if not program.uses_norm:
        return sp.csc_array(([1.0], ([0], [t])), shape=(1, size)), np.zeros(1), [clarabel.ZeroConeT(1)]
    epigraph = program.regulariser.norm.epigraph(unit)
    n_parts = epigraph.n_parts(n)
    scales = np.broadcast_to(np.asarray(scale, dtype=float), n + 1)
    sizes = epigraph.least_parts(scales[:n], moduli=True)
    scales = np.r_[scales, np.where(sizes > 0, sizes, 1.0)]
    places = np.r_[:n, t, size : size + n_parts]
    point = np.zeros(n + 1 + n_parts)
    if center is not None:
        point[: n + 1], point[n + 1 :] = np.r_[center[:n], center[-1]], epigraph.least_parts(center[:n])
    n_linear = epigraph.linear.shape[0]
    linear, conic = epigraph.linear.tocoo(), epigraph.conic.tocoo()
    entries = np.r_[linear.data * scales[linear.col], -conic.data * scales[conic.col]]
    where = np.r_[linear.row, n_linear + conic.row], places[np.r_[linear.col, conic.col]]
    rows = sp.csc_array((entries, where), shape=(n_linear + conic.shape[0], size + n_parts))
    right = np.r_[-(epigraph.linear @ point), epigraph.conic @ point]
    cones = [clarabel.NonnegativeConeT(n_linear)] if n_linear else []
    return rows, right, [*cones, *(clarabel.SecondOrderConeT(count) for count in epigraph.sizes)]


@dataclass(frozen=True)
class MasterPoint:
    """A minimiser of the model.

    `theta` is (x, b, t), x = w / unit and b, t in scores; `value` the model's value, a mean hinge and a penalty;
    `weights` those of the cuts, shape (n_cuts,); `boxed` whether the box binds.
    """

    theta: Array
    value: float
    weights: Array
    boxed: bool
    status: Status


class LinearMaster:
    """Columns: x (two parts where ‖w‖ is their weighted sum), b, those of the norm, v.

    Rows: norm, constraints, and a row a cut.
    """

    def __init__(self, program: Program, unit: Array, constraints: ColumnConstraints | None = None):
        n = unit.size
        identity, nothing = sp.eye_array(n), sp.csr_array((n, 1))
        parts: list[Any] = [identity]
        rows: Any = sp.csr_array((0, n + 2))
        top = sp.csr_array((1, n))
        norm = program.regulariser.norm
        box = norm.dual_box(n) if program.uses_norm else None
        if box is not None:
            parts, top = [identity, -identity], sp.csr_array(np.r_[unit * box, unit * box][None, :])
        n_parts = n * len(parts)
        # Columns in the order parts, b, [t and what the norm needs], v.
        blocks: list[Any] = [
            [sp.hstack(parts), nothing],
            [sp.csr_array((1, n_parts)), sp.csr_array([[1.0]])],
            [top, sp.csr_array((1, 1))],
        ]
        self._lift: Any = sp.block_array(blocks, format="csr")
        largest = program.comparisons.of_intercept(math.inf)
        lower = np.r_[np.full(n_parts, -math.inf if len(parts) == 1 else 0.0), -largest]
        upper = np.r_[np.full(n_parts, math.inf), largest]
        if program.uses_norm and box is None:
            of_norm = norm.epigraph(unit)
            n_more = of_norm.n_parts(n)
            unit_t = sp.csr_array(([1.0], ([n + 1], [0])), shape=(n + 2, 1 + n_more))
            self._lift = sp.csr_array(sp.hstack([self._lift, unit_t]))
            lower = np.r_[lower, 0.0, np.full(n_more, -math.inf)]
            upper = np.r_[upper, np.full(1 + n_more, math.inf)]
            nothing = sp.csr_array((of_norm.linear.shape[0], 1))
            rows = sp.hstack([of_norm.linear[:, :n], nothing, of_norm.linear[:, n:]])
        self._split, self._n, self._boxes = len(parts) == 2, n, False
        n_norm_rows = rows.shape[0] if rows.shape[1] == self._lift.shape[1] else 0
        first_rows = [rows] if n_norm_rows else []
        row_lower, row_upper = np.full(n_norm_rows, -math.inf), np.zeros(n_norm_rows)
        if constraints is not None:
            on_x, limit, equal = constraints.scaled_rows(unit)
            first_rows.append(sp.csr_array(on_x) @ self._lift[:n])
            row_lower, row_upper = np.r_[row_lower, np.where(equal, limit, -math.inf)], np.r_[row_upper, limit]
        self._n_first_rows = row_upper.size
        cost = np.zeros(n + 2)
        cost[-1] = program.regulariser.weight
        self._cost = np.r_[self._lift.T @ cost, 1.0]
        self._highs = quiet_highs(None)
        n_columns = self._lift.shape[1] + 1
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = self._n_first_rows, n_columns
        lp.col_cost_ = self._cost
        lp.col_lower_, lp.col_upper_ = np.r_[lower, 0.0], np.r_[upper, math.inf]
        lp.row_lower_, lp.row_upper_ = row_lower, row_upper
        matrix = sp.csr_array((0, n_columns))
        if first_rows:
            matrix = sp.csr_array(sp.hstack([sp.vstack(first_rows), sp.csr_array((self._n_first_rows, 1))]))
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
        self._highs.passModel(lp)

    def add(self, constant: float, slope: Array) -> None:
        """Add the cut ``v ≥ constant − slope·(x, b, t)``."""
        row = np.r_[self._lift.T @ slope, 1.0]
        used = np.flatnonzero(row).astype(np.int32)
        self._highs.addRow(constant, math.inf, used.size, used, row[used])

    def remove(self, which: NDArray[np.intp]) -> None:
        """Drop cuts, given by their indices among the present ones; the basis stays valid where they were slack."""
        rows = (which + self._n_first_rows).astype(np.int32)
        self._highs.deleteRows(rows.size, rows)

    def minimise(self, center: Array, radius: float = math.inf, time_limit: float | None = None) -> MasterPoint:
        """The minimum of the model over ``|x − center| ≤ radius``; for norm l1 over a somewhat larger box.

        `center` (n_features + 2,): (x, b, t). `radius`: in the units of x; infinite for no box. `time_limit`: seconds.
        """
        if math.isfinite(radius) or self._boxes:
            self._set_box(center[: self._n], radius)
        # The limit is measured on HiGHS's own clock, which runs on from solve to solve.
        spent = self._highs.getRunTime()
        self._highs.setOptionValue("time_limit", math.inf if time_limit is None else spent + time_limit)
        self._highs.run()
        status = highs_status(self._highs.getModelStatus())
        solution = self._highs.getSolution()
        if status is not Status.OPTIMAL or not solution.dual_valid:
            # The basis of a failed solve is not a start for the next.
            self._highs.clearSolver()
            # Without weight on any cut the bound is 0, because a mean of hinges is not negative.
            n_cuts = self._highs.getNumRow() - self._n_first_rows
            return MasterPoint(center, 0.0, np.zeros(n_cuts), False, status)
        columns = np.array(solution.col_value)
        weights = np.maximum(np.array(solution.row_dual)[self._n_first_rows :], 0.0)
        dual = np.abs(np.array(solution.col_dual)[: self._lift.shape[1]])
        boxed = math.isfinite(radius) and self._binds(columns, dual)
        value = self._highs.getInfo().objective_function_value
        return MasterPoint(self._lift @ columns[:-1], value, weights, boxed, status)

    def restart(self) -> None:
        """Forget the basis: the next solve starts cold."""
        self._highs.clearSolver()

    def _set_box(self, center: Array, radius: float) -> None:
        if self._split:
            lower = np.zeros(2 * self._n)
            upper = np.maximum(np.r_[center + radius, radius - center], 0.0)
        else:
            lower, upper = center - radius, center + radius
        columns = np.arange(lower.size, dtype=np.int32)
        self._highs.changeColsBounds(columns.size, columns, lower, upper)
        self._box = lower, upper
        self._boxes = math.isfinite(radius)

    def _binds(self, columns: Array, dual: Array) -> bool:
        """Whether a side of the box has a dual value; parts of norm l1 at 0 are at their own bound."""
        lower, upper = self._box
        x, active = columns[: lower.size], dual[: lower.size] > 1e-11
        at_side = (x >= upper) | ((x <= lower) & (not self._split))
        return bool((at_side & active).any())


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
