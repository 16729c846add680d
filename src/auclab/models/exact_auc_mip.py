"""Norton & Uryasev (19) as mixed-integer programs in HiGHS: one 0/1 variable for every direction of a pair.

    min Σ_p c_p z_p   s.t.   e_p·v + M_p z_p ≥ ε,   low ≤ v ≤ high,   z_p ∈ {0, 1},     e_p = d_p/‖d_p‖₁

with ``d = x⁺ − x⁻`` in units of the spread of the features, and ``w = v/spread`` up to its length, which AUC does not
see. ``M_p = ε − min e_p·v`` over the box is the smallest constant that switches a row off; the larger the box, the less
its relaxation bounds. A pair counts as right from ``e_p·v ≥ ε`` on: below that it is tied. Pairs of one direction share
a variable; equal rows (d = 0) have none, nor have the directions that a box decides.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from auclab._core.base import Array, Status
from auclab._core.forms import dense
from auclab._core.tolerances import EPSILON, EQUAL, ROUNDING, TOLERANCE
from auclab.formulations.problem import Problem
from auclab.models.dual_lp import highs_status, quiet_highs, set_options
from auclab.models.hard_margin import all_margins

#: ε: far above HiGHS's tolerances, which are 1e-9 for 0/1 variables, and far below differences that matter in data.
MARGIN = TOLERANCE
_MIP_OPTIONS: dict[str, Any] = dict.fromkeys(("mip_feasibility_tolerance", "mip_abs_gap", "mip_rel_gap"), EQUAL)


@dataclass(frozen=True)
class Directions:
    """The distinct ``e_p``, shape (n_directions, n_features), the weight of their pairs, and that of equal rows.

    Weights are shares of all pairs, ``weight = count · unit``; counts are whole numbers for an unweighted sample.
    `thin` says whether some direction has an entry below ε that is not 0, all together have hardly an extent along some
    v, or two are nearly opposite: such a v tells pairs apart by less than ε, and the counts of the tree do not see it.
    """

    rows: Array
    count: Array
    equal: float
    unit: float
    whole: bool
    thin: bool = False

    def wrong(self, point: Array) -> float:
        """The count of the directions that are not right at v, where HiGHS may have them just below ε."""
        return float(self.count[self.rows @ point < 0.5 * MARGIN].sum())


@dataclass(frozen=True)
class Box:
    """The v with ``low ≤ v ≤ high``, and which directions it decides; v in units of the largest entry, at most 1."""

    low: Array
    high: Array
    pairs: Directions

    @cached_property
    def smallest(self) -> Array:
        """Min ``e_p·v`` over the box."""
        rows = self.pairs.rows
        return np.asarray(np.maximum(rows, 0.0) @ self.low + np.minimum(rows, 0.0) @ self.high)

    @cached_property
    def open(self) -> NDArray[np.intp]:
        """The directions that are ranked correctly at some v of the box and not at others."""
        rows = self.pairs.rows
        largest = np.maximum(rows, 0.0) @ self.high + np.minimum(rows, 0.0) @ self.low
        return np.flatnonzero((largest >= MARGIN) & (self.smallest < MARGIN))

    @cached_property
    def lost(self) -> float:
        """The count of the directions that are ranked correctly nowhere in the box."""
        rows, count = self.pairs.rows, self.pairs.count
        largest = np.maximum(rows, 0.0) @ self.high + np.minimum(rows, 0.0) @ self.low
        return float(count[largest < MARGIN].sum())

    def halves(self) -> tuple[Box, Box]:
        """The box cut in the middle of the side along which the open directions differ most."""
        side = (self.high - self.low) * np.abs(self.pairs.rows[self.open]).sum(axis=0)
        k = int(side.argmax())
        middle = 0.5 * (self.low[k] + self.high[k])
        high, low = self.high.copy(), self.low.copy()
        high[k] = low[k] = middle
        return Box(self.low, high, self.pairs), Box(low, self.high, self.pairs)


@dataclass(frozen=True)
class BoxPoint:
    """A v of a box and a bound on the count of the directions that are not right in it."""

    point: Array
    bound: float
    status: Status


def pair_directions(problem: Problem) -> Directions:
    """The pairs of a sample as directions, of l1 norm 1 in units of the spread of the features."""
    margins = all_margins(problem)
    scaled = dense(margins.directions) / problem.sample.spread
    length = np.abs(scaled).sum(axis=1)
    apart = length > 0
    unit_rows = scaled[apart] / length[apart, None]
    thin = _is_thin(unit_rows) or _has_nearly_opposite(problem, unit_rows, apart)
    rounded = np.rint(unit_rows / ROUNDING) * ROUNDING + 0.0
    rows, place = np.unique(rounded, axis=0, return_inverse=True)
    whole = not problem.sample.weighted
    unit = 1.0 / problem.n_margins if whole else float(margins.capacity[margins.capacity > 0].mean())
    count: Array = np.bincount(place.ravel(), margins.capacity[apart] / unit, minlength=len(rows)).astype(float)
    if whole:
        count = np.rint(count)
    return Directions(rows, count, float(margins.capacity[~apart].sum()), unit, whole, thin)


def _is_thin(rows: Array) -> bool:
    """Whether some v, a feature or a singular vector, separates some of these directions by less than ε."""
    if ((rows != 0) & (abs(rows) < MARGIN)).any():
        return True
    extents = np.linalg.svd(rows, compute_uv=False) / math.sqrt(max(len(rows), 1))
    return bool(((extents > EPSILON) & (extents < MARGIN)).any())


def _has_nearly_opposite(problem: Problem, rows: Array, apart: Array) -> bool:
    """Whether two of the directions are opposite within ε, but not exactly: some w ranks the pairs of both correctly.

    Decimals do this that floats hold inexactly: 0.03 − 0.01 is not 2 · 0.01. So directions are compared as the least
    integers in proportion to them.
    """
    n_opposite = np.asarray(cKDTree(rows).query_ball_point(-rows, MARGIN, return_length=True))
    if not n_opposite.any():
        return False
    rows_pos, rows_neg, _ = problem.sample.pairs()
    of_pair = np.flatnonzero(apart)[n_opposite > 0]
    X_pos, X_neg = map(dense, problem.sample.take(rows_pos[of_pair], rows_neg[of_pair]))
    exact = [_proportional(row) for row in _integers(X_pos, X_neg)]
    number = Counter(exact)
    n_exactly = [number[tuple(-entry for entry in row)] for row in exact]
    return n_exactly != n_opposite[n_opposite > 0].tolist()


def _integers(X_pos: Array, X_neg: Array) -> Any:
    """``x⁺ − x⁻`` without rounding: every feature times a power of 2 that makes its values integers, as Python's."""
    X = np.vstack([X_pos, X_neg])
    digits, exponent = np.frexp(X)
    whole = np.ldexp(digits, 53).astype(np.int64).astype(object)
    lowest = np.where(X != 0, exponent, np.iinfo(exponent.dtype).max).min(axis=0)
    shifted = whole << np.where(X != 0, exponent - lowest, 0).astype(object)
    return shifted[: X_pos.shape[0]] - shifted[X_pos.shape[0] :]


