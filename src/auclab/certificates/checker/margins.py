"""Pairs of two classes, and ranked pairs.

A new comparison is a class here, and a line in `auclab.certificates.checker.program.FORMULATIONS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from auclab.certificates.checker.constraints import UNIT, Integers, fixed_point, in_units, times_power, transport_factor
from auclab.certificates.checker.data import Data
from auclab.certificates.checker.pieces import Hinge

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
        # Σ_j v_j Σ_i u_i ℓ(start + n_j − p_i), in integers; the weights sum to Σu Σv.
        total = int(np.dot(loss.sums(neg + start, pos, weight), taken))
        return Fraction(total, int(taken.sum()) * int(weight.sum())) * unit**loss.degree

    def slopes(
        self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction
    ) -> tuple[Integers, Fraction, Fraction]:
        """The sums of ``weight ℓ'(start − margin)`` of every row as integers, their unit, and Σ weight ℓ*(ℓ')."""
        pos, neg = scores[data.positive], scores[~data.positive]
        weight_pos, weight_neg = data.weight[data.positive], data.weight[~data.positive]
        values = data.weight.copy()
        # u_i Σ_j v_j ℓ'(start + n_j − p_i) of every positive, v_j Σ_i u_i ℓ'(…) of every negative.
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
        # The superquantile at level 1 − α is the largest mean with weights ≤ v_j/α (derivations 2).
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
        # Σ_i u_i 1{p_i ≤ n_j} of every negative.
        wrong: Any = counts[np.searchsorted(pos[order], scores[~data.positive], side="right")]
        weight_neg = data.weight[~data.positive]
        return Fraction(int(np.dot(wrong, weight_neg)), int(weight.sum()) * int(weight_neg.sum()))


#: Pairs near the jump of a slope that are listed for every row, and about how many in all.
_NEAR, _LISTED = 50, 1_000_000
#: Upper and lower rows: every one of the first is compared with every one of the second.
Sides = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True, kw_only=True)
class RankedData(Data):
    """Rows of which some are compared: `sides` hold every pair once; one of side k has the weight `weights[k]`."""

    sides: tuple[Sides, ...]
    weights: tuple[int, ...]

    @classmethod
    def comparing(
        cls,
        X: Any,
        y: NDArray[Any],
        groups: NDArray[Any] | None,
        event: NDArray[Any] | None,
        *,
        groups_alike: bool = False,
    ) -> RankedData:
        """Rows (i, j) of one group with ``y_i > y_j``; of times with an event at i and ``y_i < y_j``.

        Rows in the order of their level are halved between two distinct levels: a pair is across the cut, or inside a
        half. `groups_alike`: whether the pairs of every group have one weight together.

        Examples
        --------
        >>> data = RankedData.comparing(np.zeros((3, 1)), np.array([0.0, 2.0, 1.0]), None, None)
        >>> [(upper.tolist(), lower.tolist()) for upper, lower in data.sides]
        [([2, 1], [0]), ([1], [2])]
        """
        levels = np.asarray(y, dtype=float) if event is None else -np.asarray(y, dtype=float)
        wins = np.ones(levels.size, dtype=bool) if event is None else np.asarray(event, dtype=bool)
        labels = np.zeros(levels.size) if groups is None else groups
        sides: list[Sides] = []
        of_groups: list[tuple[int, int]] = []  # how many sides a group has, and how many pairs
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            rows = rows[np.argsort(levels[rows], kind="stable")]
            ends = [0, *(np.flatnonzero(np.diff(levels[rows])) + 1).tolist(), rows.size]
            waiting, before = [(0, len(ends) - 1)], len(sides)
            while waiting:
                first, last = waiting.pop()
                if last - first < 2:
                    continue
                middle = (first + last) // 2
                upper = rows[ends[middle] : ends[last]]
                upper, lower = upper[wins[upper]], rows[ends[first] : ends[middle]]
                if upper.size:
                    sides.append((upper, lower))
                waiting += [(first, middle), (middle, last)]
            if len(sides) > before:
                of_groups.append((len(sides) - before, sum(up.size * low.size for up, low in sides[before:])))
        one = lcm(*(pairs for _, pairs in of_groups)) if groups_alike else 0
        weights = [one // pairs if groups_alike else 1 for number, pairs in of_groups for _ in range(number)]
        every = np.ones(levels.size, dtype=bool)
        ones = np.ones(levels.size, dtype=np.int64).astype(object)
        return cls(X=X, positive=every, weight=ones, sides=tuple(sides), weights=tuple(weights))

    @property
    def whole(self) -> int:
        """The weight of all pairs."""
        return sum(w * upper.size * lower.size for w, (upper, lower) in zip(self.weights, self.sides, strict=True))

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return sum(upper.size * lower.size for upper, lower in self.sides)

    def near(
        self, scores: NDArray[np.float64], start: float, half_width: float
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Integers]:
        """Pairs with ``start − (s_i − s_j)`` within `half_width` of 0, a few for every row: their rows and weights."""
        found: list[tuple[NDArray[np.intp], NDArray[np.intp], int]] = []
        listed = 0
        for weight, (upper, lower) in zip(self.weights, self.sides, strict=True):
            lower = lower[np.argsort(scores[lower], kind="stable")]
            first, last = (np.searchsorted(scores[lower], scores[upper] - start + h) for h in (-half_width, half_width))
            counts = np.minimum(last - first, _NEAR)
            numbers = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            found.append((np.repeat(upper, counts), lower[np.repeat(first, counts) + numbers], weight))
            listed += numbers.size
            if listed > _LISTED:
                break
        rows = [np.concatenate([np.zeros(0, dtype=np.intp), *(part[k] for part in found)]) for k in (0, 1)]
        weights = np.repeat(np.array([part[2] for part in found], dtype=object), [part[0].size for part in found])
        return rows[0], rows[1], weights

    def every_pair(self) -> tuple[NDArray[np.int64], Integers]:
        """Upper row × number of rows + lower row of every pair, ascending, and the weights."""
        keys = [np.add.outer(upper.astype(np.int64) * self.positive.size, lower).ravel() for upper, lower in self.sides]
        sizes = [each.size for each in keys]
        numbers = np.concatenate([np.zeros(0, dtype=np.int64), *keys])
        order = np.argsort(numbers, kind="stable")
        return numbers[order], np.repeat(np.array(self.weights, dtype=object), sizes)[order]


def as_ranked(data: Data) -> RankedData | None:
    """The rows if only some pairs of them are compared, else None."""
    return data if isinstance(data, RankedData) else None


class DualScorer(NamedTuple):
    """A part of a dual point: the slopes of the loss, smoothed over `half_width`, at the scores of `coef`.

    Margins are taken from `start`, or from ``1 − z‖w‖`` if it is None.
    """

    weight: Fraction
    coef: NDArray[np.float64]
    half_width: Fraction
    start: Fraction | None = None


class PairSums(NamedTuple):
    """Of a dual point α: what every row has as the upper one less what it has as the lower one, in units of 1/`unit`.

    `total` is ``Σ q α``, `conjugate` is ``Σ q ℓ*(α)``.
    """

    values: Integers
    unit: int
    total: Fraction
    conjugate: Fraction


def read_scorers(stored: Any, n_features: int) -> tuple[DualScorer, ...]:
    """The scorers of a certificate; none if they are not a dual point: weights ≥ 0 whose sum is at most 1.

    Examples
    --------
    >>> [scorer] = read_scorers([{"weight": 1.0, "coef": [2.0], "half_width": 0.25}], 1)
    >>> scorer.weight, scorer.half_width
    (Fraction(1, 1), Fraction(1, 4))
    >>> read_scorers([{"weight": 2.0, "coef": [2.0], "half_width": 0.0}], 1)
    ()
    """
    found = []
    for each in stored if isinstance(stored, list) else ():
        try:
            coef = np.array(each["coef"], dtype=np.float64)
            if "places" in each:  # of training rows, over a kernel
                values, coef = coef, np.zeros(n_features)
                coef[np.array(each["places"], dtype=np.uint32)] = values
            numbers = np.array([each["weight"], each["half_width"], each.get("start", 1.0)], dtype=np.float64)
        except (LookupError, OverflowError, TypeError, ValueError):
            return ()
        if coef.shape != (n_features,) or not np.isfinite(coef).all():
            return ()
        if numbers.shape != (3,) or not np.isfinite(numbers).all() or (numbers[:2] < 0).any():
            return ()
        start = Fraction(float(numbers[2])) if "start" in each else None
        found.append(DualScorer(Fraction(float(numbers[0])), coef, Fraction(float(numbers[1])), start))
    return tuple(found) if sum((scorer.weight for scorer in found), Fraction(0)) <= 1 else ()


def rounded_slopes(data: Data, scorers: Sequence[DualScorer]) -> float:
    """By how much the rounding of scores changes the slope of a pair whose jump is spread over a half-width."""
    found = 0.0
    for scorer in scorers:
        if scorer.half_width:
            scores, exponent = data.scores(scorer.coef)
            largest = times_power(int(abs(scores).max(initial=0)), exponent)
            found = max(found, float(largest / scorer.half_width) * 2.0**-50)
    return found


@dataclass(frozen=True)
class RankedPairs(Pairs):
    """The pairs of a `RankedData`.

    A row is in many sides, and its sum over all of them does not show whether the multipliers of single pairs are
    within their bounds, so that the dual point is stated by scorers, whose slopes always are.
    """

    by_marginals: ClassVar[bool] = False
    is_ranked: ClassVar[bool] = True

    def mean(self, loss: Hinge, data: Data, scores: Integers, start: int, offset: int, unit: Fraction) -> Fraction:
        """Mean of ``ℓ(start − margin)`` over the pairs."""
        total = 0
        for weight, (upper, lower) in _sides(data):
            total += weight * int(loss.sums(scores[lower] + start, scores[upper], data.weight[upper]).sum())
        return Fraction(total, _whole(data)) * unit**loss.degree

    def pair_sums(self, loss: Hinge, data: Data, scorers: Sequence[DualScorer], starts: Sequence[Fraction]) -> PairSums:
        """The dual point of scorers with the arguments ``start − margin``, exactly.

        `starts`: the constant of each; any is one of a dual point, as slopes are.
        """
        parts: list[tuple[Integers, Fraction, Fraction, Fraction]] = []
        for scorer, constant in zip(scorers, starts, strict=True):
            scores, exponent = data.scores(scorer.coef)
            scores, start, width, unit = in_units(scores, exponent, constant, scorer.half_width)
            slopes = SmoothedSlopes(loss, width)
            values = np.zeros(scores.size, dtype=np.int64).astype(object)
            weight = charged = 0
            for each, (upper, lower) in _sides(data):
                pos, neg = scores[upper], scores[lower]
                ones_pos, ones_neg = each * data.weight[upper], each * data.weight[lower]
                of_upper = slopes.sums(start - pos, -neg, ones_neg)
                values[upper] += of_upper
                values[lower] -= slopes.sums(neg + start, pos, ones_pos)
                weight += int(of_upper.sum())
                charged += int(loss.conjugate_sums(neg + start, pos, ones_pos).sum())
            # The unit of the part: slopes are in unit^(degree − 1), and the weights of the pairs sum to the whole.
            one = scorer.weight * unit ** (loss.degree - 1) / (_whole(data) * slopes.unit)
            parts.append((values, weight * one, charged * one * slopes.unit * unit, one))
        scale = lcm(1, *(one.denominator for *_, one in parts))
        values = sum((part * int(one * scale) for part, _, _, one in parts), _zeros(data))
        total = sum((part for _, part, _, _ in parts), Fraction(0))
        conjugate = sum((part for _, _, part, _ in parts), Fraction(0))
        return PairSums(np.asarray(values), scale, total, conjugate)


@dataclass(frozen=True)
class SmoothedSlopes:
    """ℓ' with the jump of the hinge at 0 spread over ``[−h, h]``: ``min(1, max(0, (e + h)/(2h)))``, in 1/(2h)."""

    loss: Hinge
    half_width: int

    @property
    def is_spread(self) -> bool:
        """Whether there is a jump, and it is spread; the conjugate of the hinge is 0 in either case."""
        return self.loss.by_marginals and self.half_width > 0

    @property
    def unit(self) -> int:
        """The number of units in one."""
        return 2 * self.half_width if self.is_spread else 1

    def sums(self, levels: Integers, scores: Integers, weight: Integers) -> Integers:
        """``Σ_i weight_i ℓ'(level − score_i)`` for every level, in units of 1/`unit`."""
        if not self.is_spread:
            return self.loss.slope_sums(levels, scores, weight)
        h = self.half_width
        # ((e + h)₊ − (e − h)₊)/(2h) is the slope whose jump is spread over [−h, h].
        return np.asarray(self.loss.sums(levels + h, scores, weight) - self.loss.sums(levels - h, scores, weight))


def _sides(data: Data) -> Iterator[tuple[int, Sides]]:
    ranked = cast(RankedData, data)  # others are refused before
    return zip(ranked.weights, ranked.sides, strict=True)


def _whole(data: Data) -> int:
    return cast(RankedData, data).whole


def _zeros(data: Data) -> Integers:
    return np.zeros(data.positive.size, dtype=np.int64).astype(object)
