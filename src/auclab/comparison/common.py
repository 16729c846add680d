"""Which values of a table are compared: those on the pairs that its columns share."""

from __future__ import annotations

import pandas as pd


def common_pairs(values: pd.DataFrame) -> pd.DataFrame:
    """Mask of the compared values: those on the pairs of a row that its columns share.

    One column with few runs would leave little to compare. Columns are added by decreasing number of pairs; one that
    would leave fewer than half of the pairs of the first is skipped: the others are compared without it, and it is
    compared with them on the shared pairs that it has.

    `values` (n_pairs, n_columns): indexed by ``row`` and ``pair``; NaN where there is no run. Returns: of the same
    shape.

    Examples
    --------
    `b` has one of four seeds, `c` three:

    >>> index = pd.MultiIndex.from_product([["one"], range(4)], names=["row", "pair"])
    >>> values = pd.DataFrame({"a": [1.0, 1, 1, 1], "b": [1, None, None, None], "c": [1, 1, 1, None]}, index)
    >>> common_pairs(values).sum().to_dict()
    {'a': 3, 'b': 1, 'c': 3}
    """
    found = values.notna()
    for _, block in values.notna().groupby(level="row", sort=False):
        shared = _shared(block)
        found.loc[block.index] = block.apply(lambda column, shared=shared: column & shared)
    return found


def _shared(present: pd.DataFrame) -> pd.Series:
    """The pairs of one row that its columns share."""
    counts = present.sum().sort_values(ascending=False, kind="stable")
    shared = present[counts.index[0]]
    for column in counts.index[1:]:
        fewer = shared & present[column]
        if 2 * fewer.sum() >= counts.iloc[0]:
            shared = fewer
    return shared
