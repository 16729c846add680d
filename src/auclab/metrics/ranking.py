"""AUC: the share of positive–negative pairs in the right order."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike

from auclab.compiled.ranking import concordance
from auclab.metrics.class_scores import class_scores
from auclab.validation import check_choice

#: What a tied pair counts, by the name of the convention.
TIED_SHARE = {"strict": 0.0, "half": 0.5, "upper": 1.0}


def auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    ties: Literal["half", "strict", "upper"] = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC curve, as the share of pairs in the right order, in O(m log m).

    ``AUC = P(h⁺ > h⁻) + c · P(h⁺ = h⁻)`` over all pairs of a positive and a negative, with ``c = ½`` for
    ``ties="half"`` (the area under the ROC polygon, the usual number), 0 for ``"strict"`` (Norton & Uryasev
    2018, eq. 2: ``1 − P(ξ ≥ 0)``) and 1 for ``"upper"`` (``1 − P(ξ > 0)``).

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    y_score : array of shape (n_samples,)
        Larger means more positive; ±∞ is allowed, NaN is not.
    ties : {"half", "strict", "upper"}
        Contribution of a tied pair.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        Label of the positive class; needed for labels other than 0/1, −1/+1 and booleans.

    Returns
    -------
    float
        In [0, 1]; the counts are exact integers up to 2⁵³ pairs.

    Raises
    ------
    AuclabError
        One class only, NaN scores, lengths that differ, an unknown `ties`.

    See Also
    --------
    bauc_score : Buffered AUC, a lower bound of the strict AUC.
    partial_auc : The area over a band of false positive rates.
    auclab.inference.estimate : Standard error and confidence interval.

    Examples
    --------
    Of the four pairs, two are right, one is tied and one is wrong:

    >>> auc_score([0, 0, 1, 1], [1, 3, 3, 2])
    0.625
    >>> auc_score([0, 0, 1, 1], [1, 3, 3, 2], ties="strict")
    0.5
    """
    scores = class_scores(y_true, y_score, sample_weight, pos_label, infinite=True)
    check_choice("ties", ties, TIED_SHARE)
    right, tied, pairs = concordance(*scores.lists)
    return min(float((right + TIED_SHARE[ties] * tied) / pairs), 1.0)
