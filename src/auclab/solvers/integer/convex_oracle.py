"""A convex program as an oracle of cuts, in columns of about unit spread: its loss, its norm, its intercept.

The columns are ``x = w · unit``, and the intercept is one more column over points. A norm enters by its tangents,
``‖w‖ ≥ u·w`` with ``‖u‖_* ≤ 1``: those of −z‖w‖ are in the cuts of the loss, those of λ‖w‖ are cuts of their own. The
square of the l2 norm has a sharper cut: a group that is not used costs nothing,

    λ w_k² ≥ 2λ a_k w_k − λ a_k² z_g,     z_g = 1 where the group of column k is used, else 0.
"""

from __future__ import annotations

import numpy as np

from auclab.formulations.problem import Problem
from auclab.precision import FEW_ROUNDINGS
from auclab.solvers.cutting_plane.cuts import supporting_cut
from auclab.solvers.integer.region import Limit
from auclab.solvers.reformulations import power_of_two
from auclab.types import Array


class ConvexOracle:
    """Values and cuts of a problem at x.

    `problem`: convex, in memory, a mean of hinges over all pairs or points. `limit`: of the groups of the columns of x,
    the intercept's included.
    """

    def __init__(self, problem: Problem, limit: Limit) -> None:
        sample = problem.sample
        self.problem, self.limit = problem, limit
        self.has_intercept = not problem.over_pairs
        self.unit = power_of_two(sample.spread)
        self.n = sample.n_features

    @property
    def n_columns(self) -> int:
        """Number of columns, including the intercept."""
        return self.n + self.has_intercept

    def coef(self, x: Array) -> Array:
        """W of x."""
        return x[: self.n] / self.unit

    def intercept(self, x: Array) -> float:
        """B of x; 0 over pairs."""
        return float(x[-1]) if self.has_intercept else 0.0

    def cut(self, x: Array) -> tuple[float, float, Array]:
        """The value of the program at x, and the constant and slope of the cut of its loss there."""
        program, coef = self.problem.program, self.coef(x)
        size = program.regulariser.norm(coef) if program.uses_norm else 0.0
        loss, slope, cut = supporting_cut(self.problem, np.r_[coef, self.intercept(x), size], keep_multipliers=False)
        of_coef = slope[: self.n]
        if program.threshold:
            of_coef = of_coef + slope[-1] * self._tangent(coef)
        of_x = of_coef / self.unit
        value = loss + program.regulariser.value(coef)
        return value, cut.constant, np.r_[of_x, slope[self.n]] if self.has_intercept else of_x

    def penalty(self, x: Array, used: Array | None) -> tuple[Array, Array]:
        """Slope and charge of a cut of the penalty at x, ``−slope·x − Σ charge_g z_g``."""
        coef, charge = self.coef(x), np.zeros(self.limit.n_groups)
        ridge, rest = self.problem.program.regulariser.split()
        size = rest.norm(coef) if rest.weight else 0.0
        # φ(‖w‖) ≥ φ'(‖a‖) u·w + φ(‖a‖) − φ'(‖a‖)‖a‖, the constant charged to the intercept's or the first group that is
        # always used:
        slope = -rest.slope(size) * self._tangent(coef) / self.unit if rest.weight else np.zeros(self.n)
        charge[self.limit.n_groups - 1] += rest.slope(size) * size - rest.of_size(size)
        if ridge:
            if used is not None:  # the best cut of a sum of squares at (w, z) is that of w/z
                coef = coef / np.clip(used[self.limit.group[: self.n]], 1e-3, 1.0)
            np.add.at(charge, self.limit.group[: self.n], ridge * coef**2)
            slope = slope - 2.0 * ridge * coef / self.unit
        return self._padded(slope), charge * (1.0 + FEW_ROUNDINGS)

    def rounding(self, lower: Array, upper: Array) -> float:
        """Bound on the error of a cut from sums in floating point, over all x within their bounds."""
        sample = self.problem.sample
        largest = np.maximum(abs(lower), abs(upper))
        size = 1.0 + float(largest[: self.n] / self.unit @ sample.peaks) + (largest[-1] if self.has_intercept else 0.0)
        return 2.0**-52 * (sample.n_pos + sample.n_neg + self.n + 16) * float(size)

    def _padded(self, slope: Array) -> Array:
        return np.r_[slope, 0.0] if self.has_intercept else slope

    def _tangent(self, coef: Array) -> Array:
        """U with ``‖u‖_* ≤ 1`` and ``u·w = ‖w‖``."""
        return self.problem.program.regulariser.norm.subgradient(coef) * (1.0 - FEW_ROUNDINGS)
