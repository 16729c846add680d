"""Bounds of a scorer fixed before the rows were seen, over classes and over groups.

Positives and negatives are independent samples of sizes n_pos and n_neg; probabilities are conditional on these sizes.
The statistic is a mean over pairs of values in an interval of length B. There are two ways to its deviations:

* McDiarmid: replacing one positive moves it by at most B/n_pos, one negative by at most B/n_neg, so that it deviates by
  more than ``B √((1/n_pos + 1/n_neg) ln(1/ρ)/2)`` with probability ρ at most.
* Hoeffding 1963: it is an average of means over m̂ = min(n_pos, n_neg) independent pairs, and what Chernoff's method
  gives for one of these holds for their average: ``B √(ln(1/ρ)/(2m̂))``, never more than McDiarmid's, or the inverse of
  the Kullback–Leibler divergence, which is tighter still and gains where most values are small against B.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab.bounds.guarantee import (
    INDEPENDENT,
    OBSERVED,
    Bound,
    check_nonnegative,
    check_numbers,
    check_positive,
    check_probability,
    check_sizes,
    from_below,
)
from auclab.bounds.peeling import VACUOUS, level_share, levels_below, statements
from auclab.bounds.stability import Method, deviation, hinge_slack, hoeffding
from auclab.bounds.weighted import FIXED
from auclab.metrics.comparable import ComparablePairs
from auclab.metrics.roc import ClassScores, class_scores
from auclab.samples.bicliques import LevelPairs

HELD_OUT = "the scorer was fixed before the held-out part was seen"
HELD_OUT_DRAWS = "held-out observations are independent draws from the law meant"


def fixed_scorer_auc_bound(
    auc: float, *, n_pos: int, n_neg: int, rho: float, method: Literal["mcdiarmid", "hoeffding"] = "mcdiarmid"
) -> Bound:
    """Two-sided bound on the AUC of a fixed scorer.

    With probability at least 1 − ρ::

        "mcdiarmid"   |ÂUC − AUC| ≤ √( (1/n_pos + 1/n_neg) ln(2/ρ) / 2 )
        "hoeffding"   |ÂUC − AUC| ≤ √( ln(2/ρ) / (2 min(n_pos, n_neg)) )

    The AUC is a mean over pairs of terms in [0, 1]. "mcdiarmid" follows Agarwal, Graepel, Herbrich, Har-Peled & Roth
    2005 (JMLR 6; derivations 8.5); "hoeffding", which is never wider, follows Hoeffding 1963 (JASA 58, section 5). Both
    hold for every tie rule, provided that both AUCs use the same one.

    Parameters
    ----------
    auc : float
        AUC on the held-out part, in [0, 1].
    n_pos, n_neg : int
        Class sizes of the held-out part.
    rho : float
        1 − confidence, in (0, 1).
    method : {"mcdiarmid", "hoeffding"}

    Returns
    -------
    Bound
        `half_width`; `lower` is NaN, as the statement has two sides. Vacuous if the interval covers [0, 1].

    Raises
    ------
    AuclabError
        A value outside its range.

    See Also
    --------
    fixed_scorer_bauc_bound : The same for the buffered AUC.
    auclab.inference.estimate : Asymptotic confidence intervals, which are narrower.

    Examples
    --------
    >>> bound = fixed_scorer_auc_bound(0.9, n_pos=50, n_neg=50, rho=0.05)
    >>> round(bound.half_width, 6), bound.vacuous          # √(0.04 · ln 40 / 2) = √0.073778
    (0.27162, False)
    """
    check_sizes(n_pos, n_neg)
    check_probability(rho=rho)
    check_numbers(auc=auc)
    if not 0.0 <= auc <= 1.0:
        raise AuclabError(f"auc must lie in [0, 1], got {auc}")
    if method not in ("mcdiarmid", "hoeffding"):
        raise AuclabError(f"method must be 'mcdiarmid' or 'hoeffding', got {method!r}")
    spread = deviation if method == "mcdiarmid" else hoeffding
    half_width = spread(n_pos, n_neg, rho / 2.0)
    vacuous = bool(auc - half_width <= 0.0 and auc + half_width >= 1.0)
    return Bound(math.nan, half_width, vacuous, (HELD_OUT, HELD_OUT_DRAWS), half_width)


def fixed_scorer_bauc_bound(
    empirical_loss: float,
    a: float,
    *,
    score_spread: float,
    n_pos: int,
    n_neg: int,
    rho: float,
    spread_is_observed: bool = False,
    method: Method = "mcdiarmid",
) -> Bound:
    """Lower bound on the buffered AUC of a fixed scorer.

    With probability at least 1 − ρ, for one a ≥ 0 fixed before the held-out part was seen, ``bAUC ≥ 1 − R̂_a − U``::

        "mcdiarmid"   U = B √( (1/n_pos + 1/n_neg) ln(1/ρ) / 2 ),      B = aS + min(1, aS)
        "hoeffding"   U = B √( ln(1/ρ) / (2m̂) ),                       m̂ = min(n_pos, n_neg)
        "kl"          U = B (q − p),   p = (R̂_a − [1 − aS]₊)/B,   q = max{ q : kl(p‖q) ≤ ln(1/ρ)/m̂ }

    R̂_a is the mean of ``[1 − a (h(x⁺) − h(x⁻))]₊`` over the held-out pairs; S bounds ``|h(x) − h(x')|`` on the
    support, so that the hinge lies in an interval of length B. Follows from ``bAUC ≥ 1 − E[1 − a t]₊`` for every a ≥ 0
    (Norton & Uryasev 2018, (23)). Each method is at least as sharp as the one before. "kl" is Chernoff's bound, with
    ``kl(p‖q) = p ln(p/q) + (1 − p) ln((1 − p)/(1 − q))``; it gains most where aS is large and the hinge mostly small.

    Parameters
    ----------
    empirical_loss : float
        R̂_a ≥ 0.
    a : float
        Scale, ≥ 0.
    score_spread : float
        S ≥ 0, in units of the score: for ``‖x − x'‖ ≤ D`` and a linear scorer, D‖w‖.
    n_pos, n_neg : int
        Class sizes of the held-out part.
    rho : float
        1 − confidence, in (0, 1).
    spread_is_observed : bool
        Whether S was computed from a sample. The support may be wider; `Bound.assumptions` then states the condition.
    method : {"mcdiarmid", "hoeffding", "kl"}

    Returns
    -------
    Bound
        `lower` on bAUC, `slack` = what was subtracted from 1 − R̂_a. Vacuous if `lower` ≤ 0.

    Raises
    ------
    AuclabError
        A value outside its range.

    See Also
    --------
    peeled_fixed_scorer_bauc_bound : The scale may depend on the held-out part.
    fixed_scorer_auc_bound : The same for the AUC.

    Examples
    --------
    >>> bound = fixed_scorer_bauc_bound(0.2, 1.0, score_spread=1.0, n_pos=200, n_neg=200, rho=math.exp(-2))
    >>> round(bound.lower, 12), round(bound.slack, 12)     # B = 2, √(0.01 · 2 / 2) = 0.1
    (0.6, 0.2)
    """
    check_sizes(n_pos, n_neg)
    check_probability(rho=rho)
    check_nonnegative(empirical_loss=empirical_loss, a=a, score_spread=score_spread)
    slack = hinge_slack(empirical_loss, a * score_spread, n_pos, n_neg, rho, method)
    lower = 1.0 - empirical_loss - slack
    scale = f"the scale a = {a:.4g} was fixed before the held-out part was seen"
    return from_below(lower, slack, (HELD_OUT, HELD_OUT_DRAWS, scale, *_support(score_spread, spread_is_observed)))


def peeled_fixed_scorer_bauc_bound(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    score_spread: float,
    rho: float,
    a0: float | None = None,
    spread_is_observed: bool = False,
    method: Method = "mcdiarmid",
) -> Bound:
    """Lower bound on the buffered AUC of a fixed scorer, with the best scale selected on the held-out part itself.

    With ``a_k = 2^k a₀`` and ``ρ_k = (2/3)ρ/((|k|+1)(|k|+2))``, with probability at least 1 − ρ::

        bAUC ≥ sup_k { 1 − R̂_{a_k} − U(a_k, ρ_k) } ≥ 0

    R̂_a, a mean over pairs, is the U-statistic of the hinge. U is the slack of `fixed_scorer_bauc_bound`, evaluated at
    each level of a grid fixed in advance (derivations 8.3). If another sample suggests a scale,
    `fixed_scorer_bauc_bound` at that scale is better.

    Parameters
    ----------
    y_true, y_score : arrays of shape (n_samples,)
        Labels and finite scores of the held-out part.
    score_spread : float
        S ≥ 0, as in `fixed_scorer_bauc_bound`.
    rho : float
        1 − confidence, in (0, 1).
    a0 : float, optional
        Level 0 of the grid, > 0, fixed in advance; 1/S unless given.
    spread_is_observed, method
        As in `fixed_scorer_bauc_bound`.

    Returns
    -------
    Bound
        `lower` on bAUC, `slack` of the best level. Vacuous if `lower` ≤ 0.

    Raises
    ------
    AuclabError
        Bad labels or scores, a value outside its range, or scores of the two classes further apart than S.

    See Also
    --------
    fixed_scorer_bauc_bound : One scale, fixed in advance.

    Examples
    --------
    5000 positives at 1, 5000 negatives at 0: loss 0 and B = 2 at level 0, where ρ_0 = ρ/3: 2 √(ln(60)/5000) = 0.05723.

    >>> labels = [1] * 5000 + [0] * 5000
    >>> bound = peeled_fixed_scorer_bauc_bound(labels, labels, score_spread=1.0, rho=0.05)
    >>> round(bound.slack, 5), round(bound.lower, 5)
    (0.05723, 0.94277)
    """
    scores = class_scores(y_true, y_score, None, None)
    return peeled_fixed_scorer_bauc_from_sorted(
        scores, score_spread=score_spread, rho=rho, a0=a0, spread_is_observed=spread_is_observed, method=method
    )


def peeled_fixed_scorer_bauc_from_sorted(
    scores: ClassScores,
    *,
    score_spread: float,
    rho: float,
    a0: float | None = None,
    spread_is_observed: bool = False,
    method: Method = "mcdiarmid",
) -> Bound:
    """`peeled_fixed_scorer_bauc_bound` of sorted scores."""
    check_nonnegative(score_spread=score_spread)
    check_probability(rho=rho)
    check_positive(**({} if a0 is None else {"a0": a0}))
    pos, neg = scores.pos, scores.neg
    reach = max(float(pos.max() - neg.min()), float(neg.max() - pos.min()))
    if reach > score_spread * (1.0 + 1e-9):
        raise AuclabError(
            f"score_spread={score_spread:.6g} is too small: scores of this sample differ by {reach:.6g}; give the "
            "largest difference that can occur"
        )
    if score_spread == 0.0:  # all scores are equal: bAUC is 0
        best, start = VACUOUS, 0.0
    else:
        start = 1.0 / score_spread if a0 is None else a0

        def slack(a: float, k: int, loss: float) -> float:
            return hinge_slack(loss, a * score_spread, pos.size, neg.size, level_share(rho, k), method)

        # U ≥ aS · rate: from a = 1/(S · rate) on nothing is left of 1
        rate = deviation(pos.size, neg.size, rho) if method == "mcdiarmid" else hoeffding(pos.size, neg.size, rho)
        rate = rate * rate if method == "kl" else rate
        levels = statements(pos, neg, levels_below(1.0 / rate / score_spread, start), start, slack)
        best = max([VACUOUS, *levels], key=lambda it: it.lower)
    scale = f"the grid 2^k · {start:.4g} of scales was fixed before the held-out part was seen; a = {best.a:.4g}"
    assumptions = (HELD_OUT, HELD_OUT_DRAWS, scale, *_support(score_spread, spread_is_observed))
    return from_below(best.lower, best.slack, assumptions)


def _support(score_spread: float, is_observed: bool) -> tuple[str, ...]:
    """The condition under which a spread read off a sample holds."""
    return (f"{OBSERVED} (scores at most {score_spread:.4g} apart)",) if is_observed else ()


def fixed_scorer_pairs_bound(pairs: LevelPairs, auc: float, *, rho: float) -> Bound:
    """Two-sided bound on the concordance, or the AUC within groups, of a fixed scorer.

    With probability at least 1 − ρ, conditional on the pairs that are compared::

        |Ĉ − E Ĉ| ≤ √( ln(2/ρ)/2 · Σ_u c_u² ),       c_u = (weight of the pairs of u) / (weight of all pairs)

    McDiarmid 1989: the independent units u are whole groups or single rows, and redrawing the scores of u changes Ĉ by
    at most c_u. For G groups of equal weight Σ c_u² is 1/G. For two classes it is ``1/n_pos + 1/n_neg``, which gives
    `fixed_scorer_auc_bound`.

    Parameters
    ----------
    pairs : LevelPairs
        Pairs of the held-out part: ``ordered_pairs(y, groups)`` or ``censored_pairs(time, event)`` of `auclab.metrics`.
    auc : float
        Share of these pairs that are ranked correctly, in [0, 1].
    rho : float
        1 − confidence, in (0, 1).

    Returns
    -------
    Bound
        `half_width`; `lower` is NaN, as the statement has two sides. Vacuous if the interval covers [0, 1].

    Raises
    ------
    AuclabError
        A value outside its range.

    See Also
    --------
    fixed_scorer_auc_bound : Two classes of independent rows.
    auclab.inference.estimate_pairs : Asymptotic confidence intervals, which are narrower.

    Examples
    --------
    Fifty queries with a pair each:

    >>> from auclab.metrics import ordered_pairs
    >>> pairs = ordered_pairs([0, 1] * 50, groups=[k // 2 for k in range(100)])
    >>> bound = fixed_scorer_pairs_bound(pairs, 0.9, rho=0.05)
    >>> round(bound.half_width, 6), bound.vacuous          # √(ln 40/100)
    (0.192065, False)
    """
    check_probability(rho=rho)
    check_numbers(auc=auc)
    if not 0.0 <= auc <= 1.0:
        raise AuclabError(f"auc must lie in [0, 1], got {auc}")
    comparable = ComparablePairs(pairs)
    share = comparable.unit_totals / comparable.total
    half_width = math.sqrt(-math.log(rho / 2.0) / 2.0 * float(share @ share))
    units = {
        "groups": "groups are independent draws; for groups with grades as in the held-out part",
        "grades": "rows are independent draws; for grades as in the held-out part",
        "times": "rows are independent draws; for times and events as in the held-out part",
    }[pairs.kind]
    vacuous = bool(auc - half_width <= 0.0 and auc + half_width >= 1.0)
    return Bound(math.nan, half_width, vacuous, (HELD_OUT, units), half_width)


def roc_value_bound(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fpr: float,
    *,
    delta: float,
    method: Literal["band", "weight"] = "band",
) -> Bound:
    """Lower bound on one value of the ROC curve of a fixed scorer: the TPR at a false positive rate u.

    With ``ε_y = √(ln(2/δ)/(2 m_y))`` and the step ROC curve of the sample, with probability at least 1 − δ::

        "weight"   roc(u) ≥ max_h { (1/h) ∫_{u−h}^{u} roĉ(v) dv − ε_neg/h − ε_pos }
        "band"     roc(u) ≥ roĉ(u − ε_neg) − ε_pos

    "weight" puts the narrow weight 1/h on a band just below u (Maurer & Pontil 2020, Remark 3, with "dkw" of
    derivations 9.1); all h share one event, so the maximum over h is valid. "band" uses the same event directly and is
    never worse: ``∫_{u−h}^{u} roĉ ≤ (h − ε) roĉ(u − ε) + ε``. Tied pairs count 0, ``roc(u) = P(h⁺ > q(1 − u))`` with q
    the quantiles of the negatives.

    Parameters
    ----------
    y_true, y_score : arrays of shape (n_samples,)
        Labels and scores of observations that were not used to fit the scorer.
    fpr : float
        u in [0, 1].
    delta : float
        1 − confidence, in (0, 1).
    method : {"band", "weight"}

    Returns
    -------
    Bound
        `lower` on the TPR; `slack` is its distance below the value on the sample. Vacuous if `lower` ≤ 0.

    Raises
    ------
    AuclabError
        Bad labels or scores, u or δ out of range, an unknown method.

    See Also
    --------
    step_weight_bound : The area over a band of false positive rates.

    Examples
    --------
    Perfect ranking, 200 of each class: ε = √(ln(40)/400) = 0.0960, and 0.2 − ε is still above 0.

    >>> labels = [1] * 200 + [0] * 200
    >>> round(roc_value_bound(labels, labels, 0.2, delta=0.05).lower, 4)
    0.904
    >>> round(roc_value_bound(labels, labels, 0.2, delta=0.05, method="weight").lower, 4)   # h = u: 1 − 5ε − ε
    0.4238
    """
    if method not in ("band", "weight"):
        raise AuclabError(f"method must be 'band' or 'weight', got {method!r}")
    check_numbers(fpr=fpr)
    if not 0.0 <= fpr <= 1.0:
        raise AuclabError(f"fpr must lie in [0, 1], got {fpr}")
    check_probability(delta=delta)
    scores = class_scores(y_true, y_score, None, None, infinite=True)
    log = math.log(2.0 / delta) / 2.0
    error_pos, error_neg = math.sqrt(log / scores.pos.size), math.sqrt(log / scores.neg.size)
    # TPR above each negative from the largest score down: the height of the step from (k − 1)/n to k/n
    heights = 1.0 - np.searchsorted(scores.pos, scores.neg[::-1], side="right") / scores.pos.size
    here = _height(heights, fpr)
    if method == "band":
        lower = _height(heights, fpr - error_neg) - error_pos
    else:
        areas = np.concatenate([[0.0], np.cumsum(heights)]) / heights.size
        rates = np.linspace(0.0, 1.0, heights.size + 1)
        widths = fpr * np.geomspace(1e-3, 1.0, 200) if fpr > 0.0 else np.empty(0)
        widths = widths[widths > 0.0]
        with np.errstate(over="ignore"):  # −∞ for a width that is next to nothing
            means = (np.interp(fpr, rates, areas) - np.interp(fpr - widths, rates, areas) - error_neg) / widths
        lower = float(np.max(means, initial=0.0)) - error_pos
    return from_below(lower, here - lower, (FIXED, INDEPENDENT))


def _height(heights: Array, fpr: float) -> float:
    """The step curve at u, continuous from the right: ``P̂(h⁺ > q̂(1 − u))``; 0 below u = 0."""
    if fpr < 0.0:
        return 0.0
    # 1 − u = k/n up to rounding belongs to the k-th smallest negative
    rank = math.floor(fpr * heights.size * (1.0 + 1e-12))
    return float(heights[rank]) if rank < heights.size else 1.0
