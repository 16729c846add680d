"""AUC and buffered AUC over the pairs within groups: queries, markets, matched cases."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from auclab.metrics.class_scores import finite_number
from auclab.metrics.comparable_buffer import ComparableErrors, buffered_share
from auclab.metrics.comparable_pairs import ComparablePairs
from auclab.samples.bicliques import ordered_pairs
from auclab.types import GroupWeights
from auclab.validation import check_choice


def grouped_auc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    weights: GroupWeights = "pairs",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Share of correctly ranked pairs of one group and different grades, ties ½, in O(m log m).

        AUC = mean over (i, j) with g_i = g_j, y_i > y_j of  1{s_i > s_j} + ½ 1{s_i = s_j}

    Groups whose rows all have one grade have no pair and do not count.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Grades, or 0/1, −1/+1, booleans.
    scores : array of shape (n_samples,)
        Larger means a larger grade; ±∞ is allowed.
    groups : array of shape (n_samples,), optional
        Group of every row, such as its query; by default all rows form one group.
    weights : {"pairs", "groups"}
        Whether all pairs have equal weight, or all groups that have a pair, which gives the mean of their AUCs.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.
    pos_label : optional
        The positive one of two classes that are not numbers.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    AuclabError
        Lengths that differ, missing values, an unknown `weights`, no pair in any group.

    See Also
    --------
    auc_score : Two classes, one group.
    grouped_bauc : The buffered share of the same pairs.

    Examples
    --------
    Query "a" has the pairs (2, 1), (2, 0), (1, 0) and one of them wrong, "b" has one that is right:

    >>> y, query = [2, 1, 0, 1, 0], ["a", "a", "a", "b", "b"]
    >>> grouped_auc(y, [3.0, 1.0, 2.0, 9.0, 8.0], query)
    0.75
    >>> round(grouped_auc(y, [3.0, 1.0, 2.0, 9.0, 8.0], query, weights="groups"), 6)    # (⅔ + 1)/2
    0.833333
    """
    return _pairs(y, groups, weights, sample_weight, pos_label).auc(scores)


def grouped_bauc(
    y: ArrayLike,
    scores: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    threshold: float = 0.0,
    weights: GroupWeights = "pairs",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Buffered share of the pairs of one group and different grades: ``1 − min_{a≥0} mean [a(ξ − z) + 1]₊``.

    One a is chosen for all groups, as in the program that maximises it: errors of all groups are measured in the same
    unit. With ``weights="groups"`` the mean is over groups of the means over their pairs, and the value is at most the
    mean of the bAUCs of the groups.

    Parameters
    ----------
    y, groups, weights, sample_weight, pos_label
        As in `grouped_auc`.
    scores : array of shape (n_samples,)
        Finite scores.
    threshold : float
        z, in the units of the scores.

    Raises
    ------
    AuclabError
        As `grouped_auc`; infinite scores, or a range of scores above the largest double.

    See Also
    --------
    bauc_score : Two classes, one group.
    grouped_auc : The share without a buffer.

    Examples
    --------
    Errors −2 and 1 of "a", −1 of "b": 1 and −1 have mean 0, and a third of the pairs is left. The bAUCs of the two
    groups are 0.25 and 1.

    >>> y, query = [1, 0, 0, 1, 0], ["a", "a", "a", "b", "b"]
    >>> round(grouped_bauc(y, [2.0, 0.0, 3.0, 5.0, 4.0], query), 6)
    0.333333
    """
    pairs = _pairs(y, groups, weights, sample_weight, pos_label)
    return buffered_share(ComparableErrors(pairs, scores), finite_number("threshold", threshold)).value


def _pairs(
    y: ArrayLike, groups: ArrayLike | None, weights: GroupWeights, sample_weight: ArrayLike | None, pos_label: Any
) -> ComparablePairs:
    """The pairs of one group and different grades."""
    check_choice("weights", weights, ("pairs", "groups"))
    return ComparablePairs(ordered_pairs(y, groups, sample_weight, group_weights=weights, pos_label=pos_label))
