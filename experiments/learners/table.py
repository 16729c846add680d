"""A data set in the forms that the learners read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from auclab.datasets import load

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """A data set.

    `cells`, shape (rows, features), has the values of numeric features and the numbers 0, 1, … of the values of nominal
    ones, NaN where missing; `arity` is the number of values of a nominal feature, 0 of a numeric one. `columns`, shape
    (rows, columns), has nominal features as indicators (one for two values); `owner` is the feature of a column.
    """

    labels: Mask
    cells: Floats
    arity: Integers
    columns: Floats
    owner: Integers

    @property
    def n_features(self) -> int:
        """Features before any is removed."""
        return self.cells.shape[1]

    @classmethod
    def of(cls, labels: Mask, cells: Floats, arity: Integers) -> Table:
        """From cells; the indicators follow.

        Examples
        --------
        >>> table = Table.of(np.array([True, False]), np.array([[2.0, 0.5], [np.nan, 1.5]]), np.array([3, 0]))
        >>> table.columns.tolist(), table.owner.tolist()
        ([[0.0, 0.0, 1.0, 0.5], [nan, nan, nan, 1.5]], [0, 0, 0, 1])
        """
        blocks = [_block(cells[:, feature], int(count)) for feature, count in enumerate(arity)]
        owner = np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])
        return cls(labels, np.ascontiguousarray(cells), arity, np.hstack(blocks), owner)


def _block(cells: Floats, arity: int) -> Floats:
    if not arity:
        return cells[:, None]
    missing = np.isnan(cells)
    indicators = np.eye(arity)[:, int(arity == 2) :]
    return np.where(missing[:, None], np.nan, indicators[np.where(missing, 0, cells).astype(int)])


def read_table(name: str) -> Table:
    """A data set of `auclab.datasets` by its name."""
    data = load(name)
    cells, arity = [], []
    for column in data.frame.columns:
        series = data.frame[column]
        codes, distinct = series.factorize(sort=True)
        nominal = column in data.nominal
        cells.append(np.where(codes < 0, np.nan, codes) if nominal else series.to_numpy(float))
        arity.append(len(distinct) if nominal else 0)
    return Table.of(np.asarray(data.y) > 0, np.column_stack(cells).astype(float), np.array(arity))


def fill(table: Table, train: Integers) -> Floats:
    """Columns with what is missing set to the mean of a numeric feature, the mode of a nominal one, in `train`."""
    columns = table.columns
    lacking = np.flatnonzero(np.isnan(columns).any(axis=0))
    if not lacking.size:
        return columns
    columns = columns.copy()
    for feature in np.unique(table.owner[lacking]):
        own = np.flatnonzero(table.owner == feature)
        missing = np.isnan(table.cells[:, feature])
        observed = train[~missing[train]]
        if not table.arity[feature]:
            typical = columns[np.ix_(observed, own)].mean(axis=0) if observed.size else np.zeros(1)
        else:
            mode = np.bincount(table.cells[observed, feature].astype(int), minlength=1).argmax()
            typical = columns[np.argmax(table.cells[:, feature] == mode), own]
        columns[np.ix_(missing, own)] = typical
    return columns
