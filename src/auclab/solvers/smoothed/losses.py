"""The smoothed loss of a program at a point: what every kind of margin provides, and points.

With the smoothed loss φ, curved within the smoothing width h of its kinks, and the directions D of the margins
(`auclab.solvers.smoothed.smoothed_loss`):

    value = Σ q φ(a),     multipliers = the marginals of q α, α = φ'(a),     G = Σ q α D,     H = Σ q φ''(a) D Dᵀ

G is the negative gradient and H the Hessian. A step δ lowers α by ``φ''(a) D·δ`` as long as no margin enters or leaves
the curved part of the loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from auclab._core.base import Array
from auclab._core.pieces import point_piece_sums
from auclab._core.rows import sparse_gram
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample

#: Multiplications between two checks of the time limit: less than a tenth of a second.
_AT_A_TIME = 2**28

#: Raises `OutOfTime` where a solve has to end.
Check = Callable[[], object]


def never() -> None:
    """The check of a computation without a time limit."""


@dataclass
class Evaluation:
    """The smoothed loss at a point.

    `width`: the smoothing width h, in units of the margins. `value`: the smoothed mean. `multipliers` (n_pos,) and
    (n_neg,): the marginals of ``q α``; over the hardest negatives also their weights r. `smoothing_gap`:
    ``mean(φ(a) − α a)`` ≥ 0: the difference of primal and dual value that the smoothing leaves at its minimum.
    `band_share` in [0, 1]: the share of the margins on the curved part. `state`: further data for the Hessian; None
    once released. `theta` (n_features + 2,): the point ``(w, b, ‖w‖)``.
    """

    width: float
    value: float
    multipliers: tuple[Array, ...]
    smoothing_gap: float
    band_share: float
    state: Any
    theta: Array

    def release(self) -> None:
        """Drop the data that only the Hessian needs, at 10⁷ observations most of the memory."""
        self.state = None


class SmoothedLoss(ABC):
    """The smoothed loss of a program on a sample.

    `sample`: the observations to sum over: those of the problem, or a subsample. `check`: called between the parts of a
    Hessian.
    """

    over_pairs = True

    def __init__(self, problem: Problem, sample: Sample, check: Check = never):
        self.sample, self.check, self.threshold = sample, check, problem.program.threshold
        self._smoothed = lru_cache(problem.program.loss.smoothed)  # many points share a width

    @abstractmethod
    def evaluate(self, theta: Array, width: float) -> Evaluation:
        """Value and multipliers at `theta`."""

    @abstractmethod
    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_features + 2,)."""

    @abstractmethod
    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ``, shape (n_features + 2, n_features + 2)."""

    @abstractmethod
    def curvatures(self, evaluation: Evaluation) -> tuple[Array, Array]:
        """The marginals of ``q φ''``: the curvature of every observation."""

    @abstractmethod
    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, ...]:
        """The marginals of ``q φ'' D·step``, by which a step lowers the multipliers; O(m n)."""

    def linearised(self, evaluation: Evaluation, step: Array) -> tuple[Array, ...]:
        """The multipliers ``α − φ'' D·step`` of either class (and r over the hardest negatives) after a step."""
        result = self.multiplier_change(evaluation, step)
        for before, change in zip(evaluation.multipliers, result, strict=True):
            np.subtract(before, change, out=change)
        return with_one_sum(result) if self.over_pairs else result

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """About the Hessian's diagonal, shape (n_features + 2,): an upper bound, by ``(x − y)² ≤ 2x² + 2y²``."""
        pos, neg = self.curvatures(evaluation)
        squares = entrywise_square(self.sample.X_pos).T @ pos + entrywise_square(self.sample.X_neg).T @ neg
        if self.over_pairs:
            return np.r_[2.0 * squares, 0.0, self.threshold**2 * float(pos.sum())]
        total = float(pos.sum() + neg.sum())
        return np.r_[squares, total, self.threshold**2 * total]


