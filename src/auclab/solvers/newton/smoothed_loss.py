"""The smoothed loss of a hinge program: value, gradient, Hessian and linearised multipliers, without pairs.

Variables are ``θ = (w, b, t)`` with t in the place of ‖w‖, so a hinge argument is ``a = 1 − θ·D`` with the direction
``D = (x_i⁺ − x_j⁻, 0, z)`` of a pair or ``D = (y x, y, z)`` of a point, and with ``α = φ'(a)``

    gradient = −Σ q α D,        Hessian = Σ q φ''(a) D Dᵀ,      φ'' = 1/(2h) in the band |a| < h.

The multipliers ``α − φ''(a) D·δ``, linear in a step δ, are those that the step would have if no pair left or entered
the band: with a Newton step they satisfy the dual constraint, which those before the step do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.smooth import Index, sweep_neg, sweep_pos, window_row_sums, window_sums
from auclab.formulations.problem import Problem
from auclab.samples.blocks.sample import BlockSample
from auclab.samples.memory import Sample
from auclab.solvers.newton.binned_hessian import binned_curvature
from auclab.solvers.threads import in_parallel
from auclab.types import Array

#: Below this many observations threads cost more than they bring.
_THREADS_FROM = 10_000


@dataclass
class Evaluation:
    """The smoothed loss at a point.

    `value` is the smoothed mean; `multipliers` per class are the marginals of ``q α``; `slack` is what the smoothing
    leaves between primal and dual value, ``mean(φ(a) − α a)``; `band` is the share of the margins in the band. `state`
    is what the Hessian needs besides, `theta` the point.
    """

    half_width: float
    value: float
    multipliers: tuple[Array, Array]
    slack: float
    band: float
    state: Any
    theta: Array

    def release(self) -> None:
        """Forget what only the Hessian needs: at 10⁷ observations it is most of the memory."""
        self.state = None


@dataclass(frozen=True)
class _Side:
    """One class, sorted by score."""

    order: Index
    share: Array
    first: Index
    last: Index

    def band(self, partners: _Side) -> Array:
        """The share of the partners in the band of every observation."""
        return np.asarray(window_sums(partners.share, self.first, self.last))


class PairLoss:
    """The smoothed loss over the pairs of a sample."""

    def __init__(self, problem: Problem, sample: Sample):
        self.threshold = problem.program.threshold
        self.sample = sample
        self.n_variables = sample.n_features + 2
        self.threads = sample.n_pos + sample.n_neg >= _THREADS_FROM

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m log m)."""
        sample = self.sample
        shift = 1.0 - self.threshold * theta[-1]

        def sort(scores: Array, share: Array) -> tuple[Index, Array, Array]:
            order = np.argsort(scores).astype(np.int32)
            return order, scores[order], share[order] if sample.weighted else share

        scores_pos, scores_neg = sample.scores(theta[:-2])
        (order_pos, pos, share_pos), (order_neg, neg, share_neg) = in_parallel(
            sort, (scores_pos, sample.share_pos), (scores_neg, sample.share_neg), threads=self.threads
        )
        del scores_pos, scores_neg
        center = 0.5 * (neg[0] + neg[-1])
        pos -= center
        neg -= center
        (first_pos, last_pos, slope_pos, mean, band), (first_neg, last_neg, slope_neg) = in_parallel(
            lambda sweep, *data: sweep(*data, shift, half_width),
            (sweep_pos, pos, neg, share_pos, share_neg),
            (sweep_neg, neg, pos, share_pos),
            threads=self.threads,
        )
        slope_pos *= share_pos
        slope_neg *= share_neg
        # mean(α a) = Σ α (shift − p + n), from the marginals.
        active = shift * float(slope_pos.sum()) - float(slope_pos @ pos) + float(slope_neg @ neg)
        multipliers = _unsorted(slope_pos, order_pos), _unsorted(slope_neg, order_neg)
        sides = (
            _Side(order_pos, share_pos, first_pos, last_pos),
            _Side(order_neg, share_neg, first_neg, last_neg),
        )
        return Evaluation(half_width, mean, multipliers, mean - active, band, sides, theta)

    def direction_sum(self, multipliers: tuple[Array, Array]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_variables,)."""
        return np.r_[self.sample.combine(*multipliers), 0.0, self.threshold * float(multipliers[0].sum())]

    def hessian(self, evaluation: Evaluation) -> Array:
        """The band's ``Σ q φ'' D Dᵀ``, shape (n_variables, n_variables); O(m n²)."""
        if isinstance(self.sample, BlockSample):
            return binned_curvature(self.sample, evaluation.theta, evaluation.half_width, self.threshold)
        sample, (pos, neg) = self.sample, evaluation.state
        rows_pos, rows_neg = in_parallel(
            _sorted_rows, (sample.X_pos, pos.order), (sample.X_neg, neg.order), threads=self.threads
        )
        mass_pos, mass_neg = pos.share * pos.band(neg), neg.share * neg.band(pos)

        def across() -> Array:
            partners = window_row_sums(rows_neg, neg.share, pos.first, pos.last)
            return np.asarray((rows_pos * pos.share[:, None]).T @ partners)

        def within() -> Array:
            square = (rows_pos * mass_pos[:, None]).T @ rows_pos
            return np.asarray(square + (rows_neg * mass_neg[:, None]).T @ rows_neg)

        cross, square = in_parallel(lambda part: part(), (across,), (within,), threads=self.threads)
        n = sample.n_features
        hessian = np.zeros((n + 2, n + 2))
        hessian[:n, :n] = square - cross - cross.T
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * (rows_pos.T @ mass_pos - rows_neg.T @ mass_neg)
        hessian[-1, -1] = self.threshold**2 * mass_pos.sum()
        return hessian / (2.0 * evaluation.half_width)

    def change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """The marginals of ``q φ'' D·step``; O(m n)."""
        sample, (pos, neg) = self.sample, evaluation.state
        tilt = self.threshold * step[-1]

        moved_pos, moved_neg = sample.scores(step[:-2])
        moved_pos = moved_pos[pos.order]  # one after the other: at 10⁷ observations a copy counts
        moved_neg = moved_neg[neg.order]
        across_pos = window_sums(neg.share * moved_neg, pos.first, pos.last)
        across_neg = window_sums(pos.share * moved_pos, neg.first, neg.last)
        # In place from here on.
        moved_pos += tilt
        moved_neg -= tilt
        for side, partners, moved, across in ((pos, neg, moved_pos, across_pos), (neg, pos, moved_neg, across_neg)):
            moved *= side.band(partners)
            moved -= across
            moved *= side.share
            moved /= 2.0 * evaluation.half_width
        del across_pos, across_neg, across
        np.negative(moved_neg, out=moved_neg)
        return _unsorted(moved_pos, pos.order), _unsorted(moved_neg, neg.order)

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """An upper bound of the Hessian's diagonal, shape (n_variables,), by ``(x − y)² ≤ 2x² + 2y²``."""
        pos, neg = evaluation.state
        mass = [_unsorted(a.share * a.band(b), a.order) for a, b in ((pos, neg), (neg, pos))]
        squares = 2.0 * (_square(self.sample.X_pos).T @ mass[0] + _square(self.sample.X_neg).T @ mass[1])
        tilt = self.threshold**2 * float(mass[0].sum())
        return np.r_[squares, 0.0, tilt] / (2.0 * evaluation.half_width)


