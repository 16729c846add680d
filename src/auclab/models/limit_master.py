"""The master of an outer approximation: cuts of mean hinges, some with limits, in HiGHS, kept warm.

A mean hinge h_g is the sum of its blocks, the shares that some of the positives have in it, and every cut is one of a
block (several small functions are approximated in fewer steps than their sum):

    min  Σ_k cost_k |w_k| + Σ v_gb of all h_g without a limit      (or  t, the largest excess, which is else 0)
    s.t.  v_gb ≥ constant_c − slope_c·w     for every cut c of block b of h_g,     v ≥ 0
          Σ_b v_gb ≤ limit_g + t
          A w ≤ c,  or = c,     lower ≤ w ≤ upper

in features scaled to ``x = w / unit``. The optimum is a lower bound, and the row duals are the multipliers that prove
it (`auclab.solvers.guaranteed.lagrangian`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.dual_lp import highs_status, quiet_highs
from auclab.types import Array, Status


@dataclass(frozen=True)
class LimitPoint:
    """A minimiser of the master.

    `coef` (n_features,): w. `value`: the model's value. `cut_weights` (n_cuts,): duals of the cuts, ≥ 0. `part_weights`
    (n_parts,): duals of the limits, ≥ 0; 1 for what is minimised. `row_multipliers` (n_rows,): of ``A w ≤ c``, ≥ 0;
    free where the row is an equation.
    """

    coef: Array
    value: float
    cut_weights: Array
    part_weights: Array
    row_multipliers: Array
    status: Status


class LimitMaster:
    """Columns: the two parts of x, the blocks, t. Rows: those of the constraints, the limits, the cuts.

    `n_blocks`: of every part. `limits` (n_parts,): ∞ for what is minimised. `cost` (n_features,), ≥ 0: of the moduli of
    w. `unit` (n_features,), > 0: w = x · unit. `constraints`: convex, in the units of w.
    """

    def __init__(
        self, n_blocks: Sequence[int], limits: Array, cost: Array, unit: Array, constraints: ColumnConstraints
    ) -> None:
        self._unit, self._n, self._n_rows, self.n_cuts = unit, unit.size, len(constraints.matrix), 0
        part_of = np.repeat(np.arange(limits.size), n_blocks)
        self._minimised, self._first_block = np.isinf(limits), 2 * unit.size
        self._price = np.r_[cost * unit, cost * unit, self._minimised[part_of], 0.0]
        matrix = constraints.matrix * unit
        rows = np.zeros((self._n_rows + limits.size, self._price.size))
        rows[: self._n_rows, : self._first_block] = np.c_[matrix, -matrix]
        rows[self._n_rows :, self._first_block : -1] = np.arange(limits.size)[:, None] == part_of
        rows[self._n_rows :, -1] = -1.0
        lower, upper, free = constraints.lower / unit, constraints.upper / unit, np.full(part_of.size, math.inf)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = rows.shape
        lp.col_cost_ = self._price
        lp.col_lower_ = np.r_[np.maximum(lower, 0.0), np.maximum(-upper, 0.0), np.zeros(part_of.size + 1)]
        lp.col_upper_ = np.r_[np.maximum(upper, 0.0), np.maximum(-lower, 0.0), free, 0.0]
        of_rows = np.where(constraints.equal, constraints.limit, -math.inf)
        lp.row_lower_ = np.r_[of_rows, np.full(limits.size, -math.inf)]
        lp.row_upper_ = np.r_[constraints.limit, limits]
        where, columns = np.nonzero(rows)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.searchsorted(where, np.arange(len(rows) + 1)).astype(np.int32)
        lp.a_matrix_.index_ = columns.astype(np.int32)
        lp.a_matrix_.value_ = rows[where, columns]
        self._highs = quiet_highs(None)
        self._highs.passModel(lp)
        self.minimise_excess(False)

    def minimise_excess(self, excess: bool) -> None:
        """Minimise t, or the other terms with t = 0."""
        self._excess, t = excess, self._price.size - 1
        price = np.r_[np.zeros(t), 1.0] if excess else self._price
        self._highs.changeColsCost(t + 1, np.arange(t + 1, dtype=np.int32), price)
        self._highs.changeColBounds(t, -math.inf if excess else 0.0, math.inf if excess else 0.0)

    def set_limits(self, limits: Array) -> None:
        """Set the limits of all parts, shape (n_parts,); ∞ for the same ones as before."""
        for g, limit in enumerate(limits):
            self._highs.changeRowBounds(self._n_rows + g, -math.inf, float(limit))

    def add(self, blocks: NDArray[np.intp], constants: Array, slopes: Array) -> None:
        """Add cuts ``v_b ≥ constant − slope·w``.

        `blocks`: their numbers among the blocks of all parts.
        """
        for block, constant, slope in zip(blocks, constants, slopes * self._unit, strict=True):
            used = np.flatnonzero(slope)
            columns = np.r_[used, self._n + used, self._first_block + block].astype(np.int32)
            self._highs.addRow(float(constant), math.inf, columns.size, columns, np.r_[slope[used], -slope[used], 1.0])
        self.n_cuts += len(blocks)

    def remove(self, which: NDArray[np.intp]) -> None:
        """Drop cuts, given by their indices among the present ones."""
        first = self._highs.getNumRow() - self.n_cuts
        self._highs.deleteRows(which.size, (which + first).astype(np.int32))
        self.n_cuts -= which.size

    def restart(self) -> None:
        """Forget the basis: the next solve starts cold."""
        self._highs.clearSolver()

    def minimise(self, time_limit: float | None = None) -> LimitPoint:
        """The minimum of the model; a status other than OPTIMAL comes without a point.

        `time_limit`: seconds.
        """
        spent = self._highs.getRunTime()
        self._highs.setOptionValue("time_limit", math.inf if time_limit is None else spent + time_limit)
        self._highs.run()
        status = highs_status(self._highs.getModelStatus())
        solution = self._highs.getSolution()
        duals = np.array(solution.row_dual)
        if status is not Status.OPTIMAL or not solution.dual_valid:
            self._highs.clearSolver()
            status = Status.FAILED if status is Status.OPTIMAL else status
            duals = np.zeros(self._highs.getNumRow())
        of_rows, of_limits, of_cuts = np.split(duals, [self._n_rows, duals.size - self.n_cuts])
        part_weights = np.where(self._minimised & ~np.bool_(self._excess), 1.0, np.maximum(-of_limits, 0.0))
        columns = np.array(solution.col_value)
        coef = (columns[: self._n] - columns[self._n : self._first_block]) * self._unit
        value = self._highs.getInfo().objective_function_value
        return LimitPoint(coef, value, np.maximum(of_cuts, 0.0), part_weights, -of_rows, status)
