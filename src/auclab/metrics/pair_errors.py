"""Errors of pairs, and roots of functions of them.

Results are those of the n_pos · n_neg pairs; the work is a few sweeps over the n_pos + n_neg scores.

Rank counts of a level say for every negative how many positives make an error above the level with it. As both lists
are sorted, these are the smallest positives, and the counts do not decrease.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from auclab._core.accurate import DoubleDouble, add
from auclab._core.base import Array, AuclabError
from auclab._core.ranking import nearest_errors, rank_counts_above, running_sums, tail_sums, tail_sums_exact

Sweep = Callable[[float], tuple[float, float, float]]


@dataclass
class Bracket:
    """Two attained levels around the root: F < 0 everywhere below `low`, and ``F(high) ≥ 0``.

    `value_low` and `value_high` are F just below `low` and at `high`.
    """

    low: float
    high: float
    value_low: float
    value_high: float

    def probe(self, sweep: Sweep, trial: float) -> bool:
        """Sweep at a trial in [low, high), shrink to the attained levels next to it; whether high moved."""
        value, below, above = sweep(trial)
        if value >= 0.0:
            self.high, self.value_high = below, value
        else:
            self.low, self.value_low = above, value
        return value >= 0.0

    def doubles(self) -> int:
        """Number of doubles between the ends."""
        return double_rank(self.high) - double_rank(self.low)


def close_in(sweep: Sweep, bracket: Bracket, guess: float, radius: float) -> None:
    """Shrink the bracket around a guess of the root, with steps of growing length in the root's direction."""
    went_down = went_up = False
    while bracket.low < guess < bracket.high and not (went_down and went_up):
        if bracket.probe(sweep, guess):
            went_down = True
            guess -= radius
        else:
            went_up = True
            guess += radius
        radius *= 8.0


def never(bracket: Bracket) -> bool:
    """No early end: search until the root is exact to the last bit."""
    return False


