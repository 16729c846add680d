"""Columns that say which row, or which rows, a value belongs to: identifiers, and groups of rows.

Their content decides; where it leaves that open, the name of the column does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

#: Values that a column of groups has at least.
_LEAST_VALUES = 10
#: Rows that tell most columns that repeat their values.
_FIRST_ROWS = 1_000
#: Rows from which a column that differs in nearly all of them is an identifier, and the share of those values.
_LEAST_ROWS, _NEARLY_ALL = 25, 0.98
#: Share of the values of an identifier that have as many digits as most.
_ONE_LENGTH = 0.85
#: Mean number of rows of each value of a column of groups, at least and at most, and the largest share of one of them.
_LEAST_REPEATS, _MOST_REPEATS, _LARGEST_GROUP = 1.2, 50, 0.1
#: Standard errors by which the rows of one group are more alike than neighbours by chance.
_ALIKE = 4.0
#: Share of pairs by which they are, at least.
_EXCESS = 0.1
#: What those are called whose rows a column of groups keeps together.
_OWNERS = frozenset(
    {
        *("account", "client", "company", "customer", "driver", "family", "hospital", "household", "member", "patient"),
        *("person", "school", "session", "subject", "user", "visitor"),
    }
)


def words_of(name: str) -> list[str]:
    """The words of a column's name.

    Examples
    --------
    >>> words_of("FraudFound_P"), words_of("is_canceled"), words_of("CLIENT ID"), words_of("ph.ecog")
    (['fraud', 'found', 'p'], ['is', 'canceled'], ['client', 'id'], ['ph', 'ecog'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", name)]


def _called_identifier(name: str) -> bool:
    """Whether a name says so: where the content of a column leaves it open, this decides."""
    words = words_of(name)
    return bool(words) and (words[-1] in ("id", "ids", "key", "uuid") or (len(words) == 1 and words[0] in _OWNERS))


def why_identifier(name: str, column: pd.Series) -> str:
    """Why whole numbers identify rows; empty if they do not.

    They differ in nearly every row, and are either as close together as numbers of rows, or far apart and of one
    length, as amounts and counts are not; where that is open, the name decides.

    Examples
    --------
    >>> import pandas as pd
    >>> why_identifier("row", pd.Series(range(1, 61))), why_identifier("age", pd.Series([20, 30, 40] * 20))
    ('different in every row, like an identifier', '')
    """
    n_rows, first = len(column), column.iloc[:_FIRST_ROWS]
    if n_rows < _LEAST_ROWS or column.dtype.kind not in "iuf" or first.nunique() * _LEAST_REPEATS < len(first):
        return ""
    values = int(column.nunique())
    if values * _LEAST_REPEATS < n_rows or column.isna().any() or (column % 1 != 0).any():
        return ""
    low, high = float(column.min()), float(column.max())
    every = "different in every row" if values == n_rows else "different in nearly every row"
    if values == n_rows and high - low < 2 * n_rows:
        return f"{every}, like an identifier"
    digits = np.floor(np.log10(np.maximum(np.abs(column.to_numpy(dtype=float)), 1.0)))
    is_long = low > 0 and np.median(digits) >= 5 and high - low > 100 * values
    is_long &= values >= _NEARLY_ALL * n_rows
    if is_long and np.mean(digits == np.median(digits)) >= _ONE_LENGTH and (column % 10).nunique() > 5:
        return f"{every} and far apart, like an identifier"
    return f"{every}, and its name says so" if _called_identifier(name) else ""


def why_group(name: str, column: pd.Series, y: NDArray[Any] | None = None) -> str:
    """Why a column has groups of rows, such as the visits of one patient; empty if it has none.

    It has several rows of many values and few of each, and rows of one value are alike in the target: more so than rows
    next to each other in the order of the column, as a measurement makes these alike too. Where that is open, its name
    decides. `y` (n_rows,): labels.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> k = np.arange(120)
    >>> visits = pd.Series(7001 + k % 30)
    >>> why_group("v", visits, k % 3), why_group("patient_id", visits), why_group("inpatients", visits)
    ('rows of one value are alike', 'several rows of each, and its name says so', '')
    """
    values = column.value_counts()
    repeats = len(column) / max(1, len(values))
    if len(values) < _LEAST_VALUES or column.isna().any() or not _LEAST_REPEATS <= repeats <= _MOST_REPEATS:
        return ""
    if values.iloc[0] > max(_LEAST_VALUES, _LARGEST_GROUP * len(column)) or (
        column.dtype.kind == "f" and (column % 1 != 0).any()
    ):
        return ""
    if y is not None and _is_alike(column.factorize(sort=column.dtype.kind in "iuf")[0], y):
        return "rows of one value are alike"
    return "several rows of each, and its name says so" if _called_identifier(name) else ""


def _is_alike(codes: NDArray[Any], y: NDArray[Any]) -> bool:
    """Whether pairs of rows of one code agree more often in `y` than pairs with rows of the codes next to theirs."""
    every = np.bincount(codes).astype(float)
    positive = np.bincount(codes, y, every.size)
    negative = every - positive
    inside = (positive * (positive - 1) + negative * (negative - 1)) / np.maximum(every * (every - 1), 1)
    next_one = (positive[1:] * positive[:-1] + negative[1:] * negative[:-1]) / (every[1:] * every[:-1])
    both_sides = (np.r_[next_one[:1], next_one] + np.r_[next_one, next_one[-1:]]) / 2
    more = (inside - both_sides)[every > 1]
    return bool(more.size >= _LEAST_VALUES and more.mean() > max(_EXCESS, _ALIKE * more.std() / np.sqrt(more.size)))
