"""The Hessian of the smoothed loss as an operator, for more features than a matrix could hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.solvers.smoothed.evaluation import Evaluation, SmoothedLoss
from auclab.types import Array


@dataclass(frozen=True)
class HessianOperator:
    """``diag(ridge) + Σ_k factor_k H_k`` by its products alone, O(nnz + m) each; H_k is the Hessian at an evaluation.

    `ridge` (n_features + 2,): the diagonal that is added.
    """

    loss: SmoothedLoss
    terms: tuple[tuple[float, Evaluation], ...]
    ridge: Array

    def __matmul__(self, step: Array) -> Array:
        product = self.ridge * step
        for factor, evaluation in self.terms:
            product = product + factor * self.loss.direction_sum(self.loss.multiplier_change(evaluation, step))
        return product

    @property
    def is_damped(self) -> bool:
        """Whether the Hessian of a wider band is added."""
        return len(self.terms) > 1

    def diagonal(self) -> Array:
        """Its diagonal or an upper bound of that, shape (n_features + 2,)."""
        return self.ridge + sum(factor * self.loss.hessian_diagonal(evaluation) for factor, evaluation in self.terms)

    def __add__(self, other: HessianOperator) -> HessianOperator:
        """The sum of two of the same loss."""
        return HessianOperator(self.loss, self.terms + other.terms, self.ridge + other.ridge)

    def __rmul__(self, factor: float) -> HessianOperator:
        """A multiple."""
        terms = tuple((factor * inner, evaluation) for inner, evaluation in self.terms)
        return HessianOperator(self.loss, terms, factor * self.ridge)


#: A Hessian as a matrix of shape (n_features + 2, n_features + 2), or as an operator.
Hessian = Array | HessianOperator


def plus_diagonal(hessian: Hessian, diagonal: Array) -> Hessian:
    """A Hessian and a diagonal matrix."""
    if isinstance(hessian, np.ndarray):
        return hessian + np.diag(diagonal)
    return HessianOperator(hessian.loss, hessian.terms, hessian.ridge + diagonal)
