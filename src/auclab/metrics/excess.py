"""The excess ``D(γ) = Σ (ξ − z) 1{ξ > γ}`` at trial levels: over all scores, then over the few pairs that are left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auclab.compiled.doubledouble import DoubleDouble, add
from auclab.compiled.ranking import nearest_errors, partners_within, tail_sums, tail_sums_exact
from auclab.metrics.pair_errors import PairErrors, Partners


@dataclass(frozen=True)
class Level:
    """A level of the errors.

    Attributes
    ----------
    value : float
    above, from_there
        Staircase of the errors above the level, and where it is exact, of those from there on.
    count, excess
        C and D above the level.
    """

    value: float
    above: Partners
    from_there: Partners
    count: DoubleDouble
    excess: DoubleDouble


class ExcessSweep:
    """D at a level, in O(m), with the staircases of the levels on both sides of its root.

    Attributes
    ----------
    above, from_there
        Staircase of the smallest level so far with D ≥ 0, and of the largest one with D < 0.
    """

    def __init__(self, errors: PairErrors, threshold: float):
        self.errors, self.threshold = errors, threshold
        self.above: Partners = errors.nobody
        self.from_there: Partners = np.full(errors.neg.size, errors.pos.size)

    def __call__(self, level: float) -> tuple[float, float, float]:
        """D, with the right sign and 0 if it may be, and the errors next to the level, as `smallest_root` wants."""
        errors, partners = self.errors, self.errors.partners(level)
        _, excess, error = tail_sums(errors.neg, errors.weight_neg, *errors.sums, partners, self.threshold)
        if abs(excess) <= error:
            excess = errors.between(errors.nobody, partners, self.threshold)[1][0]
        if excess >= 0.0:
            self.above = partners
        else:
            self.from_there = partners
        return excess, *nearest_errors(errors.pos, errors.neg, partners)

    def pairs_left(self) -> int:
        """Number of pairs between the two staircases."""
        return int((self.from_there - self.above).sum())

    def level(self, value: float) -> Level:
        """A root with its staircases and sums."""
        count, excess = self.errors.between(self.errors.nobody, self.above, self.threshold)
        return Level(value, self.above, self.from_there, count, excess)


class ZoomedSweep:
    """The same over the pairs between the staircases of a sweep: D above them is added up once, in double-double."""

    def __init__(self, sweep: ExcessSweep):
        errors = sweep.errors
        self.sweep, self.rows = sweep, np.flatnonzero(sweep.from_there > sweep.above)
        self.pos, self.neg, self.sums = errors.pos, errors.neg[self.rows], errors.sums
        self.weight_neg = errors.weight_neg[self.rows] if errors.weight_neg.size else errors.weight_neg
        self.first = self.above = sweep.above[self.rows]
        self.from_there = sweep.from_there[self.rows]
        everyone = errors.pos, errors.neg, errors.weight_neg, *errors.sums
        self.rest = tail_sums_exact(*everyone, errors.nobody, sweep.above, sweep.threshold)

    def __call__(self, level: float) -> tuple[float, float, float]:
        """As `ExcessSweep`, in O(pairs left)."""
        partners = partners_within(self.pos, self.neg, level, self.above, self.from_there)
        excess = self._tail(partners)[1][0]
        if excess >= 0.0:
            self.above = partners
        else:
            self.from_there = partners
        return excess, *nearest_errors(self.pos, self.neg, partners)

    def level(self, value: float) -> Level:
        """A root with its staircases and sums."""
        above, from_there = self.sweep.above.copy(), self.sweep.above.copy()
        above[self.rows], from_there[self.rows] = self.above, self.from_there
        return Level(value, above, from_there, *self._tail(self.above))

    def _tail(self, partners: Partners) -> tuple[DoubleDouble, DoubleDouble]:
        """C and D above a level; D is 0 if it may be."""
        lists = self.pos, self.neg, self.weight_neg, *self.sums
        c_hi, c_lo, d_hi, d_lo, error = tail_sums_exact(*lists, self.first, partners, self.sweep.threshold)
        rest_c_hi, rest_c_lo, rest_d_hi, rest_d_lo, rest_error = self.rest
        excess = add(d_hi, d_lo, rest_d_hi, rest_d_lo)
        return add(c_hi, c_lo, rest_c_hi, rest_c_lo), excess if abs(excess[0]) > error + rest_error else (0.0, 0.0)
