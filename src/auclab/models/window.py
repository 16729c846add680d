"""Linear programs over the pairs near the threshold: for HiGHS, and as a cone for Clarabel.

At a point (w, b) a hinge argument is ``a_k = 1 − z‖w‖ − m_k``. Margins with ``a_k > δ`` are surely on (full weight),
those with ``a_k < −δ`` surely off (weight 0), as long as no margin moves by more than δ. With the negatives sorted by
score the undecided pairs of every positive are consecutive: O(m log m) plus the window itself.

min   Σ_k c_k β_k + S − G·w − (Σ q y) b − z S t + λ t (or λ t²)
    s.t.  β_k ≥ 1 − d_k·w − y_k b − z t,   β_k ≥ 0,   ‖w‖ ≤ t,   |w − center| ≤ radius,   A w ≤ c

with the sums S, G of the margins that are surely on. Same call and same answer as `dual_lp.solve_dual`.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab._core.tolerances import EPSILON, EQUAL
from auclab.formulations.base import Program
from auclab.formulations.constraints import ColumnConstraints
from auclab.formulations.problem import Problem
from auclab.formulations.programs import without_squares
from auclab.models.bundle import norm_cone
from auclab.models.dual_lp import DualPoint, Fixed, Margins, Region
from auclab.models.hard_margin import pair_margins
from auclab.models.timings import Timings


@dataclass(frozen=True)
class Window:
    """The undecided margins: `rows_pos[k]`, `rows_neg[k]` are their observations (−1: none, over points).

    `on_pos` and `on_neg` are the multipliers of the decided margins, per class.
    """

    margins: Margins
    rows_pos: NDArray[np.intp]
    rows_neg: NDArray[np.intp]
    on_pos: Array
    on_neg: Array

    def fixed(self, problem: Problem) -> Fixed:
        """The margins that are on, as sums."""
        margins, sums = problem.program.comparisons, (float(self.on_pos.sum()), float(self.on_neg.sum()))
        gradient = problem.sample.combine(self.on_pos, self.on_neg)
        return Fixed(margins.total(*sums), gradient, margins.of_intercept(sums[0] - sums[1]))

    def marginals(self, weights: Array) -> tuple[Array, Array]:
        """Multipliers per class: the decided margins' and the window's."""
        pos, neg = self.rows_pos >= 0, self.rows_neg >= 0
        return (
            self.on_pos + np.bincount(self.rows_pos[pos], weights[pos], minlength=self.on_pos.size),
            self.on_neg + np.bincount(self.rows_neg[neg], weights[neg], minlength=self.on_neg.size),
        )


def window_around(problem: Problem, coef: Array, intercept: float, n_wanted: int) -> Window:
    """The window at a point with about `n_wanted` margins (more if more are tied at its edge).

    `coef` is w, in scores per unit of each feature, `intercept` b, in scores; the hinge arguments have no unit.
    """
    shift = 1.0 - problem.program.threshold * problem.program.regulariser.norm(coef)
    scores_pos, scores_neg = problem.sample.scores(coef)
    if problem.over_pairs:
        return _pairs_around(problem, scores_pos - shift, scores_neg, n_wanted)
    return _points_around(problem, shift - (scores_pos + intercept), shift + scores_neg + intercept, n_wanted)


def _points_around(problem: Problem, arguments_pos: Array, arguments_neg: Array, n_wanted: int) -> Window:
    sample = problem.sample
    arguments = np.r_[arguments_pos, arguments_neg]
    distance = np.abs(arguments)
    within = np.partition(distance, n_wanted - 1)[n_wanted - 1] if n_wanted < distance.size else distance.max()
    undecided = distance <= max(within, EQUAL)
    capacity = np.concatenate(sample.point_weights)
    on = np.where(undecided | (arguments <= 0), 0.0, capacity)
    selected = np.flatnonzero(undecided)
    positive = selected < sample.n_pos
    X_pos, X_neg = sample.take(selected[positive], selected[~positive] - sample.n_pos)
    return Window(
        Margins(sample.stack([X_pos, -X_neg]), capacity[selected], np.where(positive, 1.0, -1.0)),
        np.where(positive, selected, -1),
        np.where(positive, -1, selected - sample.n_pos),
        on[: sample.n_pos],
        on[sample.n_pos :],
    )


def _pairs_around(problem: Problem, kinks: Array, scores_neg: Array, n_wanted: int) -> Window:
    sample = problem.sample
    order = np.argsort(scores_neg)
    ascending = scores_neg[order]
    half_width = _half_width(ascending, kinks, n_wanted)
    first = np.searchsorted(ascending, kinks - half_width, side="left")
    last = np.searchsorted(ascending, kinks + half_width, side="right")
    lengths = last - first
    rows_pos = np.repeat(np.arange(sample.n_pos), lengths)
    # Position within each positive's run of negatives, added to where the run starts.
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows_neg = order[np.repeat(first, lengths) + within]
    share = sample.share_neg[order]
    share_above = np.append(np.cumsum(share[::-1])[::-1], 0.0)
    opened = np.bincount(last, sample.share_pos, minlength=sample.n_neg + 1)[: sample.n_neg]
    on_neg = np.empty(sample.n_neg)
    on_neg[order] = share * np.cumsum(opened)
    margins = pair_margins(problem, rows_pos, rows_neg)
    return Window(margins, rows_pos, rows_neg, sample.share_pos * share_above[last], on_neg)


def _half_width(ascending: Array, kinks: Array, n_wanted: int) -> float:
    """The δ for which about `n_wanted` pairs have ``|score_neg − kink| ≤ δ``, by bisection on counts."""

    def count(width: float) -> int:
        above = np.searchsorted(ascending, kinks + width, side="right")
        return int((above - np.searchsorted(ascending, kinks - width, side="left")).sum())

    low, high = 0.0, float(max(ascending[-1] - kinks.min(), kinks.max() - ascending[0], 0.0))
    if kinks.size * ascending.size <= n_wanted:
        return high
    while high - low > EPSILON * high:
        middle = 0.5 * (low + high)
        size = count(middle)
        if size > n_wanted:
            high = middle
        else:
            low = middle
        if 0.9 * n_wanted <= size <= n_wanted:
            break
    return max(low, EQUAL)


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
