"""Partial AUC, weighted AUC and its quadrature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab._core.scores import band_area, roc_polygon
from auclab._core.validation import check_choice, finite_vector
from auclab.metrics.pair_means import gauc_score
from auclab.metrics.roc import TIED_SHARE, ClassScores, class_scores, difference_scores, finite_number, roc_from_sorted

# Gauss–Legendre: the error of two nodes on a cell of 1e-4 is 2e-20 times the fourth derivative of W; sixteen
# nodes on a sixteenth of [0, 1] are exact to the last digit for every W that is smooth on that scale.
NARROW, WIDE = 1e-4, 1 / 16
FEW_NODES, MANY_NODES = (np.polynomial.legendre.leggauss(nodes) for nodes in (2, 16))


def checked_breakpoints(breakpoints: Sequence[float]) -> Array:
    """Declared break points, checked."""
    if isinstance(breakpoints, Sequence) and len(breakpoints) == 0:
        return np.empty(0)
    points = finite_vector("breakpoints", breakpoints)
    if (points < 0.0).any() or (points > 1.0).any():
        raise AuclabError(f"breakpoints are specificities in [0, 1], got {points[(points < 0) | (points > 1)][0]}")
    return points


def weight_values(weight: Callable[[Array], ArrayLike], specificity: Array) -> Array:
    """W at specificities, checked."""
    values = np.asarray(weight(specificity), dtype=np.float64)
    if values.shape != specificity.shape:
        raise AuclabError(f"weight turned specificities of shape {specificity.shape} into {values.shape}")
    if not np.isfinite(values).all():
        where = specificity[~np.isfinite(values)][0]
        raise AuclabError(f"weight is {values[~np.isfinite(values)][0]} at specificity {where}; it must be bounded")
    return values


_CONVENTIONS = ("average", "max_rank", "linear")


def weighted_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    weight: Callable[[Array], ArrayLike],
    convention: Literal["average", "max_rank", "linear"] = "average",
    ties: Literal["half", "strict", "upper"] = "half",
    breakpoints: Sequence[float] = (),
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC curve with a weight on the specificity, ``∫₀¹ roc(u) W(1 − u) du``, in O(m log m).

    Maurer & Pontil 2020, Sect. 2. W acts on 1 − FPR: the band of FPR [α₀, α₁] is W = 1 on [1 − α₁, 1 − α₀].
    With ``G(t) = P(h⁺ > t) + c P(h⁺ = t)`` and F₀ the distribution function of the negative scores, the sample
    values that go by this name are

    * ``"average"``: ``∫₀¹ G(q₀(s)) W(s) ds``, q₀ the quantile function of the negatives: W is averaged over the
      step of every negative, and tied negatives share their steps. It depends continuously on the sample.
    * ``"max_rank"``: ``Σ G(t) W(F₀(t)) ΔF₀(t)``, the plug-in of eq. 1 of the paper: every negative has the weight
      at the upper end of its step.
    * ``"linear"``: the interpolated ROC polygon is integrated, as in most software for partial AUC.

    Without ties, the first differs from the second by at most the total variation of W over n_neg.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Larger means more positive; ±∞ is allowed, NaN is not.
    weight : callable
        W, from an array of specificities in [0, 1] to an array of the same shape, finite.
    convention : {"average", "max_rank", "linear"}
        One of the three above.
    ties : {"half", "strict", "upper"}
        Contribution c of a tied pair: ½, 0 or 1; ``"linear"`` requires ½.
    breakpoints : sequence of float
        Specificities in [0, 1] where W or a derivative jumps. Integrals are taken piece by piece between them
        with the Gauss–Legendre rule; a jump that is not named costs up to its height over n_neg.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In [0, ∫W] for W ≥ 0 (``"max_rank"``: in [0, max W]); AUC for W ≡ 1.

    Raises
    ------
    AuclabError
        One class only, NaN scores, lengths that differ, an unknown convention, a W that changes the shape or
        is not finite, break points outside [0, 1].

    See Also
    --------
    partial_auc : A weight of 1 on a band of false positive rates.
    auclab.bounds.weighted_auc_bound : How far it may be from its expectation.

    Examples
    --------
    The lower negative has one of two positives above it, the upper one none; their steps are [0, ½] and [½, 1],
    and W(s) = 2s has the integral ¼ over the first and the value 1 at its end:

    >>> y_true, y_score = [0, 1, 0, 1], [2, 3, 4, 1]
    >>> weighted_auc(y_true, y_score, weight=lambda s: 2 * s)
    0.125
    >>> weighted_auc(y_true, y_score, weight=lambda s: 2 * s, convention="max_rank")
    0.25
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    check_choice("convention", convention, _CONVENTIONS)
    check_choice("ties", ties, TIED_SHARE)
    if convention == "linear" and ties != "half":
        raise AuclabError(f"the interpolated ROC polygon counts tied pairs ½: ties={ties!r} needs another convention")
    if not callable(weight):
        raise AuclabError(f"weight must be a function of an array of specificities, got {weight!r}")
    jumps = checked_breakpoints(breakpoints)
    false, true = roc_polygon(*scores.lists, convention != "max_rank")
    specificity, heights = (false[-1] - false) / false[-1], true / true[-1]
    # a negative that weighs less than the rounding of the others has no step of its own
    advances = np.flatnonzero(np.diff(specificity))
    upper, lower = specificity[advances], specificity[advances + 1]
    left, right = heights[advances], heights[advances + 1]
    if convention == "linear":
        return _integral(weight, jumps, upper, lower, left, right)
    level = left + TIED_SHARE[ties] * (right - left)
    if convention == "average":
        return _integral(weight, jumps, upper, lower, level, level)
    return float(np.sum(level * weight_values(weight, upper) * (np.diff(false)[advances] / false[-1])))


def weighted_gauc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    modifier: Callable[[Array], ArrayLike],
    *,
    weight: Callable[[Array], ArrayLike],
    convention: Literal["average", "max_rank"] = "average",
    breakpoints: Sequence[float] = (),
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Weighted AUC with any function ℓ of the score difference in place of the step, ``∫ E ℓ(h⁺ − q₀(s)) W(s) ds``.

    The functional of Maurer & Pontil 2020, eq. 1, for which `auclab.bounds.uniform_weighted_auc_bound` holds if ℓ is
    non-decreasing into [0, 1] with a Lipschitz constant; a ramp below the step bounds the weighted AUC from below
    (Corollary 4). O(n_pos · n_neg) time, as `gauc_score`.

    Parameters
    ----------
    y_true, y_score, modifier, sample_weight, pos_label
        As in `gauc_score`; ℓ is the modifier.
    weight, convention, breakpoints
        As in `weighted_auc`.

    Returns
    -------
    float
        In [0, ∫W] for ℓ in [0, 1] and W ≥ 0 (``"max_rank"``: in [0, max W]).

    Raises
    ------
    AuclabError
        As in `gauc_score` and `weighted_auc`.

    See Also
    --------
    weighted_auc : ℓ is the step.
    gauc_score : W ≡ 1.
    auclab.bounds.uniform_weighted_auc_bound : Its bound.

    Examples
    --------
    The lower negative makes the difference 3, the upper one 1, which a ramp of length 2 counts 1 and ½; W(s) = 2s has
    the integrals ¼ and ¾ over their steps:

    >>> weighted_gauc([1, 0, 0], [3, 0, 2], lambda t: np.clip(t / 2, 0, 1), weight=lambda s: 2 * s)
    0.625
    """
    scores = difference_scores(y_true, y_score, sample_weight, pos_label)
    check_choice("convention", convention, ("average", "max_rank"))
    if not callable(weight):
        raise AuclabError(f"weight must be a function of an array of specificities, got {weight!r}")
    levels, first = np.unique(scores.neg, return_index=True)
    share = scores.weight_neg if scores.weight_neg.size else np.ones(scores.neg.size)
    below = np.concatenate(([0.0], np.cumsum(np.add.reduceat(share, first))))
    specificity = below / below[-1]
    means = np.array([_mean_modified(scores, modifier, level) for level in levels])
    if convention == "max_rank":
        return float(np.sum(means * weight_values(weight, specificity[1:]) * np.diff(specificity)))
    falling, means = specificity[::-1], means[::-1]
    return _integral(weight, checked_breakpoints(breakpoints), falling[:-1], falling[1:], means, means)


