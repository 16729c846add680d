"""The master of an outer approximation: cuts of mean hinges that have limits, in HiGHS, kept warm.

A mean hinge h_g is the sum of its blocks, the shares that some of the positives have in it, and every cut is one of a
block (several small functions are approximated in fewer steps than their sum):

    min  Σ_k cost_k |w_k| + goal
    s.t.  v_gb ≥ constant_c − slope_c·w     for every cut c of block b of h_g,     v ≥ 0
          Σ_b v_gb ≤ limit_g                (for the goal "excess": ≤ limit_g + t)
          A w ≤ c,  or = c,     lower ≤ w ≤ upper

in features scaled to ``x = w / unit``. The optimum is a lower bound, and the row duals are the multipliers that prove
it (`auclab.solvers.guaranteed.lagrangian`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import highspy
import numpy as np
from numpy.typing import NDArray

from auclab.formulations.column_constraints import ColumnConstraints
from auclab.models.dual_lp import highs_status, quiet_highs
from auclab.types import Array, Status

#: What is minimised besides cost·|w|: nothing, the mean hinge of the first part, or t, the largest ``h_g − limit_g``.
Goal = Literal["norm", "hinge", "excess"]


@dataclass(frozen=True)
class LimitPoint:
    """A minimiser of the master.

    Attributes
    ----------
    coef : array of shape (n_features,)
        w.
    value : float
        The model's value.
    cut_weights : array of shape (n_cuts,)
        Duals of the cuts, ≥ 0.
    part_weights : array of shape (n_parts,)
        Duals of the limits, ≥ 0; 1 for what is minimised.
    row_multipliers : array of shape (n_rows,)
        Of ``A w ≤ c``, ≥ 0; free where the row is an equation.
    status : Status
    """

    coef: Array
    value: float
    cut_weights: Array
    part_weights: Array
    row_multipliers: Array
    status: Status


class LimitMaster:
    """Columns: the two parts of x, the blocks, t. Rows: those of the constraints, the limits, the cuts.

    Parameters
    ----------
    goal : {"norm", "hinge", "excess"}
    n_blocks : sequence of int
        Of every part.
    cost : array of shape (n_features,), ≥ 0
        Of the moduli of w.
    unit : array of shape (n_features,), > 0
        w = x · unit.
    constraints : ColumnConstraints
        Convex, in the units of w.
    """

    def __init__(
        self, goal: Goal, n_blocks: Sequence[int], cost: Array, unit: Array, constraints: ColumnConstraints
    ) -> None:
        self._goal, self._unit, self._n = goal, unit, unit.size
        self._n_rows, self._n_parts, self.n_cuts = len(constraints.matrix), len(n_blocks), 0
        part_of = np.repeat(np.arange(self._n_parts), n_blocks)
        self._first_block = 2 * self._n
        n_columns = self._first_block + part_of.size + 1
        blocks = np.zeros((self._n_parts, n_columns))
        blocks[part_of, self._first_block + np.arange(part_of.size)] = 1.0
        price = np.r_[cost * unit, cost * unit, np.zeros(part_of.size), 0.0]
        if goal == "hinge":
            price[self._first_block : -1][part_of == 0] = 1.0
        if goal == "excess":
            blocks[:, -1], price[-1] = -1.0, 1.0
        rows = constraints.matrix * unit
        dense = np.vstack([np.c_[rows, -rows, np.zeros((self._n_rows, part_of.size + 1))], blocks])
        where, columns = np.nonzero(dense)
        lower, upper = constraints.lower / unit, constraints.upper / unit
        t_range = (-math.inf, math.inf) if goal == "excess" else (0.0, 0.0)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = dense.shape
        lp.col_cost_ = price
        lp.col_lower_ = np.r_[np.maximum(lower, 0.0), np.maximum(-upper, 0.0), np.zeros(part_of.size), t_range[0]]
        lp.col_upper_ = np.r_[
            np.maximum(upper, 0.0), np.maximum(-lower, 0.0), np.full(part_of.size, math.inf), t_range[1]
        ]
        lp.row_lower_ = np.r_[
            np.where(constraints.equal, constraints.limit, -math.inf), np.full(self._n_parts, -math.inf)
        ]
        lp.row_upper_ = np.r_[constraints.limit, np.full(self._n_parts, math.inf)]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.searchsorted(where, np.arange(len(dense) + 1)).astype(np.int32)
        lp.a_matrix_.index_ = columns.astype(np.int32)
        lp.a_matrix_.value_ = dense[where, columns]
        self._highs = quiet_highs(None)
        self._highs.passModel(lp)

    def set_limits(self, limits: Array) -> None:
        """Set the limits of all parts, shape (n_parts,); ∞ for none."""
        for g, limit in enumerate(limits):
            self._highs.changeRowBounds(self._n_rows + g, -math.inf, float(limit))

    def add(self, blocks: NDArray[np.intp], constants: Array, slopes: Array) -> None:
        """Add cuts ``v_b ≥ constant − slope·w``.

        Parameters
        ----------
        blocks : array of int, shape (n_new,)
            Their numbers among the blocks of all parts.
        constants : array of shape (n_new,)
        slopes : array of shape (n_new, n_features)
        """
        count, width = slopes.shape
        scaled = slopes * self._unit
        values = np.concatenate([scaled, -scaled, np.ones((count, 1))], axis=1)
        columns = np.empty(values.shape, np.int32)
        columns[:, :-1] = np.arange(2 * width, dtype=np.int32)
        columns[:, -1] = self._first_block + blocks
        used = values != 0.0
        lengths = used.sum(axis=1)
        starts = np.r_[0, np.cumsum(lengths)[:-1]].astype(np.int32)
        above = np.full(count, math.inf)
        self._highs.addRows(count, constants, above, int(lengths.sum()), starts, columns[used], values[used])
        self.n_cuts += count

    def remove(self, which: NDArray[np.intp]) -> None:
        """Drop cuts, given by their indices among the present ones."""
        self._highs.deleteRows(which.size, (which + self._n_rows + self._n_parts).astype(np.int32))
        self.n_cuts -= which.size

    def restart(self) -> None:
        """Forget the basis: the next solve starts cold."""
        self._highs.clearSolver()

    def minimise(self, time_limit: float | None = None) -> LimitPoint:
        """The minimum of the model; a status other than OPTIMAL comes without a point.

        Parameters
        ----------
        time_limit : float, optional
            Seconds.
        """
        spent = self._highs.getRunTime()
        self._highs.setOptionValue("time_limit", math.inf if time_limit is None else spent + time_limit)
        self._highs.run()
        status = highs_status(self._highs.getModelStatus())
        solution = self._highs.getSolution()
        if status is not Status.OPTIMAL or not solution.dual_valid:
            self._highs.clearSolver()
            status = Status.FAILED if status is Status.OPTIMAL else status
            nothing = np.zeros(self.n_cuts), np.zeros(self._n_parts), np.zeros(self._n_rows)
            return LimitPoint(np.full(self._n, math.nan), -math.inf, *nothing, status)
        columns, duals = np.array(solution.col_value), np.array(solution.row_dual)
        coef = (columns[: self._n] - columns[self._n : 2 * self._n]) * self._unit
        of_rows, of_parts, of_cuts = np.split(duals, [self._n_rows, self._n_rows + self._n_parts])
        part_weights = np.maximum(-of_parts, 0.0)
        if self._goal == "hinge":
            part_weights[0] = 1.0
        value = self._highs.getInfo().objective_function_value
        return LimitPoint(coef, value, np.maximum(of_cuts, 0.0), part_weights, -of_rows, status)
