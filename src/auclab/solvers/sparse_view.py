"""Solvers get rows that are mostly zero after a value is subtracted from every column, if the data allow it.

A standardised one-hot column has two values, neither of them 0. Minus the more frequent one it is mostly zero. Over
pairs the subtracted value cancels; in point programs the intercept absorbs it,

    w·x + b = w·(x − c) + (b + w·c).

The difference ``x − c`` is rounded, which is harmless, because solutions are verified on the rows as given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

import numpy as np

from auclab.formulations.problem import Problem
from auclab.samples.memory import Sample
from auclab.samples.mostly_zero import compressed, pays_as_csr
from auclab.solvers.raw import RawSolution
from auclab.types import Array

#: Approximate number of rows that are examined before all are.
_LOOKED_AT = 500


def on_sparse_view(solve: Callable[..., RawSolution]) -> Callable[..., RawSolution]:
    """A solver that is given CSR rows if a subtraction suffices, and whose solution is for the rows as given.

    `solve`: a solver of the registry, ``solve(problem, **options)``. Returns: a function with the same signature.
    """

    @wraps(solve)
    def solve_viewed(problem: Problem, **options: Any) -> RawSolution:
        common = common_values(problem.sample)
        if common is None:
            return solve(problem, **options)
        start = options.get("start")
        if start is not None and not problem.over_pairs:
            options["start"] = start[0], start[1] + float(start[0] @ common)
        answer = solve(Problem(problem.program, viewed(problem.sample, common), problem.constraints), **options)
        if problem.over_pairs:
            return answer
        return answer.moved(lambda w: w, lambda w, b: b - float(w @ common))

    return solve_viewed


def common_values(sample: Sample) -> Array | None:
    """Value to subtract from every column, shape (n_features,); None if CSR rows would not be faster.

    The value is that of more than half of the rows, if there is one; it is then also the median of some hundred rows.
    Other columns are not changed.
    """
    n_rows, n_columns = sample.n_pos + sample.n_neg, sample.n_features
    if sample.in_blocks or sample.is_sparse or not pays_as_csr(n_rows, n_columns, 0.0):
        return None
    step = max(1, n_rows // _LOOKED_AT)
    rows = np.vstack([sample.X_pos[::step], sample.X_neg[::step]])
    middle = len(rows) // 2
    median = np.partition(rows, middle, axis=0)[middle]
    share = (rows == median).mean(axis=0)
    if not pays_as_csr(n_rows, n_columns, float(np.where(share > 0.5, 1.0 - share, 1.0).mean())):
        return None
    return np.where(share > 0.5, median, 0.0)


def viewed(sample: Sample, common: Array) -> Sample:
    """The sample with `common` subtracted from its rows, as CSR matrices."""
    X_pos, X_neg = (compressed(X, common) for X in (sample.X_pos, sample.X_neg))
    return replace(sample, X_pos=X_pos, X_neg=X_neg, offset=None)
