"""Linearly dependent columns, whose coefficients have no bound in a program without a norm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from auclab.precision import SOLVED
from auclab.samples.memory import Sample
from auclab.types import Array

#: Entries of the rows up to which their rank is computed.
_MOST_ENTRIES = 20_000_000


def dependent_columns(sample: Sample, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of `columns` that are affine functions of the others among them, as few as there are relations.

    The scores of a w that uses them all change along a relation by a constant at most, so any w has an equal one in
    which the coefficients of the columns returned are 0.

    `sample`: in memory. Returns: empty too where there are too many entries to tell.

    Examples
    --------
    The three categories of a nominal column:

    >>> from auclab.samples.as_sample import as_sample
    >>> sample = as_sample(np.eye(3)[[0, 1, 2, 0, 1, 2]], [0, 0, 0, 1, 1, 1])
    >>> dependent_columns(sample, np.arange(3)).size
    1
    """
    n_rows = sample.n_pos + sample.n_neg
    if not columns.size or n_rows * columns.size > _MOST_ENTRIES:
        return np.empty(0, np.intp)
    rows = np.vstack([_dense(part[:, columns]) for part in (sample.X_pos, sample.X_neg)])
    rows /= np.where(sample.spread > 0, sample.spread, 1.0)[columns]  # a constant column is a function of no other
    rows -= rows.mean(axis=0)
    triangle, order = qr(rows, mode="r", pivoting=True, overwrite_a=True, check_finite=False)
    size = abs(np.diagonal(triangle))
    rank = int((size > SOLVED * max(float(size[0]), 1e-300)).sum())
    return np.asarray(columns[order[rank:]])


def _dense(part: Array) -> Array:
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)
