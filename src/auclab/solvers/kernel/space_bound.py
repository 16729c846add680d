"""The lower bound over the whole space of a kernel, and the objective again.

With marginals α of the positives and β of the negatives, γ = (α, −β) and S = Σ q, the length of ``g = Σ q d`` is
exact, ``‖g‖² = γᵀKγ``, however the dual point was found, and with it the bounds of linear programs (derivations 7.1),
where C is ``Σ q ℓ*(α)``, 0 of the hinge:

* squared penalty: ``τ(S − C) − τ²‖g‖²/(4λ)`` at its best τ in [0, 1];
* unsquared penalty: ``τ(S − C)`` with ``τ = min(1, λ/‖g‖)``;
* threshold z < 0: ``S − C`` if ``‖g‖ + zS ≤ 0``. Scaling does not repair a violation, as both sides are homogeneous: a
  dual point that satisfies the constraint with something to spare is mixed in, as much as is needed (`mixed`).

Sums of each row do not show whether multipliers of ranked pairs are feasible, nor of another loss than the hinge. Those
are the slopes of the loss at scorers, γ, S and C sums over sorted scores (`auclab.certificates.scorers`), and what
rounding may have taken from these sums is charged.

The sums over K are computed block by block, and their rounding, that of the values of K and what the marginals lack of
feasibility are charged. Without a penalty or threshold there is no norm in the program, and no dual point but those
with ``Σ q d = 0`` bounds anything: such programs are certified in the span of their landmarks alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from auclab._core.accurate import CHUNK, accurate_sum
from auclab._core.base import Array
from auclab.certificates.scorers import Scorers, dual_sums, proves_by_slopes
from auclab.certificates.value import DOWN, UP
from auclab.formulations.base import Program, objective_at
from auclab.formulations.problem import Problem
from auclab.kernels.kernel import ROUNDING
from auclab.solvers.kernel.training import KernelMatrix, Training

#: Steps of a method that converges quickly, or attempts at what nearly always succeeds at the first.
FEW_STEPS = 5
#: Weights ≥ 0, coefficients of every observation in the order of the matrix, half-widths, and the ``1 − z‖h‖`` from
#: which margins are taken, with a z that may be another one than that of the program.
Functions = tuple[tuple[float, Array, float, float], ...]


@dataclass(frozen=True)
class DualPoint:
    """A feasible dual point, with the numbers that a bound needs.

    `dual` (m,): γ: α over the positives, −β over the negatives; of ranked pairs α − β of every row. `product` (m,): Kγ.
    `total`: s, less `lacking`. `square`, `length`: γᵀKγ in working precision, and the largest that ``‖g‖`` may be.
    `share_neg` (n_neg,): the weights of the negatives of partial AUC. `conjugate`: the largest that C may be.
    `lacking`: bound on the errors of the sums and the infeasibility of the marginals. `scorers`: over ranked
    pairs the functions whose slopes they are, where those are known.
    """

    dual: Array
    product: Array
    total: float
    square: float
    length: float
    share_neg: Array | None = None
    conjugate: float = 0.0
    lacking: float = 0.0
    scorers: Functions | None = None

    @property
    def multipliers_neg(self) -> Array:
        """β."""
        assert self.share_neg is not None
        return -self.dual[self.dual.size - self.share_neg.size :]

    def value(self, program: Program) -> float:
        """The lower bound, for every h in the space; 0 where the point proves nothing better."""
        return self.scaled(program)[0]

    def scaled(self, program: Program) -> tuple[float, float]:
        """The lower bound, and the factor of the marginals for it."""
        worth = max(0.0, self.total - self.conjugate)
        if program.regulariser.weight == 0:
            return (worth, 1.0) if self.slack(program.threshold) >= 0 else (0.0, 1.0)
        slack = -program.threshold * self.total * DOWN
        bound, scale = program.regulariser.dual_value(np.array([self.length]), slack, worth, UP)
        return max(0.0, bound * DOWN), scale if scale == 1.0 else scale * DOWN

    def slack(self, threshold: float) -> float:
        """The slack of ``‖g‖ ≤ −zS``; negative where it is violated."""
        return -threshold * self.total * DOWN - self.length


def dual_point(problem: Problem, matrix: KernelMatrix, pos: Array, neg: Array, share_neg: Array | None) -> DualPoint:
    """The dual point of marginals that are feasible up to rounding.

    `problem`: that of the dual: of partial AUC with the weights of the negatives. `matrix`: positives first.
    `share_neg` (n_neg,): to be kept with it.
    """
    return _charged(problem, matrix, np.r_[pos, -neg], matrix.times(np.r_[pos, -neg]), share_neg)


def slope_point(
    problem: Problem,
    matrix: KernelMatrix,
    scorers: Scorers,
    each: Array | None = None,
    functions: Functions | None = None,
) -> DualPoint:
    """The dual point of slopes of the loss at scorers, or of a multiplier for every margin.

    `problem`: on the features that the scorers are of. `scorers`, `each`: as in
    `auclab.certificates.scorers.scorer_bound`. `functions`: the scorers as functions of the space.
    """
    pos, neg, conjugate, off, off_conjugate = dual_sums(problem, scorers, each)
    dual = problem.sample.signed(pos, neg)
    lacking = off * UP + 2.0**-60
    total = max(0.0, math.fsum(pos.tolist()) * DOWN - lacking)
    conjugate += off_conjugate + 2.0**-46 * abs(conjugate)
    return _with_length(matrix, dual, matrix.times(dual), total, lacking, conjugate=conjugate, scorers=functions)


def _with_length(
    matrix: KernelMatrix, dual: Array, product: Array, total: float, lacking: float, **others: Any
) -> DualPoint:
    square, error = matrix.form(dual, product)
    # Marginals within ε of feasible ones move g by at most 2ε times the longest φ(x).
    length = (math.sqrt(max(0.0, square + error)) + 2.0 * lacking * math.sqrt(matrix.largest)) * UP
    return DualPoint(dual, product, total, square, length, lacking=lacking, **others)


def _mean(
    problem: Problem, matrix: KernelMatrix, t: float, points: tuple[DualPoint, DualPoint], share_neg: Array | None
) -> DualPoint:
    """``t`` times the first dual point and ``1 − t`` times the second; ℓ* of a mean is at most the mean of ℓ*."""
    first, second = points
    dual, product = (t * a + (1 - t) * b for a, b in ((first.dual, second.dual), (first.product, second.product)))
    if not proves_by_slopes(problem.program):
        return _charged(problem, matrix, dual, product, share_neg)
    total, lacking, conjugate = (
        t * getattr(first, name) + (1 - t) * getattr(second, name) for name in ("total", "lacking", "conjugate")
    )
    lacking = (lacking + 2.0**-50 * float(abs(dual).sum())) * UP
    functions = None
    if first.scorers is not None and second.scorers is not None:
        functions = _weighted(t, first.scorers) + _weighted(1 - t, second.scorers)
    conjugate += 2.0**-46 * abs(conjugate)
    return _with_length(matrix, dual, product, total * DOWN, lacking, conjugate=conjugate, scorers=functions)


def _weighted(factor: float, functions: Functions) -> Functions:
    """The functions with a weight times a factor that is not 0."""
    return tuple((factor * w, c, h, start) for w, c, h, start in functions if factor * w > 0)


def _charged(problem: Problem, matrix: KernelMatrix, dual: Array, product: Array, share_neg: Array | None) -> DualPoint:
    sample = problem.sample
    pos, neg = dual[: sample.n_pos], -dual[sample.n_pos :]
    sums = [math.fsum(accurate_sum(part)[:2]) for part in (pos, neg)]
    margins = problem.program.comparisons
    lacking = (margins.excess(sample, pos, neg) + abs(sums[0] - sums[1])) * UP + 2.0**-60
    least = min(sums) * DOWN - lacking
    total = max(0.0, margins.total(least, least))
    return _with_length(matrix, dual, product, total, lacking, share_neg=share_neg)


def best_between(problem: Problem, matrix: KernelMatrix, first: DualPoint, second: DualPoint) -> DualPoint:
    """The dual point of a penalised program with the largest bound on the segment between two.

    Solves in a span do not determine the component of g outside it; the mean of two such components is shorter.

    `problem`: with a penalty.
    """
    cross = math.fsum((second.dual * first.product).tolist())

    def bound(t: float) -> float:
        total = t * first.total + (1 - t) * second.total
        square = t * t * first.square + 2 * t * (1 - t) * cross + (1 - t) ** 2 * second.square
        length, conjugate = math.sqrt(max(0.0, square)), t * first.conjugate + (1 - t) * second.conjugate
        point = DualPoint(first.dual, first.product, total, square, length, conjugate=conjugate)
        return point.value(problem.program)

    t = float(minimize_scalar(lambda t: -bound(t), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6}).x)
    ends = max(first, second, key=lambda point: point.value(problem.program))
    share = None
    if first.share_neg is not None and second.share_neg is not None:
        share = t * first.share_neg + (1 - t) * second.share_neg
        problem = problem.dual_problem(share, t * first.multipliers_neg + (1 - t) * second.multipliers_neg)
        share = problem.sample.share_neg
    found = _mean(problem, matrix, t, (first, second), share)
    return found if found.value(problem.program) > ends.value(problem.program) else ends


def mixed(problem: Problem, matrix: KernelMatrix, point: DualPoint, spare: DualPoint) -> DualPoint | None:
    """The mixture ``t·point + (1 − t)·spare`` with the largest t that satisfies ``‖g‖ ≤ −zS``.

    Both are convex conditions, so that mixtures of feasible points are feasible, and with ``‖t g + (1−t) g'‖²`` known
    from three inner products the best t is the root of a quadratic.

    `problem`: with z < 0 and no penalty. `point`: violates the constraint. `spare`: satisfies it; None is returned if
    it does not.
    """
    z = problem.program.threshold
    if spare.slack(z) <= 0:
        return None
    cross = math.fsum((spare.dual * point.product).tolist())
    # (t g + (1−t) g')² − z² (t S + (1−t) S')² = a t² + 2 b t + c, with c < 0
    a = point.square - 2 * cross + spare.square - (z * (point.total - spare.total)) ** 2
    b = cross - spare.square - z * z * spare.total * (point.total - spare.total)
    c = spare.square - (z * spare.total) ** 2
    root = math.sqrt(max(0.0, b * b - a * c))
    t = -c / (b + root) if b + root > 0 else 1.0
    t = min(1.0, max(0.0, t))
    for step in range(FEW_STEPS):
        weight = t * (1.0 - 1e-13 * 100.0**step)
        found = _mean(problem, matrix, weight, (point, spare), None)
        if found.slack(z) >= 0:
            return found
    return None


@dataclass(frozen=True)
class Evaluation:
    """A scorer ``Σ_k c_k κ(x_k, ·) + b`` at the training sample.

    `objective`: of the program in the space, from sorted scores. `length`: ``‖h‖_H``. `rounding`: bound on the
    rounding error of the objective.
    """

    objective: float
    length: float
    rounding: float


def evaluate(training: Training, landmarks: NDArray[np.intp], coefficients: Array, intercept: float) -> Evaluation:
    """The objective at ``h = Σ_k c_k κ(x_k, ·) + b`` with ``‖h‖² = cᵀ K_LL c``, without pairs.

    `landmarks` (n,): numbers of observations in `training.order`.
    """
    program, matrix, labels = training.program, training.matrix, training.labels
    scores = np.empty(matrix.size)
    for begin in range(0, matrix.size, CHUNK):
        part = slice(begin, min(begin + CHUNK, matrix.size))
        scores[part] = matrix.block(part, landmarks) @ coefficients
    square = math.fsum((coefficients * scores[landmarks]).tolist())
    length = math.sqrt(max(0.0, square))
    pos, neg = labels.of_rows(scores[:, None]).scores(np.ones(1))
    if proves_by_slopes(program):
        shift = 1.0 - program.threshold * length
        objective = program.comparisons.mean(program.loss, (pos, neg), intercept, shift, labels)
        objective += program.regulariser.of_size(length)
        steepest = float(program.loss.slope(shift + float(np.ptp(scores))))
    else:
        scored = (pos, np.zeros_like(pos)), (neg, np.zeros_like(neg))
        objective = objective_at(program, np.array([length]), (intercept, 0.0), labels, *scored)
        steepest = 1.0
    weight = float(abs(coefficients).sum())
    of_score = weight * (matrix.error + (landmarks.size + 2) * ROUNDING * matrix.largest)
    of_square = weight * of_score
    of_length = of_square / length if length > 0 else math.sqrt(of_square)
    rounding = steepest * (2.0 * of_score + abs(program.threshold) * of_length)
    rounding += program.regulariser.slope(0.0) * of_length + 0.5 * program.regulariser.curvature * of_square
    return Evaluation(objective, length, rounding)