class PointLoss:
    """The smoothed loss over the points of a sample."""

    def __init__(self, problem: Problem, sample: Sample):
        self.threshold = problem.program.threshold
        self.sample = sample
        self.n_variables = sample.n_features + 2

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n)."""
        weight_pos, weight_neg = self.sample.point_weights
        shift = 1.0 - self.threshold * theta[-1]
        scores_pos, scores_neg = self.sample.scores(theta[:-2])
        arguments = shift - (scores_pos + theta[-2]), shift + (scores_neg + theta[-2])
        slopes = [np.clip((a + half_width) / (2.0 * half_width), 0.0, 1.0) for a in arguments]
        losses = [
            np.where(np.abs(a) < half_width, (a + half_width) ** 2 / (4.0 * half_width), np.maximum(a, 0.0))
            for a in arguments
        ]
        bands = [np.abs(a) < half_width for a in arguments]
        value = float(weight_pos @ losses[0] + weight_neg @ losses[1])
        multipliers = weight_pos * slopes[0], weight_neg * slopes[1]
        active = float(multipliers[0] @ arguments[0] + multipliers[1] @ arguments[1])
        band = float(weight_pos @ bands[0] + weight_neg @ bands[1])
        return Evaluation(half_width, value, multipliers, value - active, band, bands, theta)

    def direction_sum(self, multipliers: tuple[Array, Array]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_variables,)."""
        sum_pos, sum_neg = float(multipliers[0].sum()), float(multipliers[1].sum())
        return np.r_[self.sample.combine(*multipliers), sum_pos - sum_neg, self.threshold * (sum_pos + sum_neg)]

    def hessian(self, evaluation: Evaluation) -> Array:
        """The band's ``Σ q φ'' D Dᵀ``; O(m n²)."""
        n, sample = self.sample.n_features, self.sample
        mass_pos, mass_neg = (w * band for w, band in zip(sample.point_weights, evaluation.state, strict=True))
        total_pos, total_neg = float(mass_pos.sum()), float(mass_neg.sum())
        hessian = np.zeros((self.n_variables, self.n_variables))
        hessian[:n, :n] = sample.gram(mass_pos, mass_neg)
        hessian[:n, n] = hessian[n, :n] = sample.combine(mass_pos, -mass_neg)
        hessian[:n, -1] = hessian[-1, :n] = self.threshold * sample.combine(mass_pos, mass_neg)
        hessian[n, n] = total_pos + total_neg
        hessian[n, -1] = hessian[-1, n] = self.threshold * (total_pos - total_neg)
        hessian[-1, -1] = self.threshold**2 * (total_pos + total_neg)
        return hessian / (2.0 * evaluation.half_width)

    def change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
        """``q φ'' D·step`` of either class; O(m n)."""
        tilt, width = self.threshold * step[-1], 2.0 * evaluation.half_width
        moved_pos, moved_neg = self.sample.scores(step[:-2])
        (weight_pos, weight_neg), (band_pos, band_neg) = self.sample.point_weights, evaluation.state
        changed_pos = weight_pos * band_pos * (moved_pos + step[-2] + tilt) / width
        return changed_pos, weight_neg * band_neg * (tilt - moved_neg - step[-2]) / width

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """The Hessian's diagonal, shape (n_variables,)."""
        diagonal = np.zeros(self.n_variables)
        sample, weights = self.sample, self.sample.point_weights
        for X, weight, band in zip((sample.X_pos, sample.X_neg), weights, evaluation.state, strict=True):
            mass = weight * band
            total = float(mass.sum())
            diagonal += np.r_[_square(X).T @ mass, total, self.threshold**2 * total]
        return diagonal / (2.0 * evaluation.half_width)


