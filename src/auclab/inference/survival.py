"""Standard errors of Uno's concordance and of the AUC at a time, whose weights by censoring are estimated.

Both are ratios of sums over pairs of a case i and a row j that is still at risk,

    C = Σ_ij ω_i g_i ω_j r_ij / Σ_ij ω_i g_i ω_j,      g_i = δ_i Ĝ(t_i)^(−p),

r_ij whether the pair is ranked right, ω the weights of the rows (ones), p = 2 for Uno's concordance and 1 for AUC(t).
The influence of row k is the derivative ``ψ_k = ω_k ∂C/∂ω_k``, and

    SE² = n/(n − 1) Σ_k ψ_k²

the infinitesimal jackknife (Jaeckel 1972; Efron 1982, ch. 6). It has a part by the pairs of row k, and one by Ĝ, the
product over the times s of censoring of ``1 − c(s)/m(s)``, of which m(s) rows are at risk. With the parts e_i of the
cases in the first and ``U(s) = Σ_{t_i ≥ s} e_i``, the second is

    p ω_k ( 1{k is censored} U(t_k)/(m − c)(t_k) − Σ_s 1{k is at risk at s} c(s) U(s)/(m (m − c))(s) ),

in O(m log m) as the value is. It is the plug-in of the variance of Uno et al. 2011, eq. 6, Statistics in Medicine 30,
1105–1117, and of Hung & Chiang 2010.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from auclab._core.base import Array
from auclab._core.validation import check_choice, finite_vector, same_length, weight_vector
from auclab.inference.component_rows import auc_rows
from auclab.inference.components import Components, Estimate
from auclab.inference.estimation import check_level
from auclab.inference.intervals import FEW, enclose, transformed_limits, unseen_limits
from auclab.inference.pairs import UnitSums
from auclab.metrics.comparable import RankedRows
from auclab.metrics.concordance import cases_and_controls, uno_pairs
from auclab.metrics.roc import class_scores
from auclab.samples.bicliques import TiedTimes, checked_times


def estimate_concordance(
    time: ArrayLike,
    event: ArrayLike,
    scores: ArrayLike,
    *,
    weights: Literal["pairs", "ipcw"] = "ipcw",
    tau: float | None = None,
    tied_times: TiedTimes = "excluded",
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> Estimate:
    """Uno's concordance with its standard error and confidence interval, for a scorer that was fixed before.

    Parameters
    ----------
    time, event, scores, weights, tau, tied_times
        As in `auclab.metrics.concordance_index`; ``"pairs"`` is Harrell's, with a tau if there is one.
    level : float
        Confidence level in (0, 1).
    sample_weight : array of shape (n_samples,), optional
        Sampling weights ≥ 0 of independent rows.

    Returns
    -------
    Estimate
        With ``method="influence"``: the standard error of the infinitesimal jackknife includes that of the weights by
        censoring. Limits are on the scale of the logit, as those of AUC.

    Raises
    ------
    AuclabError
        As `auclab.metrics.concordance_index`; a level outside (0, 1).

    See Also
    --------
    estimate_pairs : Harrell's concordance.
    estimate_time_dependent_auc : The AUC at a time.

    Examples
    --------
    >>> time, event = [1, 2, 3, 4, 5, 6], [1, 0, 1, 1, 0, 1]
    >>> found = estimate_concordance(time, event, [0.9, 0.8, 0.3, 0.6, 0.2, 0.1])
    >>> round(found.value, 4), found.lower < found.value < found.upper     # 11.25 of 12.8125 (weights 1 and 1/0.8²)
    (0.878, True)
    """
    check_level(level)
    check_choice("weights", weights, ("pairs", "ipcw"))
    power = 2 if weights == "ipcw" else 0
    pairs = uno_pairs(time, event, tau, tied_times, sample_weight, power)
    value, right, totals = pairs.auc(scores), pairs.auc_sums(scores), pairs.unit_totals
    ranked = RankedRows(pairs, pairs.taken(scores, infinite=True))
    wrong = 0.5 * (ranked.upper_masses(0.0) + ranked.upper_masses(math.nextafter(0.0, -math.inf)))
    of_cases = pairs.upper_weight * ((1.0 - value) * pairs.masses[0] - wrong) / pairs.total
    by_pairs, residual = np.zeros(pairs.n_rows), np.zeros(pairs.n_rows)
    by_pairs[pairs.rows], residual[pairs.rows] = (right - value * totals) / pairs.total, of_cases
    has_pair = totals > 0
    sums = UnitSums(value, right[has_pair], totals[has_pair], pairs, None)
    influence = by_pairs + power * _through_weights(time, event, sample_weight, residual)
    return _with_limits(value, influence[pairs.rows], sums.degrees_of_freedom, sums.disjoint_pairs(), level)


def estimate_time_dependent_auc(
    time: ArrayLike,
    event: ArrayLike,
    scores: ArrayLike,
    times: ArrayLike,
    *,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
) -> tuple[Estimate, ...]:
    """The cumulative/dynamic AUC at several times with standard errors and an interval at each.

    Parameters
    ----------
    time, event, scores, times
        As in `auclab.metrics.time_dependent_auc`.
    level, sample_weight
        As in `estimate_concordance`; the level is that of every single interval.

    Returns
    -------
    tuple of Estimate
        One for each time.

    Raises
    ------
    AuclabError
        As `auclab.metrics.time_dependent_auc`; a level outside (0, 1).

    See Also
    --------
    estimate_concordance : One number for all times.

    Examples
    --------
    Before any censoring this is DeLong's interval of the AUC of "event up to 2" among all rows:

    >>> from auclab import estimate
    >>> scores = [0.9, 0.3, 0.5, 0.6, 0.2, 0.1]
    >>> (found,) = estimate_time_dependent_auc([1, 2, 3, 4, 5, 6], [1, 1, 0, 1, 0, 1], scores, 2.0)
    >>> found.value == estimate([1, 1, 0, 0, 0, 0], scores).value
    True
    """
    check_level(level)
    (at, events), s = checked_times(time, event), finite_vector("scores", scores, infinite=True)
    same_length(time=at, scores=s)
    weight = _ones_or(sample_weight, at.size)
    found = []
    for case, control, cases in cases_and_controls(at, events, times, weight):
        rows = case | control
        weights, order = np.where(case, cases, weight)[rows], np.argsort(s[rows], kind="stable")
        positive = case[rows][order]
        sorted_rows, sorted_weights = np.flatnonzero(rows)[order], weights[order]
        components = auc_rows(class_scores(case[rows], s[rows], weights, None, infinite=True))
        shares = [of / of.sum() for of in (sorted_weights[positive], sorted_weights[~positive])]
        value = float(np.sum(shares[0] * components[0]))
        influence, residual = np.zeros(at.size), np.zeros(at.size)
        for of_class, share, each in zip((positive, ~positive), shares, components, strict=True):
            influence[sorted_rows[of_class]] = share * (each - value)
        residual[case] = influence[case]
        influence += _through_weights(at, events, sample_weight, residual)
        df = Components(value, *components, *shares).degrees_of_freedom
        fewest = min(int(case.sum()), int(control.sum()))
        found.append(_with_limits(value, influence[weight > 0], df, fewest, level))
    return tuple(found)


def _through_weights(time: ArrayLike, event: ArrayLike, sample_weight: ArrayLike | None, residual: Array) -> Array:
    """``Σ_i e_i ω_k ∂ log(1/Ĝ(t_i))/∂ω_k`` of every row k: what the estimated chance of no censoring adds."""
    times, events = checked_times(time, event)
    weight = _ones_or(sample_weight, times.size)
    unique, at = np.unique(times, return_inverse=True)
    size = unique.size
    n_events, n_censored = np.bincount(at, weight * events, size), np.bincount(at, weight * ~events, size)
    at_risk = np.cumsum((n_events + n_censored)[::-1])[::-1] - n_events
    from_here = np.cumsum(np.bincount(at, residual, size)[::-1])[::-1]  # U(s)
    left = at_risk - n_censored
    per_row = np.divide(from_here, left, out=np.zeros(size), where=left > 0)
    hazard = np.divide(n_censored * per_row, at_risk, out=np.zeros(size), where=at_risk > 0)
    until = np.cumsum(hazard)
    # a row with an event at t is not at risk of censoring there
    exposed = np.where(events, (until - hazard)[at], until[at])
    return np.asarray(weight * (np.where(events, 0.0, per_row[at]) - exposed))


def _ones_or(sample_weight: ArrayLike | None, n: int) -> Array:
    """The weights, or ones."""
    weight = weight_vector(sample_weight, n)
    return np.ones(n) if weight is None else weight


def _with_limits(value: float, influence: Array, df: float, disjoint: int, level: float) -> Estimate:
    """The estimate from the influence of every row."""
    n, tail = influence.size, 0.5 * (1.0 - level)
    error = math.sqrt(n / (n - 1) * float(np.sum(influence**2)))
    notes: tuple[str, ...] = ()
    if error == 0.0 or value in (0.0, 1.0):
        limits = unseen_limits(value, disjoint, tail, (0.0, 1.0))
        notes = (f"all pairs are ranked alike: limits for what {disjoint} independent pairs cannot show",)
    else:
        limits = transformed_limits(value, float(student.isf(tail, df)) * error, (0.0, 1.0))
        if disjoint < FEW:
            notes = (f"{disjoint} disjoint pairs: limits are those of large samples and may be too narrow",)
    return Estimate(value, error, *enclose(value, limits, (0.0, 1.0)), level, "influence", notes)