def smallest_root(sweep: Sweep, bracket: Bracket, is_close: Callable[[Bracket], bool] = never) -> float:
    """Smallest γ with ``F(γ) ≥ 0``, F a non-decreasing step function that jumps at attained levels only.

    The root is therefore one of the attained levels (here: the ranking errors), to the last bit. Steps of
    regula falsi (Illinois) make the bracket shrink superlinearly; whenever three of them did not halve the
    number of doubles in it, a bisection does, so that no input takes more than 4 · 64 sweeps.

    `sweep`: ``γ → (F(γ), largest attained level ≤ γ, smallest attained level > γ)``. `bracket`: it closes around the
    root. `is_close`: whether a bracket is close enough; its upper end is returned then.
    """
    size, tries = bracket.doubles(), 0
    trust_low = trust_high = 1.0  # an end that has stayed for two steps counts half, then a quarter, …
    moved_high: bool | None = None
    while bracket.low < bracket.high and not is_close(bracket):
        if tries == 3:
            trial = double_at((double_rank(bracket.low) + double_rank(bracket.high)) // 2)
        else:
            fall, rise = -bracket.value_low * trust_low, bracket.value_high * trust_high
            share = fall / (fall + rise) if fall + rise > 0.0 else 0.5
            trial = bracket.low + (bracket.high - bracket.low) * share
        # high is a root, low may be one: the trial lies in [low, high)
        trial = min(max(trial, bracket.low), math.nextafter(bracket.high, -math.inf))
        last_moved_high, moved_high = moved_high, bracket.probe(sweep, trial)
        if moved_high:
            trust_low, trust_high = trust_low * (0.5 if last_moved_high else 1.0), 1.0
        else:
            trust_low, trust_high = 1.0, trust_high * (0.5 if last_moved_high is False else 1.0)
        remaining = bracket.doubles()
        if tries == 3 or 2 * remaining <= size:
            size, tries = remaining, 0
        else:
            tries += 1
    return bracket.high


def double_rank(value: float) -> int:
    """Position of a double among all doubles in ascending order; both zeros have the same."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else -(bits + 2**63)


def double_at(rank: int) -> float:
    """The double at a position: the inverse of `_rank`."""
    value: float = struct.unpack("<d", struct.pack("<Q", rank if rank >= 0 else 2**63 - rank))[0]
    return value


RankCounts = NDArray[np.int64]


@dataclass(frozen=True)
class WorkingUnits:
    """Units in which sums over pairs stay in range: scores and levels are ``2^exponent`` times the caller's.

    `spread`: the largest difference of two scores, in the caller's units. `digits_lost`: whether the change of the
    scores was not exact.
    """

    spread: float
    exponent: int = 0
    digits_lost: bool = False

    @classmethod
    def of(cls, low: float, high: float, *lists: Array) -> tuple[WorkingUnits, list[Array]]:
        """The units of lists of scores between `low` and `high`, and the scores less a centre in these units.

        `AuclabError` where their differences exceed the largest double.
        """
        if not math.isfinite(high - low):
            raise AuclabError("differences of the scores exceed the largest double; divide all of them by 4")
        centre, exponent = exact_centre(low, high), _exponent(max(abs(low), abs(high)))
        centred = [scores - centre if centre else scores for scores in lists]
        if not exponent:
            return cls(high - low), centred
        scaled = [np.ldexp(scores, exponent) for scores in centred]
        # raising scores is exact, lowering them is not for the smallest ones
        digits_lost = exponent < 0 and not all(
            np.array_equal(np.ldexp(now, -exponent), before) for now, before in zip(scaled, centred, strict=True)
        )
        return cls(high - low, exponent, digits_lost), scaled

    def check_digits(self, threshold: float = 0.0) -> None:
        """`AuclabError` where scores are so far apart that the smallest, or the threshold, would count as 0."""
        threshold_lost = self.exponent < 0 and self.original(self.working(threshold)) != threshold
        if self.digits_lost or threshold_lost:
            what = "some scores below 1e-270" if self.digits_lost else "the threshold, which is below 1e-270,"
            raise AuclabError(
                f"the largest difference of two scores is {self.spread:.1e}, and {what} would count as 0; "
                "use 0 instead, or divide the largest scores"
            )

    def working(self, level: float) -> float:
        """A level in the caller's units, converted; ±∞ where that leaves the range of doubles."""
        return _scaled(level, self.exponent)

    def original(self, level: float) -> float:
        """A level in working units, in the caller's units; ±∞ where that leaves the range of doubles."""
        return _scaled(level, -self.exponent)


@dataclass(frozen=True)
class PairErrors:
    """Ranking errors ``ξ_ij = n_j − p_i`` of all pairs.

    A level is compared with the rounded differences of the scores, the numbers that ``neg[None, :] − pos[:,
    None]`` gives; sums over pairs are taken in double-double.

    `pos`, `neg`, `weight_pos`, `weight_neg`: scores in ascending order and their weights (empty for ones). `units`:
    those of scores and levels.
    """

    pos: Array
    neg: Array
    weight_pos: Array
    weight_neg: Array
    units: WorkingUnits

    @classmethod
    def of(cls, pos: Array, neg: Array, weight_pos: Array, weight_neg: Array) -> PairErrors:
        """Errors of all pairs of sorted scores, after exact changes of the scores: a centre and a power of two."""
        low, high = min(float(pos[0]), float(neg[0])), max(float(pos[-1]), float(neg[-1]))
        units, (pos, neg) = WorkingUnits.of(low, high, pos, neg)
        return cls(pos, neg, weight_pos, weight_neg, units)

    @property
    def bottom(self) -> float:
        """Smallest error."""
        return float(self.neg[0] - self.pos[-1])

    @property
    def top(self) -> float:
        """Largest error."""
        return float(self.neg[-1] - self.pos[0])

    @cached_property
    def pairs(self) -> DoubleDouble:
        """Total weight N of the pairs."""
        if not self.weight_pos.size and not self.weight_neg.size:
            return float(self.pos.size) * float(self.neg.size), 0.0
        return self.tail(-math.inf, 0.0)[0]

    def tail(self, level: float, threshold: float) -> tuple[DoubleDouble, DoubleDouble]:
        """``C = Σ 1{ξ > level}`` and ``D = Σ (ξ − threshold) 1{ξ > level}``; D is 0 where its sign is not certain."""
        return self.between(self.zero_counts, self.rank_counts(level), threshold)

    def between(self, first: RankCounts, last: RankCounts, threshold: float) -> tuple[DoubleDouble, DoubleDouble]:
        """C and D over the errors between two levels, given by their rank counts; D is 0 if it may be."""
        lists = self.pos, self.neg, self.weight_neg, *self.sums
        c_hi, c_lo, d_hi, d_lo, error = tail_sums_exact(*lists, first, last, threshold)
        return (c_hi, c_lo), ((d_hi, d_lo) if abs(d_hi) > error else (0.0, 0.0))

    def rank_counts(self, level: float) -> RankCounts:
        """For every negative, how many positives make an error above a level."""
        return rank_counts_above(self.pos, self.neg, level)

    def count(self, level: float) -> float:
        """Weight of the pairs with ``ξ > level``."""
        return float(tail_sums(self.neg, self.weight_neg, *self.sums, self.rank_counts(level), 0.0)[0])

    def next_above(self, level: float) -> float:
        """Smallest error above a level, ∞ if there is none."""
        return nearest_errors(self.pos, self.neg, self.rank_counts(level))[1]

    def mean_excess(self, threshold: float) -> float:
        """``E ξ − threshold`` with the right sign, and 0 where its sign is not certain."""
        if not self.weight_pos.size and not self.weight_neg.size:
            rough = float(self.neg.mean()) - float(self.pos.mean()) - threshold
            largest = max(-self.pos[0], self.pos[-1], -self.neg[0], self.neg[-1], abs(threshold))
            if abs(rough) > 2.0**-45 * largest:  # pairwise summation errs by less
                return rough
        return self.tail(-math.inf, threshold)[1][0] / self.pairs[0]

    def quantile(self, tail_weight: float) -> float:
        """Smallest level with at most `tail_weight` of pair weight above it, up to a step that no mean shows.

        A level that is off by δ and leaves out the weight c moves the mean of the tail by at most ``δ c /
        tail_weight``.
        """

        def sweep(level: float) -> tuple[float, float, float]:
            counts = self.rank_counts(level)
            weight, _, _ = tail_sums(self.neg, self.weight_neg, *self.sums, counts, 0.0)
            return tail_weight - weight, *nearest_errors(self.pos, self.neg, counts)

        def is_close(bracket: Bracket) -> bool:
            missed = (bracket.value_high - bracket.value_low) / tail_weight
            return missed * (bracket.high - bracket.low) <= 2.0**-56 * abs(bracket.high)

        bracket = Bracket(self.bottom, self.top, tail_weight - self.pairs[0], tail_weight)
        if self.is_large:
            share = tail_weight / self.pairs[0]
            guess, coarse = (small.quantile(share * small.pairs[0]) for small in self.thinned)
            close_in(sweep, bracket, guess, abs(guess - coarse))
        return smallest_root(sweep, bracket, is_close)

    @cached_property
    def sums(self) -> tuple[Array, Array]:
        """Running sums of the weights (empty for ones) and of the scores of the positives."""
        none = np.empty(0)
        return running_sums(self.weight_pos, none), running_sums(self.pos, self.weight_pos)

    @cached_property
    def zero_counts(self) -> RankCounts:
        """Rank counts of a level above all errors."""
        return np.zeros(self.neg.size, np.int64)

    @property
    def is_large(self) -> bool:
        """Whether thinned-out problems, which cost next to nothing, save half of the sweeps."""
        return self.pos.size + self.neg.size > 2**15

    @property
    def thinned(self) -> tuple[PairErrors, PairErrors]:
        """Two problems of a few thousand scores with nearly the same distribution."""
        return self._thinned(2**12), self._thinned(2**10)

    def _thinned(self, size: int) -> PairErrors:
        """About `size` evenly spaced scores of either class: nearly the same distribution."""
        every_pos, every_neg = max(1, self.pos.size // size), max(1, self.neg.size // size)
        pos, neg = slice(every_pos // 2, None, every_pos), slice(every_neg // 2, None, every_neg)
        return PairErrors(
            self.pos[pos].copy(),
            self.neg[neg].copy(),
            self.weight_pos[pos].copy(),
            self.weight_neg[neg].copy(),
            self.units,
        )


def difference(a: DoubleDouble, b: DoubleDouble) -> float:
    """``a − b`` to the last digit of a double."""
    return float(add(*a, -b[0], -b[1])[0])


def exact_centre(low: float, high: float) -> float:
    """What can be subtracted from all scores without rounding: they have one sign and a ratio of at most 2.

    (Sterbenz.) The differences stay the same, and plain double sums then decide nearly every comparison.
    """
    if low > 0.0 and high <= 2.0 * low:
        return low
    if high < 0.0 and low >= 2.0 * high:
        return high
    return 0.0


def _scaled(level: float, exponent: int) -> float:
    """``level · 2^exponent``; ±∞ where that exceeds the largest double."""
    try:
        return math.ldexp(level, exponent)
    except OverflowError:
        return math.copysign(math.inf, level)


def _exponent(largest: float) -> int:
    """Power of two for the scores where sums over pairs could leave the range of doubles.

    Small scores are raised to 1, which is exact. Those above 2⁹⁰⁰ are lowered to it and no further, so that only
    scores below 2⁻⁹⁰⁰ then lose digits.
    """
    if largest == 0.0 or 2.0**-400 < largest < 2.0**900:
        return 0
    return (900 if largest > 1.0 else 0) - math.frexp(largest)[1]
