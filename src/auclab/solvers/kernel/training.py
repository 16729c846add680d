"""The sample of a program over the space of a kernel, and its matrix K under a memory budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from auclab._core.accurate import CHUNK
from auclab._core.base import Array, AuclabError
from auclab._core.forms import as_rows, dense
from auclab._core.threads import in_parallel
from auclab._core.tolerances import HALF_OF_DIGITS
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem, Ranking
from auclab.kernels.kernel import ROUNDING, Kernel
from auclab.samples.memory import Sample
from auclab.samples.rotated import MAX_ROWS
from auclab.samples.tables import require_memory

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


@dataclass(frozen=True)
class Training:
    """A program over a kernel's space and the sample it is to be solved on.

    `kernel`: with numbers for all parameters. `matrix`: of the observations in the order `order`. `order` (m,): row
    numbers of the data: positives first, or of ranked pairs as they are. `labels`: labels and weights, or which rows
    are compared; its features are not used. `rows` (m, n_features): in the order of the data, less `offset`; for a
    precomputed kernel the matrix itself.
    """

    program: Program
    kernel: Kernel
    matrix: KernelMatrix
    order: NDArray[np.intp]
    labels: Sample
    rows: Any
    offset: Array | None

    def rows_in_data_order(self, rows: NDArray[np.intp]) -> KernelMatrix:
        """The matrix of some rows of the data, in their order; shared values where it is kept."""
        place = np.empty(self.order.size, dtype=np.intp)
        place[self.order] = np.arange(self.order.size)
        return self.matrix.part(place[rows])

    @property
    def without_features(self) -> Problem:
        """The program and the labels, for what does not depend on scores."""
        return self.in_features(np.zeros((self.matrix.size, 1)))

    def in_features(self, features: Array) -> Problem:
        """The linear problem on features of the observations in the order `order`; shape (m, n)."""
        return Problem(self.program, self.labels.of_rows(features))

    def multipliers(self, dual: Array) -> Array:
        """γ of a dual point in the order of the data: without signs, or of ranked pairs with them."""
        labels = self.labels
        return labels.joined_dual(dual)

    def rows_of(self, landmarks: NDArray[np.intp]) -> Any:
        """The rows of landmarks, given by their numbers in `order`, as arrays; none for a precomputed kernel."""
        if self.kernel.is_given:
            return np.empty((landmarks.size, 0))
        rows: Any = self.rows[self.order[landmarks]]
        return np.ascontiguousarray(dense(rows))


def training_problem(
    program: Program,
    X: Any,
    y: ArrayLike | None,
    kernel: Kernel,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    memory: float = math.inf,
    matrix: KernelMatrix | None = None,
    ranking: Ranking | None = None,
) -> Training:
    """Check a sample, take the kernel's parameters from it, and order it by class.

    `X` (n_samples, n_features): for a precomputed kernel of shape (n_samples, n_samples). `y`, `sample_weight`,
    `pos_label`: as in `auclab.solve`. `memory`: bytes that kernel values and features may take. `matrix`: of the rows
    of `X` in their order, where it is there already; its kernel is then taken. `ranking`: which rows are compared; two
    classes if left out.
    """
    ranking = ranking or Ranking()
    check_program(ranking.program(program))
    require_memory(X, "a kernel needs its rows in memory, and X is in blocks; use fewer rows, or no kernel")
    if kernel.is_given:
        given = as_rows(X)
        no_features, offset = np.zeros((given.shape[0], 1)), None
        program, labels = ranking.problem_parts(program, no_features, y, sample_weight, pos_label)
        rows: Any = given if matrix is not None else _checked_matrix(given)
    else:
        program, labels = ranking.problem_parts(program, X, y, sample_weight, pos_label)
        plain = labels.uncentred()
        kernel = kernel.resolved(_joined(plain, memory)) if matrix is None else matrix.kernel
        used = labels if kernel.is_shift_invariant else plain
        rows, offset = _joined(used, memory), used.offset
    order = labels.class_order
    of_rows = KernelMatrix(kernel, rows, order, memory) if matrix is None else matrix.part(order)
    return Training(program, kernel, of_rows, order, labels, rows, offset)


_REFUSED = {
    "integer": "{0.name} gives whole points to columns, but a kernel has none; use ranksvm or csvm, or leave the "
    "kernel out",
    "mip": "{0.name} counts pairs, for which there is no kernel form; use bauc, ranksvm or csvm",
}


def check_program(program: Program) -> None:
    """Raise `AuclabError` unless the program is a convex one with the l2 norm, of hinges where it is over points."""
    if program.kind in _REFUSED:
        raise AuclabError(_REFUSED[program.kind].format(program))
    if program.comparisons.name == "points" and not program.loss.is_hinge:
        raise AuclabError(
            f"with points kernels support the hinge alone, and the program has {program.loss}; use RankSVM, or CSVM "
            "with the hinge"
        )
    if not program.is_convex:
        raise AuclabError(f"z = {program.threshold:g} > 0 makes the program not convex; a kernel needs z ≤ 0")
    if not program.used_norm.is_euclidean:
        raise AuclabError(
            f"a kernel's space has the norm l2, and the program has {program.used_norm.name}; set norm=l2"
        )
    if program.regulariser.ridge:
        raise AuclabError(f"kernels take λ‖h‖ or λ‖h‖², and the program has {program.regulariser}; use RankSVM")


def _joined(sample: Sample, memory: float) -> Any:
    """The rows in the order of the data; as an array where that takes no more than a quarter of the memory."""
    rows = sample.in_data_order
    return dense(rows) if 8.0 * rows.shape[0] * rows.shape[1] <= 0.25 * memory else rows


def _checked_matrix(X: Any) -> Array:
    """A precomputed kernel as an array: finite, square, symmetric, no negative diagonal."""
    matrix = dense(X)
    if matrix.shape[0] != matrix.shape[1]:
        raise AuclabError(f"kernel=precomputed takes a square matrix, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise AuclabError("the precomputed kernel has entries that are not finite")
    size = float(abs(matrix).max())
    if not np.allclose(matrix, matrix.T, rtol=0.0, atol=HALF_OF_DIGITS * size):
        raise AuclabError("the precomputed kernel is not symmetric; K[i, j] must be κ(x_i, x_j)")
    if (np.diagonal(matrix) < 0).any() or (size > 0 and float(np.diagonal(matrix).max()) < size * (1 - HALF_OF_DIGITS)):
        raise AuclabError(
            "the precomputed matrix is not positive semidefinite: an entry is larger than the diagonal allows; pass "
            "values of a kernel, not distances"
        )
    if size > 0 and len(matrix) <= MAX_ROWS and not _has_factor(matrix, HALF_OF_DIGITS * size * len(matrix)):
        raise AuclabError(
            "the precomputed matrix is not positive semidefinite: it has a negative eigenvalue; pass values of a "
            "kernel, or add a constant to its diagonal"
        )
    return matrix


def _has_factor(matrix: Array, shift: float) -> bool:
    """Whether ``K + shift·I`` has a Cholesky factor: K is positive semidefinite up to rounding."""
    try:
        np.linalg.cholesky(matrix + shift * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return False
    return True
