"""A window of undecided margins around the kink of the hinge; all others are summed into one linear term.

At a point (w, b) a hinge argument is ``a_k = 1 − z‖w‖ − m_k``. Margins with ``a_k > δ`` are surely on (full weight),
those with ``a_k < −δ`` surely off (weight 0), as long as no margin moves by more than δ. With the negatives sorted by
score the undecided pairs of every positive are consecutive: O(m log m) plus the window itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.problem import Problem
from auclab.models.dual_lp import Fixed, Margins
from auclab.models.margins import pair_margins
from auclab.precision import EPSILON, EQUAL
from auclab.types import Array


@dataclass(frozen=True)
class Window:
    """The undecided margins: `rows_pos[k]`, `rows_neg[k]` are their observations (−1: none, over points).

    `on_pos` and `on_neg` are the multipliers of the decided margins, per class.
    """

    margins: Margins
    rows_pos: NDArray[np.intp]
    rows_neg: NDArray[np.intp]
    on_pos: Array
    on_neg: Array

    def fixed(self, problem: Problem) -> Fixed:
        """The margins that are on, as sums."""
        sum_pos, sum_neg = float(self.on_pos.sum()), float(self.on_neg.sum())
        gradient = problem.sample.combine(self.on_pos, self.on_neg)
        return Fixed(sum_pos, gradient) if problem.over_pairs else Fixed(sum_pos + sum_neg, gradient, sum_pos - sum_neg)

    def marginals(self, weights: Array) -> tuple[Array, Array]:
        """Multipliers per class: the decided margins' and the window's."""
        pos, neg = self.rows_pos >= 0, self.rows_neg >= 0
        return (
            self.on_pos + np.bincount(self.rows_pos[pos], weights[pos], minlength=self.on_pos.size),
            self.on_neg + np.bincount(self.rows_neg[neg], weights[neg], minlength=self.on_neg.size),
        )


def window_around(problem: Problem, coef: Array, intercept: float, n_wanted: int) -> Window:
    """The window at a point with about `n_wanted` margins (more if more are tied at its edge).

    `coef` is w, in scores per unit of each feature, `intercept` b, in scores; the hinge arguments have no unit.
    """
    shift = 1.0 - problem.program.threshold * problem.program.regulariser.norm(coef)
    scores_pos, scores_neg = problem.sample.scores(coef)
    if problem.over_pairs:
        return _pairs_around(problem, scores_pos - shift, scores_neg, n_wanted)
    return _points_around(problem, shift - (scores_pos + intercept), shift + scores_neg + intercept, n_wanted)


def _points_around(problem: Problem, arguments_pos: Array, arguments_neg: Array, n_wanted: int) -> Window:
    sample = problem.sample
    arguments = np.r_[arguments_pos, arguments_neg]
    distance = np.abs(arguments)
    within = np.partition(distance, n_wanted - 1)[n_wanted - 1] if n_wanted < distance.size else distance.max()
    undecided = distance <= max(within, EQUAL)
    capacity = np.concatenate(sample.point_weights)
    on = np.where(undecided | (arguments <= 0), 0.0, capacity)
    selected = np.flatnonzero(undecided)
    positive = selected < sample.n_pos
    X_pos, X_neg = sample.take(selected[positive], selected[~positive] - sample.n_pos)
    return Window(
        Margins(sample.stack([X_pos, -X_neg]), capacity[selected], np.where(positive, 1.0, -1.0)),
        np.where(positive, selected, -1),
        np.where(positive, -1, selected - sample.n_pos),
        on[: sample.n_pos],
        on[sample.n_pos :],
    )


def _pairs_around(problem: Problem, kinks: Array, scores_neg: Array, n_wanted: int) -> Window:
    sample = problem.sample
    order = np.argsort(scores_neg)
    ascending = scores_neg[order]
    half_width = _half_width(ascending, kinks, n_wanted)
    first = np.searchsorted(ascending, kinks - half_width, side="left")
    last = np.searchsorted(ascending, kinks + half_width, side="right")
    lengths = last - first
    rows_pos = np.repeat(np.arange(sample.n_pos), lengths)
    # Position within each positive's run of negatives, added to where the run starts.
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    rows_neg = order[np.repeat(first, lengths) + within]
    share = sample.share_neg[order]
    share_above = np.append(np.cumsum(share[::-1])[::-1], 0.0)
    opened = np.bincount(last, sample.share_pos, minlength=sample.n_neg + 1)[: sample.n_neg]
    on_neg = np.empty(sample.n_neg)
    on_neg[order] = share * np.cumsum(opened)
    margins = pair_margins(problem, rows_pos, rows_neg)
    return Window(margins, rows_pos, rows_neg, sample.share_pos * share_above[last], on_neg)


def _half_width(ascending: Array, kinks: Array, n_wanted: int) -> float:
    """The δ for which about `n_wanted` pairs have ``|score_neg − kink| ≤ δ``, by bisection on counts."""

    def count(width: float) -> int:
        above = np.searchsorted(ascending, kinks + width, side="right")
        return int((above - np.searchsorted(ascending, kinks - width, side="left")).sum())

    low, high = 0.0, float(max(ascending[-1] - kinks.min(), kinks.max() - ascending[0], 0.0))
    if kinks.size * ascending.size <= n_wanted:
        return high
    while high - low > EPSILON * high:
        middle = 0.5 * (low + high)
        size = count(middle)
        if size > n_wanted:
            high = middle
        else:
            low = middle
        if 0.9 * n_wanted <= size <= n_wanted:
            break
    return max(low, EQUAL)
