"""The span of landmarks: orthonormal functions, which observations are landmarks, and which are left out.

``K_LL = RᵀR`` and ``Φ = K_{·L} R⁻¹``: the columns of Φ are orthonormal functions e_1, …, e_L of the space at the
observations, so that ``h = Σ w_j e_j`` has ``‖h‖_H = ‖w‖₂`` and coefficients ``c = R⁻¹w`` at the landmarks. A program
with the l2 norm in the span is therefore a program for a linear scorer on the rows of Φ.

The optimum in the whole space is a multiple of the g of the optimal dual point, so that a span is as good as its
distance to that one function. A landmark k brings it nearer by ``r_k²/d_k``, r being what is left of g at the
observations, ``(Kγ)_k`` less its part in the span, and d_k what is left of κ(x_k, x_k): orthogonal matching pursuit
(Pati, Rezaiifar & Krishnaprasad 1993). Leaving landmark l out of a span moves the projection of g away by
``c_l²/(K_LL⁻¹)_ll``, c being its coefficients there. Early landmarks are chosen for a poor g, so that of more than are
needed the worst are left out again.

The cost of a span is, to first order, the loss of the bound from the component r of g outside the span, ``price ·
‖r‖²``. Each stage aims to divide it by ten, until it is a fraction of the tolerance. More landmarks are added than
needed, and those with the least loss are removed again: early ones were chosen for a poor g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.tolerances import SOLVED
from auclab.certificates.scorers import Scorers, proves_by_slopes
from auclab.formulations.problem import Problem
from auclab.solvers.kernel.space_bound import DualPoint, Functions, dual_point, slope_point
from auclab.solvers.kernel.training import KernelMatrix, Training
from auclab.solvers.solution import RawSolution


@dataclass(frozen=True)
class Span:
    """Landmarks and orthonormal functions of their span.

    `landmarks` (n,): numbers of observations, in the order of the kernel matrix. `values` (n, m): Φᵀ. `triangle` (n,
    n): R, upper triangular. `left` (m,): squared distance of every φ(x_k) to the span.
    """

    landmarks: NDArray[np.intp]
    values: Array
    triangle: Array
    left: Array

    @classmethod
    def empty(cls, matrix: KernelMatrix) -> Span:
        """Without landmarks."""
        m = matrix.size
        return cls(np.empty(0, dtype=np.intp), np.empty((0, m)), np.empty((0, 0)), matrix.diagonal.copy())

    @property
    def size(self) -> int:
        """Number of landmarks."""
        return int(self.landmarks.size)

    @property
    def features(self) -> Array:
        """Φ, row by row."""
        return np.ascontiguousarray(self.values.T)

    def coefficients(self, coef: Array) -> Array:
        """``c = R⁻¹w``, the coefficients at the landmarks."""
        return np.asarray(la.solve_triangular(self.triangle, coef, check_finite=False)) if self.size else coef

    def extended(self, matrix: KernelMatrix, added: NDArray[np.intp]) -> Span:
        """The span with more landmarks, linearly independent of these and of each other."""
        values = matrix.rows_of(added)
        inner = self.values[:, added]
        values -= inner.T @ self.values
        if self.size:
            # Orthogonalised again: remove the components in the span that rounding left in the residuals.
            again = la.solve_triangular(self.triangle, values[:, self.landmarks].T, trans="T", check_finite=False)
            values -= again.T @ self.values
            inner = inner + again
        gram = values[:, added]
        corner = la.cholesky(0.5 * (gram + gram.T), check_finite=False)
        new = la.solve_triangular(corner, values, trans="T", check_finite=False, overwrite_b=True)
        triangle = np.block([[self.triangle, inner], [np.zeros((added.size, self.size)), corner]])
        landmarks = np.r_[self.landmarks, added]
        left = np.maximum(self.left - np.einsum("ij,ij->j", new, new), 0.0)
        left[landmarks] = 0.0
        return Span(landmarks, np.vstack([self.values, new]), triangle, left)

    def reduced(self, matrix: KernelMatrix, kept: NDArray[np.bool_]) -> tuple[Span, Array]:
        """The span of fewer landmarks, and Q, shape (n, kept), such that ``Qᵀw`` is the projection of h onto it."""
        factors = la.qr(self.triangle[:, kept], mode="economic", check_finite=False)
        Q, triangle = np.asarray(factors[0], dtype=float), np.asarray(factors[1], dtype=float)
        values = Q.T @ self.values
        left = np.maximum(matrix.diagonal - np.einsum("ij,ij->j", values, values), 0.0)
        landmarks = self.landmarks[kept]
        left[landmarks] = 0.0
        return Span(landmarks, values, triangle, left), Q


#: Observations that are compared with each other in one round, and landmarks that a round adds or leaves out at most.
_CANDIDATES, _ROUND = 1200, 150


@dataclass(frozen=True)
class Residual:
    """The component of g outside a span.

    `values` (m,): r, at the observations. `square`: ``‖r‖²_H``.
    """

    values: Array
    square: float


def residual_of(span: Span, dual: Array, product: Array) -> Residual:
    """The component outside `span` of ``g = Σ γ_k φ(x_k)``, from γ = `dual` and Kγ = `product`."""
    projected = span.values @ dual
    values = product - projected @ span.values
    return Residual(values, max(0.0, float(dual @ values)))


def extend(matrix: KernelMatrix, span: Span, residual: Residual, allowed: float, most: int) -> tuple[Span, Residual]:
    """Landmarks added until ``‖r‖²`` is at most `allowed`, `most` of them or none is left."""
    least = SOLVED * matrix.largest
    while most > 0 and residual.square > allowed:
        added = _next(matrix, span, residual, allowed, min(most, _ROUND), least)
        if added.size == 0:
            break
        before = span.size
        span = span.extended(matrix, added)
        inner = la.solve_triangular(
            span.triangle[before:, before:], residual.values[added], trans="T", check_finite=False
        )
        values = residual.values - inner @ span.values[before:]
        residual = Residual(values, max(0.0, residual.square - float(inner @ inner)))
        most -= added.size
    return span, residual


def _next(
    matrix: KernelMatrix, span: Span, residual: Residual, allowed: float, most: int, least: float
) -> NDArray[np.intp]:
    """The landmarks of a round, chosen one after the other among the best observations."""
    gain = _gains(residual.values, span.left, least)
    number = min(_CANDIDATES, gain.size)
    candidates = np.argpartition(-gain, number - 1)[:number]
    candidates = candidates[gain[candidates] > 0]
    gram = matrix.block(candidates, candidates) - span.values[:, candidates].T @ span.values[:, candidates]
    values, left, square = residual.values[candidates], span.left[candidates], residual.square
    functions = np.empty((most, candidates.size))
    chosen: list[int] = []
    # Once the candidates have lost most of their gain, others are better.
    floor = 0.1 * float(gain[candidates].max(initial=0.0))
    while len(chosen) < min(most, candidates.size) and square > allowed:
        gain = _gains(values, left, least)
        best = int(gain.argmax())
        if gain[best] <= (floor if chosen else 0.0):
            break
        n = len(chosen)
        function = (gram[best] - functions[:n].T @ functions[:n, best]) / np.sqrt(left[best])
        functions[n] = function
        square -= float(gain[best])
        values = values - function * (values[best] / np.sqrt(left[best]))
        left = np.maximum(left - function * function, 0.0)
        left[best] = 0.0
        chosen.append(best)
    return candidates[chosen]


def _gains(values: Array, left: Array, least: float) -> Array:
    """``r²/d``, 0 for observations in the span."""
    inside = left <= least
    return np.where(inside, 0.0, values * values / np.where(inside, 1.0, left))


def superfluous(span: Span, projected: Array, allowed: float, most: int) -> NDArray[np.bool_]:
    """Which landmarks to keep if the projection of a function may move by ``allowed`` (squared), all but `most`.

    `projected` (n,): the function's inner products with the orthonormal ones of the span. `most`: landmarks that may be
    left out.
    """
    inverse = la.solve_triangular(span.triangle, np.eye(span.size), check_finite=False)
    coefficients, precision = inverse @ projected, inverse @ inverse.T
    numbers, spent, dropped = np.arange(span.size), 0.0, 0
    while dropped < most:
        loss = coefficients**2 / np.diag(precision)
        count = min(_ROUND, max(1, numbers.size // 8), most - dropped)
        candidates = np.argpartition(loss, min(4 * count, loss.size) - 1)[: 4 * count]
        out, spent = _least(coefficients[candidates], precision[np.ix_(candidates, candidates)], count, spent, allowed)
        if not out:
            break
        gone = candidates[out]
        solved = np.linalg.solve(precision[np.ix_(gone, gone)], np.c_[coefficients[gone], precision[gone]])
        coefficients = coefficients - precision[:, gone] @ solved[:, 0]
        precision = precision - precision[:, gone] @ solved[:, 1:]
        stay = np.ones(numbers.size, dtype=bool)
        stay[gone] = False
        numbers, coefficients, precision = numbers[stay], coefficients[stay], precision[np.ix_(stay, stay)]
        dropped += len(out)
    kept = np.zeros(span.size, dtype=bool)
    kept[numbers] = True
    return kept


def _least(coefficients: Array, precision: Array, count: int, spent: float, allowed: float) -> tuple[list[int], float]:
    """The candidates to leave out, one after the other, and what that costs in all."""
    out: list[int] = []
    coefficients, precision = coefficients.copy(), precision.copy()
    # Beyond the candidates there are better ones once what remains costs more than the last of them did at first.
    ceiling = float((coefficients**2 / np.diag(precision)).max())
    for _ in range(count):
        diagonal = np.diag(precision).copy()
        diagonal[out] = np.inf
        loss = np.where(np.isfinite(diagonal), coefficients**2 / np.maximum(diagonal, 1e-300), np.inf)
        worst = int(loss.argmin())
        if spent + loss[worst] > allowed or loss[worst] > ceiling:
            break
        spent += float(loss[worst])
        column = precision[:, worst] / precision[worst, worst]
        coefficients -= column * coefficients[worst]
        precision -= np.outer(column, precision[worst])
        out.append(worst)
    return out, spent


def from_multipliers(training: Training, pos: Array, neg: Array, share_neg: Array | None) -> DualPoint:
    """The dual point of multipliers that may be infeasible by rounding.

    `share_neg` (n_neg,): of partial AUC the weights of the negatives.
    """
    proving = training.without_features.dual_problem(share_neg, neg)
    share = proving.sample.share_neg if share_neg is not None else None
    feasible = proving.program.comparisons.feasible(proving.sample, pos, neg)
    return dual_point(proving, training.matrix, *feasible, share)


def from_solve(training: Training, problem: Problem, raw: RawSolution, span: Span) -> DualPoint | None:
    """The dual point of a solve of `problem`, on the features of `span`; None if it ended without multipliers."""
    if proves_by_slopes(problem.program):
        scorers = raw.scorers or ((1.0, raw.coef, raw.intercept, 0.0),)
        each = None if raw.scorers else raw.margin_multipliers
        is_known = each is None and not problem.sample.is_of_classes
        functions = _functions(problem, scorers, span) if is_known else None
        return slope_point(problem, training.matrix, scorers, each, functions)
    if raw.multipliers is None or not all(np.isfinite(part).all() for part in raw.multipliers):
        return None
    return from_multipliers(training, *raw.multipliers, raw.share_neg)


def _functions(problem: Problem, scorers: Scorers, span: Span) -> Functions:
    """Scorers of the features of a span as functions: their coefficients at the landmarks."""
    found = []
    for weight, w, _, half_width in scorers:
        coefficients, program = np.zeros(problem.sample.n_pos), problem.program
        coefficients[span.landmarks] = span.coefficients(w)
        found.append((weight, coefficients, half_width, 1.0 - program.threshold * program.regulariser.norm(w)))
    return tuple(found)


def of_zero(training: Training) -> DualPoint:
    """The dual point of h = 0: every margin with its full weight, if the sums of the classes agree."""
    program, labels = training.program, training.labels
    if proves_by_slopes(program):
        scorers = ((1.0, np.zeros(1), 0.0, 0.0),)
        functions = ((1.0, np.zeros(training.matrix.size), 0.0, 1.0),)
        return slope_point(training.without_features, training.matrix, scorers, functions=functions)
    pos, neg = program.comparisons.row_weights(labels)
    share = program.comparisons.worst_negatives(np.arange(float(labels.n_neg)), labels)
    return from_multipliers(training, pos, neg if share is None else share, share)


#: Landmarks of the first stage, and least and largest growth factor of later stages.
_FIRST, _LEAST_GROWTH, _GROWTH = 100, 1.4, 2.5
#: Factor by which each stage aims to divide the gap, and the cost of the span.
PROGRESS = 10.0
#: Final cost of the span, as a fraction of the tolerance (measured: with a half 3 % more landmarks and 12 % more time).
_PART = 0.6
#: Landmarks are added until the cost is this fraction of the allowed one, and the worst are then removed; with a gap
#: above the second number the dual point does not show which those are.
_OVERSHOOT, _POOR = 0.5, 0.2
#: If the component of g outside the span costs more than this many times the expected cost, the dual point does not
#: show which landmarks can be removed.
_TRUSTED = 3.0
#: With the largest number of landmarks, this fraction of them is exchanged.
_EXCHANGED = 0.3
#: With this fraction of the observations in the span all others are added too.
_NEARLY_ALL = 0.75


class SpanChoice:
    """A span, a scorer in it, and how both change from stage to stage.

    `most`: landmarks. `coef` (span.size,): the scorer in the orthonormal functions of the span.
    """

    def __init__(self, training: Training, most: int) -> None:
        self.program, self.matrix, self.most = training.program, training.matrix, most
        self.span, self.coef = Span.empty(training.matrix), np.empty(0)
        self._is_trusted, self._expected, self._part = True, math.inf, _PART

    def take(self, span: Span, coef: Array | None = None) -> None:
        """Another span and a scorer in it, h = 0 if left out."""
        self.span, self.coef = span, np.zeros(span.size) if coef is None else coef

    def add(self, dual: DualPoint, number: int) -> None:
        """`number` landmarks for the component outside the span of the g of a dual point."""
        span, _ = extend(self.matrix, self.span, residual_of(self.span, dual.dual, dual.product), 0.0, number)
        self._widen(span)

    def change(self, dual: DualPoint, allowed: float, gap: float) -> bool:
        """Add landmarks for the component of g outside the span and remove superfluous ones; whether any changed.

        `allowed`: gap, in units of the objective, that the solve may end with. `gap`: relative gap until now.
        """
        before, size = self.span.landmarks, self.span.size
        residual, price = residual_of(self.span, dual.dual, dual.product), self._price(dual)
        goal, target = self._targets(self._part * allowed, residual.square * price)
        left = self._extended(residual, goal / price, target / price)
        everything = self.most >= self.matrix.size and self.span.size >= _NEARLY_ALL * self.matrix.size
        if everything:
            span, left = extend(self.matrix, self.span, left, 0.0, self.matrix.size - self.span.size)
            self._widen(span)
        added = self.span.size > size
        if size and added and not everything:
            self._leave_out(dual, math.inf, self.span.size - self.most)
            if gap <= _POOR and self._is_trusted:
                self._leave_out(dual, target / price - left.square, self.span.size - 1)
        self._expected = max(target, left.square * price)
        return added and not np.array_equal(np.sort(before), np.sort(self.span.landmarks))

    def judge(self, dual: DualPoint) -> None:
        """Whether the dual point of the solve in the span costs about what was expected, so that landmarks can go."""
        self._is_trusted = self.cost(dual) <= _TRUSTED * self._expected

    def cost(self, dual: DualPoint) -> float:
        """Loss of the bound, to first order, from the component of g outside the span."""
        return residual_of(self.span, dual.dual, dual.product).square * self._price(dual)

    def _targets(self, goal: float, cost: float) -> tuple[float, float]:
        """The allowed cost of the span at the end, and after this stage."""
        target = max(goal, cost / PROGRESS)
        if target < 2.0 * goal:
            # The cost with the next dual point may be higher, so less is allowed.
            target, self._part = goal, 0.5 * self._part
        return (goal, target) if self._is_trusted else (0.0, 0.0)

    def _extended(self, residual: Residual, goal: float, target: float) -> Residual:
        """A few landmarks until ``‖r‖²`` is at most `goal`, more of them only until it is at most `target`."""
        size = self.span.size
        most = self.most + (max(1, int(_EXCHANGED * self.most)) if size else 0)
        for growth, allowed in ((_LEAST_GROWTH, goal), (_GROWTH if self._is_trusted else _LEAST_GROWTH, target)):
            room = min(int(growth * size) if size else _FIRST, most) - self.span.size
            span, residual = extend(self.matrix, self.span, residual, _OVERSHOOT * allowed, room)
            self._widen(span)
        return residual

    def _widen(self, span: Span) -> None:
        self.span, self.coef = span, np.r_[self.coef, np.zeros(span.size - self.coef.size)]

    def _leave_out(self, dual: DualPoint, allowed: float, most: int) -> None:
        if most <= 0 or allowed <= 0:
            return
        kept = superfluous(self.span, self.span.values @ dual.dual, allowed, most)
        if not kept.all():
            self.span, Q = self.span.reduced(self.matrix, kept)
            self.coef = Q.T @ self.coef

    def _price(self, dual: DualPoint) -> float:
        """Loss of the bound per unit of ``‖r‖²``, to first order."""
        program = self.program
        if program.regulariser.curvature > 0:
            return 0.5 / program.regulariser.curvature
        if program.regulariser.weight > 0:
            return max(dual.total, 1e-3) / (2.0 * program.regulariser.weight**2)
        length = float(np.linalg.norm(self.coef)) or 1.0 / math.sqrt(self.matrix.largest)
        return length / max(2.0 * dual.length, 1e-300)
