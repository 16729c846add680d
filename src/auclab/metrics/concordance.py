"""Concordance of graded rows within groups and of censored times, AUC at times, and their buffered variants."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, GroupWeights
from auclab._core.comparable import Mask
from auclab._core.validation import check_choice, finite_vector, same_length, weight_vector
from auclab.metrics.comparable import ComparableErrors, ComparablePairs, buffered_share
from auclab.metrics.roc import auc_score, finite_number
from auclab.samples.bicliques import TiedTimes, censored_pairs, checked_times, ordered_pairs


def concordance_index(
    time: ArrayLike,
    event: ArrayLike,
    scores: ArrayLike,
    *,
    tied_times: TiedTimes = "excluded",
    tolerance: float = 0.0,
    weights: Literal["pairs", "ipcw"] = "pairs",
    tau: float | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of the comparable pairs that a risk score ranks correctly, ties ½, in O(m log m).

    A pair (i, j) is comparable if i has an event before the time of j, observed or censored:

        C = ( #{comparable, s_i > s_j} + ½ #{comparable, s_i = s_j} ) / #{comparable}

    (Harrell, Califf, Pryor, Lee & Rosati 1982, JAMA 247). Without censoring and with two times it is AUC. Its limit
    depends on the censoring. With ``weights="ipcw"`` every pair has the weight ``G(t_i)⁻²``, G the Kaplan–Meier
    estimate of the chance to be uncensored, which removes this dependence (Uno, Cai, Pencina, D'Agostino & Wei 2011,
    Statistics in Medicine 30, 1105–1117, eq. 6).

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
    weights : {"pairs", "ipcw"}
        Harrell's index, or Uno's. G counts events before the censorings of the same time, and is taken with the
        censorings of its own time, as in scikit-survival (`censoring_weights`).
    tau : float, optional
        Only events before this time count: pairs whose weight would be large, because few rows are left, are left out.
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

    One of the three rows at risk at 2 is censored, so that G is ⅔ at 3, and its pair has the weight 9/4 of the others:

    >>> round(concordance_index([1, 2, 3, 4], [1, 0, 1, 0], [0.5, 0.9, 0.4, 0.1], weights="ipcw"), 6)    # 4.25/5.25
    0.809524
    """
    check_choice("weights", weights, ("pairs", "ipcw"))
    if weights == "ipcw" or tau is not None:
        pairs = uno_pairs(time, event, tau, tied_times, sample_weight, power=2 if weights == "ipcw" else 0)
    else:
        pairs = ComparablePairs(censored_pairs(time, event, sample_weight=sample_weight, tied_times=tied_times))
    return pairs.auc(scores, tolerance)


def uno_pairs(
    time: ArrayLike,
    event: ArrayLike,
    tau: float | None,
    tied_times: TiedTimes,
    sample_weight: ArrayLike | None,
    power: int,
) -> ComparablePairs:
    """The pairs of an event before tau and a later row, with weights ``G(t)^(−power)``."""
    pairs = censored_pairs(time, event, sample_weight=sample_weight, tied_times=tied_times)
    times, events = checked_times(time, event)
    factor = np.where(events, censoring_weights(times, events, sample_weight) ** power, 0.0)
    if tau is not None:
        before = times < finite_number("tau", tau)
        if not (before & events).any():
            raise AuclabError(f"no event lies before tau={tau}; the first is at {times[events].min()}")
        factor = np.where(before, factor, 0.0)
    comparable = ComparablePairs(pairs, factor)
    if not comparable.total > 0.0:
        raise AuclabError(f"no event before tau={tau} has a row at risk after it; take a larger tau")
    return comparable


