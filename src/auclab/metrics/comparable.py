"""Pairs within groups, of grades and of censored times: concordance and its buffered variant."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError, GroupWeights
from auclab._core.comparable import (
    Index,
    Mask,
    excesses,
    largest_error,
    lower_sums,
    pair_masses,
    positions,
    products,
    reaches,
    upper_sums,
    weighted_sum,
)
from auclab._core.validation import check_choice, finite_vector, same_length, weight_vector
from auclab.metrics.pair_errors import WorkingUnits
from auclab.metrics.roc import auc_score, finite_number
from auclab.samples.bicliques import LevelPairs, TiedTimes, censored_pairs, checked_times, ordered_pairs


class ComparablePairs:
    """Pairs of rows of which the first should have the larger score, with sums over them in O(m log m).

    `pairs`: as of `auclab.samples.bicliques.ordered_pairs` and `censored_pairs`. `rows` (m,): the rows with a weight,
    group by group and by ascending level. `upper_factor` (n_rows,): a factor of the weights
    of the pairs of an upper row. `groups` (n_groups + 1,): first row of every group, and m. `levels` (m,):
    first row of the same group and level. `upper` (m,): rows that are compared with those of smaller levels of their
    group. `weight`, `upper_weight` (m,): the weight of a pair is ``upper_weight_i · weight_j``. `units_are_groups`:
    whether whole groups are independent, or else rows.
    """

    def __init__(self, pairs: LevelPairs, upper_factor: Array | None = None):
        self.n_rows, self.units_are_groups = pairs.n_rows, pairs.kind == "groups"
        self.rows, ends, blocks = pairs.by_level
        self.groups: Index = ends[blocks]
        self.levels: Index = np.repeat(ends[:-1], np.diff(ends))
        self.upper: Mask = pairs.winners[self.rows]
        # Powers of two keep products of weights in range.
        self.weight: Array = np.ldexp(pairs.weights[self.rows], -math.frexp(pairs.weights.max())[1])
        self.upper_weight = self.weight
        if pairs.group_weights == "groups":
            below, _ = pair_masses(self.groups, self.levels, self.upper, self.weight, self.weight)
            of_group = np.add.reduceat(self.weight * below, self.groups[:-1])
            factor = np.divide(1.0, of_group, out=np.zeros_like(of_group), where=of_group > 0)
            self.upper_weight = self.weight * np.repeat(factor, np.diff(self.groups))
        if upper_factor is not None:
            self.upper_weight = self.upper_weight * upper_factor[self.rows]

    @cached_property
    def masses(self) -> tuple[Array, Array]:
        """For every upper row the weight of its lower rows, and for every row that of the upper rows above it."""
        return pair_masses(self.groups, self.levels, self.upper, self.weight, self.upper_weight)

    @cached_property
    def total(self) -> float:
        """Weight of all pairs: their number without weights."""
        return float(weighted_sum(self.upper_weight, self.masses[0]))

    @cached_property
    def unit_totals(self) -> Array:
        """Weight of the pairs of every unit; of rows, a pair counts for both."""
        return self.by_unit(*self.masses)

    def by_unit(self, of_upper: Array, of_lower: Array) -> Array:
        """Sums for every unit, from those over the lower rows of upper rows and over the upper rows of lower ones."""
        if not self.units_are_groups:
            return self.upper_weight * of_upper + self.weight * of_lower
        return np.add.reduceat(self.upper_weight * of_upper, self.groups[:-1])

    def auc(self, scores: ArrayLike, tolerance: float = 0.0) -> float:
        """Share of the pairs that are ranked right, ties ½; scores that differ by at most `tolerance` are tied.

        `scores` (n_rows,): ±∞ is allowed. `tolerance`: at least 0.
        """
        if not tolerance >= 0.0:
            raise AuclabError(f"tolerance must be at least 0, got {tolerance}; scores that differ by no more are tied")
        ranked = RankedRows(self, self.taken(scores, infinite=True))
        wrong = ranked.upper_masses(tolerance)
        wrong_or_tied = ranked.upper_masses(_below(-tolerance)) if ranked.has_ties(tolerance) else wrong
        missed = weighted_sum(self.upper_weight, 0.5 * (wrong + wrong_or_tied))
        return min(max((self.total - missed) / self.total, 0.0), 1.0)

    def auc_sums(self, scores: ArrayLike) -> Array:
        """Weight of the right pairs of every unit, ties ½: with `unit_totals` all that inference needs."""
        ranked = RankedRows(self, self.taken(scores, infinite=True))
        ends = 0.0, _below(0.0)
        wrong, above = (0.5 * sum(part(end) for end in ends) for part in (ranked.upper_masses, ranked.lower_masses))
        return self.by_unit(self.masses[0] - wrong, self.masses[1] - above)

    def taken(self, scores: ArrayLike, *, infinite: bool = False, name: str = "scores") -> Array:
        """The checked scores in the order of `rows`; messages call them by their name."""
        values = finite_vector(name, scores, infinite=infinite)
        if values.size != self.n_rows:
            raise AuclabError(f"{name} has {values.size} entries for {self.n_rows} rows; give one score for each row")
        return values[self.rows]


class RankedRows:
    """Comparable pairs with scores that are sorted within every group."""

    def __init__(self, pairs: ComparablePairs, scores: Array):
        self.pairs, self.scores = pairs, scores
        self.order = np.argsort(-scores)
        if pairs.groups.size > 2:
            group = np.repeat(np.arange(pairs.groups.size - 1), np.diff(pairs.groups))
            self.order = self.order[np.argsort(group[self.order], kind="stable")]
        self.place = positions(scores, self.order, pairs.groups)

    def has_ties(self, tolerance: float) -> bool:
        """Whether any two neighbours of a group are tied, or of different groups look so."""
        ordered = self.scores[self.order]
        with np.errstate(invalid="ignore", over="ignore"):  # scores of ±∞ and those near the largest double
            return bool(((ordered[:-1] == ordered[1:]) | (abs(ordered[:-1] - ordered[1:]) <= tolerance)).any())

    def upper_masses(self, level: float) -> Array:
        """For every upper row, the weight of the pairs with an error above a level."""
        return self._upper_sums(level, self.pairs.weight, np.empty(0))[0]

    def lower_masses(self, level: float) -> Array:
        """For every lower row, the same."""
        return self._lower_sums(level, self.pairs.upper_weight, np.empty(0))[0]

    def upper_excess(self, level: float, threshold: float) -> tuple[Array, Array]:
        """`upper_masses`, and of every upper row the sum of ``ξ − threshold`` over the same pairs."""
        weight = self.pairs.weight
        masses = self._upper_sums(level, weight, np.zeros(weight.size))
        moments = self._upper_sums(level, *products(weight, self.scores))
        return masses[0], excesses(self.scores, threshold, *masses, *moments)

    def lower_excess(self, level: float, threshold: float) -> tuple[Array, Array]:
        """`lower_masses`, and of every lower row the sum of ``ξ − threshold`` over the same pairs."""
        weight = self.pairs.upper_weight
        masses = self._lower_sums(level, weight, np.zeros(weight.size))
        moments = self._lower_sums(level, *products(weight, self.scores))
        return masses[0], -excesses(self.scores, -threshold, *masses, *moments)

    def _upper_sums(self, level: float, terms: Array, low: Array) -> tuple[Array, Array]:
        at = self.pairs
        reach = reaches(self.scores, self.order, at.groups, level)
        return upper_sums(at.groups, at.levels, at.upper, self.place, reach, terms, low)

    def _lower_sums(self, level: float, terms: Array, low: Array) -> tuple[Array, Array]:
        at = self.pairs
        reach = reaches(self.scores, self.order, at.groups, _below(-level))
        return lower_sums(at.groups, at.levels, at.upper, self.place, reach, terms, low)


def _below(level: float) -> float:
    """The next smaller double: what is above it is at or above the level."""
    return math.nextafter(level, -math.inf)


@dataclass(frozen=True)
class BufferedShare:
    """Solution of ``min_{γ<z} E[ξ − γ]₊ / (z − γ)`` over comparable pairs.

    `value`: one minus the minimum. `level`: γ, NaN where no minimiser exists (``z ≤ E ξ`` or ``z ≥ max ξ``).
    """

    value: float
    level: float


class ComparableErrors:
    """Ranking errors ``ξ_ij = s_j − s_i`` of comparable pairs.

    `scores`: in `units`. `spread`: their largest difference. `top`: the largest error.

    Raises `AuclabError` where the differences exceed the largest double.
    """

    def __init__(self, pairs: ComparablePairs, scores: ArrayLike):
        taken = pairs.taken(scores)
        self.units, (self.scores,) = WorkingUnits.of(float(taken.min()), float(taken.max()), taken)
        self.pairs = pairs
        self.ranked = RankedRows(pairs, self.scores)
        self.spread = float(self.scores.max() - self.scores.min())
        self.top = float(largest_error(pairs.groups, pairs.levels, pairs.upper, self.scores))

    @property
    def bottom(self) -> float:
        """No error is below."""
        return -self.spread

    def count(self, level: float) -> float:
        """Weight of the pairs with ``ξ > level``."""
        return self.tail(level, level)[0]

    def tail(self, level: float, threshold: float) -> tuple[float, float]:
        """``C = Σ 1{ξ > level}`` and ``D = Σ (ξ − threshold) 1{ξ > level}``, O(m log m)."""
        at = self.pairs
        masses, excess = self.ranked.upper_excess(level, threshold)
        return float(weighted_sum(at.upper_weight, masses)), float(weighted_sum(at.upper_weight, excess))

    def hinge_sums(self, level: float) -> Array:
        """``Σ (ξ − level)₊`` over the pairs of every unit."""
        of_upper, of_lower = (
            excess(level, level)[1] for excess in (self.ranked.upper_excess, self.ranked.lower_excess)
        )
        return self.pairs.by_unit(of_upper, of_lower)

    def count_sums(self, level: float) -> Array:
        """``Σ 1{ξ > level}`` over the pairs of every unit."""
        return self.pairs.by_unit(self.ranked.upper_masses(level), self.ranked.lower_masses(level))


def buffered_share(errors: ComparableErrors, threshold: float) -> BufferedShare:
    """The buffered share at a threshold; the cases are those of Norton & Uryasev 2018, Prop. 1.

    Raises `AuclabError` where scores are too far apart to be compared (`WorkingUnits.check_digits`).
    """
    errors.units.check_digits(threshold)
    z, total = errors.units.working(threshold), errors.pairs.total
    if z > errors.top:
        return BufferedShare(1.0, math.nan)
    if z < errors.bottom:
        return BufferedShare(0.0, math.nan)
    above = Tangent(math.inf, *errors.tail(math.nextafter(z, -math.inf), z))
    if z == errors.top or above.slope <= 0.0:
        return BufferedShare(_rest(total, above.intercept), math.nan)
    start = Tangent(0.0, total, errors.tail(-math.inf, z)[1])
    if start.slope >= 0.0:
        return BufferedShare(0.0, math.nan)
    best = least_hinge_sum(lambda a: errors.tail(z - 1.0 / a, z), start, above, 2.0**-52 * total)
    return BufferedShare(_rest(total, best.value), z - 1.0 / best.at if best.at else math.nan)


@dataclass(frozen=True)
class Tangent:
    """The line ``C + a D`` of the pairs that count at a slope: ``Σ [a(ξ − z) + 1]₊`` meets it there."""

    at: float
    intercept: float
    slope: float

    @property
    def value(self) -> float:
        """Height at its own slope."""
        return self.intercept + self.at * self.slope


def least_hinge_sum(
    tail: Callable[[float], tuple[float, float]], low: Tangent, high: Tangent, tolerance: float
) -> Tangent:
    """Where ``Σ [a(ξ − z) + 1]₊``, convex and piecewise linear in a, is least, between a falling and a rising tangent.

    Trials are where the two tangents meet, which ends at a kink exactly, and by turns where the line through their
    slopes is 0, which is faster where kinks are dense. The tangents' meeting point is a lower bound: the search ends
    where the best value is within the tolerance of it, or where no double is left between.
    """
    best, by_slopes = low, False
    trust_low = trust_high = 1.0
    while True:
        meeting = (low.intercept - high.intercept) / (high.slope - low.slope)
        bound = low.intercept + meeting * low.slope
        if best.value - bound <= tolerance:
            return best
        trial = meeting
        if by_slopes and math.isfinite(high.at):
            fall, rise = -low.slope * trust_low, high.slope * trust_high
            trial = low.at + (high.at - low.at) * (fall / (fall + rise))
        if not low.at < trial < high.at:
            if not low.at < meeting < high.at:
                return best
            trial = meeting
        found = Tangent(trial, *tail(trial))
        best = min(best, found, key=lambda tangent: tangent.value)
        if found.slope < 0.0:
            low, trust_low, trust_high = found, 1.0, trust_high * 0.5
        else:
            high, trust_high, trust_low = found, 1.0, trust_low * 0.5
        by_slopes = not by_slopes


def buffered_sums(errors: ComparableErrors, threshold: float) -> tuple[float, Array]:
    """The buffered share, and of every unit the sum of ``1 − (ξ − γ)₊/(z − γ)`` over its pairs.

    That the level is estimated does not show to first order (envelope theorem; Danskin 1967, Shapiro 1991).
    """
    found, z, totals = buffered_share(errors, threshold), errors.units.working(threshold), errors.pairs.unit_totals
    if not math.isnan(found.level):
        return found.value, totals - errors.hinge_sums(found.level) / (z - found.level)
    if z == errors.top:
        return found.value, totals - errors.count_sums(math.nextafter(z, -math.inf))
    return found.value, found.value * totals


def _rest(total: float, part: float) -> float:
    """``1 − part/total`` in [0, 1]."""
    return min(max((total - part) / total, 0.0), 1.0)


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
