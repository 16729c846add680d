"""Cuts of the objective, their metric, and where they start.

With ``θ = (w, b, t)``, t in place of ‖w‖, and α the weights of the margins whose hinge is positive (0 for all
others), the loss is at least ``Σα − G·θ`` everywhere and equal to it at the point, with ``G = Σ α D`` and D the
direction of a margin (`auclab.solvers.smoothed.smoothed_loss`). The marginals of α determine the cut, and the mean of
the marginals a mean of cuts: these are the multipliers that prove a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from auclab.compiled.hinge import pair_hinge_active
from auclab.formulations.problem import Problem
from auclab.precision import HALF_OF_DIGITS, TOLERANCE
from auclab.samples.memory import Sample
from auclab.solvers.verified.scorers import proves_by_slopes, slopes_at
from auclab.types import Array


@dataclass
class Cut:
    """The cut ``loss(θ) ≥ constant − slope·θ``, minus its slope.

    `constant`: Σα, the value at θ = 0; less ``Σ q ℓ*`` for a loss other than the hinge. `multipliers` (n_pos,) and
    (n_neg,), or None: the marginals of α; None where they would take too much memory. Where the weights of the
    negatives vary, they are a third array of shape (n_neg,) (the r of `PartialAUC`). `theta` (n_features + 2,), or
    None: the point of the cut, kept where the marginals are not; of a loss other than the hinge it is what is
    certified. `last_active`: the last iteration in which the cut was active, that is, had a positive weight.
    """

    constant: float
    multipliers: tuple[Array, ...] | None
    theta: Array | None
    last_active: int = 0


def supporting_cut(problem: Problem, theta: Array, *, keep_multipliers: bool = True) -> tuple[float, Array, Cut]:
    """The loss at a point, and the slope and the rest of its cut there; O(m n + m log m).

    `theta` (n_features + 2,): ``(w, b, ‖w‖)``. `keep_multipliers`: whether the cut keeps its marginals, or the point
    from which `cut_multipliers` computes them again.
    """
    sample, z = problem.sample, problem.program.threshold
    multipliers, loss, conjugate = _active(problem, theta)
    sum_pos, sum_neg = float(multipliers[0].sum()), float(multipliers[1].sum())
    total = sum_pos if problem.over_pairs else sum_pos + sum_neg
    balance = 0.0 if problem.over_pairs else sum_pos - sum_neg
    slope = np.r_[sample.combine(*multipliers[:2]), balance, z * total]
    return loss, slope, Cut(total - conjugate, *((multipliers, None) if keep_multipliers else (None, theta)))


def cut_multipliers(problem: Problem, cut: Cut) -> tuple[Array, ...]:
    """The marginals of a cut: those that were kept, or computed again from its point."""
    if cut.multipliers is not None:
        return cut.multipliers
    assert cut.theta is not None
    return _active(problem, cut.theta)[0]


def _active(problem: Problem, theta: Array) -> tuple[tuple[Array, ...], float, float]:
    """Marginals of the margins with a positive hinge, the mean hinge from them, and ``Σ q ℓ*``, 0 for the hinge."""
    sample, program = problem.sample, problem.program
    shift = 1.0 - program.threshold * theta[-1]
    pos, neg = sample.scores(theta[:-2])
    if proves_by_slopes(program):
        # Summed as in the certificate: in a band this narrow working precision has an error of 1e-7 of a pair's weight,
        # which would be subtracted from a bound without a penalty.
        of_pos, of_neg, conjugate, *_ = slopes_at(problem, theta[:-2], float(theta[-2]), HALF_OF_DIGITS)
        loss = program.comparisons.mean(program.loss, (pos, neg), float(theta[-2]), shift, sample)
        return (of_pos, of_neg), loss, conjugate
    if problem.over_pairs:
        # A common offset of the scores cancels in the pairs; without it no digits are lost in the sums.
        center = 0.5 * float(neg.min() + neg.max())
        pos, neg = pos - center, neg - center
        weight_pos, weight_neg = sample.weights
        share_neg = problem.program.comparisons.worst_negatives(neg, sample)
        active = pair_hinge_active(pos, neg, shift, weight_pos, weight_neg if share_neg is None else share_neg)
        loss = shift * float(active[0].sum()) - float(active[0] @ pos) + float(active[1] @ neg)
        return active if share_neg is None else (*active, share_neg), loss, 0.0
    weight_pos, weight_neg = sample.point_weights
    hinge_pos, hinge_neg = shift - (pos + theta[-2]), shift + (neg + theta[-2])
    active = np.where(hinge_pos > 0, weight_pos, 0.0), np.where(hinge_neg > 0, weight_neg, 0.0)
    return active, float(active[0] @ hinge_pos + active[1] @ hinge_neg), 0.0


#: The metric is estimated from about this many observations per class.
_SAMPLE_SIZE = 10_000


def score_metric(problem: Problem, unit: Array) -> Array:
    """M with ``δᵀMδ`` the mean square change of a score for a step ``δ = (x, b)``, shape (n + 1, n + 1).

    Of scores about the mean of their class for pairs, where a common offset changes nothing; of all scores for points.

    `unit` (n,): ``w = x·unit``.
    """
    sample, n = problem.sample, unit.size
    metric = np.zeros((n + 1, n + 1))
    for X, share, prior in _strided_classes(sample):
        rows = (X.toarray() if sample.is_sparse else X) * unit
        if problem.over_pairs:
            rows = rows - share @ rows
            metric[:n, :n] += (rows * share[:, None]).T @ rows
        else:
            rows = np.c_[rows, np.ones(len(rows))]
            metric += (rows * (prior * share)[:, None]).T @ rows
    metric[np.arange(n + 1), np.arange(n + 1)] += TOLERANCE
    return metric


def metric_length(step: Array, metric: Array) -> float:
    """``√(δᵀMδ)`` of the leading entries of a step; the metric is a matrix or its diagonal.

    Examples
    --------
    >>> metric_length(np.array([3.0, 4.0, 7.0]), np.ones(2))
    5.0
    """
    leading = step[: metric.shape[0]]
    square = leading @ (metric * leading) if metric.ndim == 1 else leading @ metric @ leading
    return math.sqrt(max(float(square), 0.0))


def _strided_classes(sample: Sample) -> list[tuple[Any, Array, float]]:
    """Evenly spaced observations of either class, their shares, and the weight of the class."""
    classes = []
    for X, share, prior in (
        (sample.X_pos, sample.share_pos, sample.prior_pos),
        (sample.X_neg, sample.share_neg, sample.prior_neg),
    ):
        rows = slice(None, None, max(1, share.size // _SAMPLE_SIZE))
        classes.append((X[rows], share[rows] / max(float(share[rows].sum()), 1e-300), prior))
    return classes


#: Multiples of the difference of the class means (in units of the spread) among which the best is taken.
LENGTHS = (0.1, 0.3, 1.0, 3.0)


def start_points(problem: Problem, unit: Array, max_nonzero: int | None = None) -> list[Array]:
    """The points w = 0 and the scaled difference of the class means, as (x, b, 0) with ``w = x·unit``.

    `max_nonzero` is about the number of features kept of the second point, those of largest difference.
    """
    sample = problem.sample
    intercept = problem.null_intercept()
    direction = sample.mean_difference * unit**2
    if max_nonzero is not None:
        size = np.abs(direction / unit)
        direction = np.where(size >= np.sort(size)[-max_nonzero:][0], direction, 0.0)
    best = min(LENGTHS, key=lambda length: problem.objective(length * direction, intercept))
    return [np.r_[x, intercept, 0.0] for x in (np.zeros(sample.n_features), best * direction / unit)]
