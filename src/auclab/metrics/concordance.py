"""Concordance of risk scores with censored times."""

from __future__ import annotations

from numpy.typing import ArrayLike

from auclab.metrics.class_scores import finite_number
from auclab.metrics.comparable_buffer import ComparableErrors, buffered_share
from auclab.metrics.comparable_pairs import ComparablePairs
from auclab.samples.bicliques import TiedTimes, censored_pairs


def concordance_index(
    time: ArrayLike,
    event: ArrayLike,
    scores: ArrayLike,
    *,
    tied_times: TiedTimes = "excluded",
    tolerance: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the comparable pairs that a risk score ranks correctly, ties ½, in O(m log m).

    A pair (i, j) is comparable if i has an event before the time of j, observed or censored:

        C = ( #{comparable, s_i > s_j} + ½ #{comparable, s_i = s_j} ) / #{comparable}

    (Harrell, Califf, Pryor, Lee & Rosati 1982, JAMA 247). Without censoring and with two times it is AUC.

    Parameters
    ----------
    time : array of shape (n_samples,)
        Times of the event or of censoring.
    event : array of shape (n_samples,)
        Booleans or 0/1: whether the event was observed.
    scores : array of shape (n_samples,)
        Risks: larger means an earlier event; ±∞ is allowed. Negate predicted times.
    tied_times : {"excluded", "censored_later"}
        How to treat a row censored at the time of an event: not compared with it, or counted as later.
        ``"censored_later"`` gives the values of scikit-survival and lifelines.
    tolerance : float
        Scores that differ by at most this are tied; scikit-survival's ``tied_tol`` is 1e-8.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both. Integer weights act as repeated rows.

    Returns
    -------
    float
        In [0, 1]; without weights the counts are exact integers up to 2⁵³ pairs.

    Raises
    ------
    AuclabError
        Lengths that differ, missing values, events that are not 0/1, no comparable pair.

    See Also
    --------
    buffered_concordance : Its buffered lower bound.
    grouped_auc : Pairs by grades, within groups.

    Examples
    --------
    The event at 1 is compared with all others, the one at 3 with the last; 4 is censored. (1, 2) is ranked wrong:

    >>> concordance_index([1, 2, 3, 4], [1, 0, 1, 0], [0.5, 0.9, 0.4, 0.1])
    0.75
    """
    pairs = censored_pairs(time, event, sample_weight=sample_weight, tied_times=tied_times)
    return ComparablePairs(pairs).auc(scores, tolerance)


def buffered_concordance(
    time: ArrayLike,
    event: ArrayLike,
    scores: ArrayLike,
    *,
    threshold: float = 0.0,
    tied_times: TiedTimes = "excluded",
    sample_weight: ArrayLike | None = None,
) -> float:
    """Buffered share of the comparable pairs, ``1 − min_{a≥0} mean [a(ξ − z) + 1]₊`` of the errors ``ξ = s_j − s_i``.

    The formula of the buffered AUC (Norton & Uryasev 2018, Def. 2, 3) over the pairs of `concordance_index`. At z = 0
    it is at most the share that is ranked strictly right. About ten sweeps of O(m log m).

    Parameters
    ----------
    time, event, tied_times, sample_weight
        As in `concordance_index`.
    scores : array of shape (n_samples,)
        Finite risks.
    threshold : float
        z, in the units of the scores.

    Raises
    ------
    AuclabError
        As `concordance_index`; infinite scores, or a range of scores above the largest double.

    See Also
    --------
    concordance_index : The share without a buffer.
    bauc_score : The same of two classes.

    Examples
    --------
    Errors ½ of (1, 2), −1 of (1, 3), −1½ of (1, 4) and −½ of (3, 4). The two largest, ½ and −½, have mean 0, and half
    of the pairs is left:

    >>> buffered_concordance([1, 2, 3, 4], [1, 0, 1, 0], [2.0, 2.5, 1.0, 0.5])
    0.5
    """
    pairs = ComparablePairs(censored_pairs(time, event, sample_weight=sample_weight, tied_times=tied_times))
    return buffered_share(ComparableErrors(pairs, scores), finite_number("threshold", threshold)).value
