"""The shortest of the many optima that separable data have: the hard-margin separator."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from auclab.formulations.problem import Problem
from auclab.projection.quadratic import solve_quadratic
from auclab.types import Array

#: For larger samples (observations times features) the solver's own separator is kept.
MAX_SIZE = 300_000


def hard_margin(problem: Problem) -> tuple[Array, float] | None:
    """Argmin ‖w‖₂ with every margin at least 1, over pairs or points; None if it is not found.

    Pairs need no pair rows: ``w·x_i⁺ ≥ c + ½`` and ``w·x_j⁻ ≤ c − ½`` for one c; points have 1 in place of ½ and
    ``b = −c``.

    Returns
    -------
    tuple of array of shape (n_features,) and float, or None
        w, in scores per unit of each feature, and b, in scores.
    """
    sample = problem.sample
    n_features, n_rows = sample.n_features, sample.n_pos + sample.n_neg
    used_pos, used_neg = sample.X_pos[sample.share_pos > 0], sample.X_neg[sample.share_neg > 0]
    if n_rows * n_features > MAX_SIZE:
        return None
    half = 0.5 if problem.over_pairs else 1.0
    stack: Any = sp.vstack if sample.is_sparse else np.vstack
    side = np.r_[np.ones(used_pos.shape[0]), -np.ones(used_neg.shape[0])]
    rows = sp.hstack([sp.csc_array(stack([-used_pos, used_neg])), sp.csc_array(side[:, None])], format="csc")
    quadratic = sp.diags_array(np.r_[np.ones(n_features), 0.0], format="csc")
    point = solve_quadratic(quadratic, np.zeros(n_features + 1), None, (rows, np.full(side.size, -half)))
    if point is None:
        return None
    # An interior-point method stops slightly inside or outside: rescale until the smallest margin is 1.
    smallest = float((rows @ -point).min())
    if smallest <= 0:
        return None
    point = point * (half / smallest) * (1 + 1e-14)
    return point[:-1], -float(point[-1])
