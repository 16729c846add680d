"""Operations on a table whose rows may be in memory (DataFrames, arrays, CSR matrices) or in blocks.

No other code tests for the class of a table: a table in blocks has ``shape``, ``columns``, ``X @ coef`` and ``X[rows]``
like any other, and the differences are here. A Dask DataFrame or Array is opened as such a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from auclab._core.base import AuclabError
from auclab._core.forms import as_rows, check_column_names
from auclab.samples.blocks.table import BlockTable


def in_memory(X: Any) -> bool:
    """Whether all rows of a table are in memory; those of a `BlockTable` are read when they are needed.

    Examples
    --------
    >>> in_memory([[1.0], [2.0]])
    True
    """
    return not isinstance(X, BlockTable)  # the only place that tests for such tables


def is_collection(X: Any) -> bool:
    """Whether X is a Dask DataFrame or a Dask Array."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "to_delayed")


def opened(X: Any, y: Any) -> tuple[Any, Any]:
    """A Dask collection and its labels as a table in blocks and an array; other rows as they are."""
    if not is_collection(X):
        return X, y
    from auclab.samples.blocks.engines import open_dask

    table, labels = open_dask(X, y)
    return table, labels.to_numpy()


def by_partition(function: Callable[[Any], Any], X: Any, dtype: Any) -> Any:
    """A lazy collection of the values, of type `dtype`, that `function` gives for the rows of a Dask collection."""
    import numpy as np
    import pandas as pd

    if not hasattr(X, "columns"):
        return X.map_blocks(function, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))
    return X.map_partitions(
        lambda part: pd.Series(function(part), index=part.index), meta=pd.Series(np.empty(0, dtype))
    )


def new_rows(X: Any, n_features: int, columns: tuple[str, ...] | None = None) -> Any:
    """Rows for a fitted scorer in one form, or the table in blocks as it is.

    `n_features`, `columns`: how many columns the rows of the fit had, and their names if there were some.

    Raises
    ------
    AuclabError
        Columns that differ from those of the fit, or their order; values that are not numbers.

    Examples
    --------
    >>> new_rows([[1], [2]], 1).tolist()
    [[1.0], [2.0]]
    """
    check_column_names(columns, X)
    rows = as_rows(X) if in_memory(X) else X
    if rows.shape[1] != n_features:
        raise AuclabError(f"X has {rows.shape[1]} columns, but the scorer was fitted to {n_features}; give these")
    return rows


def require_memory(X: Any, refusal: str) -> None:
    """Raise an `AuclabError` that says `refusal` for a table whose rows are not in memory."""
    if not in_memory(X):
        raise AuclabError(refusal)
