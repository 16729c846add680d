"""Lower bounds for losses other than the hinge: the dual point is described by scorers.

For a convex ℓ with conjugate ℓ*, any weights q_k α_k of the margins bound the program from below by

    Σ q_k (α_k − ℓ*(α_k)) − R*(g),      g = Σ q_k α_k d_k

(derivations 7.1 and 14.1, with the buffer's zS added to ‖g‖_*). The choice ``α_k = ℓ'(a_k)`` at a scorer (w, b) makes
both sums those of sorted scores, and ℓ* of a mean of such choices is at most the mean of theirs. So a solver returns
scorers with weights (or, of few margins, every α_k), and nothing of them is taken on trust.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from auclab.formulations.problem import Problem
from auclab.models.margins import all_margins, marginals
from auclab.solvers.verified.value import DualBound, Rounding, dual_value
from auclab.types import Array

#: A dual point: weights with the sum 1, and scorers (w, b).
Scorers = Sequence[tuple[float, Array, float]]


def scorer_bound(problem: Problem, coef: Array, scorers: Scorers, each: Array | None = None) -> DualBound:
    """The bound of a dual point of scorers, or of all margins, with rounding charged.

    Parameters
    ----------
    problem : Problem
        Convex, without constraints on w, in memory.
    coef : array of shape (n_features,)
        The solution, whose length sets the radius where there is no penalty.
    scorers : sequence of (weight, w, b)
    each : array of shape (n_margins,), optional
        The ``q_k α_k`` of every margin, in the order of `auclab.models.margins.all_margins`, in place of scorers.

    See Also
    --------
    auclab.solvers.verified.bound.proved_bound : For the hinge, by marginals alone.
    """
    sample, loss = problem.sample, problem.program.loss
    (pos, neg), conjugate = _combined(problem, scorers) if each is None else _of_margins(problem, each)
    if not problem.over_pairs and min(pos.sum(), neg.sum()) > 0:
        # Σ q y = 0 for b. Less of one class keeps within the domain of ℓ*, which only falls.
        smaller = min(float(pos.sum()), float(neg.sum()))
        pos, neg = pos * (smaller / float(pos.sum())), neg * (smaller / float(neg.sum()))
    margins = float(pos.sum()) + (0.0 if problem.over_pairs else float(neg.sum()))
    # Every sum over m observations may be off by m units of rounding of the sum of its moduli.
    unit = 2.0**-50 * (sample.n_pos + sample.n_neg + sample.n_features)
    reach = 2.0 + max((float(abs(w) @ sample.peaks) + abs(b) for _, w, b in scorers), default=0.0)
    worth = margins - conjugate - unit * (margins + abs(loss.table.coefficients).sum() * reach**2)
    gradient = abs(sample.combine(pos, neg)) + 2.0 * unit * margins * sample.peaks
    rounding = Rounding.charged(sample.n_features)
    return dual_value(problem, coef, (pos, neg), margins * (1.0 - unit), float(worth), gradient, rounding)


def _combined(problem: Problem, scorers: Scorers) -> tuple[tuple[Array, Array], float]:
    """The mean of the multipliers at some scorers, and at most of ``Σ q ℓ*(α)``."""
    program, sample = problem.program, problem.sample
    pos, neg, conjugate = np.zeros(sample.n_pos), np.zeros(sample.n_neg), 0.0
    for weight, w, b in scorers:
        shift = 1.0 - program.threshold * program.regulariser.norm(w)
        multipliers, _, cost = program.comparisons.slopes(program.loss, sample.scores(w), b, shift, sample)
        pos += weight * multipliers[0]
        neg += weight * multipliers[1]
        conjugate += weight * cost
    return (pos, neg), conjugate


def _of_margins(problem: Problem, each: Array) -> tuple[tuple[Array, Array], float]:
    """The same of the multipliers of every margin, cut off at the largest slope of the loss."""
    weights, loss = all_margins(problem).capacity, problem.program.loss
    last = loss.table.coefficients[-1]
    alpha = np.maximum(each, 0.0) / np.where(weights > 0, weights, 1.0)
    alpha = np.where(weights > 0, alpha if last[2] > 0 else np.minimum(alpha, last[1]), 0.0)
    return marginals(problem, weights * alpha), float(weights @ loss.conjugate(alpha))
