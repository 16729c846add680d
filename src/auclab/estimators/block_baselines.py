"""Linear discriminant analysis and logistic regression of rows in blocks, from sums over the blocks.

Nothing is approximated: the sums of moments, gradients and Hessians are those of all rows, added in an order that does
not depend on the number of workers. A pass reads every row once.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from auclab.precision import MOST_STEPS, ROUNDING
from auclab.samples.blocks.tree import tree_sum
from auclab.types import Array

if TYPE_CHECKING:
    from auclab.samples.blocks.table import BlockTable

#: Singular values of standardised rows, divided by √n, from which a direction varies: that of scikit-learn.
_VARIES = 1e-4


@dataclass(frozen=True)
class ClassMoments:
    """Of each of two classes, the number of rows, their mean, and ``Σ (x − mean)(x − mean)ᵀ``; `a + b` is of both."""

    count: NDArray[np.int64]
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, rows: Any, positive: NDArray[Any]) -> Self:
        """Of the rows of a block."""
        X = np.asarray(rows, dtype=np.float64)
        parts = [X[positive == label] for label in (0, 1)]
        means = [part.mean(axis=0) if len(part) else np.zeros(X.shape[1]) for part in parts]
        apart = [part - mean for part, mean in zip(parts, means, strict=True)]
        scatter = np.stack([each.T @ each for each in apart])
        return cls(np.array([len(part) for part in parts]), np.stack(means), scatter)

    def __add__(self, other: Self) -> Self:
        """Chan, Golub and LeVeque (1983)."""
        count = self.count + other.count
        share = (other.count / np.maximum(count, 1))[:, None]
        apart = other.mean - self.mean
        between = apart[:, :, None] * apart[:, None, :] * (self.count[:, None] * share)[:, :, None]
        return type(self)(count, self.mean + apart * share, self.scatter + other.scatter + between)


def fit_discriminant(table: BlockTable, y: NDArray[Any], weights: Sequence[float]) -> tuple[Array, float]:
    """Coefficients w and intercept b of linear discriminant analysis; one pass.

    ``w = Σ⁻¹ (μ₊ − μ₋)``, ``b = −w·(μ₊ + μ₋)/2 + log(π₊/π₋)``, with Σ the covariance within the classes. Directions in
    which the rows do not vary within the classes are left out. `weights`: of the negative and of the positive class.
    """
    moments: ClassMoments = tree_sum(table.run(ClassMoments.of, table.split(y)))
    share = moments.count * np.asarray(weights, dtype=float)
    share = share / share.sum()
    within = np.tensordot(share / moments.count, moments.scatter, axes=1)
    unit = np.sqrt(np.diag(within))
    unit[unit == 0] = 1.0
    sizes, directions = np.linalg.eigh(within / np.outer(unit, unit))
    kept = sizes > _VARIES**2
    scalings = directions[:, kept] / unit[:, None] / np.sqrt(sizes[kept])
    negative, positive = moments.mean
    coef = scalings @ (scalings.T @ (positive - negative))
    return coef, float(-0.5 * coef @ (positive + negative) + np.log(share[1] / share[0]))


@dataclass(frozen=True)
class LossSums:
    """Sums over rows of logistic losses: value, gradient and Hessian in (w, b); `a + b` is of both."""

    value: float
    gradient: Array
    hessian: Array

    @classmethod
    def of(cls, rows: Any, argument: tuple[NDArray[Any], Array, Sequence[float]]) -> Self:
        """Of the rows of a block; `argument` has their labels, the point and the weights of the classes."""
        positive, point, weights = argument
        X = np.asarray(rows, dtype=np.float64)
        weight = np.where(positive == 1, weights[1], weights[0])
        sign = np.where(positive == 1, 1.0, -1.0)
        margin = sign * (X @ point[:-1] + point[-1])
        wrong = np.exp(-np.logaddexp(0.0, margin))  # 1/(1 + exp(margin))
        slope, curve = -weight * sign * wrong, weight * wrong * (1.0 - wrong)
        curved = X * curve[:, None]
        hessian = np.block([[X.T @ curved, curved.sum(axis=0)[:, None]], [curved.sum(axis=0)[None], curve.sum()]])
        return cls(float(weight @ np.logaddexp(0.0, -margin)), np.append(slope @ X, slope.sum()), hessian)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)


def fit_logistic(
    table: BlockTable, y: NDArray[Any], weights: Sequence[float], C: float, *, most: int = MOST_STEPS
) -> tuple[Array, float, int]:
    """Coefficients w, intercept b and number of passes of logistic regression with an l2 penalty, by Newton's method.

    ``min ½‖w‖₂² + C Σ_k s_k log(1 + exp(−y_k (w·x_k + b)))``, which has one minimum. It ends where the quadratic model
    has a decrease of at most 1e-12 of the value. `weights`: s of the negative and of the positive class.
    `most`: passes.
    """
    size = np.append(np.ones(len(table.columns)), 0.0)  # ‖w‖₂² is without b

    def at(point: Array) -> LossSums:
        arguments = ((positive, point, weights) for positive in table.split(y))
        sums: LossSums = tree_sum(table.run(LossSums.of, arguments))
        value = 0.5 * float(size @ point**2) + C * sums.value
        return LossSums(value, size * point + C * sums.gradient, np.diag(size) + C * sums.hessian)

    point, passes = np.zeros(size.size), 1
    here = at(point)
    while passes < most:
        step = -np.linalg.solve(here.hessian, here.gradient)
        decrease = -float(here.gradient @ step)
        if decrease <= ROUNDING * here.value:
            return point[:-1], float(point[-1]), passes
        length = 1.0
        while True:
            there = at(point + length * step)
            passes += 1
            if there.value <= here.value - 1e-4 * length * decrease or passes >= most:
                break
            length *= 0.5
        point, here = point + length * step, there
    warnings.warn(f"Newton's method did not converge in {most} passes", ConvergenceWarning, stacklevel=2)
    return point[:-1], float(point[-1]), passes
