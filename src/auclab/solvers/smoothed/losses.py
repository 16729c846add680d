"""The smoothed loss of a program at a point: what every kind of margin provides, and points.

Variables are ``θ = (w, b, t)`` with t in place of ‖w‖; the argument of the loss is ``a = 1 − θ·D`` with the direction
``D = (x_i⁺ − x_j⁻, 0, z)`` of a pair or ``D = (y x, y, z)`` of a point. With the smoothed loss φ, curved within the
smoothing width h of its kinks (`auclab.losses.Loss.smoothed`; of the hinge ``φ'' = 1/(2h)`` where |a| < h):

    value = Σ q φ(a),     multipliers = the marginals of q α, α = φ'(a),     G = Σ q α D,     H = Σ q φ''(a) D Dᵀ

G is the negative gradient and H the Hessian. A step δ lowers α by ``φ''(a) D·δ`` as long as no margin enters or leaves
the curved part of the loss: with a Newton step these multipliers satisfy the dual constraint, which those before the
step do not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array
from auclab._core.pieces import point_piece_sums
from auclab._core.rows import Check, never
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.budget import BLOCK_BYTES

#: Bins per smoothing width.
BINS_PER_WIDTH = 16


@dataclass
class Evaluation:
    """The smoothed loss at a point.

    `width`: the smoothing width h, in units of the margins. `value`: the smoothed mean. `multipliers` (n_pos,) and
    (n_neg,): the marginals of ``q α``; over the hardest negatives also their weights r. `smoothing_gap`:
    ``mean(φ(a) + ℓ*(α) − α a)`` ≥ 0: the difference of primal and dual value that the smoothing leaves at its minimum.
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

    Attributes
    ----------
    lends_hessian : bool
        Whether the Hessian at a point is of use at others, and that of a subsample on all observations.
    """

    lends_hessian: ClassVar[bool] = True

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
        return self.balanced(result)

    def balanced(self, multipliers: tuple[Array, ...]) -> tuple[Array, ...]:
        """Multipliers without the rounding by which the sums over both classes of pairs differ; changed in place."""
        return with_one_sum(multipliers)

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """About the Hessian's diagonal, shape (n_features + 2,): an upper bound, by ``(x − y)² ≤ 2x² + 2y²``."""
        pos, neg = self.curvatures(evaluation)
        return np.r_[2.0 * self._squares(pos, neg), 0.0, self.threshold**2 * float(pos.sum())]

    def _squares(self, pos: Array, neg: Array) -> Array:
        """``Σ u x∘x`` over the rows of both classes, for weights u of the rows."""
        return np.asarray(entrywise_square(self.sample.X_pos).T @ pos + entrywise_square(self.sample.X_neg).T @ neg)


class PointLoss(SmoothedLoss):
    """The smoothed loss over the points of a sample, with ``D = (y x, y, z)``."""

    def evaluate(self, theta: Array, width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n)."""
        weight_pos, weight_neg = self.sample.point_weights
        shift = 1.0 - self.threshold * theta[-1]
        scores_pos, scores_neg = self.sample.scores(theta[:-2])
        # a_k = 1 − z t − y_k (w·x_k + b), with t in place of ‖w‖.
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
        hessian[:n, :n] = sample.gram(pos, neg, self.check)
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
        # D·δ = y (x·δw + δb) + z δt.
        along_norm = self.threshold * step[-1]
        return pos * (moved_pos + step[-2] + along_norm), neg * (along_norm - moved_neg - step[-2])

    def balanced(self, multipliers: tuple[Array, ...]) -> tuple[Array, ...]:
        """The same: the sums of both classes may differ, by ``Σ q y``."""
        return multipliers

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """The Hessian's diagonal."""
        pos, neg = evaluation.state
        total = float(pos.sum() + neg.sum())
        return np.r_[self._squares(pos, neg), total, self.threshold**2 * total]


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


def binned_hessian(sample: Any, theta: Array, smoothing_width: float, threshold: float) -> Array:
    """``Σ q φ'' D Dᵀ`` over the pairs whose binned margins are in the band, shape (n_features + 2, n_features + 2).

    The exact Hessian needs for every observation the sum of the opposite class's rows in its band, which lie in other
    blocks. With scores binned much more finely than the band is wide, the sums of rows per bin suffice: two passes over
    the rows, without sorting them. The result is the Hessian of a loss whose scores are moved by less than half a bin:
    good enough for steps, and no certificate depends on it. With more bins than rows, as where outliers stretch the
    range of the scores, only the bins with rows are kept.

    `sample`: in blocks or in memory. `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `smoothing_width`: that of the band.
    `threshold`: z; a pair's direction is ``D = (x_i⁺ − x_j⁻, 0, z)``.
    """
    pos, neg = sample.scores(theta[:-2])
    shift = 1.0 - threshold * theta[-1]
    pos -= shift  # a pair is in the band where |n_j − p_i| < h
    start, end = min(pos.min(), neg.min()), max(pos.max(), neg.max())
    max_bins, n_rows = max(2, BLOCK_BYTES // (8 * sample.n_features)), pos.size + neg.size
    most = max_bins if n_rows > max_bins else 1.0 / np.finfo(float).eps  # numbers of bins are exact as floats
    width = max(smoothing_width / BINS_PER_WIDTH, (end - start) / (most - 1))
    n_bins = int((end - start) / width) + 1
    kind = np.int32 if n_bins <= max_bins else np.int64
    bins_pos, bins_neg = (((scores - start) / width).astype(kind) for scores in (pos, neg))
    del pos, neg
    reach = max(0, math.ceil(smoothing_width / width) - 1)
    if n_bins > n_rows:
        occupied, places = np.unique(np.concatenate([bins_pos, bins_neg]), return_inverse=True)
        bins_pos, bins_neg = np.split(places.astype(np.int32), [bins_pos.size])
        n_bins = occupied.size
    else:
        occupied = np.arange(n_bins)
    within = np.searchsorted(occupied, occupied - reach), np.searchsorted(occupied, occupied + reach, side="right")
    binned_pos, binned_neg = (
        np.bincount(bins, weights=share, minlength=n_bins)
        for bins, share in ((bins_pos, sample.share_pos), (bins_neg, sample.share_neg))
    )
    weight_pos = sample.share_pos * _sums_within(binned_neg, *within)[bins_pos]
    weight_neg = sample.share_neg * _sums_within(binned_pos, *within)[bins_neg]
    square = sample.gram(weight_pos, weight_neg)
    sums_pos, sums_neg = sample.bin_sums(bins_pos, bins_neg, n_bins)
    cross = sums_pos.T @ _sums_within(sums_neg, *within)
    n = sample.n_features
    hessian = np.zeros((n + 2, n + 2))
    hessian[:n, :n] = square - cross - cross.T
    hessian[:n, -1] = hessian[-1, :n] = threshold * sample.combine(weight_pos, weight_neg)
    hessian[-1, -1] = threshold**2 * weight_pos.sum()
    return hessian / (2.0 * smoothing_width)


def _sums_within(binned: NDArray[Any], first: NDArray[np.intp], last: NDArray[np.intp]) -> Array:
    """Sums over the bins from `first` to `last` (exclusive) along the first axis.

    Examples
    --------
    >>> _sums_within(np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 0, 1, 2]), np.array([2, 3, 4, 4])).tolist()
    [3.0, 7.0, 14.0, 12.0]
    """
    prefix = np.concatenate([np.zeros((1, *binned.shape[1:])), np.cumsum(binned, axis=0)])
    return np.asarray(prefix[last] - prefix[first])
