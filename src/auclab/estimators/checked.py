"""Rows and labels of an estimator, in one form and checked in scikit-learn's words; types of its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_X_y, validate_data

from auclab.forms import as_array, as_column, as_matrix
from auclab.samples.tables import in_memory
from auclab.solvers.solution import Solution
from auclab.validation import check_types

_FORM: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}


def checked_rows(estimator: BaseEstimator, X: Any, *, reset: bool = False, **options: Any) -> Any:
    """Rows of any library as an array or a CSR matrix of float64; those of blocks are checked when they are read.

    `reset`: whether `fit` calls: types of the parameters are checked, and the estimator remembers number and names of
    the columns, or else compares them.
    `options`: of `sklearn.utils.validation.check_array`.
    """
    if reset:
        check_types(estimator)
    if not in_memory(X):
        return _remembered(estimator, X, X, reset=reset)
    rows = check_array(as_matrix(X), estimator=estimator, input_name="X", **_FORM, **options)
    return _remembered(estimator, X, rows, reset=reset)


def checked_sample(estimator: BaseEstimator, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """`checked_rows` of `fit`, and their labels or grades; the types of the parameters are checked too.

    `options`: of `sklearn.utils.validation.check_X_y`.
    """
    check_types(estimator)
    if not in_memory(X):
        return _remembered(estimator, X, X, reset=True), as_column("y", y)
    given = None if y is None else as_array("y", y)
    rows, labels = check_X_y(as_matrix(X), given, estimator=estimator, **_FORM, **options)
    return _remembered(estimator, X, rows, reset=True), labels


def named(estimator: BaseEstimator, solution: Solution) -> Solution:
    """A solution for checked rows with the names of the columns that the estimator remembers."""
    names = getattr(estimator, "feature_names_in_", None)
    return solution if names is None else replace(solution, columns=tuple(names))


def _remembered(estimator: BaseEstimator, X: Any, rows: Any, *, reset: bool) -> Any:
    """The rows, whose columns the estimator remembers or compares with those that it remembers."""
    validate_data(estimator, X, skip_check_array=True, reset=reset)
    return rows
