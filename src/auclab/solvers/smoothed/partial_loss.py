"""The smoothed loss over the hardest negatives of a sample (`PartialAUC`), by sliding windows over sorted scores.

With the smoothed losses ``ℓ_j = Σ_i u_i φ_h(1 − w·(x_i⁺ − x_j⁻))`` of the negatives, their shares v_j and α = max_fpr

    F(w) = min_τ  τ + Σ_j v_j/α φ_k(ℓ_j − τ),

a superquantile with its own smoothing width k. The minimum is taken exactly at every point: with
``r_j = v_j/α φ_k'(ℓ_j − τ)``, which are in the R of `PartialAUC`, and ``g_j = ∇ℓ_j``

    ∇F = Σ_j r_j g_j,      ∇²F = Σ_j r_j ∇²ℓ_j + Σ_j o_j (g_j − ḡ)(g_j − ḡ)ᵀ,      o_j = v_j/(2kα) if |ℓ_j − τ| < k,

with ḡ the mean of the g_j with weights o_j. The first sum is the Hessian of `PairLoss` with r for the weights of the
negatives; the second is that over (w, τ) after the elimination of τ. ℓ_j rises with the score of j, so pairs
and losses with curvature are windows of sorted scores, and the negatives with low scores are never sorted.

At a minimum the values of primal and dual differ by ``Σ q (φ_h − φ_h' a) + Σ v/α (φ_k − φ_k' (ℓ − τ))``, with the pair
multipliers ``q_ij = u_i r_j φ_h'(a_ij)``: O(h²) if k is proportional to h. Multipliers are linearised in a step both in
r and in q (derived).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auclab._core.base import Array
from auclab._core.hinge import ascending
from auclab._core.pieces import slope_row_sums, smoothed_level, sparse_slope_row_sums, sweep_losses
from auclab._core.rows import Check, never, row_products
from auclab._core.smooth import Index, sweep_neg, sweep_pos
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.budget import KEPT_BYTES
from auclab.solvers.smoothed.losses import Evaluation, SmoothedLoss, binned_hessian
from auclab.solvers.smoothed.pair_loss import CurvedPairs, PairLoss, SortedClass

#: Ratio of the negatives that are sorted to those with a positive weight at the last point.
_SPARE = 1.1


@dataclass(frozen=True)
class _State:
    """What the Hessian needs: sorted classes, their scores, and the losses near τ.

    `classes` are those of `PairLoss`, with r for the weights of the negatives, of which only the hardest are sorted.
    `slope` are their ``Σ_i u_i φ'``; `weight` are the o_j of those within the smoothing width of τ,
    at the places `near`.
    """

    classes: tuple[SortedClass, SortedClass]
    pos: Array
    neg: Array
    slope: Array
    near: slice
    weight: Array


class PartialLoss(SmoothedLoss):
    """The smoothed loss over the hardest negatives.

    Multipliers are triples here: the marginals of the pairs, and the weights r of the negatives.
    """

    lends_hessian = False  # few negatives are near τ, and others at another point

    def __init__(self, problem: Problem, sample: Sample, check: Check = never):
        super().__init__(problem, sample, check)
        self.pairs = PairLoss(problem, sample, check)
        capacity = problem.program.comparisons.capacity(sample)
        assert capacity is not None  # comparisons of the hardest negatives
        self.capacity = capacity
        self._n_sorted = min(sample.n_neg, 10 + int(_SPARE * sample.n_neg / float(capacity.sum())))

    def evaluate(self, theta: Array, width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n + m log m)."""
        sample = self.sample
        scores_pos, scores_neg = sample.scores(theta[:-2])
        order_pos, pos = ascending(scores_pos)
        share_pos = sample.share_pos[order_pos] if sample.weighted else sample.share_pos
        while True:
            order_neg = _largest(scores_neg, self._n_sorted)
            neg, capacity = scores_neg[order_neg], self.capacity[order_neg]
            # A common offset of the scores cancels in the pairs; without it no digits are lost in the sums.
            center = 0.5 * (neg[0] + neg[-1])
            neg -= center
            first_neg, last_neg, slope, loss = sweep_losses(neg, pos - center, share_pos, 1.0, width)
            loss = np.maximum.accumulate(loss)  # rounding
            share_neg = _where_few_lose(loss, capacity)
            if share_neg is not None:
                start = end = 0
                break
            level, start, end = smoothed_level(loss, capacity, 1.0, width)
            if start > 0 or neg.size == sample.n_neg:
                self._n_sorted = min(sample.n_neg, 10 + int(_SPARE * (neg.size - start)))
                break
            self._n_sorted = min(2 * self._n_sorted, sample.n_neg)
        pos -= center
        weight, level_gap = capacity[start:end] / (2.0 * width), 0.0
        if share_neg is None:
            excess = loss - level
            share_neg = capacity * np.clip((excess + width) / (2.0 * width), 0.0, 1.0)
            level_gap = 0.5 * float(weight @ np.maximum(width**2 - excess[start:end] ** 2, 0.0))
        first_pos, last_pos, slope_pos, mean, band_share = sweep_pos(pos, neg, share_pos, share_neg, 1.0, width)
        slope_pos *= share_pos
        slope_neg = slope * share_neg
        # mean(α a) = Σ α (1 − p + n), from the marginals.
        active = float(slope_pos.sum()) - float(slope_pos @ pos) + float(slope_neg @ neg)
        multipliers = (
            in_sample_order(slope_pos, order_pos),
            *(in_sample_order(part, order_neg, sample.n_neg) for part in (slope_neg, share_neg)),
        )
        classes = (
            SortedClass(order_pos, share_pos, first_pos, last_pos),
            SortedClass(order_neg, share_neg, first_neg, last_neg),
        )
        state = _State(classes, pos, neg, slope, slice(start, end), weight)
        gap = mean - active + level_gap
        return Evaluation(width, mean + level_gap, multipliers, gap, band_share, state, theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_features + 2,)."""
        return self.pairs.direction_sum((multipliers[0], multipliers[1]))

    def curvatures(self, evaluation: Evaluation) -> tuple[Array, Array]:
        """``r_j u_i φ''`` summed over the pairs of every observation, and what bounds the curvature in τ.

        With ``s = Σ u φ'`` a ``g gᵀ`` of the second sum is at most ``2 s² x⁻x⁻ᵀ + 2 s Σ u φ' x⁺x⁺ᵀ``.
        """
        pos, neg = self.pairs.curvatures(self._weighted(evaluation))
        state: _State = evaluation.state
        (ours, theirs), near, slope = state.classes, state.near, state.slope[state.near]
        if state.weight.size:
            of_pos = sweep_pos(state.pos, state.neg[near], ours.share, state.weight * slope, 1.0, evaluation.width)[2]
            pos += in_sample_order(of_pos * ours.share, ours.order)
            neg += in_sample_order(state.weight * slope**2, theirs.order[near], neg.size)
        return pos, neg

    def hessian(self, evaluation: Evaluation) -> Array:
        """∇²F, shape (n_features + 2, n_features + 2); O(m n²) for dense rows, and n² for every negative near τ."""
        state: _State = evaluation.state
        if self.sample.in_blocks:
            weighted = replace(self.sample, share_neg=evaluation.multipliers[2])
            hessian = binned_hessian(weighted, evaluation.theta, evaluation.width, 0.0)
        else:
            hessian = self.pairs.hessian(self._weighted(evaluation))
        # Negatives below all positives have loss and gradient 0; they are most of those near τ if few have a loss.
        start = state.near.start + int(np.searchsorted(state.slope[state.near], 0.0, side="right"))
        near = slice(start, state.near.stop)
        gradients = self._gradients(evaluation, near) if near.start < near.stop else None
        if gradients is not None:
            # Σ_j o_j (g_j − ḡ)(g_j − ḡ)ᵀ; those with gradient 0 have the part (0 − ḡ)(0 − ḡ)ᵀ.
            weight, n = state.weight[near.start - state.near.start :], self.sample.n_features
            total = float(state.weight.sum())
            mean = (weight @ gradients) / total
            hessian[:n, :n] += row_products(gradients - mean, weight, self.check)
            hessian[:n, :n] += (total - float(weight.sum())) * np.outer(mean, mean)
        return hessian

    def _weighted(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation of `PairLoss` with r for the weights of the negatives."""
        return replace(evaluation, state=(CurvedPairs(0.5 / evaluation.width, *evaluation.state.classes),))

    def _gradients(self, evaluation: Evaluation, near: slice) -> Array | None:
        """The g_j of some consecutive losses, shape (n_near, n_features); None where that takes too many rows."""
        state, sample = evaluation.state, self.sample
        ours, theirs = state.classes
        first, last = theirs.first[near], theirs.last[near]
        low, high = int(first[0]), int(last[-1])  # of the positives, which are all active below and none above
        order_pos, order_neg = ours.order[low:high], theirs.order[near]
        if sample.in_blocks and 8 * (order_pos.size + order_neg.size) * sample.n_features > KEPT_BYTES:
            return None
        active = in_sample_order(ours.share[:low], ours.order[:low], sample.n_pos)
        below = sample.combine(active, np.zeros(sample.n_neg))
        windows = state.pos[low:high], ours.share[low:high], state.neg[near], first - low, last - low
        width = evaluation.width
        if sample.is_sparse:
            X = sample.X_pos
            within = sparse_slope_row_sums(X.data, X.indices, X.indptr, order_pos, *windows, 1.0, width, X.shape[1])
            rows_neg = sample.X_neg[order_neg].toarray()
        else:
            rows_pos, rows_neg = sample.take(order_pos, order_neg)
            within = slope_row_sums(np.ascontiguousarray(rows_pos), *windows, 1.0, width)
        return np.asarray(rows_neg * state.slope[near, None] - below - within)

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array, Array]:
        """The decrease of the multipliers by a step, to first order; O(m n)."""
        state: _State = evaluation.state
        (ours, theirs), near, n_neg = state.classes, state.near, self.sample.n_neg
        # The q_ij at fixed r.
        change_pos, change_neg = self.pairs.multiplier_change(self._weighted(evaluation), step)
        if not state.weight.size:
            return change_pos, change_neg, np.zeros(n_neg)
        # The r_j: those near τ rise by o_j (g_j − ḡ)·step, and q_ij with them.
        moved_pos, moved_neg = self.sample.scores(step[:-2])
        moved = ours.share * moved_pos[ours.order]
        rise = state.slope[near] * moved_neg[theirs.order[near]]
        rise -= sweep_neg(state.neg[near], state.pos, moved, 1.0, evaluation.width)[2]
        rise = state.weight * (rise - (state.weight @ rise) / state.weight.sum())
        of_pos = sweep_pos(state.pos, state.neg[near], ours.share, rise, 1.0, evaluation.width)[2]
        change_pos -= in_sample_order(of_pos * ours.share, ours.order)
        change_neg -= in_sample_order(rise * state.slope[near], theirs.order[near], n_neg)
        return change_pos, change_neg, in_sample_order(-rise, theirs.order[near], n_neg)


