"""What a preprocessing needs to know of the columns of a table in blocks: found where the rows are read, and added.

The scalers of scikit-learn have `partial_fit`, which takes rows whose gaps are filled, one block after the other: it
would cost a pass more, in one process. Counts and moments of blocks are added in the same order for any number of
workers, and gaps are filled afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.datasets.block_medians import MedianSample, block_medians
from auclab.datasets.labels import label_text
from auclab.samples.blocks.mixed_rows import MixedRows
from auclab.samples.blocks.row_forms import categories_of, numbers_of
from auclab.samples.blocks.table import BlockTable
from auclab.samples.blocks.tree import tree_sum
from auclab.sizes import AT_ONCE, BLOCK_ROWS
from auclab.types import Array, AuclabError
from auclab.validation import LARGEST_SQUARED


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
            if len(counted) > AT_ONCE:
                raise AuclabError(
                    f"a column of categories has more than {AT_ONCE} different values, such as "
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
    sampled = -(-BLOCK_ROWS // max(len(table.blocks), 1))
    statistics: TableStatistics = tree_sum(table.run(_statistics_of, repeat(sampled, len(table.blocks))))
    _refuse_sizes(table, statistics.numbers)
    return statistics


def table_medians(table: BlockTable, statistics: TableStatistics) -> Array:
    """Medians of the columns of numbers; 0 for one without any value."""
    return block_medians(lambda task: table.run(_on_numbers, repeat(task, len(table.blocks))), statistics.sample)


def number_columns(table: BlockTable) -> list[str]:
    """Names of the columns that are not categories."""
    return [name for name in table.columns if name not in table.nominal]


def _on_numbers(rows: Array | MixedRows, task: Callable[[Array], Any]) -> Any:
    """A task."""
    return task(numbers_of(rows))


def _statistics_of(rows: Array | MixedRows, sampled: int) -> TableStatistics:
    """A task."""
    numbers = numbers_of(rows)
    categories = tuple(_counted(*each) for each in categories_of(rows))
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


def _refuse_sizes(table: BlockTable, numbers: NumberStatistics) -> None:
    """Reject ±∞ and numbers whose squares a variance could not hold."""
    largest = np.maximum(np.abs(numbers.low), np.abs(numbers.high))
    for name, size, count in zip(number_columns(table), largest, numbers.count, strict=True):
        if not count:
            continue
        if np.isinf(size):
            raise AuclabError(
                f"column {name!r}: the blocks contain an infinite value: repair the files, or drop the column"
            )
        if size > LARGEST_SQUARED:
            raise AuclabError(
                f"column {name!r} has values above {LARGEST_SQUARED:.0e} in size, whose squares are too large for "
                "doubles: divide the column, or drop it"
            )
