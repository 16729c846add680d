"""Comparable pairs, ready for sums over scores: rows of `auclab.samples.bicliques.LevelPairs` by ascending level."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from auclab.compiled.comparable import (
    Index,
    Mask,
    excesses,
    lower_sums,
    pair_masses,
    positions,
    products,
    reaches,
    upper_sums,
    weighted_sum,
)
from auclab.samples.bicliques import LevelPairs
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector


class ComparablePairs:
    """Pairs of rows of which the first should have the larger score, with sums over them in O(m log m).

    `pairs`: as of `auclab.samples.bicliques.ordered_pairs` and `censored_pairs`. `rows` (m,): the rows with a weight,
    group by group and by ascending level. `groups` (n_groups + 1,): first row of every group, and m. `levels` (m,):
    first row of the same group and level. `upper` (m,): rows that are compared with those of smaller levels of their
    group. `weight`, `upper_weight` (m,): the weight of a pair is ``upper_weight_i · weight_j``. `units_are_groups`:
    whether whole groups are independent, or else rows.
    """

    def __init__(self, pairs: LevelPairs):
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
