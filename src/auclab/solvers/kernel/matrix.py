"""Kernel values of a training sample under a memory budget: kept where they fit, else computed block by block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from auclab.compiled.accurate import CHUNK
from auclab.compiled.threads import in_parallel
from auclab.kernels.kernel import ROUNDING, Kernel
from auclab.types import Array

#: Observations from which on a product is computed in two threads.
_MIN_THREADED = 4096
#: The fraction of the budget that K itself may use.
_KEPT_PART = 0.5


class KernelMatrix:
    """``K_ij = κ(x_i, x_j)`` of the observations of a sample, in a given order.

    `kernel`: with numbers for all parameters. `rows` (n_samples, n_features): for a precomputed kernel K itself.
    `order` (m,): the rows that take part, in the order in which all other arrays have them. `memory`: bytes. `size`: m.
    `largest`: of the diagonal, and so of all ``|K_ij|``. `error`: by how much a computed value may be off. `is_kept`:
    whether K fits in the budget.
    """

    def __init__(self, kernel: Kernel, rows: Any, order: NDArray[np.intp], memory: float) -> None:
        self.kernel, self.size = kernel, int(order.size)
        self._given = kernel.is_given
        self._all_rows, self._all_order = rows, order
        self._rows, self._order = (rows, order) if self._given else (rows[order], order)
        self.diagonal = kernel.diagonal(rows)[order] if self._given else kernel.diagonal(self._rows)
        self.error = 0.0 if self._given else kernel.rounding(rows.shape[1], _longest(self._rows))
        self.largest = float(self.diagonal.max()) + self.error
        self.is_kept = not self._given and 8.0 * self.size**2 <= _KEPT_PART * memory
        self._memory = memory
        self._kept: Array | None = None

    @property
    def held(self) -> float:
        """Bytes of K that are kept, from its first use on."""
        return 8.0 * self.size**2 if self.is_kept else 0.0

    def part(self, which: NDArray[np.intp]) -> KernelMatrix:
        """The matrix of the observations `which`, numbers in this order; where K is kept, its values are shared."""
        if self.is_kept:
            return _Part(self, which)
        return KernelMatrix(self.kernel, self._all_rows, self._all_order[which], self._memory)

    def block(self, rows: Any, columns: Any) -> Array:
        """``K[rows, columns]``, for slices or arrays of numbers."""
        if self._kept is not None:
            return np.asarray(self._kept[_grid(rows, columns)])
        if self._given:
            return np.asarray(self._rows[np.ix_(self._order[rows], self._order[columns])], dtype=float)
        return self.kernel.between(self._rows[rows], self._rows[columns])

    def rows_of(self, which: NDArray[np.intp]) -> Array:
        """``K[which]``, shape (number, m)."""
        self._keep()
        if self._kept is not None:
            return np.asarray(self._kept[which])
        found = np.empty((which.size, self.size))
        for part in self._blocks():
            found[:, part] = self.block(which, part)
        return found

    def times(self, vectors: Array) -> Array:
        """``K @ vectors`` for a vector (m,) or several (m, k), in two threads where m is large.

        Each block of a symmetric pair is computed once, and one that only zeros would be multiplied by not at all: of
        s rows that are not zero ``s (m − s/2)`` values.
        """
        self._keep()
        used = vectors.reshape(self.size, -1).any(axis=1)
        zeros_last = None if self._kept is not None or used.all() else np.argsort(~used, kind="stable")
        ordered = vectors if zeros_last is None else vectors[zeros_last]
        pairs = [pair for pair in self._block_pairs() if zeros_last is None or pair[0].start < used.sum()]
        halves = (ordered, pairs[::2], zeros_last), (ordered, pairs[1::2], zeros_last)
        product = sum(in_parallel(self._product, *halves, threads=self.size >= _MIN_THREADED))
        if zeros_last is not None:
            product[zeros_last] = product.copy()
        return np.asarray(product)

    def _product(self, vectors: Array, pairs: list[tuple[slice, slice]], order: NDArray[np.intp] | None) -> Array:
        """What some pairs of blocks add to the product, in an order of the observations."""
        product = np.zeros_like(vectors)
        for first, second in pairs:
            rows, columns = (first, second) if order is None else (order[first], order[second])
            values = self.block(rows, columns)
            product[first] += values @ vectors[second]
            if first != second:
                product[second] += values.T @ vectors[first]
        return product

    def form(self, vector: Array, product: Array) -> tuple[float, float]:
        """``vᵀKv`` from v and Kv, and by how much it may be off.

        A value of K by `error`; a sum over a block by its length times half a unit, one over the blocks by theirs.
        """
        weight = float(abs(vector).sum())
        terms = min(CHUNK, self.size) + math.ceil(self._summed / CHUNK) + 4
        return math.fsum((vector * product).tolist()), weight**2 * (self.error + terms * ROUNDING * self.largest) * 1.01

    @property
    def _summed(self) -> int:
        """Length of the sums of a product."""
        return self.size

    def _keep(self) -> None:
        """Compute K once where it is to be kept."""
        if not self.is_kept or self._kept is not None:
            return
        kept = np.empty((self.size, self.size))
        for first, second in self._block_pairs():
            kept[first, second] = self.block(first, second)
            if first != second:
                kept[second, first] = kept[first, second].T
        self._kept = kept

    def _blocks(self) -> list[slice]:
        return [slice(begin, min(begin + CHUNK, self.size)) for begin in range(0, self.size, CHUNK)]

    def _block_pairs(self) -> list[tuple[slice, slice]]:
        blocks = self._blocks()
        return [(first, second) for k, first in enumerate(blocks) for second in blocks[k:]]


class _Part(KernelMatrix):
    """A submatrix of a matrix that is in memory, without a copy of its values.

    A product with it is one with the whole matrix, zeros in place of the others, which costs less than a copy.
    """

    def __init__(self, whole: KernelMatrix, which: NDArray[np.intp]) -> None:
        self._whole, self._which = whole, which
        self.kernel, self.size, self.is_kept = whole.kernel, int(which.size), True
        self.diagonal, self.error, self.largest = whole.diagonal[which], whole.error, whole.largest

    @property
    def held(self) -> float:
        """Bytes of the whole matrix."""
        return self._whole.held

    @property
    def _summed(self) -> int:
        return self._whole._summed

    def part(self, which: NDArray[np.intp]) -> KernelMatrix:
        """Fewer of them."""
        return _Part(self._whole, self._which[which])

    def block(self, rows: Any, columns: Any) -> Array:
        """``K[rows, columns]``, for slices or arrays of numbers."""
        return self._whole.block(self._which[rows], self._which[columns])

    def rows_of(self, which: NDArray[np.intp]) -> Array:
        """``K[which]``, shape (number, m)."""
        return self._whole.rows_of(self._which[which])[:, self._which]

    def times(self, vectors: Array) -> Array:
        """``K @ vectors`` for a vector (m,) or several (m, k)."""
        padded = np.zeros((self._whole.size, *vectors.shape[1:]))
        padded[self._which] = vectors
        return self._whole.times(padded)[self._which]


def _grid(rows: Any, columns: Any) -> Any:
    """An index of the submatrix."""
    both_numbers = not isinstance(rows, slice) and not isinstance(columns, slice)
    return np.ix_(rows, columns) if both_numbers else (rows, columns)


def _longest(rows: Any) -> float:
    """The largest Euclidean norm of a row."""
    matrix: Any = rows
    squares = matrix.multiply(matrix).sum(axis=1) if sp.issparse(rows) else np.einsum("ij,ij->i", matrix, matrix)
    return math.sqrt(float(np.max(squares))) * (1.0 + 1e-9)
