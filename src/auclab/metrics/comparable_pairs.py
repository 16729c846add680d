"""Which rows are compared with which: ordered by grade within groups, or by a time that may be censored."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.compiled.comparable import (
    Index,
    Mask,
    lower_sums,
    pair_masses,
    positions,
    reaches,
    upper_sums,
    weighted_sum,
)
from auclab.types import Array, AuclabError
from auclab.validation import finite_vector, refuse_masked, same_length, weight_vector

Units = Literal["groups", "rows"]
TiedTimes = Literal["excluded", "censored_later"]
GroupWeights = Literal["pairs", "groups"]


@dataclass(frozen=True, eq=False)
class ComparablePairs:
    """Pairs of rows of which the first should have the larger score: made by `graded_pairs` and `censored_pairs`.

    Rows of weight 0 and groups without a pair are left out. The others stand group by group and by ascending level, so
    that all sums over pairs take O(m log m).

    Attributes
    ----------
    rows : int array of shape (m,)
        Their numbers in the caller's arrays.
    groups : int array of shape (n_groups + 1,)
        First row of every group, and m.
    levels : int array of shape (m,)
        First row of the same group and level.
    upper : boolean array of shape (m,)
        Rows that are compared with those of smaller levels of their group: all of grades, those with an event of times.
    weight, upper_weight : arrays of shape (m,)
        A pair weighs ``upper_weight_i · weight_j``.
    n_rows : int
        Length of the caller's arrays.
    units : {"groups", "rows"}
        What is independent: groups as wholes, or rows.

    See Also
    --------
    concordance_index, grouped_auc : Shares of such pairs that are ranked right.

    Examples
    --------
    Grades 2, 0, 1 of one query, 1, 0 of another: three pairs and one.

    >>> pairs = graded_pairs([2, 0, 1, 1, 0], groups=["a", "a", "a", "b", "b"])
    >>> pairs.total, pairs.auc([3.0, 1.0, 2.0, 0.0, 5.0])
    (4.0, 0.75)
    """

    rows: Index
    groups: Index
    levels: Index
    upper: Mask
    weight: Array
    upper_weight: Array
    n_rows: int
    units: Units

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
        if self.units == "rows":
            return self.upper_weight * of_upper + self.weight * of_lower
        return np.add.reduceat(self.upper_weight * of_upper, self.groups[:-1])

    def auc(self, scores: ArrayLike, tolerance: float = 0.0) -> float:
        """Share of the pairs that are ranked right, ties ½; scores that differ by at most `tolerance` are tied.

        Parameters
        ----------
        scores : array of shape (n_rows,)
            ±∞ is allowed.
        tolerance : float
            At least 0.

        Raises
        ------
        AuclabError
            NaN, another length, a negative tolerance.
        """
        if not tolerance >= 0.0:
            raise AuclabError(f"tolerance must be at least 0, got {tolerance}; scores this near are tied")
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

    def taken(self, scores: ArrayLike, *, infinite: bool = False) -> Array:
        """The checked scores in the order of `rows`.

        Raises
        ------
        AuclabError
            NaN, another length, ±∞ unless `infinite`.
        """
        values = finite_vector("scores", scores, infinite=infinite)
        if values.size != self.n_rows:
            raise AuclabError(f"scores has {values.size} entries for {self.n_rows} rows; give one score for each row")
        return values[self.rows]

    def group_codes(self) -> Index:
        """Number of the group of every row."""
        return np.repeat(np.arange(self.groups.size - 1), np.diff(self.groups))


class RankedRows:
    """Comparable pairs with scores that are sorted within every group."""

    def __init__(self, pairs: ComparablePairs, scores: Array):
        self.pairs, self.scores = pairs, scores
        self.order = np.argsort(-scores)
        if pairs.groups.size > 2:
            self.order = self.order[np.argsort(pairs.group_codes()[self.order], kind="stable")]
        self.place = positions(scores, self.order, pairs.groups)

    def has_ties(self, tolerance: float) -> bool:
        """Whether any two neighbours of a group are tied, or of different groups look so."""
        ordered = self.scores[self.order]
        with np.errstate(invalid="ignore"):
            return bool(((ordered[:-1] == ordered[1:]) | (abs(ordered[:-1] - ordered[1:]) <= tolerance)).any())

    def upper_masses(self, level: float) -> Array:
        """For every upper row, the weight of the pairs with an error above a level."""
        return self.upper_moments(level, np.empty(0))[0]

    def lower_masses(self, level: float) -> Array:
        """For every lower row, the same."""
        return self.lower_moments(level, np.empty(0))[0]

    def upper_moments(self, level: float, moment: Array) -> tuple[Array, Array]:
        """`upper_masses`, and the sums of `moment` over the same lower rows."""
        at = self.pairs
        reach = reaches(self.scores, self.order, at.groups, level)
        return upper_sums(at.groups, at.levels, at.upper, self.place, reach, at.weight, moment)

    def lower_moments(self, level: float, moment: Array) -> tuple[Array, Array]:
        """`lower_masses`, and the sums of `moment` over the same upper rows."""
        at = self.pairs
        reach = reaches(self.scores, self.order, at.groups, _below(-level))
        return lower_sums(at.groups, at.levels, at.upper, self.place, reach, at.upper_weight, moment)


def graded_pairs(
    y: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    weights: GroupWeights = "pairs",
    sample_weight: ArrayLike | None = None,
) -> ComparablePairs:
    """All pairs of one group with different grades; the row with the larger grade should have the larger score.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Grades, or 0/1, −1/+1, booleans.
    groups : array of shape (n_samples,), optional
        A label of every row; one group of all rows unless given.
    weights : {"pairs", "groups"}
        Every pair weighs the same, or every group that has a pair does.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; a pair weighs the product. Integer weights act as repeated rows.

    Raises
    ------
    AuclabError
        Lengths that differ, missing grades or groups, an unknown `weights`, no pair at all.

    See Also
    --------
    grouped_auc : The share of these pairs that is ranked right.
    censored_pairs : Pairs by a time that may be censored.

    Examples
    --------
    The second group has equal grades, and is left out:

    >>> pairs = graded_pairs([1, 0, 2, 1, 1], groups=[7, 7, 7, 8, 8])
    >>> pairs.total, pairs.rows.tolist()
    (3.0, [1, 0, 2])
    """
    if weights not in ("pairs", "groups"):
        raise AuclabError(f"weights must be 'pairs' or 'groups', got {weights!r}")
    grades = finite_vector("y", y)
    labels = None if groups is None else _codes(groups)
    same_length(y=grades, groups=labels)
    weight = weight_vector(sample_weight, grades.size)
    kept = np.arange(grades.size) if weight is None else np.flatnonzero(weight > 0)
    order = kept[np.argsort(grades[kept]) if labels is None else np.lexsort((grades[kept], labels[kept]))]
    codes = np.zeros(order.size, np.int64) if labels is None else labels[order]
    units: Units = "rows" if labels is None else "groups"
    pairs = _arranged(order, codes, _changes(grades[order]), np.ones(order.size, bool), weight, grades.size, units)
    if pairs is None:
        place = "" if labels is None else " within a group"
        raise AuclabError(f"no two rows can be compared: no grades differ{place}; pairs need different values of y")
    if weights == "pairs":
        return pairs
    of_group = np.add.reduceat(pairs.upper_weight * pairs.masses[0], pairs.groups[:-1])
    return replace(pairs, upper_weight=pairs.upper_weight / of_group[pairs.group_codes()])


def censored_pairs(
    time: ArrayLike,
    event: ArrayLike,
    *,
    tied_times: TiedTimes = "excluded",
    sample_weight: ArrayLike | None = None,
) -> ComparablePairs:
    """All pairs (i, j) with an event of i at a time before that of j; i should have the larger score, a risk.

    Parameters
    ----------
    time : array of shape (n_samples,)
        Times of the event or of censoring.
    event : array of shape (n_samples,)
        Booleans or 0/1: whether the event was seen.
    tied_times : {"excluded", "censored_later"}
        Whether a row that is censored at the very time of an event counts as later, as scikit-survival and lifelines
        have it, or is not compared. Two events at one time are not compared.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; a pair weighs the product. Integer weights act as repeated rows.

    Raises
    ------
    AuclabError
        Lengths that differ, missing times, events that are not 0/1, an unknown `tied_times`, no pair at all.

    See Also
    --------
    concordance_index : The share of these pairs that is ranked right.
    graded_pairs : Pairs by grades, within groups.

    Examples
    --------
    The event at 1 is before both others. The row censored at 2 may outlive the event at 2, or not:

    >>> censored_pairs([1, 2, 2], [1, 1, 0]).total
    2.0
    >>> censored_pairs([1, 2, 2], [1, 1, 0], tied_times="censored_later").total
    3.0
    """
    if tied_times not in ("excluded", "censored_later"):
        raise AuclabError(f"tied_times must be 'excluded' or 'censored_later', got {tied_times!r}")
    times, events = finite_vector("time", time), _events(event)
    same_length(time=times, event=events)
    weight = weight_vector(sample_weight, times.size)
    kept = np.arange(times.size) if weight is None else np.flatnonzero(weight > 0)
    order = kept[np.argsort(-times[kept])]
    new_level = _changes(times[order])
    if tied_times == "censored_later" and not new_level.all():
        order = kept[np.lexsort((events[kept], -times[kept]))]
        new_level = _changes(times[order]) | _changes(events[order])
    codes = np.zeros(order.size, np.int64)
    pairs = _arranged(order, codes, new_level, events[order], weight, times.size, "rows")
    if pairs is None:
        raise AuclabError(
            f"no two rows can be compared: {int(events.sum())} of {events.size} have an event, and none of these at a "
            "time before that of another row"
        )
    return pairs


def _arranged(
    order: Index,
    codes: Index,
    new_level: Mask,
    upper: Mask,
    weight: Array | None,
    n_rows: int,
    units: Units,
) -> ComparablePairs | None:
    """The pairs of rows in order of group and level, without groups that have none; None if no group has one."""
    if not order.size:
        return None
    first = _changes(codes)
    group, at = np.cumsum(first) - 1, np.arange(order.size)
    start, level = (np.maximum.accumulate(np.where(new, at, 0)) for new in (first, new_level | first))
    has_pair = np.zeros(group[-1] + 1, bool)
    has_pair[group[upper & (level > start)]] = True
    if not has_pair.any():
        return None
    kept = has_pair[group]
    if not kept.all():
        level = (level - np.cumsum(~kept)[level])[kept]
        order, upper, first = order[kept], upper[kept], first[kept]
    # Powers of two keep products of weights in range.
    share = np.ones(order.size) if weight is None else np.ldexp(weight[order], -math.frexp(weight.max())[1])
    return ComparablePairs(
        order, np.append(np.flatnonzero(first), order.size), level, upper, share, share, n_rows, units
    )


def _changes(values: NDArray[np.generic]) -> Mask:
    """Where a value differs from the one before; True at the first."""
    changed = np.ones(values.size, bool)
    changed[1:] = values[1:] != values[:-1]
    return changed


def _codes(groups: ArrayLike) -> Index:
    """Groups as whole numbers."""
    refuse_masked("groups", groups)
    labels = np.asarray(groups)
    if labels.ndim != 1 or labels.size == 0:
        raise AuclabError(f"groups must be a non-empty one-dimensional array, got shape {labels.shape}")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise AuclabError(f"groups contain NaN (first at position {int(np.isnan(labels).argmax())}); drop those rows")
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)
    except TypeError as error:  # None, or numbers and text
        raise AuclabError("groups must be of one kind, numbers or text; drop rows without a group") from error


def _events(event: ArrayLike) -> Mask:
    """Booleans from 0/1."""
    refuse_masked("event", event)
    values = np.asarray(event)
    if values.dtype.kind != "b":
        numbers = finite_vector("event", event)
        if not np.isin(numbers, (0.0, 1.0)).all():
            raise AuclabError(f"event must be booleans or 0/1, got {numbers[~np.isin(numbers, (0.0, 1.0))][0]:g}")
        values = numbers == 1.0
    if values.ndim != 1 or values.size == 0:
        raise AuclabError(f"event must be a non-empty one-dimensional array, got shape {values.shape}")
    return values


def _below(level: float) -> float:
    """The next smaller double: what is above it is at or above the level."""
    return math.nextafter(level, -math.inf)
