"""Rows and columns of any library in one form: NumPy arrays, and CSR matrices without repeated entries.

NumPy, SciPy, pandas, polars and PyArrow write the same numbers in many ways. Every public function that takes rows,
labels, scores, weights, groups or times reads them with the functions of this file, and what lies behind it knows two
forms of rows and one of columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from auclab._core.base import Array, AuclabError


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Values of any library as an array of NumPy, of any shape and type.

    What is masked or missing is NaN or NaT afterwards, and numbers beside text stay numbers, which `numpy.asarray`
    turns into text.

    `name`: for messages.

    Examples
    --------
    >>> as_array("groups", [1, "1"]).tolist(), np.asarray([1, "1"]).tolist()
    ([1, '1'], ['1', '1'])
    """
    if isinstance(values, np.ma.MaskedArray) and (mask := np.ma.getmaskarray(values)).any():
        data = np.asarray(values.data)
        return np.where(mask, np.nan, data if data.dtype.kind in "biuf" else data.astype(object))
    if hasattr(values, "tocsr"):  # a matrix of SciPy
        return np.asarray(values.toarray())
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and not hasattr(values, "dtype"):
            kept = np.asarray(values, dtype=object)
            if not any(all(isinstance(each, kind) for each in kept.ravel()) for kind in (str, bytes)):
                array = kept
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise AuclabError(f"{name} must be an array: {error}") from error
    if array.ndim == 0 and array.dtype.kind == "O":
        kind = type(values).__name__
        raise AuclabError(f"{name} must be an array, got {kind}; give an array, a list or a table in memory")
    if array.dtype.kind == "O":
        import pandas as pd  # takes a third of a second of the start-up, and such arrays mostly come from it

        if (missing := pd.isna(array)).any():  # None, pandas.NA, a NaN of any type
            array = np.where(missing, np.nan, array)
    return array


def as_column(name: str, values: Any, *, may_be_empty: bool = False) -> NDArray[Any]:
    """One value per row as an array of shape (n_rows,): from a vector, or from an array or table of one column.

    Examples
    --------
    >>> as_column("y", [[0], [1]]).tolist()
    [0, 1]
    """
    column = as_array(name, values)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1 or not (column.size or may_be_empty):
        raise AuclabError(f"{name} must be a non-empty one-dimensional array, got shape {column.shape}")
    return column


def as_matrix(X: Any) -> Any:
    """Rows of any library as an array, or as a CSR matrix whose rows have ascending and distinct column numbers.

    The numbers keep their type, except those of tables with missing values, which become floats with NaN. Shape and
    values are not checked: `as_rows` does, or scikit-learn in its own words.

    Examples
    --------
    An entry in two parts, which SciPy adds:

    >>> import scipy.sparse as sp
    >>> halves = sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 2))
    >>> halves.nnz, as_matrix(halves).nnz, as_matrix(halves).toarray().tolist()
    (2, 1, [[3.0, 0.0]])
    """
    if hasattr(X, "tocsr") and X.ndim == 2:
        return _canonical(X)
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # a DataFrame of pandas
        kinds = list(X.dtypes)
        if kinds and all(getattr(kind, "fill_value", None) == 0 for kind in kinds):
            return _canonical(X.sparse.to_coo())
        of_numpy = all(isinstance(kind, np.dtype) for kind in kinds)
        if not of_numpy and all(kind.kind in "biuf" for kind in kinds):
            return X.to_numpy(dtype=np.float64, na_value=np.nan)
    array = as_array("X", X)
    if array.dtype.kind in "mM":
        raise AuclabError(f"X must be numeric, got {array.dtype}; turn dates into numbers first, such as days")
    return array


def as_rows(X: Any, *, may_be_empty: bool = False) -> Any:
    """Rows of any library as an array or a CSR matrix of float64, of shape (n_rows, n_columns); NaN where gaps are.

    Raises
    ------
    AuclabError
        Another number of dimensions, no rows or columns unless `may_be_empty`, or values that are not numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> as_rows(pd.DataFrame({"age": pd.array([30, None], dtype="Int64"), "smokes": [True, False]})).tolist()
    [[30.0, 1.0], [nan, 0.0]]
    """
    matrix = as_matrix(X)
    if matrix.ndim != 2 or (0 in matrix.shape and not may_be_empty):
        raise AuclabError(
            f"X must have shape (n_samples, n_features) with both at least 1, got {matrix.shape}; "
            "X.reshape(-1, 1) makes rows of one number each"
        )
    return to_numbers("X", matrix, "; encode categories first (preprocess=standard)")


