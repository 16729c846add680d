"""The linear program of cuts of a part of the tree, kept warm by HiGHS, and the plane that its multipliers prove.

    min  v + p   s.t.   v ≥ S_c − G_c·w,   p ≥ a_c·w + h_c·z,   l_k z_g ≤ w_k ≤ u_k z_g,   Σ_g z_g ≤ K,   A w ≤ c

over ``lower ≤ w ≤ upper`` and ``0 ≤ z ≤ 1``. The multipliers of an optimum, 1 in sum over the cuts of v and over those
of p, combine the cuts to one plane below the objective, and its minimum over the region, with whole z, is the bound
(`auclab.solvers.integer.region.least`): feasible multipliers of any accuracy prove one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, Status
from auclab.models.dual_lp import highs_status, quiet_highs
from auclab.solvers.integer.region import EXCLUDED, USED, Limit, Plane, Region

#: Cuts that are kept when old ones are dropped, in addition to two per column.
_KEPT = 60


@dataclass(frozen=True, eq=False)
class LinearPoint:
    """A minimiser of the linear program: w, the z of each limit, the value, and the plane of its multipliers."""

    coef: Array
    used: tuple[Array, ...]
    value: float
    plane: Plane


@dataclass(frozen=True, eq=False)
class Rows:
    """Linear rows ``A w ≤ c``, or equations; `matrix` has the shape (n_rows, n_features)."""

    matrix: Array
    limit: Array
    equal: NDArray[np.bool_]


class Relaxation:
    """Cuts, and the linear program over them.

    `lower`, `upper` (n_features,): of all w; finite. `penalised`: whether there is a column p.
    """

    def __init__(
        self,
        lower: Array,
        upper: Array,
        limits: tuple[Limit, ...],
        rows: Rows | None = None,
        *,
        penalised: bool = False,
    ) -> None:
        self._n, self._limits, self._rows = lower.size, limits, rows
        self._first_used = np.cumsum([self._n, *(limit.n_groups for limit in limits)])
        self._loss = int(self._first_used[-1])
        n_columns = self._loss + 1 + penalised
        self._penalised = penalised
        self._highs: Any = quiet_highs(None)
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self._highs.setOptionValue(name, 1e-9)
        self._highs.setOptionValue("presolve", "off")
        self._highs.addVars(
            n_columns,
            np.r_[lower, np.zeros(n_columns - self._n)],
            np.r_[upper, np.ones(self._loss - self._n), np.full(1 + penalised, highspy.kHighsInf)],
        )
        for column in range(self._loss, n_columns):
            self._highs.changeColCost(column, 1.0)
        self._columns = np.arange(self._loss, dtype=np.int32)
        self._add_limits(lower, upper)
        self._add_rows()
        self._n_fixed = self._highs.getNumRow()
        n_groups = limits[0].n_groups if limits else 0
        self._table = _CutTable(self._n, n_groups)
        self.programs, self.failed = 0, False

    def add(self, constant: float, slope: Array) -> None:
        """Add the cut ``v ≥ constant − slope·w``."""
        self._add_cut(constant, slope, None, self._loss)

    def add_penalty(self, slope: Array, charge: Array) -> None:
        """Add the cut ``p ≥ −slope·w − charge·z``, z that of the first limit (or 1 where there is none)."""
        if self._limits:
            self._add_cut(0.0, slope, charge, self._loss + 1)
        else:
            self._add_cut(-float(charge.sum()), slope, None, self._loss + 1)

    def solve(self, region: Region, seconds: float | None = None) -> LinearPoint | None:
        """The minimum over a region; None where it is empty or HiGHS does not solve the program."""
        self._drop_old()
        states = [np.empty(0, np.int8), *region.states]
        state = np.concatenate(states)
        lower, upper = np.r_[region.lower, state == USED], np.r_[region.upper, state != EXCLUDED]
        self._highs.changeColsBounds(self._columns.size, self._columns, lower, upper)
        return self.again(seconds)

    def again(self, seconds: float | None = None) -> LinearPoint | None:
        """The minimum over the region of the last program, with the cuts that were added since."""
        if seconds is not None:
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + seconds)
        self._highs.run()
        self.programs += 1
        status = highs_status(self._highs.getModelStatus())
        if status is Status.FAILED and self._highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible:
            self._highs.clearSolver()  # once more without the basis
            self._highs.run()
            status = highs_status(self._highs.getModelStatus())
        self.failed = False
        if status is not Status.OPTIMAL:
            self.failed = self._highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible
            return None
        solution = self._highs.getSolution()
        columns, dual = np.array(solution.col_value), np.array(solution.row_dual)
        self._table.active[: self._table.count][dual[self._n_fixed :] != 0] = self.programs
        used = tuple(
            columns[first:last] for first, last in zip(self._first_used[:-1], self._first_used[1:], strict=True)
        )
        value = float(self._highs.getInfo().objective_function_value)
        return LinearPoint(columns[: self._n], used, value, self._plane(dual))

    def _plane(self, dual: Array) -> Plane:
        """The cuts combined by their multipliers, which are made to sum to 1, and those of the rows."""
        table, count = self._table, self._table.count
        weights = np.maximum(dual[self._n_fixed :], 0.0)
        for of_penalty in (False, True):
            # Sums above 1 are scaled; below 1 the rest is on v ≥ 0 or p ≥ 0.
            chosen = table.of_penalty[:count] == of_penalty
            weights[chosen] /= max(1.0, float(weights[chosen].sum()))
        active = np.flatnonzero(weights)
        weights = weights[active]
        # Σ_k π_k (c_k − s_k·w) with π ≥ 0 and Σ π ≤ 1 is below v wherever the cuts are, as v ≥ 0.
        constant, slope = float(weights @ table.constant[active]), weights @ table.slope[active]
        charge = weights @ table.charge[active] if self._penalised and self._limits else None
        if self._rows is not None and len(self._rows.limit):
            # Of a row A w ≤ c with multiplier μ ≥ 0: 0 ≥ μ (A w − c).
            of_rows = -dual[self._n_fixed - len(self._rows.limit) : self._n_fixed]
            of_rows = np.where(self._rows.equal, of_rows, np.maximum(of_rows, 0.0))
            constant -= float(of_rows @ self._rows.limit)
            slope -= self._rows.matrix.T @ of_rows
        return Plane(constant, slope, charge)

    def _add_cut(self, constant: float, slope: Array, charge: Array | None, column: int) -> None:
        used = np.flatnonzero(slope)
        charged = np.empty(0, np.intp) if charge is None else np.flatnonzero(charge)
        index = np.r_[used, charged + self._n, column].astype(np.int32)
        value = np.r_[slope[used], np.empty(0) if charge is None else charge[charged], 1.0]
        self._highs.addRow(constant, highspy.kHighsInf, index.size, index, value)
        self._table.append(constant, slope, charge, column > self._loss, self.programs)

    def _drop_old(self) -> None:
        """Drop the cuts that were active longest ago."""
        keep = _KEPT + 2 * self._n
        if self._table.count < 1.5 * keep:
            return
        active = self._table.active[: self._table.count]
        old = active < np.sort(active)[-keep]
        rows = (np.flatnonzero(old) + self._n_fixed).astype(np.int32)
        self._highs.deleteRows(rows.size, rows)
        self._table.keep(np.flatnonzero(~old))

    def _add_limits(self, lower: Array, upper: Array) -> None:
        for limit, first in zip(self._limits, self._first_used[:-1], strict=True):
            for column, group in enumerate(limit.group):
                pair = np.array([column, first + group], dtype=np.int32)
                if upper[column] > 0:
                    self._highs.addRow(-highspy.kHighsInf, 0.0, 2, pair, np.array([1.0, -upper[column]]))
                if lower[column] < 0:
                    self._highs.addRow(0.0, highspy.kHighsInf, 2, pair, np.array([1.0, -lower[column]]))
            groups = np.arange(first, first + limit.n_groups, dtype=np.int32)
            self._highs.addRow(-highspy.kHighsInf, float(limit.most), groups.size, groups, np.ones(groups.size))

    def _add_rows(self) -> None:
        if self._rows is None:
            return
        for row, limit, equal in zip(self._rows.matrix, self._rows.limit, self._rows.equal, strict=True):
            used = np.flatnonzero(row).astype(np.int32)
            self._highs.addRow(limit if equal else -highspy.kHighsInf, limit, used.size, used, row[used])


class _CutTable:
    """The cuts of a program in the order of its rows, and the last program in which each was active."""

    def __init__(self, n: int, n_groups: int) -> None:
        self.count = 0
        self.constant, self.slope, self.charge = np.zeros(64), np.zeros((64, n)), np.zeros((64, n_groups))
        self.of_penalty, self.active = np.zeros(64, bool), np.zeros(64, np.int64)

    _NAMES = ("constant", "slope", "charge", "of_penalty", "active")

    def append(self, constant: float, slope: Array, charge: Array | None, of_penalty: bool, now: int) -> None:
        """Add a cut; the arrays double when they are full."""
        at = self.count
        if at == self.constant.size:
            for name in self._NAMES:
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values, np.zeros_like(values)]))
        self.constant[at], self.slope[at], self.of_penalty[at], self.active[at] = constant, slope, of_penalty, now
        self.charge[at] = 0.0 if charge is None else charge
        self.count += 1

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Keep only some cuts."""
        for name in self._NAMES:
            values = getattr(self, name)
            values[: rows.size] = values[rows]
        self.count = rows.size
