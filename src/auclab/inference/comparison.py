"""Two scorers on the same sample: is one better, and by how much."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from scipy.stats import norm

from auclab.inference.catalogue import EstimableMetric, Range, estimable
from auclab.inference.estimation import check_level, choose_method, resample
from auclab.inference.flat_class import CLASSES, few_observations, flat_class
from auclab.inference.intervals import ONE_OBSERVATION, Limits, enclose, unseen_limits
from auclab.inference.sample import Comparison, Observations
from auclab.types import AuclabError


def compare_scorers(
    y_true: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    metric: str | Callable[..., float] = "auc",
    *,
    level: float = 0.95,
    method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    resamples: int | None = None,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Paired test of two scorers by the differences of their components, in O(m log m); for AUC DeLong's test.

    With ``D10_i`` and ``D01_j`` the differences of the components of the two scorers on the same observations,

        statistic = (value_a − value_b) / √( S²(D10)/m₊ + S²(D01)/m₋ ),

    standard normal for large samples if the scorers have the same metric in the population (DeLong, DeLong &
    Clarke-Pearson 1988). The differences take the covariance of the scorers into account. Both scorers must be fixed
    before the sample is drawn.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        0/1, −1/+1, booleans, or any two values with `pos_label`.
    scores_a, scores_b : arrays of shape (n_samples,)
        Two scores of every observation.
    metric, level, method, sample_weight, pos_label, resamples, seed, **options
        As in `estimate`; not for ``method="hanley_mcneil"``.

    Returns
    -------
    Comparison
        If the standard error is 0, a difference of 0 has p = 1, and the limits allow for the share of pairs that ``k =
        min(m₊, m₋)`` disjoint pairs may fail to show (`intervals`). If all of these pairs have the same difference d ≠
        0 and differences D lie within ±R, p is ``2 (R/(R + |d|))^k``, by Markov's inequality for ``R ± D`` in every
        pair; it is NaN if R is unknown, and a rule of thumb for bAUC, whose kernel is not bounded below.

    Raises
    ------
    AuclabError
        As `estimate`.

    See Also
    --------
    estimate : One scorer.
    auclab.comparison.compare_runs : Configurations over many data sets and splits.

    Examples
    --------
    A ranks all four pairs rightly, B ranks the pair (1, 2) wrongly. The components of A are 1; those of B are 1, ½ and
    ½, 1; the differences 0, ½ and ½, 0:

    >>> result = compare_scorers([1, 1, 0, 0], [3, 2, 1, 0], [3, 1, 2, 0])
    >>> result.difference, round(result.standard_error**2, 12), round(result.statistic, 6)   # ¼/√(1/8)
    (0.25, 0.125, 0.707107)
    >>> round(result.p_value, 6)
    0.4795
    """
    check_level(level)
    estimated = estimable(metric, options)
    plan = choose_method(method, estimated)
    if plan == "hanley_mcneil":
        raise AuclabError(
            "Hanley & McNeil's formula does not include the covariance of two scorers; use method='delong'"
        )
    a, b = (
        Observations.of(y_true, scores, sample_weight, pos_label, name=name)
        for name, scores in (("scores_a", scores_a), ("scores_b", scores_b))
    )
    if plan in ("bootstrap", "half_sample"):
        return _resampled(estimated, a, b, level, plan, resamples, seed)
    first, second = estimated.components(a), estimated.components(b)
    difference = first - second
    error, values = difference.standard_error, (first.value, second.value)
    span = _span(estimated.range)
    if math.isnan(error):
        return unknown_comparison(difference.value, span, values, level, plan)
    if error == 0.0:
        return degenerate_comparison(difference.value, a.disjoint_pairs(estimated.band), span, values, level, plan)
    notes = few_observations(difference.pos.size, difference.neg.size, estimated.band)
    which = flat_class(difference.parts, (difference.pos.size, difference.neg.size))
    if which is not None:
        same = (
            f"the {CLASSES[which]} do not distinguish the scorers: limits and p are from the {CLASSES[1 - which]} only"
        )
        notes = (same, *notes)
    return compared(difference.value, error, norm(), span, values, level, plan, notes)


def compared(
    difference: float,
    error: float,
    law: Any,
    span: Range,
    values: tuple[float, float],
    level: float,
    plan: str,
    notes: tuple[str, ...],
    bias: float = 0.0,
    limits: Limits | None = None,
) -> Comparison:
    """Interval and test of a difference minus its bias, over its standard error, with the frozen `law` of the ratio.

    `limits`: those of a method that has its own.
    """
    centre, half_width = difference - bias, float(law.isf(0.5 * (1.0 - level))) * error
    interval = enclose(difference, limits or (centre - half_width, centre + half_width), span)
    p_value = 2.0 * float(law.sf(abs(centre / error)))
    return Comparison(difference, error, interval, centre / error, p_value, values, level, plan, notes)


def degenerate_comparison(
    difference: float, pairs: int, span: Range, values: tuple[float, float], level: float, plan: str
) -> Comparison:
    """All observations contribute the same difference."""
    interval = enclose(difference, unseen_limits(difference, pairs, 0.5 * (1.0 - level), span), span)
    notes = (f"no observation distinguishes the scorers: limits for what {pairs} independent pairs cannot show",)
    if difference == 0.0:
        return Comparison(difference, 0.0, interval, 0.0, 1.0, values, level, plan, notes)
    reach = span[1]
    p_value = min(1.0, 2.0 * (reach / (reach + abs(difference))) ** pairs) if math.isfinite(reach) else math.nan
    statistic = math.copysign(math.inf, difference)
    return Comparison(difference, 0.0, interval, statistic, p_value, values, level, plan, notes)


def _resampled(
    metric: EstimableMetric, a: Observations, b: Observations, level: float, plan: str, resamples: int | None, seed: int
) -> Comparison:
    """The difference resampled: observations keep their two scores."""
    values, span = (metric.value(a), metric.value(b)), _span(metric.range)
    difference = values[0] - values[1]
    if min(rows.size for rows in a.class_rows) == 1:
        return unknown_comparison(difference, span, values, level, plan)
    found = resample(metric, difference, [a, b], plan=plan, level=level, resamples=resamples, seed=seed)
    if found.standard_error == 0.0:
        return degenerate_comparison(difference, a.disjoint_pairs(metric.band), span, values, level, plan)
    n_pos, n_neg = (rows.size for rows in a.class_rows)
    notes = found.notes or few_observations(n_pos, n_neg, metric.band, metric.enough)
    error, bias, limits = found.standard_error, found.bias, found.limits
    return compared(difference, error, norm(), span, values, level, plan, notes, bias, limits)


def unknown_comparison(
    difference: float, span: Range, values: tuple[float, float], level: float, plan: str, note: str = ONE_OBSERVATION
) -> Comparison:
    """One observation in a class, or one unit in all pairs."""
    interval = enclose(difference, span, span)
    return Comparison(difference, math.nan, interval, math.nan, math.nan, values, level, plan, (note,))


def _span(values: Range) -> Range:
    """Range of the difference of two values."""
    width = values[1] - values[0]
    return -width, width
