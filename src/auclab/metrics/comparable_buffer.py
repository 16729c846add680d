"""Buffered share of comparable pairs: one minus the bPOE of their ranking errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from auclab.compiled.comparable import largest_error, weighted_sum
from auclab.metrics.comparable_pairs import ComparablePairs, RankedRows
from auclab.metrics.pair_errors import WorkingUnits
from auclab.types import Array


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
