"""Values of pairs within groups and of times, with their standard errors, and their paired comparison.

What is independent is a unit u: a group as a whole, or a row (a patient). The value is a ratio ``A/K`` of the weight of
the pairs that are ranked right and of all pairs; without the pairs of a unit it is ``T₍u₎ = (A − A_u)/(K − K_u)``. The
standard error is that of the jackknife (Quenouille 1956; Tukey 1958; of U-statistics Arvesen 1969),

    SE² = (n − 1)/n Σ_u (T₍u₎ − mean T₍·₎)²,

in O(m log m): A_u and K_u are sums of one sweep. Of the buffered share, A_u are sums of ``1 − (ξ − γ*)₊/(z − γ*)`` at
the level of the sample; that it is estimated does not show to first order (`buffered`). Limits use Student's
distribution with ``n' − 1`` degrees of freedom, ``n' = (Σ K_u)²/Σ K_u²`` (Kish), on the scales of `intervals`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from auclab._core.base import Array, AuclabError
from auclab.inference.comparison import compared, degenerate_comparison, unknown_comparison
from auclab.inference.components import FLAT, Comparison, Estimate
from auclab.inference.estimation import check_level
from auclab.inference.intervals import (
    FEW,
    Limits,
    enclose,
    transformed_limits,
    unseen_buffer,
    unseen_limits,
    unseen_share,
)
from auclab.metrics.comparable import ComparableErrors, ComparablePairs, buffered_share, buffered_sums
from auclab.metrics.roc import finite_number
from auclab.samples.bicliques import LevelPairs

PairMetric = Literal["auc", "bauc"]
METHOD = "jackknife"


def estimate_pairs(
    pairs: LevelPairs, scores: ArrayLike, metric: PairMetric = "auc", *, threshold: float = 0.0, level: float = 0.95
) -> Estimate:
    """Concordance or AUC within groups, plain or buffered, with its standard error and confidence interval.

    Jackknife over whole groups, or over rows if there are no groups, for a scorer that was fixed before the sample was
    drawn. O(m log m).

    Parameters
    ----------
    pairs : LevelPairs
        ``ordered_pairs(y, groups)`` or ``censored_pairs(time, event)`` of `auclab.metrics`.
    scores : array of shape (n_samples,)
        Larger for the larger grade or the earlier event. ±∞ for ``"auc"`` only.
    metric : {"auc", "bauc"}
        `grouped_auc` or `concordance_index`, or their buffered versions.
    threshold : float
        z of the buffered share.
    level : float
        Confidence level in (0, 1).

    Returns
    -------
    Estimate
        With ``method="jackknife"``. If all units contribute the same, the limits allow for what disjoint pairs, or
        groups, may fail to show (as in `estimate`); if one unit is in all pairs, the interval is the whole range.

    Raises
    ------
    AuclabError
        As the metric; an unknown metric, a level outside (0, 1).

    See Also
    --------
    compare_pairs : Two scorers on the same pairs.
    estimate : Two classes of independent rows.
    auclab.bounds.fixed_scorer_pairs_bound : Limits that hold for every sample size.

    Examples
    --------
    Three queries with one pair each, of which two are right: ``T₍u₎`` is ½, ½, 1, so ``SE² = ⅔ · (1/36 + 1/36 + 1/9)``.

    >>> from auclab.metrics import ordered_pairs
    >>> pairs = ordered_pairs([1, 0, 1, 0, 1, 0], groups=[1, 1, 2, 2, 3, 3])
    >>> result = estimate_pairs(pairs, [2.0, 1.0, 2.0, 1.0, 1.0, 2.0])
    >>> round(result.value, 6), round(result.standard_error**2, 6)
    (0.666667, 0.111111)
    """
    check_level(level)
    sums = _unit_sums(ComparablePairs(pairs), scores, metric, threshold)
    error, tail = sums.standard_error, 0.5 * (1.0 - level)
    if math.isnan(error):
        return Estimate(sums.value, error, 0.0, 1.0, level, METHOD, (sums.one_unit,))
    quantile = float(student.isf(tail, sums.degrees_of_freedom))
    limits, notes = _limits(sums, quantile, tail)
    lower, upper = enclose(sums.value, limits, (0.0, 1.0))
    return Estimate(sums.value, error, lower, upper, level, METHOD, notes or sums.few_units)


def compare_pairs(
    pairs: LevelPairs,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    metric: PairMetric = "auc",
    *,
    threshold: float = 0.0,
    level: float = 0.95,
) -> Comparison:
    """Paired test of two scorers on the same comparable pairs, by the jackknife of the difference.

    The statistic is ``(value_a − value_b)/SE``, compared with Student's distribution with the degrees of freedom of
    `estimate_pairs`.

    Parameters
    ----------
    pairs, metric, threshold, level
        As in `estimate_pairs`.
    scores_a, scores_b : arrays of shape (n_samples,)
        Two scores of every row.

    Returns
    -------
    Comparison
        For a standard error of 0 see `compare_scorers`; k is the number of groups, or of disjoint pairs of rows.

    Raises
    ------
    AuclabError
        As `estimate_pairs`.

    See Also
    --------
    estimate_pairs : One scorer.
    compare_scorers : Two classes of independent rows.

    Examples
    --------
    Three queries, one pair each: A has all right, B the first two. The differences are 0, 0, 1.

    >>> from auclab.metrics import ordered_pairs
    >>> pairs = ordered_pairs([1, 0, 1, 0, 1, 0], groups=[1, 1, 2, 2, 3, 3])
    >>> result = compare_pairs(pairs, [1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 0, 1])
    >>> round(result.difference, 6), round(result.standard_error**2, 6), round(result.statistic, 6)
    (0.333333, 0.111111, 1.0)
    """
    check_level(level)
    comparable = ComparablePairs(pairs)
    for name, scores in (("scores_a", scores_a), ("scores_b", scores_b)):
        comparable.taken(scores, infinite=metric == "auc", name=name)
    a, b = (_unit_sums(comparable, scores, metric, threshold) for scores in (scores_a, scores_b))
    values, span = (a.value, b.value), (-1.0, 1.0)
    difference = UnitSums(a.value - b.value, a.right - b.right, a.totals, comparable, a.at)
    error = difference.standard_error
    if math.isnan(error):
        return unknown_comparison(difference.value, span, values, level, METHOD, a.one_unit)
    if error == 0.0:
        k = difference.disjoint_pairs()
        return degenerate_comparison(difference.value, k, span, values, level, METHOD)
    df = difference.degrees_of_freedom
    return compared(difference.value, error, df, span, values, level, METHOD, difference.few_units)


@dataclass(frozen=True)
class UnitSums:
    """A value over comparable pairs, with the weight of the right pairs and of all pairs of every unit that has any.

    `at` are errors and threshold of a buffered share, None of a plain one.
    """

    value: float
    right: Array
    totals: Array
    pairs: ComparablePairs
    at: tuple[ComparableErrors, float] | None

    @property
    def standard_error(self) -> float:
        """Of the jackknife; NaN where the pairs of one unit are all there are."""
        left = self.pairs.total - self.totals
        n = self.totals.size
        if n == 1 or left.min() <= FLAT * self.pairs.total:
            return math.nan
        # (A − A_u)/(K − K_u) is the value plus this:
        change = (self.value * self.totals - self.right) / left
        change[abs(change) <= FLAT * self.totals / left] = 0.0
        largest = float(np.max(abs(change))) or 1.0
        deviation = (change - change.mean()) / largest  # their squares stay in range
        return math.sqrt((n - 1) / n * float(np.sum(deviation**2))) * largest

    @property
    def effective_units(self) -> float:
        """``(Σ K_u)²/Σ K_u²``, the number of units where all have as many pairs."""
        return float(self.totals.sum() ** 2 / np.sum(self.totals**2))

    @property
    def degrees_of_freedom(self) -> float:
        """One less than the effective number of units, and at least 1."""
        return max(self.effective_units - 1.0, 1.0)

    @property
    def units(self) -> str:
        """What the units are."""
        return "groups" if self.pairs.units_are_groups else "rows"

    @property
    def one_unit(self) -> str:
        """A note where there is no standard error."""
        return f"one of the {self.units} is in all pairs: the variance is unknown, the interval is the whole range"

    @property
    def few_units(self) -> tuple[str, ...]:
        """A note on few units."""
        n = self.effective_units * (1.0 + 1e-12)
        note = f"the pairs are those of {int(n)} {self.units}: limits are those of large samples and may be too narrow"
        return (note,) if n < FEW else ()

    def disjoint_pairs(self) -> int:
        """Number of independent units: groups with a pair, or of the largest levels against the smallest in pairs."""
        if self.pairs.units_are_groups or self.pairs.groups.size > 2:
            return int(self.effective_units * (1.0 + 1e-12))
        from_above = self.pairs.levels[np.flatnonzero(self.pairs.upper)[::-1]]
        return max(int(np.count_nonzero(from_above >= np.arange(1, from_above.size + 1))), 1)


def _unit_sums(pairs: ComparablePairs, scores: ArrayLike, metric: str, threshold: float) -> UnitSums:
    """The value and its sums by unit."""
    totals = pairs.unit_totals
    if metric == "auc":
        value, right, at = pairs.auc(scores), pairs.auc_sums(scores), None
    elif metric == "bauc":
        at = ComparableErrors(pairs, scores), finite_number("threshold", threshold)
        value, right = buffered_sums(*at)
    else:
        raise AuclabError(
            f"metric must be 'auc' or 'bauc', got {metric!r}; other metrics are not defined for these pairs"
        )
    has_pair = totals > 0
    return UnitSums(value, right[has_pair], totals[has_pair], pairs, at)


def _limits(sums: UnitSums, quantile: float, tail: float) -> tuple[Limits, tuple[str, ...]]:
    """Limits from the standard error, or for what the units cannot show; and notes."""
    value, error = sums.value, sums.standard_error
    if sums.at is not None and value in (0.0, 1.0):
        return (_buffer_at_zero if value == 0.0 else _buffer_at_one)(sums, *sums.at, quantile, tail)
    if error == 0.0 or value in (0.0, 1.0):
        k = sums.disjoint_pairs()
        note = f"all {sums.units} contribute the same: limits for what {k} independent ones cannot show"
        return unseen_limits(value, k, tail, (0.0, 1.0)), (note,)
    return transformed_limits(value, quantile * error, (0.0, 1.0) if sums.at is None else (-math.inf, 1.0)), ()


def _buffer_at_zero(
    sums: UnitSums, errors: ComparableErrors, threshold: float, quantile: float, tail: float
) -> tuple[Limits, tuple[str, ...]]:
    """[0, the share at the threshold raised by what the mean error may be too high]."""
    bottom = -errors.spread
    excess = errors.hinge_sums(bottom)[errors.pairs.unit_totals > 0]
    mean = UnitSums(float(excess.sum() / sums.totals.sum()), excess, sums.totals, sums.pairs, None)
    shift = quantile * mean.standard_error
    upper = unseen_share(sums.disjoint_pairs(), tail)
    if shift > 0.0:
        upper = buffered_share(errors, threshold + errors.units.original(shift)).value
    why = f"the mean ranking error is at least {threshold}"
    return (0.0, upper), (f"{why}: the upper limit is that of errors shifted down by their margin of error",)


def _buffer_at_one(
    sums: UnitSums, errors: ComparableErrors, threshold: float, quantile: float, tail: float
) -> tuple[Limits, tuple[str, ...]]:
    """[1 − bPOE of the sample mixed with an unseen share of large errors, 1]."""
    k, z, total = sums.disjoint_pairs(), errors.units.working(threshold), sums.pairs.total
    bottom = -errors.spread

    def hinge(level: float) -> float:
        count, excess = errors.tail(level, level)
        return excess / total if count else 0.0

    lower = unseen_buffer(hinge, bottom, errors.top, errors.spread, z, unseen_share(k, tail))
    note = f"no error reaches {threshold}: lower limit for what {k} independent {sums.units} cannot show, errors up to "
    return (lower, 1.0), (note + "the spread",)