def _proportional(row: Any) -> tuple[int, ...]:
    """The integers of a row divided by their greatest common divisor."""
    divisor = math.gcd(*row)
    return tuple(entry // divisor for entry in row)


def solve_box(box: Box, below: float, time_limit: float | None, *, integer: bool) -> BoxPoint:
    """The least count in a box, or its relaxation; only counts up to `below` are searched for.

    `below`: in counts of pairs. `time_limit`: seconds. `integer`: whether the 0/1 variables are integers; else the
    relaxation. Returns: its bound, in counts of pairs, is infinite where no count is that small.
    """
    n_features = box.low.size
    highs = quiet_highs(time_limit)
    set_options(highs, _MIP_OPTIONS)
    highs.passModel(_model(box, below, integer))
    highs.run()
    if highs.getModelStatus() in (
        highspy.HighsModelStatus.kInfeasible,
        highspy.HighsModelStatus.kUnboundedOrInfeasible,
    ):
        return BoxPoint(0.5 * (box.low + box.high), math.inf, Status.OPTIMAL)
    info, found, status = highs.getInfo(), highs.getSolution(), highs_status(highs.getModelStatus())
    point = 0.5 * (box.low + box.high)
    if found.value_valid and len(found.col_value):
        point = np.array(found.col_value)[:n_features]
    bound = info.mip_dual_bound if integer else info.objective_function_value
    proved = status is Status.OPTIMAL or (integer and math.isfinite(bound))
    return BoxPoint(point, box.lost + max(0.0, bound) if proved else box.lost, status)


def widest(pairs: Directions, point: Array) -> Array:
    """The v with the same right pairs whose smallest ``e_p·v`` is largest; `point` where HiGHS finds none better."""
    right = pairs.rows[pairs.rows @ point >= 0.5 * MARGIN]
    n_right, n_features = right.shape
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = n_right, n_features + 1
    lp.col_cost_ = np.r_[np.zeros(n_features), -1.0]
    lp.col_lower_, lp.col_upper_ = np.r_[np.full(n_features, -1.0), 0.0], np.ones(n_features + 1)
    lp.row_lower_, lp.row_upper_ = np.zeros(n_right), np.full(n_right, math.inf)
    _fill(lp, sp.csr_array(np.c_[right, -np.ones(n_right)]))
    highs = quiet_highs(None)
    highs.passModel(lp)
    highs.run()
    if highs_status(highs.getModelStatus()) is not Status.OPTIMAL:
        return point
    return np.array(highs.getSolution().col_value)[:n_features]


def _model(box: Box, below: float, integer: bool) -> highspy.HighsLp:
    """Columns v and z; a row for every open direction, and one that keeps the count small."""
    rows, count = box.pairs.rows[box.open], box.pairs.count[box.open]
    n_open, n_features = rows.shape
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = n_open + 1, n_features + n_open
    lp.col_cost_ = np.r_[np.zeros(n_features), count]
    lp.col_lower_, lp.col_upper_ = np.r_[box.low, np.zeros(n_open)], np.r_[box.high, np.ones(n_open)]
    lp.row_lower_ = np.r_[np.full(n_open, MARGIN), -math.inf]
    lp.row_upper_ = np.r_[np.full(n_open, math.inf), below - box.lost]
    switch = sp.diags_array(MARGIN - box.smallest[box.open])
    budget = sp.csr_array(np.r_[np.zeros(n_features), count][None, :])
    _fill(lp, sp.vstack([sp.hstack([sp.csr_array(rows), switch]), budget], format="csr"))
    if integer:
        kinds = highspy.HighsVarType
        lp.integrality_ = [kinds.kContinuous] * n_features + [kinds.kInteger] * n_open
    return lp


def _fill(lp: highspy.HighsLp, matrix: Any) -> None:
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
