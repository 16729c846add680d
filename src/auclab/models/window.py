"""A window of undecided pairs around the kink of the hinge; all other pairs are summed into one linear term.

At a point w a pair's hinge argument is ``a_ij = 1 − z‖w‖ − w·(x_i⁺ − x_j⁻)``. With the negatives sorted by score, the
pairs of positive i with ``|a_ij| ≤ δ`` are consecutive; those above are surely on (full weight), those below surely
off (weight 0), as long as no margin moves by more than δ. Cost O(m log m) plus the window itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.formulations.norms import norm_of
from auclab.models.dual_lp import Fixed, Margins
from auclab.models.margins import pair_margins
from auclab.solvers.base import Problem
from auclab.types import Array

_BISECTIONS = 60


@dataclass(frozen=True)
class Window:
    """The undecided pairs, and the marginals of the weight of the decided ones."""

    rows_pos: NDArray[np.intp]
    rows_neg: NDArray[np.intp]
    on_pos: Array
    on_neg: Array
    half_width: float

    def margins(self, problem: Problem) -> Margins:
        """The undecided pairs as columns of the dual."""
        return pair_margins(problem, self.rows_pos, self.rows_neg)

    def fixed(self, problem: Problem) -> Fixed:
        """The pairs that are on, as sums."""
        return Fixed(float(self.on_pos.sum()), problem.sample.combine(self.on_pos, self.on_neg))

    def marginals(self, weights: Array) -> tuple[Array, Array]:
        """Multipliers per class: the decided pairs' and the window's."""
        return (
            self.on_pos + np.bincount(self.rows_pos, weights, minlength=self.on_pos.size),
            self.on_neg + np.bincount(self.rows_neg, weights, minlength=self.on_neg.size),
        )


def window_around(problem: Problem, coef: Array, n_wanted: int) -> Window:
    """The window at `coef` with about `n_wanted` pairs (more if more are tied at its edge)."""
    sample = problem.sample
    scores_pos, scores_neg = sample.X_pos @ coef, sample.X_neg @ coef
    order = np.argsort(scores_neg)
    ascending = scores_neg[order]
    kinks = scores_pos - (1.0 - problem.program.threshold * norm_of(coef, problem.program.norm))
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
    return Window(rows_pos, rows_neg, sample.share_pos * share_above[last], on_neg, half_width)


def _half_width(ascending: Array, kinks: Array, n_wanted: int) -> float:
    """The δ for which about `n_wanted` pairs have ``|score_neg − kink| ≤ δ``, by bisection on counts."""

    def count(width: float) -> int:
        above = np.searchsorted(ascending, kinks + width, side="right")
        return int((above - np.searchsorted(ascending, kinks - width, side="left")).sum())

    low, high = 0.0, float(max(ascending[-1] - kinks.min(), kinks.max() - ascending[0], 0.0))
    if kinks.size * ascending.size <= n_wanted:
        return high
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        size = count(middle)
        if size > n_wanted:
            high = middle
        else:
            low = middle
        if 0.9 * n_wanted <= size <= n_wanted:
            break
    # Rounding must not push a pair exactly at the kink out of the window.
    return max(low, 1e-9)
