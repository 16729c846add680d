"""Pairs within groups, of grades and of censored times: their sweeps, the shares and buffered shares ranked right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from auclab._core.base import Array, AuclabError
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
from auclab._core.validation import finite_vector
from auclab.metrics.pair_errors import WorkingUnits
from auclab.samples.bicliques import LevelPairs


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
