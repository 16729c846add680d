"""A program, a labelled sample and a kernel: what the solves over a reproducing-kernel space share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auclab.forms import as_rows
from auclab.formulations.base import Program
from auclab.formulations.problem import Problem
from auclab.formulations.ranked import Ranking
from auclab.kernels.kernel import Kernel
from auclab.precision import HALF_OF_DIGITS
from auclab.samples.memory import Sample
from auclab.samples.rotated import MAX_ROWS
from auclab.samples.tables import require_memory
from auclab.solvers.kernel.matrix import KernelMatrix
from auclab.types import Array, AuclabError


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
        return labels.join(*np.split(abs(dual), [labels.n_pos])) if labels.is_of_classes else dual

    def rows_of(self, landmarks: NDArray[np.intp]) -> Any:
        """The rows of landmarks, given by their numbers in `order`, as arrays; none for a precomputed kernel."""
        if self.kernel.is_given:
            return np.empty((landmarks.size, 0))
        rows: Any = self.rows[self.order[landmarks]]
        return rows.toarray() if hasattr(rows, "toarray") else np.ascontiguousarray(rows)


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
    if program.uses_norm and not program.regulariser.norm.is_euclidean:
        norm = program.regulariser.norm.name
        raise AuclabError(f"a kernel's space has the norm l2, and the program has {norm}; set norm=l2")
    if program.regulariser.ridge:
        raise AuclabError(f"kernels take λ‖h‖ or λ‖h‖², and the program has {program.regulariser}; use RankSVM")


def _joined(sample: Sample, memory: float) -> Any:
    """The rows in the order of the data; as an array where that takes no more than a quarter of the memory."""
    rows = sample.in_data_order
    return rows.toarray() if sample.is_sparse and 8.0 * rows.shape[0] * rows.shape[1] <= 0.25 * memory else rows


def _checked_matrix(X: Any) -> Array:
    """A precomputed kernel as an array: finite, square, symmetric, no negative diagonal."""
    matrix: Array = X.toarray() if hasattr(X, "toarray") else X
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
