"""Nyström's method and random Fourier features of scikit-learn, with a lower bound of the kernel's true optimum.

Their dual points are feasible for the exact kernel, so that the bound of one is a lower bound of the optimum over its
space, and the distance of an approximation to it is a measured number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.accurate import CHUNK
from auclab.kernels.kernel import Kernel
from auclab.models.timings import Timings
from auclab.samples.row_scores import row_scores
from auclab.solvers.certificate import relative_gap
from auclab.solvers.fitted import InFeatures
from auclab.solvers.kernel.dual_points import from_solve
from auclab.solvers.kernel.solution import NEEDS_BOUNDED, less_offset, of_distinct_rows
from auclab.solvers.kernel.training import Training
from auclab.solvers.monitor import Monitor
from auclab.solvers.newton.solver import solve as solve_newton
from auclab.solvers.solution import Certificate, Solution
from auclab.types import Array, Status


def nystroem_landmarks(training: Training, number: int, random_state: int) -> NDArray[np.intp]:
    """The landmarks that `sklearn.kernel_approximation.Nystroem` draws, as numbers in `training.order`."""
    drawn = training.kernel.drawn_landmarks(training.rows, number, random_state)
    place = np.empty(training.matrix.size, dtype=np.intp)
    place[training.order] = np.arange(training.matrix.size)
    return place[drawn]


@dataclass(frozen=True, repr=False)
class RandomFeatureSolution(Solution):
    """A scorer that is linear in random Fourier features ``√(2/n) cos(ω_k·x + b_k)`` of an RBF kernel.

    `objective` is that of its own program, whose norm is that of the features; `lower_bound` is one of the optimum over
    the exact kernel's space, so that the gap is the distance to it and no proof: it may be negative.

    `feature_coef` (n,): coefficients of the random features; `coef` is None. `frequencies` (n_features, n): ω. `phases`
    (n,): b.
    """

    kernel: Kernel = field(kw_only=True)
    feature_coef: Array = field(kw_only=True)
    frequencies: Array = field(kw_only=True)
    phases: Array = field(kw_only=True)
    offset: Array | None = field(kw_only=True)

    def __repr__(self) -> str:
        """One line."""
        value = f"objective={self.objective:.6g}, lower_bound={self.lower_bound:.6g}, distance={self.gap:.2g}"
        end = f"status={self.status!s}, seconds={self.timings.total:.3g}"
        features = f"kernel={self.kernel}, n_features={self.phases.size}"
        return f"RandomFeatureSolution({self.formulation}, {features}, {value}, {end})"

    def read_optimum(self) -> None:
        """None: nothing is proved about the optimum over the random features."""

    def not_verified(self, gap: float) -> str:
        """Why the gap is not a proof."""
        return f"random features have a space of their own, {gap:.1e} from the kernel's optimum"

    def in_features(self, features: Any, radius: float | None) -> InFeatures:
        """None: bounds need features of known size, and the scorer is not linear in such."""
        return InFeatures(features, None, None, remark=NEEDS_BOUNDED)

    @property
    def _n_features(self) -> int:
        """Number of columns."""
        return int(self.frequencies.shape[0])

    def _scores(self, rows: Any) -> Array:
        """Scores of rows in one form."""
        return of_distinct_rows(self._each, rows.toarray() if hasattr(rows, "toarray") else rows)

    def _each(self, rows: Array) -> Array:
        scores = np.full(rows.shape[0], self.intercept)
        for begin in range(0, scores.size, CHUNK):
            moved = less_offset(rows[begin : begin + CHUNK], self.offset)
            scores[begin : begin + CHUNK] += row_scores(
                _features(moved, self.frequencies, self.phases), self.feature_coef
            )
        return scores


def solve_in_random_features(
    training: Training, tolerance: float, number: int, monitor: Monitor, random_state: int
) -> RandomFeatureSolution:
    """The program on random Fourier features, and the exact lower bound of its dual point."""
    rows = training.rows.toarray() if hasattr(training.rows, "toarray") else training.rows
    frequencies, phases = training.kernel.fourier_features(rows, number, random_state)
    features = _features(rows[training.order], frequencies, phases)
    problem = training.in_features(features)
    raw = solve_newton(problem, tolerance=0.1 * tolerance, time_limit=monitor.remaining)
    objective, bound, multipliers, shares = problem.objective(raw.coef, raw.intercept), 0.0, None, None
    point = from_solve(training, problem, raw)
    if point is not None:
        shares = point.share_neg
        bound, scale = point.scaled(training.program)
        multipliers = training.multipliers(scale * point.dual)
    return RandomFeatureSolution(
        coef=None,  # type: ignore[arg-type]
        intercept=raw.intercept,
        formulation=training.program,
        certificate=Certificate(objective, bound, objective - bound, relative_gap(objective, bound), 0.0),
        status=Status.UNCERTIFIED if raw.status is Status.OPTIMAL else raw.status,
        solver="random",
        timings=Timings(solve=monitor.seconds),
        iterations=raw.iterations,
        history=raw.history,
        multipliers=multipliers,
        notes=("random features have a space of their own: the lower bound is that of the exact kernel's optimum",),
        shares_neg=shares,
        kernel=training.kernel,
        feature_coef=raw.coef,
        frequencies=frequencies,
        phases=phases,
        offset=training.offset,
        columns=training.labels.columns,
    )


def _features(rows: Array, frequencies: Array, phases: Array) -> Array:
    """``√(2/n) cos(x·ω + b)``."""
    features = rows @ frequencies
    features += phases
    np.cos(features, features)
    features *= np.sqrt(2.0 / phases.size)
    return features
