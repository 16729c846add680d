"""The excess ``D(γ) = Σ (ξ − z) 1{ξ > γ}`` at trial levels: over all scores, then over the few pairs that are left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.compiled.doubledouble import DoubleDouble, add
from auclab.compiled.ranking import nearest_errors, rank_counts_between, tail_sums, tail_sums_exact
from auclab.metrics.pair_errors import PairErrors, RankCounts


@dataclass(frozen=True)
class Level:
    """A level of the errors.

    `above`, `at_or_above`: rank counts of the errors above the level and, where it is exact, of those at or above it.
    `count`, `excess`: c and D above the level.
    """

    value: float
    above: RankCounts
    at_or_above: RankCounts
    count: DoubleDouble
    excess: DoubleDouble


class ExcessSweep:
    """D at a level, in O(m), with the rank counts of the levels on both sides of its root.

    `above`, `at_or_above`: rank counts of the smallest level so far with D ≥ 0, and of the largest one with D < 0.
    """

    def __init__(self, errors: PairErrors, threshold: float):
        self.errors, self.threshold = errors, threshold
        self.above: RankCounts = errors.zero_counts
        self.at_or_above: RankCounts = np.full(errors.neg.size, errors.pos.size)

    def __call__(self, level: float) -> tuple[float, float, float]:
        """D (0 where its sign is not certain) and the errors next to the level, as `smallest_root` needs them."""
        errors, counts = self.errors, self.errors.rank_counts(level)
        _, excess, error = tail_sums(errors.neg, errors.weight_neg, *errors.sums, counts, self.threshold)
        if abs(excess) <= error:
            excess = errors.between(errors.zero_counts, counts, self.threshold)[1][0]
        if excess >= 0.0:
            self.above = counts
        else:
            self.at_or_above = counts
        return excess, *nearest_errors(errors.pos, errors.neg, counts)

    def pairs_left(self) -> int:
        """Number of pairs between the two rank counts."""
        return int((self.at_or_above - self.above).sum())

    def level(self, value: float) -> Level:
        """A root with its rank counts and sums."""
        count, excess = self.errors.between(self.errors.zero_counts, self.above, self.threshold)
        return Level(value, self.above, self.at_or_above, count, excess)


class ZoomedSweep:
    """The same over the pairs between the rank counts of a sweep: D above them is summed once, in double-double."""

    def __init__(self, sweep: ExcessSweep):
        errors = sweep.errors
        self.sweep, self.rows = sweep, np.flatnonzero(sweep.at_or_above > sweep.above)
        self.pos, self.neg, self.sums = errors.pos, errors.neg[self.rows], errors.sums
        self.weight_neg = errors.weight_neg[self.rows] if errors.weight_neg.size else errors.weight_neg
        self.first = self.above = sweep.above[self.rows]
        self.at_or_above = sweep.at_or_above[self.rows]
        lists = errors.pos, errors.neg, errors.weight_neg, *errors.sums
        self.rest = tail_sums_exact(*lists, errors.zero_counts, sweep.above, sweep.threshold)

    def __call__(self, level: float) -> tuple[float, float, float]:
        """As `ExcessSweep`, in O(pairs left)."""
        counts = rank_counts_between(self.pos, self.neg, level, self.above, self.at_or_above)
        excess = self._tail(counts)[1][0]
        if excess >= 0.0:
            self.above = counts
        else:
            self.at_or_above = counts
        return excess, *nearest_errors(self.pos, self.neg, counts)

    def level(self, value: float) -> Level:
        """A root with its rank counts and sums."""
        above, at_or_above = self.sweep.above.copy(), self.sweep.above.copy()
        above[self.rows], at_or_above[self.rows] = self.above, self.at_or_above
        return Level(value, above, at_or_above, *self._tail(self.above))

    def _tail(self, counts: RankCounts) -> tuple[DoubleDouble, DoubleDouble]:
        """C and D above a level; D is 0 where its sign is not certain."""
        lists = self.pos, self.neg, self.weight_neg, *self.sums
        c_hi, c_lo, d_hi, d_lo, error = tail_sums_exact(*lists, self.first, counts, self.sweep.threshold)
        rest_c_hi, rest_c_lo, rest_d_hi, rest_d_lo, rest_error = self.rest
        excess = add(d_hi, d_lo, rest_d_hi, rest_d_lo)
        return add(c_hi, c_lo, rest_c_hi, rest_c_lo), excess if abs(excess[0]) > error + rest_error else (0.0, 0.0)