def _mean_modified(scores: ClassScores, modifier: Callable[[Array], ArrayLike], level: float) -> float:
    """``mean_i ℓ(p_i − n)``."""
    weight = np.ones(1) if scores.weight_pos.size else np.empty(0)
    pairs: Any = ClassScores(scores.pos, np.array([level]), scores.weight_pos, weight)
    return gauc_score(pairs, [], modifier)


def partial_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    min_fpr: float = 0.0,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    max_tpr: float = 1.0,
    standardized: Literal[False, "area", "mcclish"],
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC polygon over a band of false positive rates, of true positive rates, or of both.

        A = ∫_{min_fpr}^{max_fpr} ( min(max(roc(u), min_tpr), max_tpr) − min_tpr ) du

    is the part of the box ``[min_fpr, max_fpr] × [min_tpr, max_tpr]`` below the curve. Without a band of the TPR it is
    ``∫ roc(u) du``; without one of the FPR it is the integral of the specificity over the sensitivities of the band
    (pROC's ``partial.auc.focus="sensitivity"``).

    Libraries scale this area in different ways under one name, so `standardized` has no default:

    * ``False``: the area itself, between 0 and the area of the box;
    * ``"area"``: divided by the area of the box; for a band of the FPR the mean TPR in it;
    * ``"mcclish"``: ``½ (1 + (A − chance)/(best − chance))`` with the area of the box as ``best`` and the area below
      the diagonal in it as ``chance``, ``(max_fpr² − min_fpr²)/2`` for a band of the FPR (McClish 1989): the value of
      scikit-learn's ``roc_auc_score(max_fpr=…)``. A curve below the diagonal has a value below ½, where pROC refuses.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `weighted_auc`; tied pairs count ½.
    min_fpr, max_fpr : float
        ``0 ≤ min_fpr < max_fpr ≤ 1``.
    min_tpr, max_tpr : float
        ``0 ≤ min_tpr < max_tpr ≤ 1``.
    standardized : {False, "area", "mcclish"}
        The scale, see above.

    Raises
    ------
    AuclabError
        As in `weighted_auc`, and for an empty band.

    See Also
    --------
    two_way_partial_auc : The area with a floor for the true positive rate, not scaled.
    weighted_auc : Any weight on the specificity.
    auclab.formulations.PartialAUC : The program that maximises a surrogate of it.

    Examples
    --------
    One positive above both negatives, one below: TPR is ½ on the whole band.

    >>> y_true, y_score = [0, 1, 0, 1], [2, 4, 3, 1]
    >>> partial_auc(y_true, y_score, max_fpr=0.5, standardized=False)
    0.25
    >>> partial_auc(y_true, y_score, max_fpr=0.5, standardized="area")
    0.5
    >>> round(partial_auc(y_true, y_score, max_fpr=0.5, standardized="mcclish"), 12)
    0.666666666667

    Up to TPR ½ the specificity is 1, from there on it is 0:

    >>> partial_auc(y_true, y_score, min_tpr=0.25, standardized=False)
    0.25
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    if standardized is not False and (not isinstance(standardized, str) or standardized not in ("area", "mcclish")):
        raise AuclabError(f"standardized must be False, 'area' or 'mcclish', got {standardized!r}")
    low, high = finite_number("min_fpr", min_fpr), finite_number("max_fpr", max_fpr)
    if not 0.0 <= low < high <= 1.0:
        raise AuclabError(f"0 ≤ min_fpr < max_fpr ≤ 1 is needed, got min_fpr={low} and max_fpr={high}")
    floor, ceiling = finite_number("min_tpr", min_tpr), finite_number("max_tpr", max_tpr)
    if not 0.0 <= floor < ceiling <= 1.0:
        raise AuclabError(f"0 ≤ min_tpr < max_tpr ≤ 1 is needed, got min_tpr={floor} and max_tpr={ceiling}")

    def area_of(fpr: Array, tpr: Array) -> float:
        above = float(band_area(fpr, tpr, low, high, ceiling)) if ceiling < 1.0 else 0.0
        return float(band_area(fpr, tpr, low, high, floor)) - above

    area = area_of(*roc_from_sorted(scores))
    if not standardized:
        return area
    best = (high - low) * (ceiling - floor)
    if standardized == "area":
        return area / best
    chance = area_of(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    if not best - chance > 1e-12 * best:
        raise AuclabError(
            f"the box [{low}, {high}] × [{floor}, {ceiling}] lies below the diagonal, where McClish's scale has no "
            "room between chance and the best curve; use standardized='area'"
        )
    return 0.5 * (1.0 + (area - chance) / (best - chance))


def two_way_partial_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    min_tpr: float,
    max_fpr: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC polygon where ``TPR ≥ min_tpr`` and ``FPR ≤ max_fpr``: ``∫₀^max_fpr (roc(u) − min_tpr)₊ du``.

    Yang, Lu, Lyu & Hu 2019, *Two-way partial AUC and its properties*. With ``min_tpr = 0`` it is the partial
    area over ``[0, max_fpr]``.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `weighted_auc`; tied pairs count ½.
    min_tpr : float
        In [0, 1).
    max_fpr : float
        In (0, 1].

    Returns
    -------
    float
        In ``[0, (1 − min_tpr) · max_fpr]``, not scaled.

    Raises
    ------
    AuclabError
        As in `weighted_auc`, and for rates outside their ranges.

    See Also
    --------
    partial_auc : The area without a floor.

    Examples
    --------
    TPR is ½ up to FPR ½ and 1 from there on; above ¼ and before ¾ lie ½ · ¼ and ¼ · ¾:

    >>> two_way_partial_auc([1, 0, 1, 0], [4, 3, 2, 1], min_tpr=0.25, max_fpr=0.75)
    0.3125
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    floor, high = finite_number("min_tpr", min_tpr), finite_number("max_fpr", max_fpr)
    if not (0.0 <= floor < 1.0 and 0.0 < high <= 1.0):
        raise AuclabError(f"0 ≤ min_tpr < 1 and 0 < max_fpr ≤ 1 are needed, got min_tpr={floor} and max_fpr={high}")
    return float(band_area(*roc_from_sorted(scores), 0.0, high, floor))


def _integral(
    weight: Callable[[Array], ArrayLike], jumps: Array, upper: Array, lower: Array, left: Array, right: Array
) -> float:
    """Sum over edges of ``∫ W(s) y(s) ds`` for s from lower to upper, y linear from `left` at upper to `right`."""
    edges = np.concatenate((upper, lower[-1:]))[::-1]  # ascending: from specificity 0 to 1
    extra = np.concatenate((jumps, np.arange(1.0, 1.0 / WIDE) * WIDE))
    # a splitting point within an edge starts a piece of the same edge
    splits = np.setdiff1d(extra, edges)
    place = np.searchsorted(edges, splits)
    pieces = np.insert(edges, place, splits)
    slope = (right - left) / (upper - lower)
    upper, left, slope = (np.insert(of[::-1], place, of[::-1][place - 1]) for of in (upper, left, slope))
    start, length = pieces[:-1], np.diff(pieces)
    wide = length > NARROW
    total = 0.0
    for (at, share), pieces_of in ((FEW_NODES, slice(None)), (MANY_NODES, wide)):
        # nearly all pieces are narrow in a large sample: picking them costs more than skipping the wide ones
        scale = length[pieces_of] if pieces_of is wide else np.where(wide, 0.0, length)
        s = start[pieces_of] + length[pieces_of] * (0.5 * (1.0 + at))[:, None]
        height = left[pieces_of] + slope[pieces_of] * (upper[pieces_of] - s)
        total += float(np.sum((0.5 * share) @ (weight_values(weight, s.ravel()).reshape(s.shape) * height * scale)))
    return total
