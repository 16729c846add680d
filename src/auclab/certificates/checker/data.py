"""Training rows, and the two exact passes over them: scores ``X w``, and the combination ``Σ ±q x``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auclab.certificates.checker.constraints import Integers, aligned, integers, times_power

#: Entries of the matrix that are unpacked at a time.
_BLOCK_CELLS = 1_000_000


@dataclass(frozen=True)
class Data:
    """Rows of an array, a CSR matrix or a table in blocks, with their classes.

    `weight` (n_samples,), of integers: proportional to the weights of the observations; ones if they count alike.
    """

    X: Any
    positive: NDArray[np.bool_]
    weight: Integers

    #: Whether there are columns, whose equations multipliers can be moved onto.
    has_columns: ClassVar[bool] = True

    @classmethod
    def of(cls, X: Any, positive: NDArray[np.bool_], weight: NDArray[np.float64] | None = None) -> Data:
        """Rows with the weight 1, or with the given ones."""
        ones = np.ones(positive.size, dtype=np.int64).astype(object)
        return cls(X, np.asarray(positive, dtype=bool), ones if weight is None else integers(weight)[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """The rows as dense arrays, one after the other."""
        start = 0
        for part in self.X.stream() if hasattr(self.X, "stream") else [self.X]:
            step = max(1, _BLOCK_CELLS // self.n_features)
            for first in range(0, part.shape[0], step):
                rows = part[first : first + step]
                rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
                yield slice(start + first, start + first + rows.shape[0]), rows
            start += part.shape[0]

    def take(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """The rows with these ascending numbers, dense."""
        if hasattr(self.X, "stream"):
            return np.asarray(self.X.take(rows), dtype=np.float64)
        found = self.X[rows]
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)

    def scores(self, coef: NDArray[np.float64]) -> tuple[Integers, int]:
        """``X w`` as integers over a power of two."""
        if hasattr(self.X, "indptr"):
            entries, exponent = integers(self.X.data)
            factor, place = integers(coef)
            return _sums(entries * factor[self.X.indices], _rows_of(self.X), self.X.shape[0]), exponent + place
        factors = [integers(np.array([value])) for value in coef]
        parts = []
        for _, rows in self.blocks():
            total, exponent = np.zeros(rows.shape[0], dtype=np.int64).astype(object), 0
            for column, (factor, place) in enumerate(factors):
                if factor[0] == 0 or not rows[:, column].any():
                    continue
                entries, e = integers(rows[:, column])
                (total, product), exponent = aligned([(total, exponent), (entries * factor[0], e + place)])
                total = total + product
            parts.append((total, exponent))
        found, exponent = aligned(parts)
        return np.concatenate(found), exponent

    def score_error(self, coef: NDArray[np.float64]) -> Fraction:
        """By how much a score may be off: they are exact."""
        return Fraction(0)

    def combine(self, values: Integers, unit: int) -> list[Fraction]:
        """``Σ_positives q x − Σ_negatives q x`` with ``q = values / unit``, a rational per feature."""
        signed = np.where(self.positive, values, -values)
        if hasattr(self.X, "indptr"):
            entries, exponent = integers(self.X.data)
            sums = _sums(entries * signed[_rows_of(self.X)], self.X.indices, self.n_features)
            return [times_power(int(total), exponent) / unit for total in sums]
        totals = [Fraction(0)] * self.n_features
        for rows, block in self.blocks():
            weights = signed[rows]
            used = np.flatnonzero(weights != 0)
            weights, block = weights[used], block[used]
            for column in range(self.n_features):
                some = np.flatnonzero(block[:, column])
                if some.size:
                    entries, exponent = integers(block[some, column])
                    totals[column] += times_power(int(np.dot(entries, weights[some])), exponent)
        return [total / unit for total in totals]


def _rows_of(X: Any) -> NDArray[np.intp]:
    """The row of every entry of a CSR matrix."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def _sums(entries: Integers, places: NDArray[np.integer], size: int) -> Integers:
    """Sums of the entries with the same place, shape (size,)."""
    totals = np.zeros(size, dtype=np.int64).astype(object)
    if entries.size:
        order = np.argsort(places, kind="stable")
        distinct, first = np.unique(places[order], return_index=True)
        totals[distinct] = np.add.reduceat(entries[order], first)
    return totals


def fractions(values: Sequence[float] | NDArray[np.float64]) -> list[Fraction]:
    """Floats as rationals."""
    return [Fraction(float(value)) for value in values]