class PointLoss(SmoothedLoss):
    """The smoothed loss over the points of a sample, with ``D = (y x, y, z)``."""

    over_pairs = False

    def evaluate(self, theta: Array, width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n)."""
        weight_pos, weight_neg = self.sample.point_weights
        shift = 1.0 - self.threshold * theta[-1]
        scores_pos, scores_neg = self.sample.scores(theta[:-2])
        arguments = shift - (scores_pos + theta[-2]), shift + (scores_neg + theta[-2])
        pieces = self._smoothed(width)
        tables = pieces.breakpoints, pieces.coefficients, pieces.slopes, pieces.gap
        (slope_pos, curved_pos, totals), (slope_neg, curved_neg, others) = (
            point_piece_sums(a, weight, *tables) for a, weight in zip(arguments, (weight_pos, weight_neg), strict=True)
        )
        value, gap, band_share = (float(total) for total in totals + others)
        multipliers, curvatures = (
            (weight_pos * slope_pos, weight_neg * slope_neg),
            (weight_pos * curved_pos, weight_neg * curved_neg),
        )
        return Evaluation(width, value, multipliers, gap, band_share, curvatures, theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``."""
        pos, neg = multipliers
        total_pos, total_neg = float(pos.sum()), float(neg.sum())
        combined = self.sample.combine(pos, neg)
        return np.r_[combined, total_pos - total_neg, self.threshold * (total_pos + total_neg)]

    def hessian(self, evaluation: Evaluation) -> Array:
        """``Σ q φ'' D Dᵀ``, shape (n_features + 2, n_features + 2); O(m n²)."""
        n, sample, z = self.sample.n_features, self.sample, self.threshold
        pos, neg = evaluation.state
        # The sums of q φ'' times 1 and y: D has the entries y x, y and z.
        total, balance = float(pos.sum() + neg.sum()), float(pos.sum() - neg.sum())
        hessian = np.zeros((n + 2, n + 2))
        hessian[:n, :n] = gram(sample, pos, neg, self.check)
        hessian[:n, n] = hessian[n, :n] = sample.combine(pos, -neg)
        hessian[:n, -1] = hessian[-1, :n] = z * sample.combine(pos, neg)
        hessian[n:, n:] = [[total, z * balance], [z * balance, z**2 * total]]
        return hessian

    def curvatures(self, evaluation: Evaluation) -> tuple[Array, Array]:
        """``q φ''`` of every point."""
        pos, neg = evaluation.state
        return pos, neg

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """``q φ'' D·step`` of either class."""
        pos, neg = evaluation.state
        moved_pos, moved_neg = self.sample.scores(step[:-2])
        along_norm = self.threshold * step[-1]
        return pos * (moved_pos + step[-2] + along_norm), neg * (along_norm - moved_neg - step[-2])


def with_one_sum(multipliers: tuple[Array, ...]) -> tuple[Array, ...]:
    """Multipliers of pairs, made to have equal sums over both classes, in place; they differ by rounding.

    The difference is multiplied by the means of the columns: in a gradient it moves the minimum along them as far as
    the penalty allows, and in a dual point it lowers the bound.

    Examples
    --------
    >>> [part.tolist() for part in with_one_sum((np.array([0.5, 0.5]), np.array([2.0])))]
    [[0.5, 0.5], [1.0]]
    """
    sums = [float(part.sum()) for part in multipliers[:2]]
    for part, total in zip(multipliers[:2], sums, strict=True):
        if 0.0 < min(sums) < total:
            part *= min(sums) / total
    return multipliers


def entrywise_square(X: Any) -> Any:
    """``X * X`` of an array or a CSR matrix."""
    return X.multiply(X).tocsr() if hasattr(X, "toarray") else X * X


def some_at_a_time(n_rows: int, per_row: float, check: Check) -> Iterator[slice]:
    """Consecutive rows in parts that take little time each, given the number of multiplications for a row.

    Examples
    --------
    >>> list(some_at_a_time(10, 2.0**26, lambda: None))
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    """
    size = max(1, int(_AT_A_TIME / max(per_row, 1.0)))
    for start in range(0, n_rows, size):
        check()
        yield slice(start, min(start + size, n_rows))


def row_products(rows: Array, weight: Array, check: Check) -> Array:
    """``Σ_k weight_k x_k x_kᵀ`` of dense rows, with weights ≥ 0."""
    total, root = np.zeros((rows.shape[1], rows.shape[1])), np.sqrt(weight)
    for part in some_at_a_time(rows.shape[0], total.size, check):
        scaled = rows[part] * root[part, None]
        total += np.dot(scaled.T, scaled)
    return total


def gram(sample: Sample, weight_pos: Array, weight_neg: Array, check: Check) -> Array:
    """`Sample.gram`, with checks of the time limit if the rows are in memory."""
    if sample.in_blocks:
        return sample.gram(weight_pos, weight_neg)
    total = np.zeros((sample.n_features, sample.n_features))
    for X, weight in ((sample.X_pos, weight_pos), (sample.X_neg, weight_neg)):
        if sample.is_sparse:
            for part in some_at_a_time(X.shape[0], (X.nnz / X.shape[0]) ** 2, check):
                total += sparse_gram(X[part], weight[part])
        elif (used := np.flatnonzero(weight)).size:
            total += row_products(X[used], weight[used], check)
    return total
