"""Which margins are compared, in integers: the mean of a loss over them, and which multipliers belong to them.

A new comparison is a class here, and a line in `auclab.check.program.FORMULATIONS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab.check.data import Data
from auclab.check.losses import Hinge
from auclab.check.transport import UNIT, Integers, fixed_point, transport_factor

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """Every positive with every negative, margin ``w·(x_i⁺ − x_j⁻)``; multipliers are ``Σ_j q_ij`` and ``Σ_i q_ij``.

    What other comparisons have is what this class has.

    `no_multipliers`: why no multipliers prove a bound; empty where some do. `by_marginals`: whether the sums of
    multipliers for every observation tell whether they are admissible. `is_ranked`: whether the data say which rows
    are compared, within groups, by grades or by times.
    """

    no_multipliers: ClassVar[str] = ""
    by_marginals: ClassVar[bool] = True
    is_ranked: ClassVar[bool] = False

    def mean(self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction) -> Fraction:
        """Mean of ``ℓ(start − margin)``; scores, `start` and the intercept `offset` are in units of `unit`."""
        pos, neg, weight = scores[data.positive], scores[~data.positive], data.weight[data.positive]
        taken = self._taken(neg, data.weight[~data.positive])
        total = int(np.dot(loss.sums(neg + start, pos, weight), taken))
        return Fraction(total, int(taken.sum()) * int(weight.sum())) * unit**loss.degree

    def slopes(
        self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction
    ) -> tuple[Integers, Fraction, Fraction]:
        """The sums of ``weight ℓ'(start − margin)`` of every row as integers, their unit, and Σ weight ℓ*(ℓ')."""
        pos, neg = scores[data.positive], scores[~data.positive]
        weight_pos, weight_neg = data.weight[data.positive], data.weight[~data.positive]
        values = data.weight.copy()
        values[data.positive] *= loss.slope_sums(start - pos, -neg, weight_neg)
        values[~data.positive] *= loss.slope_sums(neg + start, pos, weight_pos)
        conjugate = int(np.dot(loss.conjugate_sums(neg + start, pos, weight_pos), weight_neg))
        one = unit ** (loss.degree - 1) / (int(weight_pos.sum()) * int(weight_neg.sum()))
        return values, one, conjugate * one * unit

    def _taken(self, scores: Integers, weight: Integers) -> Integers:
        """Integers proportional to the weights with which the negatives enter the mean."""
        return weight

    def total(self, one_class: Fraction) -> Fraction:
        """``Σ q`` where the multipliers of either class have this sum."""
        return one_class

    def shares(self, data: Data, stored: Floats | None) -> Integers | None:
        """Proportional to the weights of the negatives, near the stored ones; None if these are needed and missing."""
        return data.weight[~data.positive]

    def upper_bounds(self, data: Data, shares: Integers, unit: int) -> Integers:
        """The largest value of each multiplier alone, in units of 1/`unit`, rounded down."""
        bounds = data.weight.copy()
        bounds[data.positive] = bounds[data.positive] * unit // int(bounds[data.positive].sum())
        bounds[~data.positive] = shares * unit // int(shares.sum())
        return np.asarray(bounds)

    def factor(self, data: Data, values: Integers, shares: Integers, unit: int) -> Fraction:
        """The largest factor ≤ 1 with which multipliers ≥ 0 with equal sums belong to some weights of the margins."""
        return transport_factor(values[data.positive], values[~data.positive], data.weight[data.positive], shares, unit)


@dataclass(frozen=True)
class HardestNegatives(Pairs):
    """Pairs with the share α = `max_fpr` of the negatives with the highest scores, whose weights r are multipliers."""

    max_fpr: Fraction

    def _taken(self, scores: Integers, weight: Integers) -> Integers:
        """The part of every weight that is among the share α of the highest scores."""
        weight = weight * self.max_fpr.denominator
        left = self.max_fpr.numerator * int(weight.sum()) // self.max_fpr.denominator
        taken = np.zeros(weight.size, dtype=np.int64).astype(object)
        for row in np.argsort(-scores, kind="stable"):
            if left == 0:
                break
            taken[row] = min(weight[row], left)
            left -= taken[row]
        return taken

    def shares(self, data: Data, stored: Floats | None) -> Integers | None:
        """An r with ``0 ≤ r_j ≤ v_j/α`` in units of 1/`UNIT` with the sum 1, near the given one."""
        weight = data.weight[~data.positive]
        if self.max_fpr == 1:
            return weight
        if stored is None or not np.isfinite(stored).all():
            return None
        bounds = weight * UNIT * self.max_fpr.denominator // (int(weight.sum()) * self.max_fpr.numerator)
        shares = np.minimum(np.maximum(fixed_point(stored), 0), bounds)
        total = int(shares.sum())
        if total > UNIT:
            shares = shares * UNIT // total
        missing = UNIT - int(shares.sum())
        room = bounds - shares
        shares = shares + room * missing // int(room.sum())
        # At most a unit per negative is still missing.
        missing = UNIT - int(shares.sum())
        for row in np.flatnonzero(shares < bounds):
            if missing == 0:
                break
            step = min(missing, int(bounds[row] - shares[row]))
            shares[row] += step
            missing -= step
        return np.asarray(shares)


@dataclass(frozen=True)
class Points(Pairs):
    """Every observation, margin ``y_k (w·x_k + b)``; the multiplier of a point is its q."""

    def mean(self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction) -> Fraction:
        """``Σ_k weight_k ℓ(start − m_k) / Σ weight``."""
        margins = np.where(data.positive, scores + offset, -(scores + offset))
        total = int(np.dot(loss.values(start - margins), data.weight))
        return Fraction(total, int(data.weight.sum())) * unit**loss.degree

    def slopes(
        self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction
    ) -> tuple[Integers, Fraction, Fraction]:
        """``weight ℓ'(start − margin)`` of every row as integers, their unit, and Σ weight ℓ*(ℓ')."""
        errors = start - np.where(data.positive, scores + offset, -(scores + offset))
        one = unit ** (loss.degree - 1) / int(data.weight.sum())
        conjugate = int(np.dot(loss.conjugates(errors), data.weight))
        return data.weight * loss.slopes(errors), one, conjugate * one * unit

    def total(self, one_class: Fraction) -> Fraction:
        """Each class has points of its own."""
        return 2 * one_class

    def upper_bounds(self, data: Data, shares: Integers, unit: int) -> Integers:
        """Weights as shares of all points."""
        return np.asarray(data.weight * unit // int(data.weight.sum()))

    def factor(self, data: Data, values: Integers, shares: Integers, unit: int) -> Fraction:
        """The smallest quotient of bound and multiplier."""
        bounds = self.upper_bounds(data, shares, unit)
        over = np.flatnonzero(values > bounds)
        return min((Fraction(int(bounds[k]), int(values[k])) for k in over), default=Fraction(1))


@dataclass(frozen=True)
class CardPairs(Pairs):
    """Pairs whose hinge begins at a margin γ, divided by it: the least mean over the γ that are tried."""

    margins: tuple[int, ...]

    no_multipliers: ClassVar[str] = "the bound of a search tree has no multipliers"

    def mean(self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction) -> Fraction:
        """``min_γ mean ℓ(γ·start − margin)/γ``."""
        each = (super(CardPairs, self).mean(loss, data, scores, g * start, offset, unit) / g for g in self.margins)
        return min(each)


@dataclass(frozen=True)
class CountedPairs(Pairs):
    """Pairs that are counted, not charged by their margin: ``P(p ≤ n)``."""

    no_multipliers: ClassVar[str] = "the bound of a search tree has no multipliers"

    def mean(self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction) -> Fraction:
        """The weight of the pairs that are not in the right order."""
        pos, weight = scores[data.positive], data.weight[data.positive]
        order = np.argsort(pos, kind="stable")
        counts = np.concatenate([np.array([0], dtype=object), np.cumsum(weight[order])])
        wrong: Any = counts[np.searchsorted(pos[order], scores[~data.positive], side="right")]
        weight_neg = data.weight[~data.positive]
        return Fraction(int(np.dot(wrong, weight_neg)), int(weight.sum()) * int(weight_neg.sum()))
