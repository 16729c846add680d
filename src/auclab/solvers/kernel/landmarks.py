"""Choice of landmarks, whose span is to be close to the function ``g = Σ_k γ_k φ(x_k)`` of a dual point.

The optimum in the whole space is a multiple of the g of the optimal dual point, so that a span is as good as its
distance to that one function. A landmark k brings it nearer by ``r_k²/d_k``, r being what is left of g at the
observations, ``(Kγ)_k`` less its part in the span, and d_k what is left of κ(x_k, x_k): orthogonal matching pursuit
(Pati, Rezaiifar & Krishnaprasad 1993). Leaving landmark l out of a span moves the projection of g away by
``c_l²/(K_LL⁻¹)_ll``, c being its coefficients there. Early landmarks are chosen for a poor g, so that of more than are
needed the worst are left out again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from auclab.precision import SOLVED
from auclab.solvers.kernel.matrix import KernelMatrix
from auclab.solvers.kernel.span import Span
from auclab.types import Array

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