def censoring_weights(time: ArrayLike, event: ArrayLike, sample_weight: ArrayLike | None = None) -> Array:
    """Inverse probability of censoring weights ``δ_i/G(t_i)``: 0 for a censored row.

    G is the Kaplan–Meier estimate of the chance that a row is not censored up to and at t. At tied times events come
    first, so that ``n(t) − d(t)`` rows are at risk of censoring:

        G(t) = Π_{s ≤ t} (1 − c(s)/(n(s) − d(s)))

    Parameters
    ----------
    time : array of shape (n_samples,)
        Times of the event or of censoring.
    event : array of shape (n_samples,)
        Booleans or 0/1.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; integer weights act as repeated rows.

    Returns
    -------
    array of shape (n_samples,)
        At least 1 for an event.

    Raises
    ------
    AuclabError
        Lengths that differ, missing values, events that are not 0/1.

    See Also
    --------
    concordance_index : Uno's index has their squares as weights.
    time_dependent_auc : AUC at a time.

    Examples
    --------
    >>> censoring_weights([1, 2, 3, 4], [1, 0, 1, 0]).round(6).tolist()
    [1.0, 0.0, 1.5, 0.0]
    """
    times, events = checked_times(time, event)
    weight = weight_vector(sample_weight, times.size)
    weight = np.ones(times.size) if weight is None else weight
    unique, at = np.unique(times, return_inverse=True)
    n_events, n_censored = np.bincount(at, weight * events), np.bincount(at, weight * ~events)
    left = np.cumsum((n_events + n_censored)[::-1])[::-1] - n_events  # at risk of censoring
    ratio = np.divide(n_censored, left, out=np.zeros(unique.size), where=left > 0)
    uncensored = np.cumprod(1.0 - ratio)[at]
    return np.divide(events, uncensored, out=np.zeros(times.size), where=events & (uncensored > 0))


def time_dependent_auc(
    time: ArrayLike,
    event: ArrayLike,
    scores: ArrayLike,
    times: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> Array:
    """Cumulative/dynamic AUC: rows with an event up to t against rows that are at risk after t, for several t.

        AUC(t) = Σ_ij w_i 1{t_i ≤ t} 1{t_j > t} (1{s_i > s_j} + ½ 1{s_i = s_j}) / (Σ_i w_i 1{t_i ≤ t} · Σ_j 1{t_j > t})

    with the weights ``w_i = δ_i/G(t_i)`` of `censoring_weights` (Hung & Chiang 2010, Canadian Journal of Statistics 38,
    8–26; Uno, Cai, Tian & Wei 2007), O(m log m) for each time.

    Parameters
    ----------
    time, event, sample_weight
        As in `concordance_index`.
    scores : array of shape (n_samples,)
        Risks: larger means an earlier event; ±∞ is allowed.
    times : array of shape (n_times,), or float
        Times t, with an event up to each of them and a row at risk after it.

    Returns
    -------
    array of shape (n_times,)
        In [0, 1].

    Raises
    ------
    AuclabError
        As `concordance_index`; a time without an event before it, or without a row after it.

    See Also
    --------
    concordance_index : One number for all times.

    Examples
    --------
    At 1.5 the first row is compared with three later ones, of which one has a larger score:

    >>> time_dependent_auc([1, 2, 3, 4], [1, 0, 1, 0], [0.5, 0.9, 0.4, 0.1], [1.5, 3.0]).round(6).tolist()
    [0.666667, 1.0]
    """
    (at, events), s = checked_times(time, event), finite_vector("scores", scores, infinite=True)
    same_length(time=at, scores=s)
    weight = weight_vector(sample_weight, at.size)
    weight = np.ones(at.size) if weight is None else weight
    values = []
    for case, control, cases in cases_and_controls(at, events, times, weight):
        rows = case | control
        values.append(auc_score(case[rows], s[rows], sample_weight=np.where(case, cases, weight)[rows]))
    return np.array(values)


def cases_and_controls(at: Array, events: Mask, times: ArrayLike, weight: Array) -> Iterator[tuple[Mask, Mask, Array]]:
    """Of every time the rows with an event up to it and those at risk after it, and the weights of all cases."""
    cases = censoring_weights(at, events, weight) * weight
    for t in np.atleast_1d(finite_vector("times", np.atleast_1d(times))):
        case, control = (at <= t) & (cases > 0), (at > t) & (weight > 0)
        if not (case.any() and control.any()):
            seen = at[events]
            raise AuclabError(
                f"at the time {t} there is no {'row at risk' if case.any() else 'event'} to compare; times must lie "
                f"between the first event at {seen.min() if seen.size else 'none'} and the last row at {at.max()}"
            )
        yield case, control, cases


def is_of_times(metric: object) -> bool:
    """Whether a metric, given as a `functools.partial`, is of censored times: it has no meaning for two classes."""
    return isinstance(metric, partial) and metric.func in (concordance_index, time_dependent_auc)


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
