"""Exact medians of columns that are read block by block: a sample gives brackets, and a pass what lies in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.samples.blocks.tree import tree_sum
from auclab.sizes import BLOCK_ROWS
from auclab.types import Array

#: One pass over the blocks: ``run(task)`` yields ``task(rows)`` for each of them, in the same order at every call.
Run = Callable[[Callable[[Array], Any]], Iterable[Any]]

#: Different values of a column that are gathered at once; more are counted in `PARTS` parts of their bracket.
MOST_GATHERED, PARTS = BLOCK_ROWS, 4096

_SIGN = np.uint64(1) << np.uint64(63)


def block_medians(run: Run, sample: MedianSample) -> Array:
    """Medians of the values that are not NaN, one for each column; 0 for a column without values.

    One pass, or one or two more where many different values lie near the middle. A bracket that the sample got wrong
    costs passes and no accuracy.

    `run`: ``run(task)`` yields ``task(rows)`` for every block, rows of shape (n_rows, n_columns), the same at every
    call. `sample`: of the same blocks. Returns: those of ``np.nanmedian``, to the last bit.
    """
    n_columns = len(sample.keys)
    brackets = [_bracket(keys, count) for keys, count in zip(sample.keys, sample.counts, strict=True)]
    found: dict[int, float] = {k: 0.0 for k, count in enumerate(sample.counts) if not count}
    while len(found) < n_columns:
        columns = [k for k in range(n_columns) if k not in found]
        wanted = [brackets[k] for k in columns]
        inside: list[_Inside] = tree_sum(run(partial(_look, columns=columns, brackets=wanted))).parts
        for k, part in zip(columns, inside, strict=True):
            value = _narrowed(part, brackets, k, int(sample.counts[k]))
            if value is not None:
                found[k] = value
    return np.array([found[k] for k in range(n_columns)])


@dataclass(frozen=True)
class MedianSample:
    """Values of some rows of every column as ordered whole numbers; `a + b` is that of both.

    `counts` (n_columns,): how many values every column has.
    """

    keys: tuple[NDArray[np.uint64], ...]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Array, size: int) -> MedianSample:
        """About `size` evenly spaced rows of a block, and counts of all."""
        some = rows[:: max(1, len(rows) // max(size, 1))]
        counts = [np.count_nonzero(~np.isnan(rows[:, k])) for k in range(rows.shape[1])]
        keys = tuple(_keys(some[:, k][~np.isnan(some[:, k])]) for k in range(rows.shape[1]))
        return cls(keys, np.array(counts, np.int64))

    def __add__(self, other: MedianSample) -> MedianSample:
        keys = tuple(np.concatenate(pair) for pair in zip(self.keys, other.keys, strict=True))
        return MedianSample(keys, self.counts + other.counts)


@dataclass(frozen=True)
class _Inside:
    """What lies in a bracket: values with their counts, or counts of equal parts of it; and how many lie below."""

    below: int
    keys: NDArray[np.uint64] | None
    counts: NDArray[np.int64]

    def __add__(self, other: _Inside) -> _Inside:
        below = self.below + other.below
        if self.keys is None or other.keys is None:
            return _Inside(below, None, self.counts + other.counts)
        keys, place = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([self.counts, other.counts]), minlength=keys.size)
        return _Inside(below, keys, counts.astype(np.int64))


@dataclass(frozen=True)
class _AllInside:
    parts: list[_Inside]

    def __add__(self, other: _AllInside) -> _AllInside:
        return _AllInside([a + b for a, b in zip(self.parts, other.parts, strict=True)])


@dataclass(frozen=True)
class _Bracket:
    """Keys from `low` to `high`, both included; gathered if few values are expected there, else counted in parts."""

    low: int
    high: int
    gather: bool

    @property
    def width(self) -> int:
        """Keys of a part."""
        return (self.high - self.low) // PARTS + 1


def _bracket(keys: NDArray[np.uint64], count: int) -> _Bracket:
    """Where the middle of `count` values is by a sample of them: six standard errors to either side."""
    if not keys.size:
        return _Bracket(0, 2**64 - 1, gather=count <= MOST_GATHERED)
    keys = np.sort(keys)
    reach = 3.0 * keys.size**0.5 + 1.0
    first, last = 0.5 * keys.size - reach, 0.5 * keys.size + reach
    low = int(keys[int(first)]) if first >= 0 else 0
    high = int(keys[int(last)]) if last < keys.size else 2**64 - 1
    expected = count * (min(last, keys.size) - max(first, 0)) / keys.size
    return _Bracket(low, high, gather=expected <= MOST_GATHERED)


def _look(rows: Array, columns: Sequence[int], brackets: Sequence[_Bracket]) -> _AllInside:
    """A task: what lies in the bracket of every column."""
    return _AllInside([_look_at(rows[:, k], bracket) for k, bracket in zip(columns, brackets, strict=True)])


def _look_at(values: Array, bracket: _Bracket) -> _Inside:
    keys = _keys(values[~np.isnan(values)])
    low, high = np.uint64(bracket.low), np.uint64(bracket.high)
    below = int(np.count_nonzero(keys < low))
    keys = keys[(keys >= low) & (keys <= high)]
    if bracket.gather:
        distinct, counts = np.unique(keys, return_counts=True)
        return _Inside(below, distinct, counts)
    parts = ((keys - low) // np.uint64(bracket.width)).astype(np.int64)
    return _Inside(below, None, np.bincount(parts, minlength=PARTS))


def _narrowed(inside: _Inside, brackets: list[_Bracket], k: int, count: int) -> float | None:
    """The median of column k, or None and a better bracket."""
    bracket = brackets[k]
    ranks = [(count - 1) // 2 - inside.below, count // 2 - inside.below]
    reached = np.cumsum(inside.counts)
    total = int(reached[-1]) if reached.size else 0
    if ranks[0] < 0 or ranks[1] >= total:  # the sample misled: the other side, and what is known
        low = 0 if ranks[0] < 0 else bracket.low
        high = 2**64 - 1 if ranks[1] >= total else bracket.high
        brackets[k] = _Bracket(low, high, gather=count <= MOST_GATHERED)
        return None
    places = np.searchsorted(reached, ranks, side="right")
    if inside.keys is not None:
        return _middle(*_values(inside.keys[places]).tolist())
    low, high = bracket.low + int(places[0]) * bracket.width, bracket.low + (int(places[1]) + 1) * bracket.width - 1
    held = int(inside.counts[places[0] : places[1] + 1].sum())
    brackets[k] = _Bracket(low, min(high, bracket.high), gather=held <= MOST_GATHERED or low == high)
    return None


def _middle(low: float, high: float) -> float:
    """As NumPy takes it."""
    if low == high:
        return low
    with np.errstate(over="ignore"):
        total = low + high
    return 0.5 * total if np.isfinite(total) else 0.5 * low + 0.5 * high


def _keys(values: Array) -> NDArray[np.uint64]:
    """Whole numbers in the order of the values."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(keys: NDArray[np.uint64]) -> Array:
    """The inverse of `_keys`."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)
