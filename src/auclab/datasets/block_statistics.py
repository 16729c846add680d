"""What preprocessing needs to know of rows in blocks: moments, medians, categories, in passes over the blocks.

The scalers of scikit-learn have `partial_fit`, which takes rows whose gaps are filled, one block after the other: it
would cost a pass more, in one process. Counts and moments of blocks are added in the same order for any number of
workers, and gaps are filled afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError
from auclab._core.validation import LARGEST_SQUARED
from auclab.datasets.labels import label_text
from auclab.samples.blocks.files import table_sum
from auclab.samples.blocks.labels import LabelledRows
from auclab.samples.blocks.row_forms import EncodedRows, MixedRows, categories_of, norms, numbers_of, times
from auclab.samples.blocks.table import BlockTable

if TYPE_CHECKING:
    import scipy.sparse as sp

#: Different values that a column of categories may have; rows that stand for the table when its medians are sought.
MOST_CATEGORIES, SAMPLE_ROWS = 1_048_576, 131_072


@dataclass(frozen=True)
class NumberStatistics:
    """Counts, ranges and moments of columns of numbers, one entry a column; `a + b` is that of both.

    `count`, `nonzero`: values that are not missing, and those of them that are not 0. `low`, `high`: ±∞ the wrong way
    round where a column has no value. `mean`, `squares`: mean, and ``Σ (x − mean)²``.
    """

    count: NDArray[np.int64]
    nonzero: NDArray[np.int64]
    low: Array
    high: Array
    mean: Array
    squares: Array

    @classmethod
    def of(cls, numbers: Array) -> NumberStatistics:
        """Of some rows, shape (n_rows, n_columns), NaN where a value is missing."""
        parts = [_moments(numbers[:, k]) for k in range(numbers.shape[1])]
        columns = list(zip(*parts, strict=True)) if parts else [()] * 6
        whole, real = [np.array(columns[k], np.int64) for k in (0, 1)], [np.array(columns[k]) for k in range(2, 6)]
        return cls(whole[0], whole[1], real[0], real[1], real[2], real[3])

    def __add__(self, other: NumberStatistics) -> NumberStatistics:
        """Chan, Golub and LeVeque (1983)."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        apart = other.mean - self.mean
        return NumberStatistics(
            count,
            self.nonzero + other.nonzero,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.mean + apart * share,
            self.squares + other.squares + apart**2 * self.count * share,
        )

    def filled(self, n_rows: int, fill: Array) -> NumberStatistics:
        """With the values that are missing among `n_rows` in place."""
        missing = n_rows - self.count
        some = missing > 0
        mean, zero = np.where(some, fill, 0.0), np.zeros_like(self.mean)
        low, high = np.where(some, fill, np.inf), np.where(some, fill, -np.inf)
        return self + NumberStatistics(missing, missing * (fill != 0), low, high, mean, zero)


