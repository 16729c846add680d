"""The certificate of any point, for those who found one elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab.formulations.base import Program
from auclab.formulations.named import as_formulation
from auclab.formulations.problem import Problem
from auclab.samples.as_sample import as_sample
from auclab.samples.centring import moved_intercept_parts
from auclab.solvers.solution import Certificate
from auclab.solvers.threads import one_thread_each
from auclab.solvers.verified.certificate import verified_certificate
from auclab.types import Array, AuclabError

#: Differences of scores, relative to their range, below which negatives are taken for tied, one after the other: the
#: scores of a solution are as near to a tie as its gap leaves them.
_TIED = (1e-6, 1e-5, 1e-4, 1e-3)


def certify(
    formulation: str | Program,
    X: Any,
    y: ArrayLike,
    coef: ArrayLike,
    intercept: float = 0.0,
    multipliers: ArrayLike | None = None,
    *,
    shares_neg: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    tolerance: float = 1e-6,
) -> Certificate:
    """What is proved about a scorer, whoever found it: its objective, and a lower bound of every scorer's.

    The bound is the dual value of the multipliers, with every rounding charged to it (docs/guarantees.md); multipliers
    that are not quite feasible are corrected first. Those of a good solution are in `Solution.multipliers`.

    Parameters
    ----------
    formulation : str or Program
        Convex; for z > 0 and counts of pairs there are no multipliers, and the bound is NaN.
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        0/1, −1/+1 or booleans, of which the larger is positive, or any two values with `pos_label`.
    coef : array of shape (n_features,)
    intercept : float
        Ignored by pair formulations, where it cancels.
    multipliers : array of shape (n_samples,), optional
        ``Σ_j q_ij`` of every observation over pairs, ``q_i`` over points; ≥ 0. Without them the bound is NaN.
    shares_neg : array of shape (n_neg,), optional
        Partial AUC: the weights r of the negatives, in their order (`Solution.shares_neg`); if not given, those of the
        highest scores, tied ones in proportion to their multipliers.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; equal to repeating observations.
    pos_label : optional
        The label of the positive class.
    tolerance : float
        Relative gap, > 0, of which a tenth may be lost to a larger `norm_bound`.

    Returns
    -------
    Certificate

    Raises
    ------
    AuclabError
        Shapes that do not fit, entries that are not finite, and what `auclab.solve` refuses.

    See Also
    --------
    auclab.solve : Finds a scorer together with its multipliers.

    Examples
    --------
    Margins 2, 1, 0 and 3 of ``w = 1``; the multipliers of the optimum, ``w = 1``, prove that no w does better:

    >>> from auclab.formulations import RankSVM
    >>> X, y = [[0.0], [2.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> found = certify(RankSVM(0.1), X, y, [1.0], multipliers=[0.2, 0.45, 0.45, 0.2])
    >>> round(found.objective, 9), found.lower_bound <= found.objective
    (0.6, True)
    """
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise AuclabError(f"tolerance must be a positive number, got {tolerance}")
    formulation = as_formulation(formulation)
    problem = Problem(formulation, as_sample(X, y, sample_weight, pos_label=pos_label))
    sample = problem.sample
    vector = _finite(coef, (sample.n_features,), "coef")
    objective = problem.accurate_objective(vector, *moved_intercept_parts(float(intercept), vector, sample.offset, 1.0))
    if multipliers is None or not formulation.is_convex:
        return Certificate(objective, math.nan, math.nan, math.nan, math.nan)
    values = _finite(multipliers, sample.positive.shape, "multipliers")
    pos, neg = values[sample.positive], values[~sample.positive]
    if shares_neg is not None:
        choices: list[Array | None] = [_finite(shares_neg, (sample.n_neg,), "shares_neg")]
    else:
        scores_neg = np.asarray(sample.X_neg @ vector)
        choices = [formulation.dual_shares(scores_neg, neg, sample, tied) for tied in _TIED]
        choices = choices if choices[0] is not None else [None]
    with one_thread_each():
        found = (
            verified_certificate(problem.dual_problem(shares, neg), vector, (pos, neg), objective, tolerance)[0]
            for shares in choices
        )
        return _first_or_best(found, tolerance)


def _first_or_best(found: Iterator[Certificate], tolerance: float) -> Certificate:
    """The first certificate whose gap is small enough, or the one with the largest bound."""
    best = next(found)
    while not best.gap <= tolerance:
        other = next(found, None)
        if other is None:
            break
        best = max(best, other, key=lambda certificate: certificate.lower_bound)
    return best


def _finite(values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """`values` as finite floats of a shape."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise AuclabError(f"{name} must be numeric: {error}") from error
    if array.shape != shape:
        raise AuclabError(f"{name} has shape {array.shape}, but the sample needs {shape}")
    if not np.isfinite(array).all():
        raise AuclabError(f"{name} has entries that are not finite")
    return array
