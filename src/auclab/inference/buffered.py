"""Components of bAUC_z: row and column means of the hinge kernel at the optimal slope.

``bAUC_z = 1 − min_{a≥0} Ĝ(a)`` with ``Ĝ(a) = mean_ij [a(ξ_ij − z) + 1]₊``. Let a* be the only minimiser of the
population's ``G``. Both are convex and Ĝ − G is a smooth process of order m^(−½), so that to first order (envelope
theorem; Danskin 1967, Shapiro 1991)

    min Ĝ − min G = Ĝ(a*) − G(a*) + o(m^(−½)):

that a is estimated does not show, and the components are those of the mean over pairs at fixed ``a = 1/(z − γ*)``,

    V10_i = 1 − mean_j [a(ξ_ij − z) + 1]₊ = 1 − mean_j (ξ_ij − γ*)₊ / (z − γ*),       V01_j = 1 − mean_i … .

Kinks and ends:

* a* not unique (the errors leave a gap ``(γ_left, γ_right)`` free and those above have mean z): the limit is the
  largest of a family of normal variables and no single component fits; the left end γ* is taken. On a sample the gap
  is a spacing wide unless the scores lie on a grid.
* ``z = max ξ``: every large a is optimal, the kernel is ``1{ξ < z}``.
* ``z > max ξ``: value 1, a → ∞, all components are 1. ``z ≤ E ξ``: value 0, a = 0, all components are 0. The standard
  error is 0 in both; `intervals` covers the remaining uncertainty.
"""

from __future__ import annotations

import math

import numpy as np

from auclab.compiled.ranking import rank_counts_above, total_weight
from auclab.compiled.rows import positive_part_rows
from auclab.inference.components import Rows, row_means, weight_below
from auclab.metrics.buffered import solve_bpoe
from auclab.metrics.class_scores import ClassScores
from auclab.metrics.pair_errors import PairErrors


def bauc_rows(scores: ClassScores, *, threshold: float = 0.0) -> Rows:
    """V10 and V01 of bAUC_z in the order of the sorted scores, O(m log m).

    Examples
    --------
    Errors −4, −2, −1, 1 of the positives 1 and 4 with the negatives 0 and 2: γ* = −2, and the kernel ``1 − (ξ + 2)₊/2``
    is ½, −½ for the positive 1, and 1, 1 for 4.

    >>> empty = np.empty(0)
    >>> rows = bauc_rows(ClassScores(np.array([1.0, 4.0]), np.array([0.0, 2.0]), empty, empty))
    >>> [r.tolist() for r in rows]
    [[0.0, 1.0], [0.75, 0.25]]
    """
    errors = scores.pair_errors
    solution = solve_bpoe(errors, float(threshold))
    if solution.share == 0.0 or solution.rest == 0.0:
        return np.full(errors.pos.size, solution.rest), np.full(errors.neg.size, solution.rest)
    if math.isnan(solution.level):
        return _exceedance_rows(errors, math.nextafter(errors.units.working(threshold), -math.inf))
    # the hinge is (x − y)₊ of x = n − γ* and y = p
    raised = ClassScores(errors.neg - solution.level, errors.pos, errors.weight_neg, errors.weight_pos)
    by_neg, by_pos = row_means(positive_part_rows, raised)
    # z − γ* is a rounded difference; the mean of the hinge is bPOE
    mean = float(np.average(by_pos, weights=errors.weight_pos if errors.weight_pos.size else None))
    return 1.0 - by_pos * (solution.share / mean), 1.0 - by_neg * (solution.share / mean)


def _exceedance_rows(errors: PairErrors, level: float) -> Rows:
    """Share of the opposite class with ``ξ ≤ level``."""
    count = rank_counts_above(errors.pos, errors.neg, level)  # ascends: the count smallest positives are above
    weight = errors.weight_pos if errors.weight_pos.size else np.ones(errors.pos.size)
    mass = np.concatenate(([0.0], np.cumsum(weight)))
    rank = np.arange(errors.pos.size, dtype=np.float64)
    below = weight_below(rank, count.astype(np.float64), errors.weight_neg, "right")
    return below / total_weight(errors.weight_neg, errors.neg.size), 1.0 - mass[count] / mass[-1]
