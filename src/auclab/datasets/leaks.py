"""Columns that give the target away: what they say is known only once the target is.

A column is read in four ways: whether it has a value, whether it is its most frequent value, each of its few values by
its share of positives, and its numbers or dates in their order. It is named where one of them ranks the rows with an
AUC of `ALMOST` or more, and

* chance would hardly do so: with p positives among n rows and u pairs in the wrong order, at most (u + 1)·e^{π√(2u/3)}
  of the C(n, p) assignments of the labels rank so well (there are at most e^{π√(2v/3)} partitions of v), for each of
  the k! orders of k values; over all columns and ways the sum is below `CHANCE`;
* of an order, the smaller class has `LEAST` rows, or a share of `RARE` and `HANDFUL` rows: a few outliers are far away
  in one measurement or another;
* the target is not easy anyway: no other column that passes the test of chance has an AUC of `EASY` (where a few
  values, a gap or a default say it exactly: `EASIER`), and at most `SEVERAL` columns do so by their order. A petal that
  is short in one of the irises is a measurement where others tell it nearly as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lgamma, log, log1p, pi, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab._core.words import few
from auclab.datasets.labels import label_text, override
from auclab.datasets.splits import take_rows
from auclab.datasets.target import Target
from auclab.samples.tables import in_memory

if TYPE_CHECKING:
    import pandas as pd

    from auclab.datasets.records import Dataset

ALMOST = 0.995
EASY, EASIER, SEVERAL = 0.9, 0.98, 3
LEAST, RARE, HANDFUL = 30, 0.05, 10
#: Probability that labels drawn at random give an alarm on a table.
CHANCE = 1e-3
#: Values up to which each one of a column may stand for a class.
_FEW_VALUES = 12
#: Cells that are looked at; of more the rows are thinned out evenly, down to `_LEAST_ROWS`, then the first columns.
_CELLS, _LEAST_ROWS = 2_000_000, 2_000


@dataclass(frozen=True)
class Leak:
    """A column with the AUC of the best way to read it; `how`: that way, in words; `ordered`: whether by an order."""

    column: str
    auc: float
    how: str
    ordered: bool


def find_leaks(
    table: pd.DataFrame,
    y: NDArray[Any],
    dates: Mapping[str, str | None] | None = None,
    n_columns: int | None = None,
) -> list[Leak]:
    """The columns that give the target away, one sort a column of at most `_CELLS` cells.

    `y` (n_rows,): 1 and 0. `dates`: columns of dates with their format, None if they are stored as dates. `n_columns`:
    of those that chance has tried, all of the table if left out.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> y = np.arange(60) % 3 == 0
    >>> table = pd.DataFrame({"paid": np.where(y, "late", "in full"), "size": np.arange(60) % 7})
    >>> find_leaks(table, y)
    [Leak(column='paid', auc=1.0, how='each of its 2 values has one class', ordered=False)]
    """
    table = table.iloc[:, : _CELLS // _LEAST_ROWS]
    rows = _thinned(*table.shape)
    labels = np.asarray(y)[rows] == 1
    n, positives = labels.size, int(labels.sum())
    if positives in (0, n):
        return []
    log_assignments = lgamma(n + 1) - lgamma(positives + 1) - lgamma(n - positives + 1)

    def is_chance(auc: float, n_values: int) -> bool:
        wrong = (1.0 - auc) * positives * (n - positives)
        orders = lgamma(n_values + 1) + log1p(wrong) + pi * sqrt(2.0 * wrong / 3.0)
        return orders + log(4 * (n_columns or table.shape[1])) > log(CHANCE) + log_assignments

    best = [
        max(readings, key=lambda leak: leak.auc)
        for name, column in table.iloc[rows].items()
        if (
            readings := [
                leak for leak, k in _read(str(name), column, labels, dates or {}) if not is_chance(leak.auc, k)
            ]
        )
    ]
    found = [leak for leak in best if leak.auc >= ALMOST]
    rest = max((leak.auc for leak in best if leak.auc < ALMOST), default=0.5)
    is_easy = rest >= EASY or sum(leak.ordered for leak in found) > SEVERAL
    is_easy |= min(positives, n - positives) < max(HANDFUL, min(LEAST, RARE * n))
    return [leak for leak in found if rest < EASIER and not (leak.ordered and is_easy)]


def _thinned(n_rows: int, n_columns: int) -> NDArray[np.intp]:
    """The rows to look at, evenly spaced."""
    most = max(_LEAST_ROWS, _CELLS // max(1, n_columns))
    return np.unique(np.linspace(0, n_rows - 1, min(most, n_rows)).astype(np.intp))


def filled_columns(X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    """The columns of a CSR matrix that may rank the rows with an AUC of `EASY` or more.

    Rows whose entries are 0 are tied, so that the AUC is at most 1 − z₊z₋ / (2n₊n₋) with z₊ positives and z₋ negatives
    of them: one pass over the entries that are stored. Few columns have as many, and `find_leaks` looks at these.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> X = sp.csr_array(np.array([[1, 0, 3], [1, 0, 0], [0, 2, 0], [0, 0, 0]]))
    >>> filled_columns(X, np.array([1, 1, 0, 0])).tolist()
    [0]
    """
    zeros, total = np.ones(X.shape[1]), 1.0
    side_of = np.repeat(np.asarray(y) == 1, np.diff(X.indptr))
    for side in (False, True):
        n_rows = np.count_nonzero((np.asarray(y) == 1) == side)
        zeros *= n_rows - np.bincount(X.indices[(X.data != 0) & (side_of == side)], minlength=X.shape[1])
        total *= n_rows
    return np.flatnonzero(zeros <= 2.0 * (1.0 - EASY) * total)


def _find_sparse_leaks(X: sp.csr_array, y: NDArray[Any]) -> list[Leak]:
    """Those of sparse rows; columns are called x0, x1, …."""
    import pandas as pd

    columns = filled_columns(X, y)[: _CELLS // _LEAST_ROWS]
    rows = _thinned(X.shape[0], columns.size)
    table = pd.DataFrame(X[rows][:, columns].toarray(), columns=[f"x{k}" for k in columns])
    return find_leaks(table, y[rows], n_columns=X.shape[1])


def _read(
    name: str, column: pd.Series, labels: NDArray[np.bool_], dates: Mapping[str, str | None]
) -> list[tuple[Leak, int]]:
    """The ways to read a column, with the number of values whose order was chosen."""
    import pandas as pd

    if name in dates and dates[name] is not None:
        column = pd.to_datetime(column, format=dates[name], errors="coerce")
    is_ordered = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)
    codes, values = column.factorize(sort=is_ordered)  # -1 where there is no value
    every = np.bincount(codes + 1, minlength=len(values) + 1)
    positive = np.bincount(codes + 1, labels, minlength=len(values) + 1)
    read: list[tuple[Leak, int]] = []
    if every[0]:
        read.append((Leak(name, _auc(every, positive, np.arange(every.size) > 0), "whether it has a value", False), 2))
    n_values = int(np.count_nonzero(every))
    if n_values > 2:
        usual = int(every[1:].argmax()) + 1
        how = f"whether it is {label_text(values[usual - 1])}"
        read.append((Leak(name, _auc(every, positive, np.arange(every.size) == usual), how, False), 2))
    if n_values <= _FEW_VALUES:
        shares = positive / np.maximum(every, 1)
        how = f"each of its {n_values} values has one class" if set(shares[every > 0]) <= {0, 1} else "its values"
        read.append((Leak(name, _auc(every, positive, shares), how, False), n_values))
    elif is_ordered:
        middle = np.arange(every.size, dtype=float)
        middle[0] = np.searchsorted(np.cumsum(every[1:]), every[1:].sum() / 2) + 1  # gaps among the medians
        read.append((Leak(name, _auc(every, positive, middle), "its order", True), 2))
    return read


def _auc(every: NDArray[Any], positive: NDArray[Any], levels: NDArray[Any]) -> float:
    """AUC of the levels of the values, or of the opposite order, from the numbers of rows and positives of each."""
    _, level = np.unique(levels, return_inverse=True)
    plus = np.bincount(level, positive)
    minus = np.bincount(level, every) - plus
    auc = float(plus @ (np.cumsum(minus) - minus / 2) / (plus.sum() * minus.sum()))
    return max(auc, 1.0 - auc)


def leak_notes(
    dataset: Dataset, *, rows: Any = None, dates: Mapping[str, str | None] | None = None, dropped: Sequence[str] = ()
) -> tuple[str, ...]:
    """What gives the target away, with the setting that leaves it out besides the columns that are `dropped`.

    `rows`: those to look at, such as the training part; all by default. `dates`: as of `find_leaks`. Returns: one
    sentence, or none; none of rows in blocks, which are not in memory. Of censored times the event is the target. Of
    grades it is whether they are above the level that halves the rows best: a column that tells the grades tells it
    too. Rows of all queries are ranked together: what tells the order within each of them alone is not found.
    """
    table: Any = dataset.X
    if not in_memory(table):
        return ()
    y = _two_classes(dataset.target)
    if rows is not None:
        table, y = take_rows(table, rows), y[rows]
    is_named = hasattr(table, "iloc")
    leaks = find_leaks(table, y, dates) if is_named else _find_sparse_leaks(sp.csr_array(table), y)
    if not leaks:
        return ()
    named = few(f"{leak.column!r} (AUC {leak.auc:.4f}: {leak.how})" for leak in leaks)
    tell, which = ("tells", "it") if len(leaks) == 1 else ("tell", "them")
    said = "the target" if dataset.target.event is None else "the event"
    cure = f"leave {which} out of the file"
    if is_named:
        cure = f"{override('dataset.drop', [*dropped, *(leak.column for leak in leaks)])} leaves {which} out"
    return (f"a leak? {named} {tell} {said} alone; if that is known only after {said}, {cure}",)


def _two_classes(target: Target) -> NDArray[np.int64]:
    """1 and 0 of every row."""
    y = np.asarray(target.y if target.event is None else target.event)
    if target.graded:
        levels = np.unique(y)[1:]
        y = y >= levels[np.argmin([abs(np.mean(y >= level) - 0.5) for level in levels])] if levels.size else y
    return np.asarray(y, dtype=np.int64)
