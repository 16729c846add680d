"""Pairs given by bicliques.

A biclique is every row of an upper side with every row of a lower side. Rows are sorted by level within their group,
and halved between two distinct levels; every pair is either across the cut, which is one biclique, or inside a half (at
most m log₂ m entries for any number of pairs).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab._core.base import Array, AuclabError, GroupWeights
from auclab._core.bicliques import blocks_in_order, halved_sides, sizes_of_bicliques, sorted_blocks
from auclab._core.forms import as_column, distinct
from auclab._core.smooth import Index
from auclab._core.validation import check_choice, finite_vector, is_text, positive_mask, weight_vector

#: Whether a row censored at the time of an event is compared with it.
TiedTimes = Literal["excluded", "censored_later"]


class Side(NamedTuple):
    """One side of all bicliques, the rows of each in ascending order of their scores.

    `rows` and `scores` of biclique k are those from ``starts[k]`` to ``starts[k + 1]``; a number is subtracted from the
    scores of each biclique, which cancels in its pairs. `share` are the weights: that of a pair is the product of two.
    """

    rows: Index
    starts: NDArray[np.int64]
    scores: Array
    share: Array


def sums_of_rows(side: Side, values: Array, n_rows: int) -> Array:
    """The sums ``share · values`` of the entries of every row, shape (n_rows,).

    Examples
    --------
    >>> side = Side(np.array([1, 1, 0]), np.array([0, 1, 3]), np.zeros(3), np.array([0.5, 1.0, 2.0]))
    >>> sums_of_rows(side, np.array([2.0, 3.0, 4.0]), 2).tolist()
    [8.0, 4.0]
    """
    return np.bincount(side.rows, side.share * values, n_rows).astype(float, copy=False)


@dataclass(frozen=True, eq=False)
class LevelPairs:
    """Pairs ``(i, j)`` of one group with ``level_i > level_j`` and i a winner; weights ``s_i s_j``, scaled to sum 1.

    `winners` (n_rows,): the rows that may be the upper one of a pair: all, or those with an event. `groups` (n_rows,):
    the number of each row's group, from 0 on. `weights` (n_rows,): s ≥ 0. `kind`: why rows are compared, for messages.
    `group_weights`: whether all weights are divided by one sum, or those of each group by its own sum and the number of
    groups.
    """

    levels: Array
    winners: NDArray[np.bool_]
    groups: NDArray[np.intp]
    weights: Array
    kind: Literal["groups", "grades", "times"]
    group_weights: GroupWeights = "pairs"

    def __post_init__(self) -> None:
        if not self._tree.sizes.size:
            raise AuclabError(f"no two rows can be compared: a pair needs {_NEEDED[self.kind]}, and weights above 0")

    def __repr__(self) -> str:
        return f"LevelPairs({self.n_pairs} pairs of {self.n_rows} rows, kind={self.kind!r})"

    @property
    def n_rows(self) -> int:
        """Number of rows, including those without a pair."""
        return int(self.weights.size)

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self._tree.sizes[:, 0] @ self._tree.sizes[:, 1])

    @cached_property
    def n_groups(self) -> int:
        """Number of groups that have a pair."""
        return int(np.unique(self._tree.owners).size)

    @cached_property
    def shares(self) -> tuple[Array, Array]:
        """The weight of all pairs of a row, as the upper and as the lower one; two arrays of shape (n_rows,)."""
        masses, every = [], list(zip(self._any_order, self._tree.sizes.T, strict=True))
        for rows, counts in every:
            masses.append(np.add.reduceat(self.weights[rows], np.cumsum(counts) - counts))
        upper, lower = (
            np.bincount(rows, self.weights[rows] * np.repeat(self._factors * mass, counts), self.n_rows).astype(float)
            for (rows, counts), mass in zip(every, masses[::-1], strict=True)
        )
        return upper, lower

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any], Array]:
        """Every pair: the upper rows, the lower rows, and the weights; for small samples."""
        upper, lower = self.sorted_by(np.zeros(self.n_rows))
        sizes = self._tree.sizes[:, 0] * self._tree.sizes[:, 1]
        biclique = np.repeat(np.arange(sizes.size), sizes)
        number = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        above, below = np.divmod(number, self._tree.sizes[biclique, 1])
        i, j = upper.starts[biclique] + above, lower.starts[biclique] + below
        return upper.rows[i], lower.rows[j], upper.share[i] * lower.share[j]

    def sorted_by(self, scores: Array) -> tuple[Side, Side]:
        """The upper and the lower sides for scores of shape (n_rows,); O(m log m)."""
        tree, starts = self._tree, [np.r_[0, np.cumsum(counts)] for counts in self._tree.sizes.T]
        bounds = tree.ends[tree.blocks]
        if bounds[-1] <= _SHORT * (bounds.size - 1):
            rows, values = sorted_blocks(self.by_level.order, scores, bounds)
        else:
            rows, values = blocks_in_order(np.argsort(scores), scores, tree.places, bounds)
        rows_upper, upper, rows_lower, lower = self._halved(rows, values)
        factors = np.repeat(self._factors, np.diff(starts[0]))
        share_upper = factors if self._has_equal_weights else factors * self.weights[rows_upper]
        share_lower = np.ones(lower.size) if self._has_equal_weights else self.weights[rows_lower]
        return Side(rows_upper, starts[0], upper, share_upper), Side(rows_lower, starts[1], lower, share_lower)

    @cached_property
    def by_level(self) -> ByLevel:
        """The rows with a weight in ascending order of group and level."""
        used = np.flatnonzero(self.weights > 0)
        groups, levels = self.groups[used], self.levels[used]
        order = np.lexsort((levels, groups)) if groups.any() else np.argsort(levels)
        groups, levels = groups[order], levels[order]
        other_group = groups[1:] != groups[:-1]
        cuts = np.flatnonzero(np.r_[True, other_group | (levels[1:] != levels[:-1])][: used.size])
        blocks = np.flatnonzero(np.r_[True, np.diff(groups[cuts]) != 0][: cuts.size])
        return ByLevel(used[order], np.r_[cuts, used.size], np.r_[blocks, cuts.size])

    def thinned(self, size: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], LevelPairs] | None:
        """About `size` rows and the pairs among them, or None if there are none; whole groups if there are many.

        Returned `rows`: which rows. `bicliques`: of these rows.
        """
        n_groups, part = int(self.groups.max()) + 1, size / self.n_rows
        if n_groups * part >= _FEWEST_GROUPS:
            chosen = (generator.random(n_groups) < part)[self.groups]
        else:
            chosen = generator.random(self.n_rows) < part
        rows = np.flatnonzero(chosen)
        try:
            return rows, LevelPairs(
                self.levels[rows], self.winners[rows], self.groups[rows], self.weights[rows],
                self.kind, self.group_weights,
            )  # fmt: skip
        except AuclabError:
            return None

    @cached_property
    def _has_equal_weights(self) -> bool:
        return bool((self.weights == 1.0).all())

    @cached_property
    def _tree(self) -> _Tree:
        """The tree of halves, which does not depend on the scores."""
        order, ends, blocks = self.by_level
        if not order.size:
            return _Tree(order, blocks, ends, np.empty((0, 2), np.int64), order)
        places = np.full(self.n_rows, -1, dtype=np.int32)
        places[order] = np.arange(order.size)
        sizes, owners = sizes_of_bicliques(blocks, ends, np.r_[0, np.cumsum(self.winners[order])])
        return _Tree(places, blocks, ends, sizes, owners)

    @cached_property
    def _factors(self) -> Array:
        """The factor of the weights of every biclique."""
        tree, of_each = self._tree, np.ones(len(self._tree.sizes))
        for rows, counts in zip(self._any_order, tree.sizes.T, strict=True):
            of_each = of_each * np.add.reduceat(self.weights[rows], np.cumsum(counts) - counts)
        if self.group_weights == "pairs":
            return np.full(of_each.size, 1.0 / float(of_each.sum()))
        of_group = np.bincount(tree.owners, of_each)
        return np.asarray(1.0 / (of_group[tree.owners] * np.count_nonzero(of_group)))

    @property
    def _any_order(self) -> tuple[Index, Index]:
        """The rows of the sides, in no particular order within a biclique."""
        rows = self.by_level.order.astype(np.int32)
        upper, _, lower, _ = self._halved(rows, np.zeros(rows.size))
        return upper, lower

    def _halved(self, rows: Index, values: Array) -> tuple[Index, Array, Index, Array]:
        """Rows and scores of the upper and of the lower sides, from those of every group in some order."""
        tree, (n_upper, n_lower) = self._tree, self._tree.sizes.sum(axis=0).tolist()
        return halved_sides(rows, values, tree.places, tree.blocks, tree.ends, self.winners, n_upper, n_lower)


class ByLevel(NamedTuple):
    """Rows in ascending order of group and level.

    A level is from ``ends[c]`` to ``ends[c + 1]``, and a group has the levels from ``blocks[g]`` to ``blocks[g + 1]``.
    """

    order: NDArray[np.int64]
    ends: NDArray[np.int64]
    blocks: NDArray[np.int64]


class _Tree(NamedTuple):
    """The halves of rows in the order of `ByLevel`.

    `places` has the place of every row, −1 without weight; `blocks` and `ends` are those of `ByLevel`. `sizes` of shape
    (n_bicliques, 2) are those of the upper and lower sides, `owners` the groups they are from.
    """

    places: NDArray[Any]
    blocks: NDArray[np.int64]
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]
    owners: NDArray[np.int64]


#: Mean size of groups up to which each is sorted separately.
_SHORT = 30
#: Least number of groups in a subsample of whole groups; with fewer, rows are drawn.
_FEWEST_GROUPS = 100
_NEEDED = {
    "groups": "two rows of one group with different y",
    "grades": "two different values of y",
    "times": "an event before the time of another row",
}


def ordered_pairs(
    y: ArrayLike,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    group_weights: GroupWeights = "pairs",
    pos_label: Any = None,
) -> LevelPairs:
    """The pairs (i, j) with ``y_i > y_j``, and of one group if there are groups; row i should have the larger score.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Classes or grades; equal grades are not compared.
    groups : array of shape (n_samples,), optional
        Group of each row, numbers or text.
    sample_weight : array of shape (n_samples,), optional
        Weights ≥ 0; the weight of a pair is the product of both.
    group_weights : {"pairs", "groups"}
        Whether every pair has the same weight, or every group that has a pair.
    pos_label : optional
        The label of the positive class, for two classes that are not numbers.

    Raises
    ------
    AuclabError
        No pair at all, NaN, or lengths that differ.

    See Also
    --------
    censored_pairs : Times that may be censored.

    Examples
    --------
    Grades 0, 1, 2 have three pairs; in the groups a, a, b one is left:

    >>> ordered_pairs([0, 1, 2]).n_pairs, ordered_pairs([0, 1, 2], ["a", "a", "b"]).n_pairs
    (3, 1)
    """
    if pos_label is not None or is_text(as_column("y", y)):
        grades = positive_mask(y, pos_label).astype(np.float64)
    else:
        grades = finite_vector("y", y)
    numbers = group_numbers(groups, grades.size)
    weights = weights_of_rows(sample_weight, numbers, group_weights)
    winners = np.ones(grades.size, dtype=np.bool_)
    return LevelPairs(grades, winners, numbers, weights, "grades" if groups is None else "groups", group_weights)


def censored_pairs(
    time: ArrayLike,
    event: ArrayLike,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    group_weights: GroupWeights = "pairs",
    tied_times: TiedTimes = "excluded",
) -> LevelPairs:
    """The pairs (i, j) with an event at i and ``time_i < time_j``: row i should have the larger score, a risk.

    Parameters
    ----------
    time : array of shape (n_samples,)
        Time of the event or of censoring.
    event : array of shape (n_samples,)
        Whether the event was observed, 0/1 or booleans.
    groups, sample_weight, group_weights
        As in `ordered_pairs`; pairs are of one stratum if there are groups.
    tied_times : {"excluded", "censored_later"}
        How to treat a row censored at the time of an event: not compared with it, or counted as later, as in
        scikit-survival and lifelines. Two events at the same time are not compared.

    Raises
    ------
    AuclabError
        No pair at all, an `event` that is neither 0/1 nor boolean, an unknown `tied_times`, NaN, lengths that differ.

    See Also
    --------
    ordered_pairs : Classes and grades.

    Examples
    --------
    The second row is censored at 2: it outlived the first row and cannot be compared with the third.

    >>> censored_pairs([1.0, 2.0, 3.0], [1, 0, 1]).n_pairs   # (1, 2) and (1, 3)
    2

    A row censored at the time of an event may have outlived it, or not:

    >>> censored_pairs([1, 2, 2], [1, 1, 0]).n_pairs
    2
    >>> censored_pairs([1, 2, 2], [1, 1, 0], tied_times="censored_later").n_pairs
    3
    """
    if tied_times not in ("excluded", "censored_later"):
        raise AuclabError(f"tied_times must be 'excluded' or 'censored_later', got {tied_times!r}")
    times, events = checked_times(time, event)
    numbers = group_numbers(groups, times.size)
    weights = weights_of_rows(sample_weight, numbers, group_weights)
    if tied_times == "censored_later":
        times = np.asarray(2.0 * np.unique(times, return_inverse=True)[1] + ~events, dtype=np.float64)
    return LevelPairs(-times, events, numbers, weights, "times", group_weights)


def checked_times(time: ArrayLike, event: ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    """Times, and whether the event of each row was observed."""
    times = finite_vector("time", time)
    events = finite_vector("event", event)
    if events.size != times.size:
        raise AuclabError(f"event has {events.size} entries, but there are {times.size} times")
    if not ((events == 0) | (events == 1)).all():
        raise AuclabError("event must be 0 or 1, or a boolean, for every row: 1 where the event was observed")
    return times, events == 1


def group_numbers(groups: ArrayLike | None, size: int) -> NDArray[np.intp]:
    """The number of the group of every row, shape (size,), in ascending order of the labels; 0 without groups."""
    if groups is None:
        return np.zeros(size, dtype=np.intp)
    labels = as_column("groups", groups)
    if labels.size != size:
        raise AuclabError(f"groups has {labels.size} entries for {size} rows; give a group for each row")
    return np.asarray(distinct("groups", labels, return_inverse=True)[1])


def weights_of_rows(sample_weight: ArrayLike | None, groups: NDArray[np.intp], group_weights: str) -> Array:
    """The weights times a power of 2, one for every group whose weights have a sum of their own.

    The largest is then in [1, 2), so that the sum of the products is in the range of floats; weights below 2⁻⁵⁰⁰ are 0.
    """
    check_choice("group_weights", group_weights, ("pairs", "groups"))
    weights = weight_vector(sample_weight, groups.size)
    if weights is None:
        return np.ones(groups.size)
    of_sums = groups if group_weights == "groups" else np.zeros_like(groups)
    largest = np.zeros(int(of_sums.max(initial=0)) + 1)
    np.maximum.at(largest, of_sums, weights)
    scaled = np.ldexp(weights, 1 - np.frexp(largest)[1][of_sums])
    return np.where(scaled < 2.0**-500, 0.0, scaled)
