"""Operations on a table whose rows may be in memory (DataFrames, arrays, CSR matrices) or in blocks.

No other code tests for the class of a table: a table in blocks has ``shape``, ``columns``, ``X @ coef`` and ``X[rows]``
like any other, and the differences are here. Dask collections, datasets of pyarrow and streams of Arrow are opened as
such tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
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
    """Rows that are read lazily and their labels as a table in blocks and an array; other rows as they are.

    `y`: of such rows also the name of the column with the labels.
    """
    if is_collection(X):
        from auclab.samples.blocks.dask_tables import open_dask

        table, labels = open_dask(X, target=y) if isinstance(y, str) else open_dask(X, y)
        return table, labels.to_numpy()
    from auclab.samples.blocks.parquet import column_in_memory, is_lazy, open_groups, row_groups

    if not is_lazy(X):
        return X, y
    groups = row_groups(X)
    if isinstance(y, str):
        return open_groups(groups, y), column_in_memory(groups, y).to_numpy()
    if is_lazy(y) or is_collection(y):
        raise AuclabError(
            f"labels in a {type(y).__name__} may come in another order than the rows: give the name of their column in "
            "X, or an array"
        )
    return open_groups(groups, None), y


def opened_rows(X: Any, columns: Sequence[str] | None) -> Any:
    """Rows for a fitted scorer: those that are read lazily as a table of these columns, others as they are."""
    from auclab.samples.blocks.parquet import is_lazy, open_groups, row_groups

    if not is_lazy(X):
        return X
    groups = row_groups(X)
    if columns is not None:
        groups = tuple(group.of_columns(columns) for group in groups)
    return open_groups(groups, None)


def by_partition(scorer: Any, method: str, X: Any, dtype: Any) -> Any:
    """A lazy collection of the values, of type `dtype`, that a method of a scorer gives for a Dask collection."""
    import numpy as np
    import pandas as pd

    light = copy(scorer)
    if hasattr(light, "coef_"):  # the multipliers of a solution are as long as the rows of the fit
        vars(light).pop("solution_", None)
    function = getattr(light, method)
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
    X = opened_rows(X, columns)
    check_column_names(columns, X)
    rows = as_rows(X) if in_memory(X) else X
    if rows.shape[1] != n_features:
        raise AuclabError(f"X has {rows.shape[1]} columns, but the scorer was fitted to {n_features}; give these")
    return rows


def require_memory(X: Any, refusal: str) -> None:
    """Raise an `AuclabError` that says `refusal` for a table whose rows are not in memory."""
    if not in_memory(X):
        raise AuclabError(refusal)
