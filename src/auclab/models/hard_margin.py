"""The shortest of the many optima that separable data have: the hard-margin separator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from auclab.formulations.problem import Problem
from auclab.projection.quadratic import solve_quadratic_pair
from auclab.types import Array

#: For larger samples (observations times features) the solver's own separator is kept.
MAX_SIZE = 300_000


@dataclass(frozen=True)
class Separator:
    """The hard-margin separator with the multipliers of its margins.

    Attributes
    ----------
    coef : array of shape (n_features,)
        w, in scores per unit of each feature.
    intercept : float
        b, in scores.
    multipliers : pair of arrays of shapes (n_pos,) and (n_neg,)
        ≥ 0, with equal sums and ``Σ α_i x_i⁺ − Σ β_j x_j⁻ = w``; their sums are ‖w‖² over pairs, ½‖w‖² over points.

    See Also
    --------
    auclab.models.hard_margin.hard_margin : Finds it.
    """

    coef: Array
    intercept: float
    multipliers: tuple[Array, Array]


def hard_margin(problem: Problem) -> Separator | None:
    """Argmin ‖w‖₂ with every margin at least 1, over pairs or points; None if it is not found.

    Pairs need no pair rows: ``w·x_i⁺ ≥ c + ½`` and ``w·x_j⁻ ≤ c − ½`` for one c; points have 1 in place of ½ and
    ``b = −c``.

    Parameters
    ----------
    problem : Problem
    """
    sample = problem.sample
    n_features, n_rows = sample.n_features, sample.n_pos + sample.n_neg
    if n_rows * n_features > MAX_SIZE:
        return None
    weighted = sample.share_pos > 0, sample.share_neg > 0
    used_pos, used_neg = sample.X_pos[weighted[0]], sample.X_neg[weighted[1]]
    half = 0.5 if problem.over_pairs else 1.0
    side = np.r_[np.ones(used_pos.shape[0]), -np.ones(used_neg.shape[0])]
    rows = sp.hstack([sp.csc_array(sample.stack([-used_pos, used_neg])), sp.csc_array(side[:, None])], format="csc")
    quadratic = sp.diags_array(np.r_[np.ones(n_features), 0.0], format="csc")
    found = solve_quadratic_pair(quadratic, np.zeros(n_features + 1), None, (rows, np.full(side.size, -half)))
    if found is None:
        return None
    point, active = found
    # An interior-point method stops slightly inside or outside: rescale until the smallest margin is 1.
    smallest = float((rows @ -point).min())
    if smallest <= 0:
        return None
    point = point * (half / smallest) * (1 + 1e-14)
    multipliers = np.zeros(sample.n_pos), np.zeros(sample.n_neg)
    multipliers[0][weighted[0]], multipliers[1][weighted[1]] = np.split(active, [used_pos.shape[0]])
    return Separator(point[:-1], -float(point[-1]), multipliers)