def _where_few_lose(loss: Array, capacity: Array) -> Array | None:
    """The r if the capacities of the negatives with a positive loss sum to below 1, and all to 1 or more; else None.

    The superquantile is then their sum, without a kink: within any width of τ, which is 0, are all others.

    Examples
    --------
    >>> _where_few_lose(np.array([0.0, 0.0, 3.0]), np.array([0.5, 0.5, 0.5])).tolist()
    [0.25, 0.25, 0.5]
    """
    first = int(np.searchsorted(loss, 0.0, side="right"))
    rest, others = 1.0 - float(capacity[first:].sum()), float(capacity[:first].sum())
    if not 0.0 < rest <= others:
        return None
    share = capacity.copy()
    share[:first] *= rest / others
    return share


def in_sample_order(values: Array, order: Index, size: int | None = None) -> Array:
    """Values of sorted observations in the order of the sample; 0 for the others of `size` where not all are sorted.

    Examples
    --------
    >>> in_sample_order(np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1], dtype=np.int32)).tolist()
    [2.0, 3.0, 1.0]
    """
    original = np.empty_like(values) if size is None else np.zeros(size)
    original[order] = values
    return original


def _largest(values: Array, count: int) -> Index:
    """The numbers of the `count` largest values, in ascending order of these.

    Examples
    --------
    >>> _largest(np.array([5.0, 1.0, 7.0, 3.0]), 2).tolist()
    [0, 2]
    """
    if count < values.size:
        chosen = np.argpartition(values, values.size - count)[values.size - count :]
        return chosen[np.argsort(values[chosen])].astype(np.int32)
    return np.argsort(values).astype(np.int32)
