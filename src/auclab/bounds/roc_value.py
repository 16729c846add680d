"""A one-sided guarantee for one value of the ROC curve: the TPR at a false positive rate."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
from auclab.bounds.bound import INDEPENDENT, Bound, check_numbers, check_probability, from_below
from auclab.bounds.weighted import FIXED
from auclab.metrics.roc import class_scores


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
