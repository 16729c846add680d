"""Levels between which γ* or a quantile of the errors must lie, and the bins whose scores decide where.

With ``H(γ) = E(ξ − γ)₊`` the excess ``D(γ) = E(ξ − z) 1{ξ > γ}`` is ``H(γ) − (z − γ) P(ξ > γ)``. H lies between its
values for `mean_atoms` and `spread_atoms`; P(ξ > γ) between those of the least and of the largest errors of the pairs
of bins. γ* is the smallest level with ``D ≥ 0``: it lies at or below a level where the lower bound of D is ≥ 0, and
above one where the upper bound is negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.compiled.ranking import nearest_errors, rank_counts_above
from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.root_search import double_at, double_rank
from auclab.metrics.summary.bounds import ROUNDING
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.lists import joined, mean_atoms, spread_atoms

Mask = NDArray[np.bool_]
#: Bins of the positives, and bins of the negatives.
Masks = tuple[Mask, Mask]


@dataclass(frozen=True)
class Bracket:
    """A level is above `low` and at most `high`."""

    low: float
    high: float


class ErrorBounds:
    """Bounds of ``P(ξ > γ)`` and of ``E(ξ − γ)₊`` from the bins of two classes."""

    def __init__(self, pos: ClassBins, neg: ClassBins) -> None:
        in_pos, in_neg = pos.count > 0, neg.count > 0
        weights = pos.weights[in_pos], neg.weights[in_neg]
        self.least = PairErrors.of(pos.high[in_pos], neg.low[in_neg], *weights)
        self.largest = PairErrors.of(pos.low[in_pos], neg.high[in_neg], *weights)
        self.mean = joined(mean_atoms(pos), mean_atoms(neg)).pair_errors
        self.spread = joined(spread_atoms(pos), spread_atoms(neg)).pair_errors
        self.bottom = self.least.units.original(self.least.bottom)
        self.top = self.largest.units.original(self.largest.top)

    def share_above(self, level: float) -> tuple[float, float]:
        """Bounds of ``P(ξ > γ)``."""
        low, high = (part.count(part.units.working(level)) / part.pairs[0] for part in (self.least, self.largest))
        return low, high

    def hinge(self, level: float) -> tuple[float, float]:
        """Bounds of ``E(ξ − γ)₊``."""
        ends = []
        for part in (self.mean, self.spread):
            working = part.units.working(level)
            ends.append(part.units.original(part.tail(working, working)[1][0] / part.pairs[0]))
        return ends[0], ends[1]

    def excess(self, level: float, threshold: float) -> tuple[float, float]:
        """Bounds of ``D(γ)``, for γ below the threshold."""
        gap = threshold - level
        (low, high), (least, most) = self.hinge(level), self.share_above(level)
        return (
            low - gap * most - ROUNDING * (low + gap * most),
            high - gap * least + ROUNDING * (high + gap * least),
        )

    def buffer_bracket(self, threshold: float) -> Bracket:
        """Where γ* lies, for ``E ξ < z < max ξ``."""
        below = math.nextafter(threshold, -math.inf)
        return Bracket(
            _last_true(lambda level: self.excess(level, threshold)[1] < 0.0, self.bottom, below),
            _first_true(lambda level: self.excess(level, threshold)[0] >= 0.0, self.bottom, below),
        )

    def quantile_bracket(self, tail: float) -> Bracket:
        """Where the smallest level lies that has at most a share `tail` of the errors above it."""
        more, less = tail * (1.0 + ROUNDING), tail * (1.0 - ROUNDING)
        return Bracket(
            _last_true(lambda level: self.share_above(level)[0] > more, self.bottom, self.top),
            _first_true(lambda level: self.share_above(level)[1] <= less, self.bottom, self.top),
        )


def undecided(pos: ClassBins, neg: ClassBins, bracket: Bracket) -> Masks:
    """Bins of either class with errors that may lie on both sides of a level in the bracket.

    Elsewhere the hinge is linear for all such levels, so that the mean of a bin stands for its scores.
    """
    in_pos, in_neg = np.flatnonzero(pos.count > 0), np.flatnonzero(neg.count > 0)
    # pairs with a largest error above the lower end, minus those with a least error above the upper end
    may = rank_counts_above(pos.low[in_pos], neg.high[in_neg], bracket.low)
    must = rank_counts_above(pos.high[in_pos], neg.low[in_neg], bracket.high)
    partners = np.zeros(in_pos.size + 1, np.int64)
    crossed = may > must
    np.add.at(partners, must[crossed], 1)
    np.add.at(partners, may[crossed], -1)
    masks = np.zeros(pos.count.size, bool), np.zeros(neg.count.size, bool)
    masks[0][in_pos[np.cumsum(partners)[:-1] > 0]] = True
    masks[1][in_neg[crossed]] = True
    return masks[0] & (pos.low < pos.high), masks[1] & (neg.low < neg.high)


def next_error_above(pos: ClassBins, neg: ClassBins, level: float) -> float:
    """Smallest error of the pairs of bins whose errors are all above a level; it is attained."""
    in_pos, in_neg = pos.count > 0, neg.count > 0
    lists = np.ascontiguousarray(pos.high[in_pos]), np.ascontiguousarray(neg.low[in_neg])
    return float(nearest_errors(*lists, rank_counts_above(*lists, level))[1])


def _first_true(test: Callable[[float], bool], low: float, high: float) -> float:
    """A level at which the test holds, with a neighbour at which it does not; `high`, where it certainly holds."""
    return _change(test, low, high)[1] if low < high else high


def _last_true(test: Callable[[float], bool], low: float, high: float) -> float:
    """A level at which the test holds, with a neighbour at which it does not; −∞, where it certainly holds."""
    if not low < high or not test(low):
        return -math.inf
    return _change(lambda level: not test(level), low, high)[0]


def _change(test: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbours: the upper one passes the test or is `high`, the lower one does not or is `low`."""
    left, right = double_rank(low), double_rank(high)
    while right - left > 1:
        middle = (left + right) // 2
        if test(double_at(middle)):
            right = middle
        else:
            left = middle
    return double_at(left), double_at(right)