def dense(X: Any) -> NDArray[Any]:
    """Rows as an array: itself, or that of a CSR matrix filled."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def to_numbers(name: str, values: Any, advice: str = "") -> Any:
    """An array or a CSR matrix as one of float64.

    `name`, `advice`: for the message where that is not possible.
    """
    try:
        if values.dtype.kind in "cmMV":
            raise TypeError(f"{values.dtype} is not a real number")
        with np.errstate(over="raise"):  # a longer float that would become ∞
            return values.astype(np.float64, copy=False)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise AuclabError(f"{name} must be numeric: {error}{advice}") from error


def distinct(name: str, column: NDArray[Any], **options: Any) -> Any:
    """`numpy.unique` of labels or groups; missing ones are refused, and text beside numbers.

    `options`: of `numpy.unique`.

    Examples
    --------
    >>> distinct("labels", as_column("labels", ["b", "a", "b"]), return_counts=True)[1].tolist()
    [1, 2]
    >>> distinct("groups", as_column("groups", ["a", float("nan")]))
    Traceback (most recent call last):
        ...
    auclab.AuclabError: groups[1] is missing (nan); drop the rows without it
    """
    if column.dtype.kind in "OfcmM" and (missing := column != column).any():
        where = int(missing.argmax())
        raise AuclabError(f"{name}[{where}] is missing ({column[where]}); drop the rows without it")
    try:
        return np.unique(column, **options)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in column.tolist()}))
        raise AuclabError(f"{name} must be all numbers or all text, got {kinds}; convert them first") from error


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a table; None of an array, and where any name is not text, as for scikit-learn."""
    if not hasattr(X, "shape"):  # a lazy table, whose columns are not known yet
        return None
    names = getattr(X, "column_names", None)  # of PyArrow, whose `columns` are the values
    names = getattr(X, "columns", None) if names is None else names
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def check_column_names(fitted: tuple[str, ...] | None, X: Any) -> None:
    """`AuclabError` for a table without a column of the fit, with a new one, or with the same in another order.

    `fitted`: None where the rows of the fit had no names.

    Examples
    --------
    >>> import pandas as pd
    >>> check_column_names(("age", "debt"), pd.DataFrame({"debt": [1.0], "age": [2.0]}))
    Traceback (most recent call last):
        ...
    auclab.AuclabError: the columns of X are in another order than in the fit; give X[['age', 'debt']]
    """
    names = column_names(X)
    if fitted is None or names is None or names == fitted:
        return
    if sorted(names) == sorted(fitted):
        some = ", ".join(map(repr, fitted[:5])) + (", …" if len(fitted) > 5 else "")
        raise AuclabError(f"the columns of X are in another order than in the fit; give X[[{some}]]")
    missing, others = ([n for n in one if n not in two] for one, two in ((fitted, names), (names, fitted)))
    parts = [f"{what} {', '.join(few[:5])}" for what, few in (("without", missing), ("with", others)) if few]
    raise AuclabError(f"X must have the columns of the fit, got a table {' and '.join(parts)}")


def _canonical(X: Any) -> Any:
    """A matrix of SciPy as CSR with ascending and distinct column numbers, of 32 bits where they suffice."""
    import scipy.sparse as sp  # which the catalogue of data sets does not need

    matrix: Any = X if isinstance(X, sp.csr_array) else sp.csr_array(X)
    if not matrix.has_canonical_format or matrix.data.size != matrix.nnz:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.prune()
    index = np.int32 if max(matrix.nnz, *matrix.shape) <= np.iinfo(np.int32).max else np.int64
    if matrix.indices.dtype != index or matrix.indptr.dtype != index:
        parts = matrix.data, matrix.indices.astype(index), matrix.indptr.astype(index)
        matrix = sp.csr_array(parts, shape=matrix.shape)
        matrix.has_canonical_format = True
    return matrix


def row_scores(X: Any, coef: Array) -> Array:
    """``X @ coef``, shape (n_samples,); equal rows have equal scores, whatever their place, layout or neighbours.

    BLAS sums a row in an order that depends on its place and on the layout of the matrix, so that two equal rows may be
    ranked. Here the terms of every row are added in the order of the columns, which is also what SciPy does with CSR
    matrices. Wherever a tie decides (counts of pairs, metrics, stored scores), scores come from here.

    `X`: rows as `as_rows` makes them, or in blocks.
    """
    if not isinstance(X, np.ndarray):
        return np.asarray(X @ coef, dtype=float)
    from auclab._core.scores import by_columns, by_rows  # Numba, which the catalogue of data sets does not need

    rows, weights = np.asarray(X, dtype=float), np.ascontiguousarray(coef, dtype=float)
    if rows.flags.f_contiguous and not rows.flags.c_contiguous:
        return np.asarray(by_columns(rows.T, weights))
    return np.asarray(by_rows(np.ascontiguousarray(rows), weights))
