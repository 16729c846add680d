"""Levels between which γ* must lie.

With ``H(γ) = E(ξ − γ)₊`` the excess ``D(γ) = E(ξ − z) 1{ξ > γ}`` is ``H(γ) − (z − γ) P(ξ > γ)``. H lies between its
values for `mean_atoms` and `spread_atoms`; P(ξ > γ) between those of the least and of the largest errors of the pairs
of bins. γ* is the smallest level with ``D ≥ 0``: it lies at or below a level where the lower bound of D is ≥ 0, and
above one where the upper bound is negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from auclab.metrics.pair_errors import PairErrors
from auclab.metrics.root_search import double_at, double_rank
from auclab.metrics.summary.bounds import ROUNDING, mean_error
from auclab.metrics.summary.class_bins import ClassBins
from auclab.metrics.summary.lists import joined, mean_atoms, spread_atoms


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


def buffer_bracket(pos: ClassBins, neg: ClassBins, threshold: float) -> Bracket | None:
    """Where γ* of bAUC lies; None where bAUC is 0 or 1 whatever the scores within the bins are."""
    if mean_error(pos, neg) >= threshold:
        return None
    bounds = ErrorBounds(pos, neg)
    if threshold > bounds.top:
        return None
    if threshold == bounds.top:
        return Bracket(math.nextafter(threshold, -math.inf), threshold)
    return bounds.buffer_bracket(threshold)


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