Loss = PairLoss | PointLoss


@dataclass(frozen=True)
class BandHessian:
    """The Hessians of some bands, with factors, and a diagonal, by their products alone: O(nnz + m) each.

    For more features than a matrix could hold.
    """

    loss: Loss
    bands: tuple[tuple[float, Evaluation], ...]
    extra: Array

    def __matmul__(self, step: Array) -> Array:
        product = self.extra * step
        for factor, evaluation in self.bands:
            product = product + factor * self.loss.direction_sum(self.loss.change(evaluation, step))
        return product

    def diagonal(self) -> Array:
        """Its diagonal, or more, shape (n_variables,)."""
        return self.extra + sum(factor * self.loss.hessian_diagonal(evaluation) for factor, evaluation in self.bands)

    def plus(self, factor: float, other: BandHessian) -> BandHessian:
        """The sum of this and `factor` times another of the same loss."""
        more = tuple((factor * inner, evaluation) for inner, evaluation in other.bands)
        return BandHessian(self.loss, self.bands + more, self.extra + factor * other.extra)


def linearised(loss: Loss, evaluation: Evaluation, step: Array) -> tuple[Array, Array]:
    """The multipliers ``α − φ'' D·step``."""
    result = loss.change(evaluation, step)
    for before, change in zip(evaluation.multipliers, result, strict=True):
        np.subtract(before, change, out=change)
    return result


def smooth_loss(problem: Problem, sample: Sample) -> Loss:
    """The smoothed loss of `problem` on `sample`."""
    return PairLoss(problem, sample) if problem.over_pairs else PointLoss(problem, sample)


def _unsorted(values: Array, order: Index) -> Array:
    """Values of sorted observations in the order of the sample."""
    unsorted = np.empty_like(values)
    unsorted[order] = values
    return unsorted


def _sorted_rows(X: Any, order: NDArray[np.integer]) -> Array:
    rows = X[order]
    return np.ascontiguousarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def _square(X: Any) -> Any:
    return X.multiply(X).tocsr() if hasattr(X, "toarray") else X * X
