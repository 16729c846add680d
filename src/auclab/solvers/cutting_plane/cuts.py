"""The exact loss of a hinge program at a point, and the cut that supports it there, without pairs.

With ``θ = (w, b, t)``, t in the place of ‖w‖, and the margins of positive hinge on (α = their weights), the loss is at
least ``Σα − G·θ`` everywhere and equal to it at the point. A cut is known by the marginals of α, and a mean of cuts by
the mean of their marginals: those are the multipliers that prove a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.compiled.hinge import pair_hinge_active
from auclab.formulations.problem import Problem
from auclab.types import Array


@dataclass
class Cut:
    """``loss(θ) ≥ constant − slope·θ``: what is kept of it beside its slope.

    The marginals, or where there is no room for them the point `theta` they are from; `used` is the last iteration that
    gave the cut weight. Where the weights of the negatives vary, they are a third marginal after those of the classes
    (the r of `PartialAUC`).
    """

    constant: float
    multipliers: tuple[Array, ...] | None
    theta: Array | None
    used: int = 0


def supporting_cut(problem: Problem, theta: Array, *, room: bool = True) -> tuple[float, Array, Cut]:
    """The loss at `theta`, and the slope, shape (n_features + 2,), and the rest of its cut there; O(m n + m log m)."""
    sample, z = problem.sample, problem.program.threshold
    multipliers, loss = _active(problem, theta)
    sum_pos, sum_neg = float(multipliers[0].sum()), float(multipliers[1].sum())
    total = sum_pos if problem.over_pairs else sum_pos + sum_neg
    balance = 0.0 if problem.over_pairs else sum_pos - sum_neg
    slope = np.r_[sample.combine(*multipliers[:2]), balance, z * total]
    return loss, slope, Cut(total, multipliers, None) if room else Cut(total, None, theta)


def cut_multipliers(problem: Problem, cut: Cut) -> tuple[Array, ...]:
    """The marginals of a cut, from memory or anew."""
    if cut.multipliers is not None:
        return cut.multipliers
    assert cut.theta is not None
    return _active(problem, cut.theta)[0]


def _active(problem: Problem, theta: Array) -> tuple[tuple[Array, ...], float]:
    """Marginals of the margins with a positive hinge, and the mean hinge from them."""
    sample = problem.sample
    shift = 1.0 - problem.program.threshold * theta[-1]
    pos, neg = sample.scores(theta[:-2])
    if problem.over_pairs:
        # A common offset of the scores cancels in the pairs; without it no digits are lost in the sums.
        center = 0.5 * float(neg.min() + neg.max())
        pos, neg = pos - center, neg - center
        weight_pos, weight_neg = sample.weights
        share_neg = problem.program.worst_negatives(neg, sample)
        active = pair_hinge_active(pos, neg, shift, weight_pos, weight_neg if share_neg is None else share_neg)
        loss = shift * float(active[0].sum()) - float(active[0] @ pos) + float(active[1] @ neg)
        return active if share_neg is None else (*active, share_neg), loss
    weight_pos, weight_neg = sample.point_weights
    hinge_pos, hinge_neg = shift - (pos + theta[-2]), shift + (neg + theta[-2])
    active = np.where(hinge_pos > 0, weight_pos, 0.0), np.where(hinge_neg > 0, weight_neg, 0.0)
    return active, float(active[0] @ hinge_pos + active[1] @ hinge_neg)
