"""Minima along a path of λ over a band that narrows level by level, for a choice among them.

A choice among many λ needs every scorer roughly and only the close ones well. At one half-width h of the band the
smoothed program ``φ_h + λ‖w‖`` (or ``λ‖w‖²``) is smooth away from w = 0, so that Newton's method needs one
factorisation a step and, from the minimum at a neighbouring λ or at the last half-width, one or two steps. Between
changes of the margins in the band the minimum is affine in h, from which the next level starts
(`auclab.solvers.newton.continuation`). Nothing is certified: the smoothing gap says how far the value is from the
optimum, and the solve at the chosen λ has a certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.precision import MOST_STEPS, ROUNDING, SOLVED, TOLERANCE
from auclab.solvers.certificate import SMALL_OBJECTIVE
from auclab.solvers.registry import PARTS
from auclab.solvers.smoothed.evaluation import Evaluation
from auclab.solvers.smoothed.smoothed_loss import smooth_loss
from auclab.types import Array

#: Half-widths of the band, in units of the margins.
HALF_WIDTHS = (0.2, 0.06, 0.02, 0.006, 0.002, 6e-4)
#: Steps at one half-width end where the next one promises this part of the smoothing gap, or rounding of the value;
#: that of a step with the last Hessian has to be smaller.
_CONVERGED, _STALE = 1e-2, 0.1
#: Steps at most, and halvings of one.
_MAX_HALVINGS = 30
#: A step is at most this many times as long as w, or as the first w.
_LONGEST = 3.0
#: Of more columns a Hessian takes longer than the solvers that hold none.
MAX_FEATURES = 500


@dataclass(frozen=True)
class Minimum:
    """The minimum of the smoothed program at one λ and half-width.

    `theta` (n_features + 2,): ``(w, b, 0)``. `gap`: what smoothing leaves between primal and dual value, relative as in
    a certificate. `is_separated`: whether no margin is below the band: then no error is left, and a smaller λ has the
    same scorer.
    """

    theta: Array
    gap: float
    half_width: float
    is_separated: bool


class SmoothedPath:
    """Minima of one sample at several λ.

    `sample_problem`: one that `is_smooth_path` takes. `programs`: the program at every λ.
    """

    def __init__(self, problem: Problem, programs: Sequence[Program]):
        self.problem, self.programs = problem, programs
        self._loss = smooth_loss(problem, problem.sample)
        n = problem.sample.n_features
        self._free = np.r_[:n] if problem.over_pairs else np.r_[: n + 1]
        difference, self._scale = problem.sample.mean_difference, float((problem.sample.spread**2).mean())
        self._first = np.r_[difference / max(float(difference @ difference), 1e-300), problem.null_intercept(), 0.0]

    def minimum(self, k: int, level: int, near: Minimum | None, before: Minimum | None) -> Minimum | None:
        """The minimum at the λ number `k` and a half-width.

        `k`, `level`: positions among the programs and in `HALF_WIDTHS`. `near`: at a neighbouring λ, or at this one and
        the last level. `before`: at this λ, two levels before. Returns: None where the steps did not converge.
        """
        half_width = HALF_WIDTHS[level]
        start = self._first if near is None else near.theta
        evaluation = self._loss.evaluate(start, half_width)
        if near is not None and before is not None:
            along = (half_width - near.half_width) / (near.half_width - before.half_width)
            predicted = self._loss.evaluate(near.theta + along * (near.theta - before.theta), half_width)
            evaluation = min(evaluation, predicted, key=lambda each: self._value(k, each))
        return self._descended(k, evaluation)

    def _value(self, k: int, evaluation: Evaluation) -> float:
        return evaluation.value + self.programs[k].regulariser.value(evaluation.theta[:-2])

    def _descended(self, k: int, evaluation: Evaluation) -> Minimum | None:
        """Newton steps until the next one promises next to nothing."""
        free, factor, value = self._free, None, self._value(k, evaluation)
        for _ in range(MOST_STEPS):
            slope, curvature = self._regulariser(k, evaluation.theta)
            descent = (self._loss.direction_sum(evaluation.multipliers) - slope)[free]
            negligible = max(_CONVERGED * evaluation.smoothing_gap, ROUNDING * value)
            if factor is not None and 0.5 * descent @ cho_solve(factor, descent) <= _STALE * negligible:
                return self._found(value, evaluation)
            hessian = self._loss.hessian(evaluation)[np.ix_(free, free)]
            hessian[: curvature.shape[0], : curvature.shape[0]] += curvature
            hessian[np.diag_indices_from(hessian)] += SOLVED * max(float(hessian.diagonal().mean()), self._scale)
            try:
                factor = cho_factor(hessian, check_finite=False)
            except LinAlgError:
                return None
            step = np.zeros_like(evaluation.theta)
            step[free] = cho_solve(factor, descent, check_finite=False)
            promised = float(descent @ step[free])
            if 0.5 * promised <= negligible:
                return self._found(value, evaluation)
            size, longest = float(np.linalg.norm(step[:-2])), _LONGEST * self._size(evaluation.theta)
            # With few margins in the band the model is nearly linear along w.
            length = 1.0 if size <= longest else longest / size
            following = self._line_search(k, evaluation, value, length * step, length * promised)
            if following is None:
                return None
            evaluation, value = following, self._value(k, following)
        return None

    def _regulariser(self, k: int, theta: Array) -> tuple[Array, Array]:
        """Gradient and Hessian of ``R``, a function of the length of w."""
        regulariser, w = self.programs[k].regulariser, theta[:-2]
        length = float(np.linalg.norm(w))
        direction, per_length = w / length, regulariser.slope(length) / length
        curvature = (regulariser.curvature - per_length) * np.outer(direction, direction)
        curvature[np.diag_indices_from(curvature)] += per_length
        return np.r_[per_length * w, 0.0, 0.0], curvature

    def _line_search(
        self, k: int, evaluation: Evaluation, value: float, step: Array, promised: float
    ) -> Evaluation | None:
        """A point along the step with a lower value (Armijo's rule), by quadratic interpolation."""
        length = 1.0
        for _ in range(_MAX_HALVINGS):
            other = self._loss.evaluate(evaluation.theta + length * step, evaluation.half_width)
            change = self._value(k, other) - value
            if change <= -1e-4 * length * promised:
                is_null = float(np.linalg.norm(other.theta[:-2])) <= TOLERANCE * self._size(self._first)
                return None if is_null else other
            best = 0.5 * length * length * promised / (change + length * promised)
            length = float(np.clip(best, 0.1 * length, 0.5 * length)) if np.isfinite(best) else 0.1 * length
        return None

    def _size(self, theta: Array) -> float:
        """The length of w, or that of the first one where it is longer."""
        return max(float(np.linalg.norm(theta[:-2])), float(np.linalg.norm(self._first[:-2])))

    def _found(self, value: float, evaluation: Evaluation) -> Minimum:
        theta, width = evaluation.theta, evaluation.half_width
        pos, neg = self.problem.sample.scores(theta[:-2])
        if self.problem.over_pairs:
            least = pos.min() - neg.max()
        else:
            least = min((pos + theta[-2]).min(), -(neg + theta[-2]).max())
        gap = evaluation.smoothing_gap / max(value, SMALL_OBJECTIVE)
        loss = self.problem.program.loss
        errors_from = min(float(loss.table.breakpoints[0]), 0.0) + (0.0 if loss.is_smooth else width)
        return Minimum(theta, gap, width, bool(1.0 - least < errors_from))


def is_smooth_path(problems: Sequence[Problem], parameter: str) -> bool:
    """Whether a path can be followed so: λ > 0 and the norm l2, pairs or points in memory, nothing else."""
    program, sample = problems[0].program, problems[0].sample
    return (
        parameter == "penalty"
        and all(each.program.regulariser.weight > 0 for each in problems)
        and program.threshold == 0
        and program.regulariser.norm.is_euclidean
        and PARTS["smoothed path"].why_not(program, problems[0].constraints) is None
        and not sample.in_blocks
        and sample.n_features <= MAX_FEATURES
        and bool(sample.mean_difference.any())
    )
