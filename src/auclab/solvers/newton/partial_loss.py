"""The smoothed loss over the hardest negatives of a sample (`PartialAUC`), by sliding windows over sorted scores.

With the smoothed losses ``ℓ_j = Σ_i u_i φ_h(1 − w·(x_i⁺ − x_j⁻))`` of the negatives, their shares v_j and α = max_fpr

    F(w) = min_τ  τ + Σ_j v_j/α φ_k(ℓ_j − τ),

a superquantile smoothed over a band of its own half-width k. The minimum is taken exactly at every point: with
``r_j = v_j/α φ_k'(ℓ_j − τ)``, which are in the R of `PartialAUC` as they stand, and ``g_j = ∇ℓ_j``

    ∇F = Σ_j r_j g_j,      ∇²F = Σ_j r_j ∇²ℓ_j + Σ_j o_j (g_j − ḡ)(g_j − ḡ)ᵀ,      o_j = v_j/(2kα) in the band of τ,

with ḡ the mean of the g_j with weights o_j. The first sum is the Hessian of `PairLoss` with r for the weights of the
negatives; the second is that over (w, τ) after the elimination of τ. ℓ_j rises with the score of j, so both bands are
windows of sorted scores.

At a minimum the values of primal and dual differ by ``Σ q (φ_h − φ_h' a) + Σ v/α (φ_k − φ_k' (ℓ − τ))``, with the pair
multipliers ``q_ij = u_i r_j φ_h'(a_ij)``: O(h²) if k is proportional to h. Multipliers linearised in a step are so in r
and in q (derived).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from auclab.compiled.hardest import slope_row_sums, smoothed_level, sparse_slope_row_sums, sweep_losses
from auclab.compiled.smooth import Index, sweep_neg, sweep_pos
from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.solvers.newton.evaluation import Evaluation, entrywise_square, in_sample_order
from auclab.solvers.newton.pair_loss import PairLoss, SortedClass
from auclab.solvers.threads import in_parallel
from auclab.types import Array

#: Half-width of the band of losses in units of that of the hinges.
_LEVEL_WIDTH = 1.0
_SHIFT = 1.0


@dataclass(frozen=True)
class _State:
    """What the Hessian needs: sorted classes, their scores, and the band of losses.

    `classes` are those of `PairLoss`, with r for the weights of the negatives. `weight` are the o_j of the negatives
    in the band of losses, which are those at the places `band` of the ascending scores; `slope` are the ``Σ_i u_i φ'``
    of all negatives in this order.
    """

    classes: tuple[SortedClass, SortedClass]
    pos: Array
    neg: Array
    slope: Array
    band: slice
    weight: Array


class PartialLoss:
    """The smoothed loss over the hardest negatives.

    Multipliers are triples here: the marginals of the pairs, and the weights r of the negatives.

    Parameters
    ----------
    problem : Problem
        Gives α, the `max_fpr` of the program.
    sample : Sample
        The observations to sum over: those of the problem, or a subsample.
    """

    def __init__(self, problem: Problem, sample: Sample):
        self.pairs = PairLoss(problem, sample)
        self.sample, self.n_variables, self.threads = sample, self.pairs.n_variables, self.pairs.threads
        self.capacity = problem.program.negative_capacity(sample)

    def evaluate(self, theta: Array, half_width: float) -> Evaluation:
        """Value and multipliers at `theta`; O(m n + m log m)."""
        sample, level_width = self.sample, _LEVEL_WIDTH * half_width

        def sort(scores: Array, weight: Array) -> tuple[Index, Array, Array]:
            order = np.argsort(scores).astype(np.int32)
            return order, scores[order], weight[order] if sample.weighted else weight

        scores_pos, scores_neg = sample.scores(theta[:-2])
        (order_pos, pos, share_pos), (order_neg, neg, capacity) = in_parallel(
            sort, (scores_pos, sample.share_pos), (scores_neg, self.capacity), threads=self.threads
        )
        # A common offset of the scores cancels in the pairs; without it no digits are lost in the sums.
        center = 0.5 * (neg[0] + neg[-1])
        pos -= center
        neg -= center
        first_neg, last_neg, slope, loss = sweep_losses(neg, pos, share_pos, _SHIFT, half_width)
        loss = np.maximum.accumulate(loss)  # rounding
        level, start, end = smoothed_level(loss, capacity, 1.0, level_width)
        excess = loss - level
        share_neg = capacity * np.clip((excess + level_width) / (2.0 * level_width), 0.0, 1.0)
        inside = excess[start:end]
        weight = capacity[start:end] / (2.0 * level_width)
        level_gap = 0.5 * float(weight @ np.maximum(level_width**2 - inside**2, 0.0))
        first_pos, last_pos, slope_pos, mean, band_share = sweep_pos(pos, neg, share_pos, share_neg, _SHIFT, half_width)
        slope_pos *= share_pos
        slope_neg = slope * share_neg
        # mean(α a) = Σ α (1 − p + n), from the marginals.
        active = _SHIFT * float(slope_pos.sum()) - float(slope_pos @ pos) + float(slope_neg @ neg)
        multipliers = (
            in_sample_order(slope_pos, order_pos),
            *(in_sample_order(part, order_neg) for part in (slope_neg, share_neg)),
        )
        classes = (
            SortedClass(order_pos, share_pos, first_pos, last_pos),
            SortedClass(order_neg, share_neg, first_neg, last_neg),
        )
        state = _State(classes, pos, neg, slope, slice(start, end), weight)
        gap = mean - active + level_gap
        return Evaluation(half_width, mean + level_gap, multipliers, gap, band_share, state, theta)

    def direction_sum(self, multipliers: tuple[Array, ...]) -> Array:
        """``G = Σ q α D``, the negative gradient, shape (n_variables,)."""
        return self.pairs.direction_sum((multipliers[0], multipliers[1]))

    def hessian(self, evaluation: Evaluation) -> Array:
        """∇²F, shape (n_variables, n_variables); O(m n²) for dense rows."""
        state: _State = evaluation.state
        hessian = self.pairs.hessian(replace(evaluation, state=state.classes))
        if state.weight.size:
            gradients = self._gradients(evaluation)
            gradients -= (state.weight @ gradients) / state.weight.sum()
            n = self.sample.n_features
            hessian[:n, :n] += (gradients * state.weight[:, None]).T @ gradients
        return hessian

    def _gradients(self, evaluation: Evaluation) -> Array:
        """The g_j of the losses in the band, shape (n_band, n_features)."""
        state, sample = evaluation.state, self.sample
        band, (ours, theirs) = state.band, state.classes
        windows = state.neg[band], theirs.first[band], theirs.last[band], _SHIFT, evaluation.half_width
        rows = sample.X_neg[theirs.order[band]]
        if sample.is_sparse:
            X = sample.X_pos
            sums = sparse_slope_row_sums(
                X.data, X.indices, X.indptr, ours.order, state.pos, ours.share, *windows, X.shape[1]
            )
            rows = rows.toarray()
        else:
            sums = slope_row_sums(np.ascontiguousarray(sample.X_pos[ours.order]), state.pos, ours.share, *windows)
        return np.asarray(rows * state.slope[band, None] - sums)

    def multiplier_change(self, evaluation: Evaluation, step: Array) -> tuple[Array, Array, Array]:
        """By what a step lowers the multipliers, to first order; O(m n)."""
        state: _State = evaluation.state
        change_pos, change_neg = self.pairs.multiplier_change(replace(evaluation, state=state.classes), step)
        raised = np.zeros(self.sample.n_neg)
        if state.weight.size:
            band, (ours, theirs) = state.band, state.classes
            moved_pos, moved_neg = self.sample.scores(step[:-2])
            # g_j · step, for the losses in the band.
            means = sweep_neg(
                state.neg[band], state.pos, ours.share * moved_pos[ours.order], _SHIFT, evaluation.half_width
            )[2]
            rise = state.slope[band] * moved_neg[theirs.order[band]] - means
            rise -= (state.weight @ rise) / state.weight.sum()
            raised_sorted = state.weight * rise
            slopes = sweep_pos(state.pos, state.neg[band], ours.share, raised_sorted, _SHIFT, evaluation.half_width)[2]
            change_pos -= in_sample_order(ours.share * slopes, ours.order)
            raised[theirs.order[band]] = raised_sorted
            change_neg[theirs.order[band]] -= raised_sorted * state.slope[band]
        return change_pos, change_neg, -raised

    def hessian_diagonal(self, evaluation: Evaluation) -> Array:
        """An upper bound of the Hessian's diagonal, shape (n_variables,)."""
        state: _State = evaluation.state
        diagonal = self.pairs.hessian_diagonal(replace(evaluation, state=state.classes))
        if state.weight.size:
            # (s x − Σ u φ' x⁺)² ≤ 2 s² x² + 2 s Σ u φ' (x⁺)², as s = Σ u φ'.
            band, (ours, theirs) = state.band, state.classes
            weight = state.weight * state.slope[band]
            in_pos = sweep_pos(state.pos, state.neg[band], ours.share, weight, _SHIFT, evaluation.half_width)[2]
            weight_pos, weight_neg = in_sample_order(ours.share * in_pos, ours.order), np.zeros(self.sample.n_neg)
            weight_neg[theirs.order[band]] = weight * state.slope[band]
            squares = (
                entrywise_square(X).T @ w for X, w in ((self.sample.X_pos, weight_pos), (self.sample.X_neg, weight_neg))
            )
            diagonal[: self.sample.n_features] += 2.0 * sum(squares)
        return diagonal
