"""Buffered AUC, the superquantile of ranking errors, and the buffered ROC curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.accurate import multiply
from auclab._core.base import Array, AuclabError
from auclab.metrics.bpoe import mean_of_tail, solve_bpoe
from auclab.metrics.pair_errors import difference
from auclab.metrics.roc import ClassScores, class_scores, finite_number


@dataclass(frozen=True)
class BufferedAUCResult:
    """bAUC_z with everything that the buffered ROC curve needs.

    Attributes
    ----------
    value : float
        ``bAUC_z = P(ξ < γ*) + θ · P(ξ = γ*)``.
    gamma_left, gamma_right : float
        Ends of the interval of minimisers γ of ``E[ξ − γ]₊/(z − γ)``; ``γ* = gamma_left``. The interval is a
        point unless the errors above γ* have mean exactly z.
    theta : float
        Share of the pairs with ``ξ = γ*`` that counts as right, in [0, 1]; 1 iff the errors above γ* have
        mean z.
    area_closed, area_open : float
        Areas under the bROC step curve, ``P(ξ ≤ γ*)`` and ``P(ξ < γ*)``: ``area_open ≤ value ≤ area_closed``.

    All but `value` are NaN where no minimiser exists, for ``z ≤ E ξ`` or ``z ≥ max ξ``.

    See Also
    --------
    buffered_auc : Computes it.

    Examples
    --------
    >>> from auclab.metrics import buffered_auc
    >>> found = buffered_auc([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0])  # errors −3, −1, −1, 1
    >>> found.value, found.area_open <= found.value <= found.area_closed
    (0.5, True)
    """

    value: float
    gamma_left: float = math.nan
    gamma_right: float = math.nan
    theta: float = math.nan
    area_closed: float = math.nan
    area_open: float = math.nan


def bauc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Buffered AUC ``bAUC_z = 1 − bPOE_z(ξ)`` of the ranking errors ``ξ = h⁻ − h⁺``, in O(m log m).

    ``bAUC_z = 1 − min_{a≥0} mean_ij [a(ξ_ij − z) + 1]₊`` (Norton & Uryasev 2018, Def. 2, 3, eq. 23). At z =
    0 it is a lower bound of the strict AUC: besides the wrong pairs it counts the correct pairs of smallest margin
    that offset their errors. It is invariant under increasing affine maps of the scores (for ``z ≠ 0`` under shifts
    only), but not under all monotone maps.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Finite scores, larger means more positive.
    threshold : float
        z, in the units of the scores; bAUC_z does not decrease in z.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In [0, 1]: 0 for ``z ≤ E ξ``, 1 for ``z > max ξ``. Errors are compared with z as the rounded
        differences of the scores; sums carry 32 digits.

    Raises
    ------
    AuclabError
        One class only, NaN or infinite scores, lengths that differ, a class without weight, scores above 1e270
        together with others below 1e-270, or a range of scores above the largest double.

    See Also
    --------
    buffered_auc : The value with its minimisers and the areas under the buffered ROC curve.
    auc_threshold : The threshold at which it is the strict AUC.
    auclab.formulations.BufferedAUC : The program that maximises it.
    auclab.inference.estimate : Standard error and confidence interval.

    Examples
    --------
    Errors −1 (six pairs) and +1 (four pairs), AUC 0.6: four of the six right pairs are needed to outweigh the
    four wrong ones.

    >>> y_true, y_score = [0] + [1] * 10, [0] + [1] * 6 + [-1] * 4
    >>> bauc_score(y_true, y_score)
    0.2
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label)
    return solve_bpoe(scores.pair_errors, finite_number("threshold", threshold), exact_level=False).rest


def buffered_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> BufferedAUCResult:
    """bAUC_z with its minimisers γ and the areas under the buffered ROC curve.

    With ``D(γ) = E[(ξ − z) 1{ξ > γ}]``, γ* is the smallest error with ``D(γ*) ≥ 0`` and ``θ = 1 − D(γ*)/((z
    − γ*) P(ξ = γ*))``. Norton & Uryasev 2018, Prop. 4 equate the area under the bROC curve with bAUC; that
    holds for θ = 1 or continuous scores, otherwise the area overstates it by ``(1 − θ) P(ξ = γ*)``.

    Parameters
    ----------
    y_true, y_score, threshold, sample_weight, pos_label
        As in `bauc_score`.

    Returns
    -------
    BufferedAUCResult

    Raises
    ------
    AuclabError
        As in `bauc_score`.

    See Also
    --------
    bauc_score : The value alone, in half the time.
    broc_curve : The buffered ROC curve.

    Examples
    --------
    Errors −1 (six pairs) and +1 (four pairs): two of the six count fully, the area counts all six.

    >>> y_true, y_score = [0] + [1] * 10, [0] + [1] * 6 + [-1] * 4
    >>> result = buffered_auc(y_true, y_score)
    >>> result.value, result.gamma_left, result.area_closed, result.area_open
    (0.2, -1.0, 0.6, 0.0)
    >>> round(result.theta, 12)
    0.333333333333
    """
    return buffered_auc_from_sorted(class_scores(y_true, y_score, sample_weight, pos_label), threshold=threshold)


def buffered_auc_from_sorted(scores: ClassScores, *, threshold: float = 0.0) -> BufferedAUCResult:
    """`buffered_auc` of sorted scores."""
    errors = scores.pair_errors
    solution = solve_bpoe(errors, finite_number("threshold", threshold))
    if math.isnan(solution.level):
        return BufferedAUCResult(solution.rest)
    right = solution.level if solution.partial > 0.0 else errors.next_above(solution.level)
    kept = difference(errors.pairs, solution.above)
    return BufferedAUCResult(
        value=solution.rest,
        gamma_left=errors.units.original(solution.level),
        gamma_right=errors.units.original(right),
        theta=min(max(1.0 - solution.partial / solution.atom, 0.0), 1.0),
        area_closed=kept / errors.pairs[0],
        area_open=max(kept - solution.atom, 0.0) / errors.pairs[0],
    )


def ranking_superquantile(
    y_true: ArrayLike,
    y_score: ArrayLike,
    level: float,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Superquantile of the ranking errors ``ξ = h⁻ − h⁺``: the mean of the worst ``1 − level`` of all pairs.

    ``q̄_α = min_γ { γ + E[ξ − γ]₊/(1 − α) }`` (Norton & Uryasev 2018, eq. 3) in O(m log m). It inverts bPOE:
    ``bAUC_z = α`` for ``z = q̄_α(ξ)`` below the largest error.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `bauc_score`.
    level : float
        α in [0, 1]; 0 gives the mean error, 1 the largest.

    Raises
    ------
    AuclabError
        As in `bauc_score`, and for a level outside [0, 1].

    See Also
    --------
    superquantile : The same of a plain sample.
    bauc_score : Its inverse in the level.

    Examples
    --------
    Errors −2, −1, 0, 1; the worst half has mean ½:

    >>> ranking_superquantile([1, 1, 0, 0], [2, 0, 1, 0], 0.5)
    0.5
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label)
    return mean_of_tail(scores.pair_errors, finite_number("level", level))


def auc_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Threshold ``z₀ = E[ξ | ξ ≥ 0]`` at which buffered AUC is the strict AUC: ``bAUC_{z₀} = 1 − P(ξ ≥ 0)``.

    This is the z₀ of Norton & Uryasev 2018, Sect. 6, in the form that is right for tied scores too. The
    mean is rounded down, because bAUC jumps just above the largest error. It is 0 if all pairs are right
    (then every ``z ≥ 0`` gives 1).

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `bauc_score`.

    Returns
    -------
    float
        z₀ ≥ 0, in the units of the scores.

    Raises
    ------
    AuclabError
        As in `bauc_score`.

    See Also
    --------
    bauc_score : Buffered AUC at a threshold.
    auc_score : AUC; with ``ties="strict"`` the value that is matched.

    Examples
    --------
    Errors −2, −1, 0, 1: the mean of 0 and 1, and half of the pairs are strictly right.

    >>> y_true, y_score = [1, 1, 0, 0], [2, 0, 1, 0]
    >>> auc_threshold(y_true, y_score)
    0.5
    >>> bauc_score(y_true, y_score, threshold=0.5)
    0.5
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label)
    errors = scores.pair_errors
    errors.units.check_digits()
    count, total = errors.tail(math.nextafter(0.0, -math.inf), 0.0)
    if count[0] == 0.0:
        return 0.0
    mean = total[0] / count[0]
    if difference(total, multiply(*count, mean, 0.0)) < 0.0:
        mean = math.nextafter(mean, -math.inf)
    return errors.units.original(min(mean, errors.top))


def broc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    threshold: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> tuple[Array, Array, float]:
    """Buffered ROC curve: the ROC step curve after all positive scores were lowered to ``h⁺ + γ*``.

    Points ``(P(h⁻ > t), P(h⁺ ≥ t − γ*))`` for all t (Norton & Uryasev 2018, Prop. 3). The area below is
    ``P(ξ ≤ γ*)``, the `area_closed` of `buffered_auc`.

    Parameters
    ----------
    y_true, y_score, threshold, sample_weight, pos_label
        As in `bauc_score`.

    Returns
    -------
    fpr, tpr : arrays of shape (n_vertices,)
        Corners of the step curve from (0, 0) to (1, 1), so that ``np.trapezoid(tpr, fpr)`` is the area.
    gamma : float
        γ*, the left end of the interval of minimisers.

    Raises
    ------
    AuclabError
        As in `bauc_score`; and "no curve" where γ* does not exist, for ``z ≤ E ξ`` or ``z ≥ max ξ``.

    See Also
    --------
    buffered_auc : The area below, and γ*.
    auclab.displays.BufferedROCDisplay : Draws it.

    Examples
    --------
    Positives 4 and 1, negatives 2 and 0 have the errors −4, −2, −1, 1. The worst two have mean 0, so γ* =
    −2 and two of the four pairs remain right:

    >>> fpr, tpr, gamma = broc_curve([1, 1, 0, 0], [4, 1, 2, 0])
    >>> fpr.tolist(), tpr.tolist(), gamma
    ([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0], -2.0)
    """
    return broc_from_sorted(class_scores(y_true, y_score, sample_weight, pos_label), threshold=threshold)


def broc_from_sorted(scores: ClassScores, *, threshold: float) -> tuple[Array, Array, float]:
    """`broc_curve` of sorted scores."""
    z = finite_number("threshold", threshold)
    errors = scores.pair_errors
    solution = solve_bpoe(errors, z)
    if math.isnan(solution.level):
        reason = (
            "no error exceeds the threshold" if solution.rest > 0.0 else "the mean error is not below the threshold"
        )
        raise AuclabError(
            f"no curve: {reason} {z}, so no γ* exists and bAUC is {solution.rest}; "
            "use bauc_score for the value, or another threshold"
        )
    mass = _running(errors.weight_pos[::-1], errors.pos.size)  # from the largest score down
    counts = errors.rank_counts(solution.level)
    tpr = mass[errors.pos.size - counts[::-1]] / mass[-1]
    corners = _step_corners(tpr, _running(errors.weight_neg[::-1], errors.neg.size))
    return *corners, errors.units.original(solution.level)


def _running(weight: Array, size: int) -> Array:
    """Weight of the first k, k = 0 … size; no weights stand for ones."""
    return np.concatenate(([0.0], np.cumsum(weight))) if weight.size else np.arange(size + 1.0)


def _step_corners(tpr: Array, reached: Array) -> tuple[Array, Array]:
    """Corners of the curve that rises to ``tpr[k]`` and then runs right to ``reached[k + 1]``."""
    starts = np.concatenate(([0], np.flatnonzero(np.diff(tpr)) + 1))
    edges = np.concatenate((reached[starts], reached[-1:])) / reached[-1]
    fpr = np.concatenate(([0.0], np.repeat(edges, 2)[1:-1], [1.0]))
    heights = np.concatenate(([0.0], np.repeat(tpr[starts], 2), [1.0]))
    keep = np.concatenate(([True], (np.diff(fpr) != 0.0) | (np.diff(heights) != 0.0)))
    return fpr[keep], heights[keep]
