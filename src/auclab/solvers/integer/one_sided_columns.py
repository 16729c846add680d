"""Columns in which every pair is ordered alike, whose coefficients have no bound in a program without a norm.

Such a column is at least c in every positive row and at most c in every negative row, or the other way round; an
example is a category whose rows are all of one class. The larger its coefficient, the smaller the loss of every pair
that it separates, and the others do not depend on it. If it is large enough, the separated pairs have no loss, so that

* bounds of all other coefficients follow from the pairs that are left, and
* from them follows how large is large enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab.samples.memory import Sample
from auclab.types import Array


@dataclass(frozen=True)
class OneSidedColumns:
    """The columns, and the rows of the pairs that none of them separates.

    `columns`: their numbers. `sides`: 1 if the coefficient may grow, −1 if it may fall. `least`: the smallest
    difference of a pair that the column separates, > 0. `kept_pos`, `kept_neg` (n_columns, n_pos) and (n_columns,
    n_neg): rows that have the value c.
    """

    columns: NDArray[np.intp]
    sides: Array
    least: Array
    kept_pos: NDArray[np.bool_]
    kept_neg: NDArray[np.bool_]

    def left(self, sample: Sample, among: NDArray[np.bool_] | None = None) -> tuple[Sample, float]:
        """The sample of the pairs that none of the columns separates, and their share of all pairs.

        `among` (n_columns,): which of the columns; all by default.
        """
        chosen = np.ones(self.columns.size, bool) if among is None else among
        if not chosen.any():
            return sample, 1.0
        pos, neg = self.kept_pos[chosen].all(axis=0), self.kept_neg[chosen].all(axis=0)
        share_pos, share_neg = sample.share_pos[pos], sample.share_neg[neg]
        total_pos, total_neg = float(share_pos.sum()), float(share_neg.sum())
        if total_pos == 0.0 or total_neg == 0.0:
            return sample, 0.0
        smaller = replace(
            sample,
            X_pos=sample.X_pos[pos],
            X_neg=sample.X_neg[neg],
            share_pos=share_pos / total_pos,
            share_neg=share_neg / total_neg,
            positive=np.repeat([True, False], [int(pos.sum()), int(neg.sum())]),
        )
        return smaller, total_pos * total_neg

    def enough(self, widths: Array, size: Array) -> Array:
        """From which size on each coefficient leaves no loss to the pairs that its column separates.

        `widths` (n_features,): largest difference of two rows in each column. `size` (n_features,): bounds of ``|w|``.
        """
        others = np.delete(np.arange(size.size), self.columns)
        return np.asarray((1.0 + float(size[others] @ widths[others])) / self.least)


def one_sided_columns(sample: Sample, columns: NDArray[np.intp]) -> OneSidedColumns:
    """Those of `columns` in which every pair is ordered alike and some, but not all, are separated.

    `sample`: in memory.

    Examples
    --------
    The second column is 1 in one negative row, and 0 in all others:

    >>> from auclab.samples.as_sample import as_sample
    >>> sample = as_sample([[3.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [1, 1, 0, 0])
    >>> found = one_sided_columns(sample, np.arange(2))
    >>> found.columns.tolist(), found.sides.tolist(), found.left(sample)[1]
    ([1], [-1.0], 0.5)
    """
    chosen, sides, least, kept_pos, kept_neg = [], [], [], [], []
    for k in columns:
        pos, neg = _column(sample.X_pos, k), _column(sample.X_neg, k)
        for side in (1.0, -1.0):
            low, high = (side * pos).min(), (side * neg).max()
            above, below = side * pos > low, side * neg < high
            if low == high and (above.any() or below.any()):
                gaps = [(side * pos)[above] - low, high - (side * neg)[below]]
                chosen.append(k)
                sides.append(side)
                least.append(min(float(gap.min()) for gap in gaps if gap.size))
                kept_pos.append(~above)
                kept_neg.append(~below)
                break
    n_found = len(chosen)
    return OneSidedColumns(
        np.array(chosen, np.intp),
        np.array(sides),
        np.array(least),
        np.array(kept_pos, bool).reshape(n_found, sample.n_pos),
        np.array(kept_neg, bool).reshape(n_found, sample.n_neg),
    )


def _column(part: Any, k: int) -> Array:
    column = part[:, [k]]
    return np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=np.float64).ravel()
