"""The master of a bundle method for linear programs: HiGHS, kept warm while cuts come and go.

    min  v + λt   s.t.   v ≥ S_c − G_c·(x, b, t) for every cut c,   v ≥ 0,   ‖x·unit‖ ≤ t

in features scaled to ``x = w / unit``. Its optimum is a lower bound of the hinge program, and the weights of the cuts,
the row duals, combine their multipliers to those that prove it. A box around a centre keeps the first, unbounded
minima nearby; the bound holds where the box does not bind, and after `minimise` without a radius. Constraints are rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab.formulations.base import Program
from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.dual_lp import highs_status, quiet_highs
from auclab.types import Array, Status


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
        lower = np.r_[np.full(n_parts, -math.inf if len(parts) == 1 else 0.0), -math.inf]
        if program.comparisons.name == "pairs":
            lower[-1] = 0.0
        upper = np.r_[np.full(n_parts, math.inf), math.inf if program.comparisons.name == "points" else 0.0]
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