@dataclass(frozen=True)
class TableStatistics:
    """What one pass over a table finds.

    `categories`: for every column of categories how often each value occurs, as text. `sample`: of the numbers.
    """

    n_rows: int
    numbers: NumberStatistics
    categories: tuple[Counter[str], ...]
    sample: MedianSample

    def __add__(self, other: TableStatistics) -> TableStatistics:
        categories = tuple(a + b for a, b in zip(self.categories, other.categories, strict=True))
        for counted in categories:
            if len(counted) > MOST_CATEGORIES:
                raise AuclabError(
                    f"a column of categories has more than {MOST_CATEGORIES} different values, such as "
                    f"{next(iter(counted))!r}: drop it with dataset.drop"
                )
        sample = self.sample + other.sample
        return TableStatistics(self.n_rows + other.n_rows, self.numbers + other.numbers, categories, sample)

    @property
    def with_gaps(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which numbers, and which categories, have missing values."""
        counted = np.array([counter.total() for counter in self.categories], dtype=np.int64)
        return self.numbers.count < self.n_rows, counted < self.n_rows


def table_statistics(table: BlockTable) -> TableStatistics:
    """One pass over a table that has not been encoded."""
    sampled = -(-SAMPLE_ROWS // max(len(table.blocks), 1))
    statistics: TableStatistics = table_sum(partial(_statistics_of, sampled), table)
    largest = np.maximum(np.abs(statistics.numbers.low), np.abs(statistics.numbers.high))
    largest[statistics.numbers.count == 0] = 0.0
    for name, size in zip(number_columns(table), largest, strict=True):
        if size > LARGEST_SQUARED:
            what = "an infinite value" if np.isinf(size) else f"values above {LARGEST_SQUARED:.0e} in size"
            raise AuclabError(f"column {name!r}: the blocks contain {what}: repair the files, or drop the column")
    return statistics


def table_medians(table: BlockTable, statistics: TableStatistics) -> Array:
    """Medians of the columns of numbers; 0 for one without any value."""
    return block_medians(lambda task: table_sum(partial(_on_numbers, task), table), statistics.sample)


def number_columns(table: BlockTable) -> list[str]:
    """Names of the columns that are not categories."""
    return [name for name in table.columns if name not in table.nominal]


def _on_numbers(task: Callable[[Array], Any], block: LabelledRows) -> Any:
    """A task."""
    return task(numbers_of(block.rows))


def _statistics_of(sampled: int, block: LabelledRows) -> TableStatistics:
    """A task."""
    numbers = numbers_of(block.rows)
    categories = tuple(_counted(*each) for each in categories_of(block.rows))
    return TableStatistics(len(numbers), NumberStatistics.of(numbers), categories, MedianSample.of(numbers, sampled))


def _counted(codes: NDArray[np.int32], values: Sequence[Any]) -> Counter[str]:
    counts = np.bincount(codes[codes >= 0], minlength=len(values)).tolist()
    counter: Counter[str] = Counter()
    for value, count in zip(values, counts, strict=True):
        if count:
            counter[label_text(value)] += count
    return counter


def _moments(column: Array) -> tuple[int, int, float, float, float, float]:
    """Count, nonzero, low, high, mean and squares of a column."""
    values = column
    if np.isnan(column.sum()):  # or +∞ − ∞
        values = column[~np.isnan(column)]
    if not values.size:
        return 0, 0, np.inf, -np.inf, 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    nonzero = int(np.count_nonzero(values))
    if not (abs(low) <= LARGEST_SQUARED and abs(high) <= LARGEST_SQUARED):  # refused after the pass
        return values.size, nonzero, low, high, 0.0, 0.0
    mean = float(values.mean())
    apart = values - mean
    # The second term corrects what the rounding of the mean costs.
    squares = float(apart @ apart) - float(apart.sum()) ** 2 / values.size
    return values.size, nonzero, low, high, mean, max(squares, 0.0)


#: One pass over the blocks: ``run(task)`` is the sum of ``task(rows)`` over all of them.
Run = Callable[[Callable[[Array], Any]], Any]

#: Different values of a column that are gathered at once; more are counted in `PARTS` parts of their bracket.
MOST_GATHERED, PARTS = SAMPLE_ROWS, 4096

_SIGN = np.uint64(1) << np.uint64(63)


def block_medians(run: Run, sample: MedianSample) -> Array:
    """Medians of the values that are not NaN, one for each column; 0 for a column without values.

    One pass, or one or two more where many different values lie near the middle. A bracket that the sample got wrong
    costs passes and no accuracy.

    `run`: ``run(task)`` is the sum of ``task(rows)`` over the blocks, rows of shape (n_rows, n_columns). `sample`: of
    the same blocks. Returns: those of ``np.nanmedian``, to the last bit.
    """
    n_columns = len(sample.keys)
    brackets = [_bracket(keys, count) for keys, count in zip(sample.keys, sample.counts, strict=True)]
    found: dict[int, float] = {k: 0.0 for k, count in enumerate(sample.counts) if not count}
    while len(found) < n_columns:
        columns = [k for k in range(n_columns) if k not in found]
        wanted = [brackets[k] for k in columns]
        inside: list[_Inside] = run(partial(_look, columns=columns, brackets=wanted)).parts
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


@dataclass(frozen=True)
class CategoryColumns:
    """Which column of zeros and ones a category becomes; −1 stands for none.

    `known`: values as text, with their columns. `missing`: the column of missing values, that of the most frequent
    value. `other`: the column of all values that are not `known`.
    """

    known: tuple[tuple[str, int], ...]
    missing: int
    other: int

    def columns_of(self, codes: NDArray[np.int32], values: tuple[Any, ...]) -> NDArray[np.int32]:
        """The column of every row; `codes` and `values` as in `auclab.samples.blocks.row_forms.MixedRows`."""
        places = dict(self.known)
        columns = [places.get(label_text(value), self.other) for value in values]
        return np.array([*columns, self.missing], dtype=np.int32)[codes]


@dataclass(frozen=True)
class BlockEncoding:
    """Medians, columns of zeros and ones, marks of gaps, a choice of columns, a scale, and a ball, fitted elsewhere.

    The order of the columns is that of memory: numbers, categories, marks of gaps.

    `fill`: for every number what a missing value becomes. `categories`: columns count from 0 over the columns of zeros
    and ones that are kept. `gaps`: for every mark of gaps that is kept, whether it is of a number, and of which, or of
    which category. `numbers`: the numbers that are kept. `n_onehot`: columns of zeros and ones that are kept. `shift`,
    `factor`: ``(x − shift) · factor`` of every column that is kept. `ball`: radius and margin of
    `auclab.datasets.preprocess.UnitBall`.
    """

    fill: tuple[float, ...]
    categories: tuple[CategoryColumns, ...]
    gaps: tuple[tuple[bool, int], ...]
    numbers: tuple[int, ...]
    n_onehot: int
    shift: tuple[float, ...]
    factor: tuple[float, ...]
    ball: tuple[float, float] | None = None

    def apply(self, rows: Array | MixedRows) -> Array | EncodedRows:
        """The rows as numbers; an array of numbers may be changed in place."""
        numbers, categories = numbers_of(rows), categories_of(rows)
        missing = np.isnan(numbers)
        marks = [missing[:, k] if number else categories[k][0] < 0 for number, k in self.gaps]
        where = np.nonzero(missing)
        if where[0].size:
            numbers[where] = np.asarray(self.fill)[where[1]]
        if self.numbers != tuple(range(numbers.shape[1])):
            numbers = np.asfortranarray(numbers[:, list(self.numbers)])
        if marks:
            numbers = np.asfortranarray(np.column_stack([numbers, *marks]))
        n_numbers, n_columns = len(self.numbers), len(self.shift)
        shift, factor = np.asarray(self.shift), np.asarray(self.factor)
        at_onehot = np.arange(n_numbers, n_numbers + self.n_onehot)
        at_dense = np.r_[np.arange(n_numbers), np.arange(n_numbers + self.n_onehot, n_columns)]
        numbers -= shift[at_dense]
        numbers *= factor[at_dense]
        if not self.n_onehot:
            return self._in_ball(numbers)
        onehot = self._onehot(len(rows), categories)
        return self._in_ball(EncodedRows(numbers, onehot, at_dense, at_onehot, shift[at_onehot], factor[at_onehot]))

    def _onehot(self, n_rows: int, categories: Sequence[tuple[NDArray[np.int32], tuple[Any, ...]]]) -> sp.csr_array:
        """Zeros and ones of all categories."""
        import scipy.sparse as sp

        columns = np.column_stack([each.columns_of(*of) for each, of in zip(self.categories, categories, strict=True)])
        kept = columns >= 0
        ends = np.concatenate(([0], np.cumsum(np.count_nonzero(kept, axis=1)))).astype(np.int32)
        entries = columns[kept]
        return sp.csr_array((np.ones(entries.size), entries, ends), shape=(n_rows, self.n_onehot))

    def _in_ball(self, rows: Any) -> Any:
        """Rows of a norm of at most 1, as `auclab.datasets.preprocess.UnitBall` makes them."""
        if self.ball is None:
            return rows
        radius, margin = self.ball
        return times(rows, 1.0 / (np.maximum(norms(rows), radius) * margin))
